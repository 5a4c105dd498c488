/* Programs of many devices on the pool: collectives, groups that wait for one another, launches at
 * once. */
#include <stdatomic.h>

#include "base/os.h"
#include "tests/exec.h"

/* How many elements are not what the groups should have made of the parameters. */
static int wrong_collectives(u32 n, u32 count, u32 half, void **results) {
  int bad = 0;
  for (u32 d = 0; d < n; d++) {
    float *const *r = (float *const *)&results[6 * d];
    u32 g = d / half;
    for (u32 i = 0; i < count; i++) {
      float sum = 0, scat = 0;
      for (u32 m = g * half; m < (g + 1) * half; m++) sum += (float)(m * 10 + i % 7);
      for (u32 m = 0; m < n; m++) scat += (float)(m + d * count + i);
      bad += r[0][i] != sum || r[2][i] != scat;
      bad += r[4][i] != (d ? (float)((d - 1) * 10 + i % 7) : 0.0f);
      for (u32 m = 0; m < n; m++) bad += r[1][m * count + i] != (float)(m * 10 + i % 7);
      for (u32 m = 0; m < n; m++) bad += r[3][m * count + i] != (float)(m + d * count + i);
    }
    bad += *(u32 *)results[6 * d + 5] != d;
  }
  return bad;
}

/* All-reduce in groups of half of the devices, all-gather, reduce-scatter, all-to-all, a chain and
 * the device's own number. */
static prog_builder *collectives_program(arena *a, u32 n, u32 count, u32 half) {
  prog_builder *b = prog_begin(a, 1, n);
  u32 big = count * n, groups = n / half;
  u32 p = prog_param(b, DTYPE_f32, count), pb = prog_param(b, DTYPE_f32, big);
  u32 r_sum = prog_result(b, DTYPE_f32, count, -1), r_all = prog_result(b, DTYPE_f32, big, -1);
  u32 r_scat = prog_result(b, DTYPE_f32, count, -1), r_a2a = prog_result(b, DTYPE_f32, big, -1);
  u32 r_perm = prog_result(b, DTYPE_f32, count, -1), r_id = prog_result(b, DTYPE_u32, 1, -1);
  u32 *members = ARENA_ARRAY(a, u32, n), *begin = ARENA_ARRAY(a, u32, groups + 1);
  u32 *pairs = ARENA_ARRAY(a, u32, 2 * n), whole[] = {0, n};
  i64 one = 1, c = count;
  for (u32 i = 0; i < n; i++) members[i] = i, pairs[2 * i] = i, pairs[2 * i + 1] = i + 1;
  for (u32 g = 0; g <= groups; g++) begin[g] = g * half;
  prog_collective k = {.kind = COLL_ALL_REDUCE, .n = 1, .in = &p, .out = &r_sum};
  k.num_groups = groups, k.begin = begin, k.members = members, k.body.kind = REDUCE_SUM;
  prog_add_collective(b, &k, S, L);
  k = (prog_collective){.kind = COLL_ALL_GATHER, .n = 1, .in = &p, .out = &r_all};
  k.num_groups = 1, k.begin = whole, k.members = members;
  k.outer = &one, k.size = &c, k.inner = &one;
  prog_add_collective(b, &k, S, L);
  k.kind = COLL_REDUCE_SCATTER, k.in = &pb, k.out = &r_scat, k.body.kind = REDUCE_SUM;
  prog_add_collective(b, &k, S, L);
  k = (prog_collective){.kind = COLL_ALL_TO_ALL, .n = 1, .in = &pb, .out = &r_a2a};
  k.num_groups = 1, k.begin = whole, k.members = members;
  k.rank = 2, k.dims[0] = n, k.dims[1] = count, k.split_dim = 0, k.concat_dim = 1;
  prog_add_collective(b, &k, S, L);
  k = (prog_collective){.kind = COLL_PERMUTE, .n = 1, .in = &p, .out = &r_perm};
  k.num_pairs = n - 1, k.pairs = pairs;
  prog_add_collective(b, &k, S, L);
  prog_add_partition_id(b, r_id, S, L);
  return b;
}

static void test_collectives(arena *a, u32 n, u32 count) {
  u32 half = n / 2 ? n / 2 : 1, big = count * n;
  prog_builder *b = collectives_program(a, n, count, half);
  void **params = malloc(n * 2 * sizeof(void *)), **results = malloc(n * 6 * sizeof(void *));
  for (u32 d = 0; d < n; d++) {
    float *x = malloc(count * 4), *y = malloc(big * 4);
    for (u32 i = 0; i < count; i++) x[i] = (float)(d * 10 + i % 7);
    for (u32 i = 0; i < big; i++) y[i] = (float)(d + i);
    params[2 * d] = x, params[2 * d + 1] = y;
    for (u32 i = 0; i < 6; i++) results[6 * d + i] = malloc(big * 4);
  }
  CHECK(!*run(b, params, results));
  CHECK(wrong_collectives(n, count, half, results) == 0);
  for (u32 d = 0; d < n; d++) {
    free(params[2 * d]), free(params[2 * d + 1]);
    for (u32 i = 0; i < 6; i++) free(results[6 * d + i]);
  }
  free(params), free(results);
}

static void test_trips(arena *a) {
  i32 trips[] = {1, 1, 2, 2, 3, 3, 9, 9};
  float out[8];
  void *params[8], *results[8];
  for (int i = 0; i < 8; i++) params[i] = &trips[i], results[i] = &out[i];
  CHECK(!*run(trips_program(a, 8, 2), params, results));
  for (int i = 0; i < 8; i++) CHECK(out[i] == (float)(1 << trips[i]));
}

static void test_deadlock(arena *a) {
  i32 trips[] = {1, 1, 2, 1, 3, 3, 9, 9};
  float out[8];
  void *params[8], *results[8];
  for (int i = 0; i < 8; i++) params[i] = &trips[i], results[i] = &out[i];
  u64 before = os_now_ns();
  const char *text = run(trips_program(a, 8, 2), params, results);
  CHECK(os_now_ns() - before < 1000000000ull);
  CHECK(strstr(text, "deadlock") && strstr(text, "device 2 waits at all_reduce \"psum\"") &&
        strstr(text, "loop.mlir:7:9") && strstr(text, "3 (finished)"));
  CHECK(!strstr(text, "device 4"));
  /* the pool is as good as before */
  trips[2] = 1;
  CHECK(!*run(trips_program(a, 8, 2), params, results));
}

static void test_poisoned(arena *a) {
  i32 trips[] = {1, 1};
  float out[2];
  const program *p = finish(trips_program(a, 2, 2));
  executor_image *im = make_image(p);
  lent t = lend(pool, p, (void *[]){&trips[0], &trips[1]}, (void *[]){&out[0], &out[1]});
  dev_event *e = dev_event_create();
  waiting w = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
  executor_launch_args args = {.image = im,
                               .devices = (u32[]){5, 9},
                               .params = t.params,
                               .results = t.results,
                               .wait_for = &e,
                               .num_wait = 1,
                               .device_done = on_device,
                               .done = on_done,
                               .user = &w};
  status s = executor_launch(pool, &args);
  CHECK(!s);
  dev_event_set(e, status_make(STATUS_ABORTED, "input went wrong"));
  pthread_mutex_lock(&w.lock);
  while (!w.done) pthread_cond_wait(&w.cond, &w.lock);
  pthread_mutex_unlock(&w.lock);
  CHECK(strcmp(w.text, "input went wrong") == 0 && w.devices == 2);
  take_back(&t);
  dev_event_release(e);
  exec_image_release(im);
}

typedef struct hammer {
  executor_image *im;
  int bad;
} hammer;
static void *hammer_main(void *arg) {
  hammer *h = arg;
  i32 trips[8];
  float out[8];
  void *params[8], *results[8];
  for (int i = 0; i < 8; i++) trips[i] = 3, params[i] = &trips[i], results[i] = &out[i];
  lent t = lend(pool, h->im->prog, params, results);
  for (int i = 0; i < 1000; i++) {
    waiting w = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    executor_launch_args args = {.image = h->im,
                                 .devices = (u32[]){0, 1, 2, 3, 4, 5, 6, 7},
                                 .params = t.params,
                                 .results = t.results,
                                 .done = on_done,
                                 .user = &w};
    status s = executor_launch(pool, &args);
    h->bad += s != NULL;
    pthread_mutex_lock(&w.lock);
    while (!w.done) pthread_cond_wait(&w.cond, &w.lock);
    pthread_mutex_unlock(&w.lock);
    for (int k = 0; k < 8; k++) h->bad += out[k] != 512;
  }
  take_back(&t);
  return NULL;
}
static void test_two_threads(arena *a) {
  hammer h[2];
  pthread_t t[2];
  for (int i = 0; i < 2; i++) {
    h[i] = (hammer){make_image(finish(trips_program(a, 8, 8))), 0};
    pthread_create(&t[i], NULL, hammer_main, &h[i]);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(t[i], NULL);
    CHECK(h[i].bad == 0);
    exec_image_release(h[i].im);
  }
}

static void run_tests(arena *a, const exec_options *options) {
  status s = exec_create(options, &pool);
  CHECK(!s);
  test_collectives(a, 8, 5000);
  test_collectives(a, 1024, 3);
  test_trips(a);
  test_deadlock(a);
  test_poisoned(a);
  test_two_threads(a);
  executor_release(pool);
}

int main(void) { return exec_tests(run_tests); }
