/* For the tests of exec: programs run on a pool, and waited for. */
#ifndef TESTS_EXEC_H
#define TESTS_EXEC_H

#include "exec/exec.h"

#include <pthread.h>
#include <stdlib.h>

#include "tests/unit.h"

static oom_trap trap;
static exec_pool *pool;

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

/* Runs and waits; the error's text ("" if fine) stays valid until the next call. */
static inline const char *run_image(exec_pool *on, exec_image *im, void **params, void **results) {
  static waiting w;
  u32 n = program_num_devices(exec_image_program(im));
  u32 *devices = malloc(n * sizeof(u32));
  for (u32 i = 0; i < n; i++) devices[i] = i;
  w = (waiting){.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
  exec_launch_args args = {.image = im,
                           .devices = devices,
                           .params = params,
                           .results = results,
                           .device_done = on_device,
                           .done = on_done,
                           .user = &w};
  status s = exec_launch(on, &args);
  CHECK(!s);
  status_free(s);
  pthread_mutex_lock(&w.lock);
  while (!w.done) pthread_cond_wait(&w.cond, &w.lock);
  CHECK(w.devices == n);
  pthread_mutex_unlock(&w.lock);
  free(devices);
  return w.text;
}

static inline exec_image *make_image(const program *p) {
  exec_image *im = NULL;
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
  exec_image *im = make_image(p);
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

/* The body of main: the tests with oneDNN where it is, on two workers, and without it on one. */
static inline int exec_tests(void (*run)(arena *a, u32 threads)) {
  arena a;
  if (setjmp(trap.at)) return 1;
  arena_init(&a, &mem_system, &trap);
  run(&a, 2);
  setenv("TERRAZZO_ONEDNN", "0", 1);
  run(&a, 1);
  arena_deinit(&a);
  return UNIT_END();
}

#endif
