/* Arrays that stay on the devices, and runs that do not wait.
 *
 * A run under way has a reference to each of its buffers and to what it runs, so that the caller
 * may free all of them. Memory that a result takes over goes from buffer to buffer when the
 * executor has the launch; what is given is marked before, so that two runs cannot be given the
 * same. */
#include "api/context.h"
#include "api/images.h"
#include "api/parts.h"
#include "device/copy.h"

struct tz_buffer {
  atomic_uint refs; /* the caller's, and those of runs */
  atomic_bool gone; /* given away */
  executor *on;
  executable *exe; /* has t */
  const compile_tensor *t;
  u32 positions;
  dev_event *ready;
  executor_memory **pieces; /* by position; NULL where another buffer has it now */
};

static tz_buffer *retain(tz_buffer *b) {
  atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
  return b;
}

static size_t piece_bytes(const tz_buffer *b) { return tensor_bytes(b->t->type, b->t->local_dims); }

void tz_buffer_free(tz_buffer *b) {
  if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1) return;
  for (u32 p = 0; b->pieces && p < b->positions; p++)
    if (b->pieces[p]) executor_free(b->on, b->pieces[p], piece_bytes(b));
  mem_free(&mem_system, b->pieces, b->positions * sizeof *b->pieces);
  dev_event_release(b->ready);
  executable_release(b->exe);
  executor_release(b->on);
  mem_free(&mem_system, b, sizeof *b);
}

/* Without pieces. */
static status make(tz_runtime *r, const tz_program *p, const compile_tensor *t, tz_buffer **out) {
  tz_buffer *b = *out = mem_zalloc(&mem_system, sizeof *b);
  if (!b) return status_oom();
  atomic_init(&b->refs, 1);
  b->on = executor_retain(r->on);
  b->exe = executable_retain(p->exe);
  b->t = t;
  b->positions = tz_program_devices(p);
  b->ready = dev_event_create();
  b->pieces = mem_zalloc(&mem_system, b->positions * sizeof *b->pieces);
  return b->ready && b->pieces ? NULL : status_oom();
}

static status make_pieces(tz_buffer *b) {
  for (u32 p = 0; p < b->positions; p++)
    if (!(b->pieces[p] = executor_alloc(b->on, p, piece_bytes(b)))) return status_oom();
  return NULL;
}

static status fill(tz_buffer *b, const char *data) {
  i64 strides[DEV_MAX_RANK];
  executor_array a;
  for (u32 p = 0; data && p < b->positions; p++) {
    size_t at = parts_piece(b->t, p % b->exe->num_partitions, strides, &a);
    RETURN_IF_ERROR(executor_write(b->on, b->pieces[p], 0, &a, data + at));
  }
  return NULL;
}

static status bad_runtime(const tz_runtime *r, const tz_program *p) {
  if (!r || !p) return wrong("a runtime or a program is NULL, or of something freed");
  return r->job ? wrong("a runtime of several processes runs with arrays, not with buffers") : NULL;
}

tz_error *tz_buffer_create(tz_runtime *r, const tz_program *p, uint32_t i, const void *data,
                           tz_buffer **out_buffer) {
  if (!out_buffer) return bad_handle();
  *out_buffer = NULL;
  status bad = bad_runtime(r, p);
  if (bad) return error_out(bad);
  if (i >= p->exe->num_params) return error_out(wrong("there is no parameter %u", i));
  const compile_tensor *t = &p->exe->params[i];
  if (!data && tensor_bytes(t->type, t->global_dims)) return error_out(wrong("the array is NULL"));
  tz_buffer *b;
  bad = make(r, p, t, &b);
  if (!bad) bad = make_pieces(b);
  if (!bad) bad = fill(b, data);
  if (bad) {
    tz_buffer_free(b);
    return error_out(bad);
  }
  dev_event_set(b->ready, NULL);
  *out_buffer = b;
  return NULL;
}

bool tz_buffer_tensor(const tz_buffer *b, tz_tensor *out_tensor) {
  return tensor_put(b ? b->t : NULL, out_tensor);
}

/* ---- reading ---- */

bool tz_buffer_is_ready(const tz_buffer *b) { return !b || dev_event_is_ready(b->ready); }

static status await(tz_buffer *b) {
  if (atomic_load(&b->gone)) return wrong("the buffer was given to a run");
  return status_copy(dev_event_await(b->ready));
}

tz_error *tz_buffer_await(tz_buffer *b) { return b ? error_out(await(b)) : bad_handle(); }

/* Of equal pieces, the first device's stays. */
static status read_pieces(tz_buffer *b, char *data) {
  i64 strides[DEV_MAX_RANK];
  executor_array a;
  RETURN_IF_ERROR(await(b));
  for (u32 p = b->exe->num_partitions; data && p-- > 0;) {
    size_t at = parts_piece(b->t, p, strides, &a);
    RETURN_IF_ERROR(executor_read(b->on, b->pieces[p], 0, &a, data + at));
  }
  return NULL;
}

tz_error *tz_buffer_read(tz_buffer *b, void *data) {
  if (!b) return bad_handle();
  if (!data && tensor_bytes(b->t->type, b->t->global_dims))
    return error_out(wrong("the array is NULL"));
  return error_out(read_pieces(b, data));
}

/* ---- runs ---- */

typedef struct flight {
  executable *exe;
  u32 positions;
  arena arena; /* holds the lists */
  oom_trap trap;
  tz_buffer **in, **out;
  bool *given;    /* by input */
  i32 *result_of; /* by parameter: the result that takes over its memory, or -1 */
  executor_memory **params, **results;
  dev_event **waits;
  u32 *devices;
  executor_host host;
  ffi_run *handlers;
} flight;

static void flight_free(flight *f) {
  for (u32 k = 0; f->in && k < f->exe->num_params; k++) tz_buffer_free(f->in[k]);
  for (u32 k = 0; f->out && k < f->exe->num_results; k++) tz_buffer_free(f->out[k]);
  ffi_run_end(f->handlers);
  executable_release(f->exe);
  arena_deinit(&f->arena);
  mem_free(&mem_system, f, sizeof *f);
}

static void landed(void *user, status error) {
  flight *f = user;
  for (u32 k = 0; k < f->exe->num_results; k++) dev_event_set(f->out[k]->ready, status_copy(error));
  flight_free(f);
}

static bool same_dims(i64s a, i64s b) {
  return a.len == b.len && memcmp(a.data, b.data, a.len * sizeof *a.data) == 0;
}

/* Slices are by partition, alike in all replicas; none: every device has all. */
static bool lies_as(const tz_buffer *b, const executable *e, const compile_tensor *t) {
  size_t n = t->local_dims.len * e->num_partitions;
  if (b->t->type != t->type || b->exe->num_partitions != e->num_partitions ||
      b->exe->num_replicas != e->num_replicas || !same_dims(b->t->global_dims, t->global_dims) ||
      !same_dims(b->t->local_dims, t->local_dims) || !b->t->slice_of != !t->slice_of)
    return false;
  return !n || !t->slice_of || memcmp(b->t->slice_of, t->slice_of, n * sizeof *t->slice_of) == 0;
}

static const char *shown(const compile_tensor *t) {
  return t->sharding.len ? t->sharding.data : "replicated";
}

static status check_input(const tz_runtime *r, const executable *e, tz_buffer *b, u32 k) {
  if (!b) return wrong("input %u is NULL", k);
  if (b->on != r->on) return wrong("input %u belongs to another runtime", k);
  if (lies_as(b, e, &e->params[k])) return NULL;
  return wrong("input %u is %s on %u devices, %s; expected %s on %u, %s", k,
               dtype_infos[b->t->type].name, b->positions, shown(b->t),
               dtype_infos[e->params[k].type].name, e->num_partitions * e->num_replicas,
               shown(&e->params[k]));
}

/* Those that are given are taken at once; after an error they are the caller's again. */
static status take_inputs(const tz_runtime *r, flight *f, tz_buffer *const *inputs,
                          const bool *give) {
  const executable *e = f->exe;
  for (u32 k = 0; k < e->num_params; k++) RETURN_IF_ERROR(check_input(r, e, inputs[k], k));
  for (u32 k = 0; k < e->num_params; k++) {
    f->in[k] = retain(inputs[k]);
    if (!give || !give[k]) continue;
    if (atomic_exchange(&inputs[k]->gone, true)) return wrong("input %u was given before", k);
    f->given[k] = true;
  }
  for (u32 k = 0; k < e->num_params; k++)
    if (!f->given[k] && atomic_load(&inputs[k]->gone))
      return wrong("input %u was given to a run, or is given to this one as well", k);
  return NULL;
}

static void put_back(flight *f) {
  for (u32 k = 0; f->given && k < f->exe->num_params; k++)
    if (f->given[k]) atomic_store(&f->in[k]->gone, false);
}

/* The result's memory is the parameter's, or has a copy of it. */
static status take_over(flight *f, u32 k, tz_buffer *out) {
  tz_buffer *in = f->in[k];
  if (!f->given[k]) {
    RETURN_IF_ERROR(make_pieces(out));
    RETURN_IF_ERROR(status_copy(dev_event_await(in->ready)));
  }
  for (u32 p = 0; p < f->positions; p++) {
    executor_memory *m = f->given[k] ? in->pieces[p] : out->pieces[p];
    if (!f->given[k]) RETURN_IF_ERROR(executor_copy(out->on, m, in->pieces[p], piece_bytes(in)));
    f->params[(size_t)p * f->exe->num_params + k] = m;
  }
  return NULL;
}

static status make_lists(tz_runtime *r, const tz_program *p, flight *f) {
  const executable *e = f->exe;
  for (u32 k = 0; k < e->num_results; k++) {
    i32 from = e->prog->slots[e->prog->result_slot[k]].alias;
    RETURN_IF_ERROR(make(r, p, &e->results[k], &f->out[k]));
    if (from >= 0)
      f->result_of[from] = (i32)k;
    else
      RETURN_IF_ERROR(make_pieces(f->out[k]));
  }
  for (u32 k = 0; k < e->num_params; k++) {
    f->waits[k] = f->in[k]->ready;
    for (u32 d = 0; d < f->positions; d++)
      f->params[(size_t)d * e->num_params + k] = f->in[k]->pieces[d];
    if (f->result_of[k] >= 0) RETURN_IF_ERROR(take_over(f, k, f->out[f->result_of[k]]));
  }
  for (u32 d = 0; d < f->positions; d++) {
    f->devices[d] = d;
    for (u32 k = 0; k < e->num_results; k++) {
      i32 from = e->prog->slots[e->prog->result_slot[k]].alias;
      f->results[(size_t)d * e->num_results + k] =
          from >= 0 ? f->params[(size_t)d * e->num_params + (u32)from] : f->out[k]->pieces[d];
    }
  }
  return NULL;
}

/* Once the executor has it, it may be over at any time: so memory changes hands before. */
static void hand_over(flight *f, bool back) {
  for (u32 k = 0; k < f->exe->num_params; k++) {
    if (f->result_of[k] < 0 || !f->given[k]) continue;
    tz_buffer *in = f->in[k], *out = f->out[f->result_of[k]];
    for (u32 p = 0; p < f->positions; p++) {
      (back ? in : out)->pieces[p] = (back ? out : in)->pieces[p];
      (back ? out : in)->pieces[p] = NULL;
    }
  }
}

static status launch(tz_runtime *r, tz_program *p, flight *f, tz_buffer **outputs) {
  executor_image *image;
  RETURN_IF_ERROR(image_of(r, p, &image));
  status bad = ffi_run_begin(&(ffi_run_args){.program = p->handlers,
                                             .threads = r->handlers,
                                             .num_positions = f->positions,
                                             .devices = f->devices},
                             &f->handlers, &f->host);
  if (!bad) {
    hand_over(f, false);
    for (u32 k = 0; k < f->exe->num_results; k++) outputs[k] = retain(f->out[k]);
    bad = executor_launch(r->on, &(executor_launch_args){.image = image,
                                                         .name = f->exe->name,
                                                         .count = f->positions,
                                                         .devices = f->devices,
                                                         .params = f->params,
                                                         .results = f->results,
                                                         .wait_for = f->waits,
                                                         .num_wait = f->exe->num_params,
                                                         .host = f->host,
                                                         .done = landed,
                                                         .user = f});
    if (bad) hand_over(f, true);
    for (u32 k = 0; bad && k < f->exe->num_results; k++) {
      tz_buffer_free(outputs[k]);
      outputs[k] = NULL;
    }
  }
  executor_image_release(r->on, image);
  return bad;
}

static status begin(tz_runtime *r, tz_program *p, flight *f, tz_buffer *const *inputs,
                    const bool *give, tz_buffer **outputs) {
  const executable *e = f->exe;
  if (setjmp(f->trap.at)) return status_oom();
  f->in = arena_zalloc(&f->arena, (e->num_params + 1) * sizeof *f->in);
  f->out = arena_zalloc(&f->arena, (e->num_results + 1) * sizeof *f->out);
  f->given = arena_zalloc(&f->arena, (e->num_params + 1) * sizeof *f->given);
  f->result_of = ARENA_ARRAY(&f->arena, i32, e->num_params);
  f->params = ARENA_ARRAY(&f->arena, executor_memory *, (size_t)f->positions * e->num_params);
  f->results = ARENA_ARRAY(&f->arena, executor_memory *, (size_t)f->positions * e->num_results);
  f->waits = ARENA_ARRAY(&f->arena, dev_event *, e->num_params);
  f->devices = ARENA_ARRAY(&f->arena, u32, f->positions);
  for (u32 k = 0; k < e->num_params; k++) f->result_of[k] = -1;
  RETURN_IF_ERROR(take_inputs(r, f, inputs, give));
  RETURN_IF_ERROR(make_lists(r, p, f));
  return launch(r, p, f, outputs);
}

tz_error *tz_start(tz_runtime *r, const tz_program *p, tz_buffer *const *inputs, const bool *give,
                   tz_buffer **outputs) {
  status bad = bad_runtime(r, p);
  if (bad) return error_out(bad);
  if ((p->exe->num_params && !inputs) || (p->exe->num_results && !outputs)) return bad_handle();
  for (u32 k = 0; k < p->exe->num_results; k++) outputs[k] = NULL;
  flight *f = mem_zalloc(&mem_system, sizeof *f);
  if (!f) return error_out(status_oom());
  f->exe = executable_retain(p->exe);
  f->positions = tz_program_devices(p);
  arena_init(&f->arena, &mem_system, &f->trap);
  bad = begin(r, (tz_program *)(uintptr_t)p, f, inputs, give, outputs);
  if (!bad) return NULL;
  put_back(f);
  flight_free(f);
  return error_out(bad);
}
