/* The public C API over compile and exec: global arrays in and out. */
#include "terrazzo/terrazzo.h"

#include "api/context.h"
#include "compile/compile.h"
#include "exec/exec.h"

const char *tz_version(void) { return "0.1.0"; }

/* A tz_error is a status, a tz_program an executable, a tz_runtime a pool. */
static status status_of(const tz_error *e) { return (status)(const void *)e; }
static const executable *exe_of(const tz_program *p) { return (const executable *)(const void *)p; }

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

tz_error *tz_compile(const char *source, size_t length, const tz_compile_options *options,
                     tz_program **out_program) {
  static const tz_compile_options none = {0};
  const tz_compile_options *o = options ? options : &none;
  compile_options c = {.file = str_of(o->file),
                       .num_partitions = o->devices,
                       .keep_denormals = !o->flush_denormals,
                       .mesh_overrides = o->meshes,
                       .dump = o->dump ? forward_dump : NULL,
                       .dump_user = (void *)(uintptr_t)o};
  executable *e = NULL;
  if (!out_program) return bad_handle();
  *out_program = NULL;
  if (length && !source) return bad_handle();
  status bad = compile_source((str){length ? source : "", length}, &c, &e);
  if (!bad) *out_program = (tz_program *)(void *)e;
  return error_out(bad);
}

void tz_program_free(tz_program *p) {
  if (p) executable_release((executable *)(void *)p);
}

static size_t bytes_of(dtype type, i64s dims) {
  size_t n = dtype_size(type); /* compile has checked that it fits */
  for (size_t i = 0; i < dims.len; i++) n *= (size_t)dims.data[i];
  return n;
}

static tz_tensor tensor_of(const compile_tensor *t) {
  if (!t) return (tz_tensor){.type = "", .sharding = ""};
  return (tz_tensor){.type = dtype_infos[t->type].name,
                     .element_size = dtype_size(t->type),
                     .rank = (u32)t->global_dims.len,
                     .dims = t->global_dims.data,
                     .local_dims = t->local_dims.data,
                     .sharding = t->sharding.len ? t->sharding.data : "",
                     .bytes = bytes_of(t->type, t->global_dims)};
}

uint32_t tz_program_devices(const tz_program *p) {
  return p ? exe_of(p)->num_partitions * exe_of(p)->num_replicas : 0;
}
uint32_t tz_program_num_params(const tz_program *p) { return p ? exe_of(p)->num_params : 0; }
uint32_t tz_program_num_results(const tz_program *p) { return p ? exe_of(p)->num_results : 0; }
tz_tensor tz_program_param(const tz_program *p, uint32_t i) {
  return tensor_of(i < tz_program_num_params(p) ? &exe_of(p)->params[i] : NULL);
}
tz_tensor tz_program_result(const tz_program *p, uint32_t i) {
  return tensor_of(i < tz_program_num_results(p) ? &exe_of(p)->results[i] : NULL);
}

tz_stats tz_program_stats(const tz_program *p) {
  program_stats s;
  if (!p) return (tz_stats){0};
  program_count(exe_of(p)->prog, &s);
  tz_stats out = {.steps = s.steps, .workspace = s.workspace, .constants = s.constants};
  _Static_assert(COLL_COUNT_ <= COUNT(out.collectives), "room for every kind");
  for (int k = 0; k < COLL_COUNT_; k++)
    if (s.collectives[k])
      out.collectives[out.num_collectives++] = (tz_collective){
          prog_collective_name((prog_collective_kind)k), s.collectives[k], s.collective_bytes[k]};
  return out;
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
  exec_pool *pool = NULL;
  if (!out_runtime) return bad_handle();
  status bad = exec_pool_create(&(exec_pool_options){.threads = threads}, &pool);
  *out_runtime = (tz_runtime *)(void *)pool;
  return error_out(bad);
}

void tz_runtime_free(tz_runtime *r) {
  if (r) exec_pool_destroy((exec_pool *)(void *)r);
}

/* Copies the piece of partition p between the global array and its own memory, row by row. */
static void copy_piece(const compile_tensor *t, u32 p, char *global, char *piece, bool to_piece) {
  size_t rank = t->local_dims.len, row = dtype_size(t->type), rows = 1;
  i64 index[PROG_MAX_DIMS] = {0};
  if (rank) row *= (size_t)t->local_dims.data[rank - 1];
  for (size_t d = 0; d + 1 < rank; d++) rows *= (size_t)t->local_dims.data[d];
  for (size_t r = 0; r < rows && row; r++) {
    size_t at = 0;
    for (size_t d = 0; d < rank; d++) {
      i64 begin = t->slice_of ? t->slice_of[p * rank + d] * t->local_dims.data[d] : 0;
      at = at * (size_t)t->global_dims.data[d] + (size_t)(begin + index[d]);
    }
    at *= dtype_size(t->type);
    if (to_piece)
      memcpy(piece + r * row, global + at, row);
    else
      memcpy(global + at, piece + r * row, row);
    for (size_t d = rank ? rank - 1 : 0; d-- > 0;) {
      if (++index[d] < t->local_dims.data[d]) break;
      index[d] = 0;
    }
  }
}

/* One call of tz_run. Memory of pieces: position-major, parameters then results. */
typedef struct run_state {
  const executable *exe;
  u32 positions;
  arena arena; /* all of it */
  oom_trap trap;
  void **params, **results;
  u32 *devices;
  dev_event *done;
} run_state;

static void *new_piece(run_state *s, const compile_tensor *t) {
  return arena_alloc_aligned(&s->arena, bytes_of(t->type, t->local_dims), 64);
}

/* A parameter that a result takes over is copied into the result's memory. */
static void shard_inputs(run_state *s, const void *const *inputs) {
  const executable *e = s->exe;
  s->params = arena_zalloc(&s->arena, (size_t)s->positions * e->num_params * sizeof *s->params);
  s->results = arena_zalloc(&s->arena, (size_t)s->positions * e->num_results * sizeof *s->results);
  s->devices = ARENA_ARRAY(&s->arena, u32, s->positions);
  for (u32 p = 0; p < s->positions; p++) {
    s->devices[p] = p;
    for (u32 k = 0; k < e->num_results; k++) {
      void *piece = s->results[p * e->num_results + k] = new_piece(s, &e->results[k]);
      i32 from = e->prog->slots[e->prog->result_slot[k]].alias;
      if (from >= 0) s->params[p * e->num_params + (u32)from] = piece;
    }
    for (u32 k = 0; k < e->num_params; k++) {
      void **at = &s->params[p * e->num_params + k];
      if (!*at) *at = new_piece(s, &e->params[k]);
      copy_piece(&e->params[k], p % e->num_partitions, (char *)(uintptr_t)inputs[k], *at, true);
    }
  }
}

static void join_outputs(const run_state *s, void *const *outputs) {
  const executable *e = s->exe;
  for (u32 k = 0; k < e->num_results; k++)
    for (u32 p = e->num_partitions; p-- > 0;) /* of equal pieces, the first device's stays */
      copy_piece(&e->results[k], p, outputs[k], s->results[p * e->num_results + k], false);
}

static void finished(void *user, status error) { dev_event_set(user, status_copy(error)); }

static void released(void *user) { executable_release(user); }

static status launch(exec_pool *pool, run_state *s) {
  exec_image *image;
  executable *e = executable_retain((executable *)(uintptr_t)s->exe);
  status bad = exec_image_create(&mem_system, e->prog, released, e, &image);
  if (bad) {
    executable_release(e);
    return bad;
  }
  bad = exec_launch(pool, &(exec_launch_args){.image = image,
                                              .devices = s->devices,
                                              .params = s->params,
                                              .results = s->results,
                                              .done = finished,
                                              .user = s->done});
  exec_image_release(image);
  return bad ? bad : status_copy(dev_event_await(s->done));
}

static status run(run_state *s, exec_pool *pool, const void *const *inputs, void *const *outputs) {
  if (!(s->done = dev_event_create()) || setjmp(s->trap.at)) return status_oom();
  shard_inputs(s, inputs);
  RETURN_IF_ERROR(launch(pool, s));
  join_outputs(s, outputs);
  return NULL;
}

/* Arrays without elements need no memory. */
static status check_arrays(const char *what, const compile_tensor *t, const void *const *arrays,
                           size_t n) {
  if (n && !arrays) return wrong("%ss are NULL", what);
  for (size_t i = 0; i < n; i++)
    if (!arrays[i] && bytes_of(t[i].type, t[i].global_dims))
      return wrong("%s %zu is NULL", what, i);
  return NULL;
}

tz_error *tz_run(tz_runtime *r, const tz_program *p, const void *const *inputs,
                 void *const *outputs) {
  if (!r || !p) return bad_handle();
  run_state s = {.exe = exe_of(p), .positions = tz_program_devices(p)};
  status bad = check_arrays("input", s.exe->params, inputs, s.exe->num_params);
  if (!bad)
    bad = check_arrays("output", s.exe->results, (const void *const *)outputs, s.exe->num_results);
  if (bad) return error_out(bad);
  arena_init(&s.arena, &mem_system, &s.trap);
  bad = run(&s, (exec_pool *)(void *)r, inputs, outputs);
  arena_deinit(&s.arena);
  dev_event_release(s.done);
  return error_out(bad);
}
