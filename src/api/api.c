/* The public C API over compile and exec: global arrays in and out.
 *
 * The functions of terrazzo/terrazzo.h: tz_compile makes a program, tz_runtime_create a place to
 * run it, tz_run cuts the caller's arrays into each device's piece, runs, and joins the pieces of
 * the results. Programs and runtimes may be shared by threads: a call of tz_run keeps all that it
 * makes in a run_state of its own, but for the program's image (images.h). */
#include "terrazzo/terrazzo.h"

#include "api/api.h"
#include "api/context.h"
#include "api/images.h"
#include "api/sized.h"
#include "api/parts.h"
#include "device/copy.h"
#include "net/relay.h"
#include "shard/op_priorities.h"

const char *tz_version(void) { return TZ_VERSION_STRING; }

/* A tz_error is a status. */
static status status_of(const tz_error *e) { return (status)(const void *)e; }
static const executable *exe_of(const tz_program *p) { return p->exe; }

int tz_error_code(const tz_error *e) { return (int)status_get_code(status_of(e)); }
const char *tz_error_message(const tz_error *e) { return status_message(status_of(e)).data; }
void tz_error_free(tz_error *e) { status_free(status_of(e)); }
void tz_free(void *p) { mem_free(&mem_system, p, 0); }

/* ---- compiling ---- */

static void forward_dump(void *user, str stage, str text) {
  const tz_compile_options *o = user;
  char name[64];
  size_t n = min_size(stage.len, sizeof name - 1);
  memcpy(name, stage.data, n);
  name[n] = 0;
  o->dump(o->dump_user, name, text.data, text.len);
}

/* What a compilation's context is given before it reads the source. */
typedef struct extension {
  const tz_compile_options *options;
  const tz_context *from; /* whose ops are known too; NULL: nobody's */
} extension;

static bool extend(void *user, ir_ctx *c) {
  const extension *e = user;
  const tz_compile_options *o = e->options;
  if (e->from && !api_register_again(e->from, c)) return false;
  if (o->dialects && !api_load_dialects((void *)(uintptr_t)o->dialects, c)) return false;
  if (!o->op_priorities) return true;
  str text = arena_str(ir_arena(c), str_of(o->op_priorities));
  return op_priorities_set(c, STR("op_priorities"), text);
}

/* *out_program is NULL unless the program is made, whatever goes wrong. */
static tz_error *compile(str source, const tz_compile_options *options, const tz_context *from,
                         tz_program **out_program) {
  tz_compile_options own = {0}, *o = &own;
  extension e = {o, from};
  status bad = options ? SIZED_READ(tz_compile_options, options, &own) : NULL;
  if (bad) return error_out(bad);
  compile_options c = {.file = str_of(o->file),
                       .num_partitions = o->devices,
                       .keep_denormals = !o->flush_denormals,
                       .mesh_overrides = o->meshes,
                       .shapes = o->shapes,
                       .choose_from = o->choose_from,
                       .dump = o->dump ? forward_dump : NULL,
                       .dump_user = o,
                       .evaluate = exec_evaluate};
  c.extend = extend;
  c.extend_user = &e;
  tz_program *p = mem_zalloc(&mem_system, sizeof *p);
  if (!p) return error_out(status_oom());
  bad = compile_source(source, &c, &p->exe);
  if (bad) {
    mem_free(&mem_system, p, sizeof *p);
    return error_out(bad);
  }
  images_init(&p->images);
  *out_program = p;
  return NULL;
}

tz_error *tz_compile(const char *source, size_t length, const tz_compile_options *options,
                     tz_program **out_program) {
  if (!out_program) return bad_handle();
  *out_program = NULL;
  if (length && !source) return bad_handle();
  return compile((str){length ? source : "", length}, options, NULL, out_program);
}

/* By way of bytecode, in which ops and their locations stay what they are; the line changes what it
 * compiles, and works in a context of its own. */
tz_error *tz_compile_module(tz_module *m, const tz_compile_options *options,
                            tz_program **out_program) {
  char *bytes;
  size_t length;
  if (!out_program) return bad_handle();
  *out_program = NULL;
  tz_error *e = tz_module_write_bytecode(m, NULL, &bytes, &length);
  if (e) return e;
  e = compile((str){bytes, length}, options, tz_module_context(m), out_program);
  tz_free(bytes);
  return e;
}

void tz_program_free(tz_program *p) {
  if (!p) return;
  images_deinit(&p->images);
  ffi_program_release(p->handlers);
  executable_release(p->exe);
  mem_free(&mem_system, p, sizeof *p);
}

bool tensor_put(const compile_tensor *t, tz_tensor *out) {
  tz_tensor own = {.type = "", .sharding = ""};
  if (t)
    own = (tz_tensor){.type = dtype_infos[t->type].name,
                      .element_size = dtype_size(t->type),
                      .rank = (u32)t->global_dims.len,
                      .dims = t->global_dims.data,
                      .local_dims = t->local_dims.data,
                      .sharding = t->sharding.len ? t->sharding.data : "",
                      .bytes = tensor_bytes(t->type, t->global_dims)};
  return out && sized_write(out, &own, sizeof own) && t;
}

uint32_t tz_program_devices(const tz_program *p) {
  return p ? exe_of(p)->num_partitions * exe_of(p)->num_replicas : 0;
}
uint32_t tz_program_num_params(const tz_program *p) { return p ? exe_of(p)->num_params : 0; }
uint32_t tz_program_num_results(const tz_program *p) { return p ? exe_of(p)->num_results : 0; }
bool tz_program_param(const tz_program *p, uint32_t i, tz_tensor *out_tensor) {
  return tensor_put(i < tz_program_num_params(p) ? &exe_of(p)->params[i] : NULL, out_tensor);
}
bool tz_program_result(const tz_program *p, uint32_t i, tz_tensor *out_tensor) {
  return tensor_put(i < tz_program_num_results(p) ? &exe_of(p)->results[i] : NULL, out_tensor);
}

static u64 local_bytes(const compile_tensor *t, u32 n) {
  u64 sum = 0;
  for (u32 i = 0; i < n; i++) sum += tensor_bytes(t[i].type, t[i].local_dims);
  return sum;
}

bool tz_program_stats(const tz_program *p, tz_stats *out_stats) {
  program_stats s;
  program_cost cost;
  if (!out_stats) return false;
  if (!p) return sized_write(out_stats, NULL, sizeof *out_stats), false;
  const executable *e = exe_of(p);
  program_count(e->prog, &s);
  program_find_cost(e->prog, &cost);
  tz_stats out = {.steps = s.steps,
                  .workspace = s.workspace,
                  .constants = s.constants,
                  .params = local_bytes(e->params, e->num_params),
                  .results = local_bytes(e->results, e->num_results),
                  .flops = cost.flops,
                  .transcendentals = cost.transcendentals,
                  .bytes = cost.bytes};
  _Static_assert(COLL_COUNT_ <= COUNT(out.collectives), "room for every kind");
  for (int k = 0; k < COLL_COUNT_; k++)
    if (s.collectives[k])
      out.collectives[out.num_collectives++] = (tz_collective){
          prog_collective_name((prog_collective_kind)k), s.collectives[k], s.collective_bytes[k]};
  return sized_write(out_stats, &out, sizeof out);
}

char *tz_program_text(const tz_program *p) {
  buf b;
  if (!p) return NULL;
  buf_init(&b, &mem_system);
  program_dump(exe_of(p)->prog, &b);
  buf_char(&b, 0);
  if (buf_ok(&b)) return b.data;
  buf_deinit(&b);
  return NULL;
}

/* ---- running ---- */

tz_error *tz_runtime_create(uint32_t threads, tz_runtime **out_runtime) {
  return tz_runtime_create_on(NULL, threads, out_runtime);
}

tz_error *tz_runtime_create_on(const char *kind, uint32_t threads, tz_runtime **out_runtime) {
  if (!out_runtime) return bad_handle();
  *out_runtime = NULL;
  tz_runtime *r = mem_zalloc(&mem_system, sizeof *r);
  if (!r) return error_out(status_oom());
  status bad = exec_create(&(exec_options){.kind = kind, .threads = threads}, &r->on);
  if (bad) {
    mem_free(&mem_system, r, sizeof *r);
    return error_out(bad);
  }
  images_init(&r->images);
  r->handlers = ffi_threads_create();
  if (!r->handlers) {
    tz_runtime_free(r);
    return error_out(status_oom());
  }
  *out_runtime = r;
  return NULL;
}

void tz_runtime_free(tz_runtime *r) {
  if (!r) return;
  executor_stop(r->on);
  relay_destroy(r->job);
  images_deinit(&r->images);
  ffi_threads_destroy(r->handlers);
  executor_release(r->on);
  mem_free(&mem_system, r, sizeof *r);
}

tz_error *api_join(tz_runtime *r, wire *w) {
  r->rank = w->rank;
  r->size = w->size;
  return error_out(relay_create(NULL, w, NULL, &r->job));
}

/* One call of tz_run, on its thread. Memory of pieces: position-major, parameters then results. A
 * position is a partition of a replica; replicas take the same pieces. Zeroed lists let free_pieces
 * run after a failure anywhere. */
typedef struct run_state {
  tz_runtime *runtime;
  tz_program *program;
  const executable *exe;
  executor *on;
  u32 positions;
  u32 first, count; /* those that run here */
  u64 id;           /* of the launch, the next one is ours too */
  arena arena;      /* holds the arrays */
  oom_trap trap;
  executor_memory **params, **results;
  i32 *result_of; /* by parameter: the result that takes over its memory, or -1 */
  u32 *devices;
  dev_event *done;
  executor_host host;
  ffi_run *handlers; /* NULL: the program calls none */
} run_state;

static executor_memory **param_at(const run_state *s, u32 p, u32 k) {
  return &s->params[(size_t)p * s->exe->num_params + k];
}
static executor_memory **result_at(const run_state *s, u32 p, u32 k) {
  return &s->results[(size_t)p * s->exe->num_results + k];
}

static status new_piece(run_state *s, u32 p, const compile_tensor *t, executor_memory **out) {
  *out = executor_alloc(s->on, s->devices[p], tensor_bytes(t->type, t->local_dims));
  return *out ? NULL : status_oom();
}

/* The program says which results take over a parameter's memory (donation); both then name one
 * piece. */
static void make_arrays(run_state *s) {
  const executable *e = s->exe;
  s->params = arena_zalloc(&s->arena, (size_t)s->positions * e->num_params * sizeof *s->params);
  s->results = arena_zalloc(&s->arena, (size_t)s->positions * e->num_results * sizeof *s->results);
  s->devices = ARENA_ARRAY(&s->arena, u32, s->positions);
  s->result_of = ARENA_ARRAY(&s->arena, i32, e->num_params);
  for (u32 p = 0; p < s->positions; p++) s->devices[p] = p;
  for (u32 k = 0; k < e->num_params; k++) s->result_of[k] = -1;
  for (u32 k = 0; k < e->num_results; k++) {
    i32 from = e->prog->slots[e->prog->result_slot[k]].alias;
    if (from >= 0) s->result_of[from] = (i32)k;
  }
}

/* A parameter that a result takes over is copied into the result's memory, so the caller's array is
 * never written. Results are allocated first, for this to have somewhere to go. */
static status shard_inputs(run_state *s, const void *const *inputs) {
  const executable *e = s->exe;
  i64 strides[DEV_MAX_RANK];
  executor_array a;
  for (u32 p = s->first; p < s->first + s->count; p++) {
    for (u32 k = 0; k < e->num_results; k++)
      RETURN_IF_ERROR(new_piece(s, p, &e->results[k], result_at(s, p, k)));
    for (u32 k = 0; k < e->num_params; k++) {
      if (s->result_of[k] >= 0)
        *param_at(s, p, k) = *result_at(s, p, (u32)s->result_of[k]);
      else
        RETURN_IF_ERROR(new_piece(s, p, &e->params[k], param_at(s, p, k)));
      size_t at = parts_piece(&e->params[k], p % e->num_partitions, strides, &a);
      if (inputs[k]) /* NULL: no elements */
        RETURN_IF_ERROR(
            executor_write(s->on, *param_at(s, p, k), 0, &a, (const char *)inputs[k] + at));
    }
  }
  return NULL;
}

static status join_outputs(const run_state *s, void *const *outputs) {
  const executable *e = s->exe;
  i64 strides[DEV_MAX_RANK];
  executor_array a;
  if (s->runtime->job)
    return parts_join_outputs(&(parts_results){.on = s->on,
                                               .job = s->runtime->job,
                                               .id = s->id + 1,
                                               .exe = e,
                                               .size = s->runtime->size,
                                               .positions = s->positions,
                                               .first = s->first,
                                               .count = s->count,
                                               .results = s->results},
                              outputs);
  for (u32 k = 0; k < e->num_results; k++)
    for (u32 p = e->num_partitions; p-- > 0;) { /* of equal pieces, the first device's stays */
      size_t at = parts_piece(&e->results[k], p, strides, &a);
      if (outputs[k])
        RETURN_IF_ERROR(executor_read(s->on, *result_at(s, p, k), 0, &a, (char *)outputs[k] + at));
    }
  return NULL;
}

/* Shared pieces are freed once, as results. result_of is NULL where memory ran out before the
 * lists. */
static void free_pieces(run_state *s) {
  const executable *e = s->exe;
  for (u32 p = 0; s->result_of && p < s->positions; p++) {
    for (u32 k = 0; k < e->num_params; k++)
      if (s->result_of[k] < 0 && *param_at(s, p, k))
        executor_free(s->on, *param_at(s, p, k),
                      tensor_bytes(e->params[k].type, e->params[k].local_dims));
    for (u32 k = 0; k < e->num_results; k++)
      if (*result_at(s, p, k))
        executor_free(s->on, *result_at(s, p, k),
                      tensor_bytes(e->results[k].type, e->results[k].local_dims));
  }
}

static void finished(void *user, status error) { dev_event_set(user, status_copy(error)); }

/* The call waits here; buffers.c has runs that do not. */
static status launch(run_state *s) {
  executor_image *image;
  RETURN_IF_ERROR(image_of(s->runtime, s->program, &image));
  status bad = ffi_run_begin(&(ffi_run_args){.program = s->program->handlers,
                                             .threads = s->runtime->handlers,
                                             .num_positions = s->positions,
                                             .devices = s->devices,
                                             .host = s->host},
                             &s->handlers, &s->host);
  if (!bad)
    bad = executor_launch(s->on, &(executor_launch_args){.image = image,
                                                         .name = s->exe->name,
                                                         .first = s->first,
                                                         .count = s->count,
                                                         .transport = s->runtime->job,
                                                         .id = s->id,
                                                         .devices = s->devices + s->first,
                                                         .params = param_at(s, s->first, 0),
                                                         .results = result_at(s, s->first, 0),
                                                         .host = s->host,
                                                         .done = finished,
                                                         .user = s->done});
  executor_image_release(s->on, image);
  return bad ? bad : status_copy(dev_event_await(s->done));
}

/* What jumps here for lack of memory has left pieces behind, which the caller frees as after any
 * error. */
static status run(run_state *s, const void *const *inputs, void *const *outputs) {
  if (!(s->done = dev_event_create()) || setjmp(s->trap.at)) return status_oom();
  make_arrays(s);
  RETURN_IF_ERROR(shard_inputs(s, inputs));
  RETURN_IF_ERROR(launch(s));
  return join_outputs(s, outputs);
}

/* Arrays without elements need no memory. */
static status check_arrays(const char *what, const compile_tensor *t, const void *const *arrays,
                           size_t n) {
  if (n && !arrays) return wrong("%ss are NULL", what);
  for (size_t i = 0; i < n; i++)
    if (!arrays[i] && tensor_bytes(t[i].type, t[i].global_dims))
      return wrong("%s %zu is NULL", what, i);
  return NULL;
}

tz_error *tz_register_handler(const char *name, void *handler) {
  XLA_FFI_Handler_Bundle b = {0};
  if (!name) return bad_handle();
  memcpy(&b.execute, &handler, sizeof handler);
  return error_out(ffi_register(str_of(name), STR("terrazzo"), &b));
}

tz_error *tz_run(tz_runtime *r, const tz_program *p, const void *const *inputs,
                 void *const *outputs) {
  return api_run(r, p, inputs, outputs, NULL);
}

tz_error *api_run(tz_runtime *r, const tz_program *p, const void *const *inputs,
                  void *const *outputs, const executor_host *host) {
  if (!r || !p) return bad_handle();
  run_state s = {.runtime = r,
                 .program = (tz_program *)(uintptr_t)p,
                 .exe = exe_of(p),
                 .on = r->on,
                 .positions = tz_program_devices(p)};
  if (host) s.host = *host;
  s.id = atomic_fetch_add(&r->launches, 2);
  s.count = s.positions;
  status bad = check_arrays("input", s.exe->params, inputs, s.exe->num_params);
  if (!bad)
    bad = check_arrays("output", s.exe->results, (const void *const *)outputs, s.exe->num_results);
  if (!bad && r->job) bad = parts_find(r->rank, r->size, s.positions, &s.first, &s.count);
  if (bad) return error_out(bad);
  arena_init(&s.arena, &mem_system, &s.trap);
  bad = run(&s, inputs, outputs);
  free_pieces(&s);
  arena_deinit(&s.arena);
  ffi_run_end(s.handlers);
  dev_event_release(s.done);
  return error_out(bad);
}
