/* For the conformance suite of executors: programs of one parameter and one result on the executor
 * that is `on`, and what the callbacks of a launch have said. */
#ifndef TESTS_CONFORMANCE_H
#define TESTS_CONFORMANCE_H

#include <pthread.h>
#include <stdlib.h>

#include "exec/exec.h"
#include "tests/unit.h"

enum { MOST = 16 };
#define NAME STR("test")
#define AT STR("t.mlir:1:1")

static oom_trap trap;
static executor *on;

/* ---- launches, and what their callbacks said ---- */

typedef struct heard {
  executor_image *image;
  executor_memory *params[MOST], *results[MOST]; /* one each a device */
  size_t bytes;                                  /* of each */
  u32 n, first, count;                           /* devices; of those, the positions that run */
  dev_event *ready[MOST], *done;                 /* set by the callbacks */
  atomic_uint devices, late;                     /* calls of device_done; of those, after done */
  atomic_bool worker;                            /* they were told that they are on one */
  pthread_t launcher;                            /* or this one ran it, within its launch */
} heard;

static inline void on_device(void *user, u32 position, status error) {
  heard *h = user;
  if (executor_on_worker() || pthread_equal(pthread_self(), h->launcher))
    atomic_store(&h->worker, true);
  if (dev_event_is_ready(h->done)) atomic_fetch_add(&h->late, 1);
  atomic_fetch_add(&h->devices, 1);
  dev_event_set(h->ready[position], status_copy(error));
}
static inline void on_done(void *user, status error) {
  dev_event_set(((heard *)user)->done, status_copy(error));
}

static inline const program *finish(prog_builder *b) {
  const program *p = NULL;
  status s = prog_finish(b, &p);
  CHECK(!s);
  return p;
}

/* A program of one parameter and one result of `bytes` bytes each, with input of `first` + device
 * in every word. */
static inline void prepare(heard *h, const program *p, size_t bytes, i32 first) {
  u32 n = program_num_devices(p);
  *h = (heard){.n = n, .count = n, .bytes = bytes, .done = dev_event_create()};
  CHECK(!executor_image_create(on, p, NULL, NULL, &h->image));
  i64 words = (i64)(bytes / 4);
  i32 *in = malloc(bytes);
  for (u32 d = 0; d < h->n; d++) {
    h->ready[d] = dev_event_create();
    h->params[d] = executor_alloc(on, d, bytes);
    h->results[d] = executor_alloc(on, d, bytes);
    for (i64 i = 0; i < words; i++) in[i] = first + (i32)d;
    CHECK(
        !executor_write(on, h->params[d], 0, &(executor_array){DTYPE_s32, {&words, 1}, NULL}, in));
  }
  free(in);
}

static const u32 straight[MOST] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static inline status start_with(heard *h, const u32 *devices, dev_event *wait_for,
                                executor_host host) {
  h->launcher = pthread_self();
  return executor_launch(on, &(executor_launch_args){.image = h->image,
                                                     .devices = devices ? devices : straight,
                                                     .params = h->params,
                                                     .results = h->results,
                                                     .wait_for = &wait_for,
                                                     .num_wait = wait_for ? 1 : 0,
                                                     .host = host,
                                                     .device_done = on_device,
                                                     .done = on_done,
                                                     .user = h});
}

static inline status start(heard *h, const u32 *devices, dev_event *wait_for) {
  return start_with(h, devices, wait_for, (executor_host){0});
}

static inline i32 word_of(executor_memory *m, size_t at) {
  i64 one = 1;
  i32 x = -1;
  CHECK(!executor_read(on, m, 4 * at, &(executor_array){DTYPE_s32, {&one, 1}, NULL}, &x));
  return x;
}

static inline void release(heard *h) {
  executor_image_release(on, h->image);
  for (u32 d = 0; d < h->n; d++) {
    executor_free(on, h->params[d], h->bytes);
    executor_free(on, h->results[d], h->bytes);
    dev_event_release(h->ready[d]);
  }
  dev_event_release(h->done);
}

/* The error's text, to be freed; waits. */
static inline status finished(heard *h) {
  status s = dev_event_await(h->done);
  CHECK(atomic_load(&h->devices) == h->count && atomic_load(&h->late) == 0 &&
        atomic_load(&h->worker));
  for (u32 d = 0; d < h->count; d++) CHECK(dev_event_is_ready(h->ready[h->first + d]));
  return s;
}

/* result = the sum of param over groups of `group` devices */
static inline const program *sum(arena *a, u32 n, u32 group, i64 words) {
  prog_builder *b = prog_begin(a, 1, n);
  u32 p = prog_param(b, DTYPE_s32, (u64)words), r = prog_result(b, DTYPE_s32, (u64)words, -1);
  u32 members[MOST], begin[MOST + 1];
  for (u32 i = 0; i < n; i++) members[i] = i;
  for (u32 g = 0; g <= n / group; g++) begin[g] = g * group;
  prog_collective k = {.kind = COLL_ALL_REDUCE,
                       .n = 1,
                       .in = &p,
                       .out = &r,
                       .num_groups = n / group,
                       .begin = begin,
                       .members = members,
                       .body = {.kind = REDUCE_SUM}};
  prog_add_collective(b, &k, STR("psum"), STR("f.mlir:2:3"));
  return finish(b);
}

#endif
