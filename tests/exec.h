/* For the tests of exec: programs run on an executor, and waited for. */
#ifndef TESTS_EXEC_H
#define TESTS_EXEC_H

#include "exec/exec.h"

#include <pthread.h>
#include <stdlib.h>

#include "exec/image.h"
#include "tests/unit.h"

static oom_trap trap;
static executor *pool;

typedef struct waiting {
  pthread_mutex_t lock;
  pthread_cond_t cond;
  bool done;
  u32 devices;
  char text[4096];
} waiting;

static inline void on_device(void *user, u32 position, status error) {
  waiting *w = user;
  (void)position, (void)error;
  pthread_mutex_lock(&w->lock);
  w->devices++;
  pthread_mutex_unlock(&w->lock);
}
static inline void on_done(void *user, status error) {
  waiting *w = user;
  pthread_mutex_lock(&w->lock);
  w->done = true;
  if (error) snprintf(w->text, sizeof w->text, "%s", status_message(error).data);
  pthread_cond_signal(&w->cond);
  pthread_mutex_unlock(&w->lock);
}

/* Arrays of the test's as an executor's memory: by position, then parameter or result. */
typedef struct lent {
  executor *on;
  const program *prog;
  u32 n; /* positions */
  executor_memory **params, **results;
} lent;

static inline lent lend_some(executor *on, const program *p, u32 n, void **params, void **results) {
  lent t = {on, p, n, calloc(n * p->num_params + 1, sizeof(void *)),
            calloc(n * p->num_results + 1, sizeof(void *))};
  for (u32 i = 0; i < n * p->num_params; i++)
    t.params[i] = executor_import(on, i / p->num_params, params[i],
                                  prog_slot_bytes(&p->slots[p->param_slot[i % p->num_params]]));
  for (u32 i = 0; i < n * p->num_results; i++) {
    const prog_slot *s = &p->slots[p->result_slot[i % p->num_results]];
    t.results[i] = s->alias < 0
                       ? executor_import(on, i / p->num_results, results[i], prog_slot_bytes(s))
                       : t.params[i / p->num_results * p->num_params + (u32)s->alias];
  }
  return t;
}
static inline lent lend(executor *on, const program *p, void **params, void **results) {
  return lend_some(on, p, program_num_devices(p), params, results);
}
static inline void take_back(lent *t) {
  const program *p = t->prog;
  u32 n = t->n;
  for (u32 i = 0; i < n * p->num_params; i++) executor_forget(t->on, t->params[i]);
  for (u32 i = 0; i < n * p->num_results; i++)
    if (p->slots[p->result_slot[i % p->num_results]].alias < 0)
      executor_forget(t->on, t->results[i]);
  free(t->params), free(t->results);
}

/* Runs and waits; the error's text ("" if fine) stays valid until the next call. */
static inline const char *run_image(executor *on, executor_image *im, void **params,
                                    void **results) {
  static waiting w;
  u32 n = program_num_devices(im->prog);
  lent t = lend(on, im->prog, params, results);
  u32 *devices = malloc(n * sizeof(u32));
  for (u32 i = 0; i < n; i++) devices[i] = i;
  w = (waiting){.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
  executor_launch_args args = {.image = im,
                               .devices = devices,
                               .params = t.params,
                               .results = t.results,
                               .device_done = on_device,
                               .done = on_done,
                               .user = &w};
  status s = executor_launch(on, &args);
  CHECK(!s);
  status_free(s);
  pthread_mutex_lock(&w.lock);
  while (!w.done) pthread_cond_wait(&w.cond, &w.lock);
  CHECK(w.devices == n);
  pthread_mutex_unlock(&w.lock);
  take_back(&t);
  free(devices);
  return w.text;
}

static inline executor_image *make_image(const program *p) {
  executor_image *im = NULL;
  status s = exec_image_create(NULL, p, NULL, NULL, &im);
  if (s) fprintf(stderr, "%s\n", status_message(s).data);
  CHECK(!s);
  status_free(s);
  return im;
}

static inline const program *finish(prog_builder *b) {
  const program *p = NULL;
  status s = prog_finish(b, &p);
  if (s) fprintf(stderr, "%s\n", status_message(s).data);
  CHECK(!s);
  status_free(s);
  return p;
}

static inline const char *run(prog_builder *b, void **params, void **results) {
  const program *p = finish(b);
  if (!p) return "invalid";
  executor_image *im = make_image(p);
  const char *text = run_image(pool, im, params, results);
  exec_image_release(im);
  return text;
}

#define S STR("test")
#define L STR("t.mlir:1:1")

static inline float noise(u32 *seed) {
  *seed = *seed * 1664525 + 1013904223;
  return (float)(i32)*seed / 2147483648.0f;
}

/* The body of main: the tests on the processors with oneDNN where it is, on two workers, and
 * without it on one; and on the plain executor. */
static inline int exec_tests(void (*run)(arena *a, const exec_options *options)) {
  arena a;
  if (setjmp(trap.at)) return 1;
  arena_init(&a, &mem_system, &trap);
  run(&a, &(exec_options){.kind = "cpu", .threads = 2});
  setenv("TERRAZZO_ONEDNN", "0", 1);
  run(&a, &(exec_options){.kind = "cpu", .threads = 1});
  run(&a, &(exec_options){.kind = "plain"});
  arena_deinit(&a);
  return UNIT_END();
}

/* each device does `trips` (its parameter) rounds of x = psum(x) over its group of two */
static inline prog_builder *trips_program(arena *a, u32 n, u32 group) {
  prog_builder *b = prog_begin(a, 1, n);
  u32 trips = prog_param(b, DTYPE_s32, 1), r = prog_result(b, DTYPE_f32, 1, -1);
  u32 i = prog_work(b, DTYPE_s32, 1), x = prog_work(b, DTYPE_f32, 1),
      y = prog_work(b, DTYPE_f32, 1);
  u32 cond = prog_work(b, DTYPE_pred, 1), top = prog_label(b), end = prog_label(b);
  i32 zero = 0;
  float one = 1;
  prog_add_fill(b, i, &zero, S, L);
  prog_add_fill(b, x, &one, S, L);
  prog_place(b, top);
  prog_loop *l = prog_add_loop(b, 0, NULL, S, L);
  u32 v = vm_load(b, &l->code, DTYPE_s32, prog_loop_in(b, l, i, 0, NULL));
  u32 w = vm_load(b, &l->code, DTYPE_s32, prog_loop_in(b, l, trips, 0, NULL));
  prog_loop_out(b, l, cond, 0, NULL, vm_emit(b, &l->code, VM_lt, DTYPE_pred, v, w, 0));
  prog_add_jump_unless(b, cond, end, S, L);
  u32 *members = malloc(n * 4), *begin = malloc((n / group + 1) * 4);
  for (u32 k = 0; k < n; k++) members[k] = k;
  for (u32 g = 0; g <= n / group; g++) begin[g] = g * group;
  prog_collective k = {.kind = COLL_ALL_REDUCE,
                       .n = 1,
                       .in = &x,
                       .out = &y,
                       .num_groups = n / group,
                       .begin = begin,
                       .members = members,
                       .body = {.kind = REDUCE_SUM}};
  prog_add_collective(b, &k, STR("psum"), STR("loop.mlir:7:9"));
  free(members), free(begin);
  prog_add_move(b, y, x, S, L);
  l = prog_add_loop(b, 0, NULL, S, L);
  v = vm_load(b, &l->code, DTYPE_s32, prog_loop_in(b, l, i, 0, NULL));
  v = vm_emit(b, &l->code, VM_add, DTYPE_s32, v, vm_const_f64(b, &l->code, DTYPE_s32, 1), 0);
  prog_loop_out(b, l, i, 0, NULL, v);
  prog_add_jump(b, top, S, L);
  prog_place(b, end);
  prog_add_move(b, x, r, S, L);
  return b;
}

#endif
