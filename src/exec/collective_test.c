/* Programs of many devices on the pool: collectives, groups that wait for one another, launches at
 * once. */
#include <stdatomic.h>

#include "base/os.h"
#include "exec/hub.h"
#include "tests/exec.h"

/* ---- a launch in two parts, on executors that a hub connects ---- */

static executor *second; /* NULL: launches are whole */
static executor_transport *hub;
static u32 cut; /* the first position of the second part */

typedef struct part {
  waiting w;
  lent memory;
  executor_image *im;
} part;

static void start_part(part *t, executor *on, const program *p, u32 first, u32 n, u64 id,
                       void **params, void **results, dev_event *wait_for) {
  static const u32 devices[] = {0, 1, 2, 3, 4, 5, 6, 7};
  *t =
      (part){{.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER},
             lend_some(on, p, n, params + first * p->num_params, results + first * p->num_results)};
  CHECK(!executor_image_create(on, p, NULL, NULL, &t->im));
  CHECK(!executor_launch(on, &(executor_launch_args){.image = t->im,
                                                     .first = first,
                                                     .count = n,
                                                     .transport = hub,
                                                     .id = id,
                                                     .devices = devices,
                                                     .params = t->memory.params,
                                                     .results = t->memory.results,
                                                     .wait_for = &wait_for,
                                                     .num_wait = wait_for != NULL,
                                                     .device_done = on_device,
                                                     .done = on_done,
                                                     .user = &t->w}));
}

static void end_part(part *t, u32 n) {
  pthread_mutex_lock(&t->w.lock);
  while (!t->w.done) pthread_cond_wait(&t->w.cond, &t->w.lock);
  CHECK(t->w.devices == n);
  pthread_mutex_unlock(&t->w.lock);
  take_back(&t->memory);
  executor_image_release(t->memory.on, t->im);
}

/* Both parts' error; "" if fine. */
static const char *run_parts(const program *p, void **params, void **results, dev_event *gate) {
  static u64 id;
  static part t[2];
  u32 n = program_num_devices(p);
  id++;
  start_part(&t[0], pool, p, 0, cut, id, params, results, NULL);
  start_part(&t[1], second, p, cut, n - cut, id, params, results, gate);
  if (gate) dev_event_set(gate, status_make(STATUS_ABORTED, "input went wrong"));
  end_part(&t[0], cut);
  end_part(&t[1], n - cut);
  CHECK(!gate || strcmp(t[0].w.text, t[1].w.text) == 0);
  return t[0].w.text;
}

static const char *run_somehow(prog_builder *b, void **params, void **results) {
  return second ? run_parts(finish(b), params, results, NULL) : run(b, params, results);
}

/* What device d has at i; sums depend on their order. */
static float own(u32 d, u32 i) { return (float)(d * 10 + i % 7) * 0.1f; }

/* How many elements are not what the groups should have made of the parameters. */
static int wrong_collectives(u32 n, u32 count, u32 half, void **results) {
  int bad = 0;
  for (u32 d = 0; d < n; d++) {
    float *const *r = (float *const *)&results[6 * d];
    u32 g = d / half;
    for (u32 i = 0; i < count; i++) {
      float sum = 0, scat = 0;
      for (u32 m = g * half; m < (g + 1) * half; m++) sum += own(m, i);
      for (u32 m = 0; m < n; m++) scat += (float)(m + d * count + i);
      bad += r[0][i] != sum || r[2][i] != scat;
      bad += r[4][i] != (d ? own(d - 1, i) : 0.0f);
      for (u32 m = 0; m < n; m++) bad += r[1][m * count + i] != own(m, i);
      for (u32 m = 0; m < n; m++) bad += r[3][m * count + i] != (float)(m + d * count + i);
    }
    bad += *(u32 *)results[6 * d + 5] != d;
  }
  return bad;
}

/* All-reduce in groups of `half` devices, all-gather, reduce-scatter, all-to-all, a chain and
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
  u32 half = n > 2 ? n / 2 : n, big = count * n;
  prog_builder *b = collectives_program(a, n, count, half);
  void **params = malloc(n * 2 * sizeof(void *)), **results = malloc(n * 6 * sizeof(void *));
  for (u32 d = 0; d < n; d++) {
    float *x = malloc(count * 4), *y = malloc(big * 4);
    for (u32 i = 0; i < count; i++) x[i] = own(d, i);
    for (u32 i = 0; i < big; i++) y[i] = (float)(d + i);
    params[2 * d] = x, params[2 * d + 1] = y;
    for (u32 i = 0; i < 6; i++) results[6 * d + i] = malloc(big * 4);
  }
  CHECK(!*run_somehow(b, params, results));
  CHECK(wrong_collectives(n, count, half, results) == 0);
  for (u32 d = 0; d < n; d++) {
    free(params[2 * d]), free(params[2 * d + 1]);
    for (u32 i = 0; i < 6; i++) free(results[6 * d + i]);
  }
  free(params), free(results);
}

/* Slabs of `size` elements, `outer` of each of 8 devices. */
static void test_gather(arena *a, u32 outer, u32 size) {
  enum { DEVICES = 8 };
  u32 members[DEVICES], whole[] = {0, DEVICES}, count = outer * size, bad = 0;
  prog_builder *b = prog_begin(a, 1, DEVICES);
  u32 p = prog_param(b, DTYPE_f32, count);
  u32 r = prog_result(b, DTYPE_f32, DEVICES * count, -1);
  void *params[DEVICES], *results[DEVICES];
  i64 of_outer = outer, of_size = size, one = 1;
  prog_collective k = {.kind = COLL_ALL_GATHER, .n = 1, .in = &p, .out = &r};
  k.num_groups = 1, k.begin = whole, k.members = members;
  k.outer = &of_outer, k.size = &of_size, k.inner = &one;
  for (u32 d = 0; d < DEVICES; d++) {
    float *x = params[d] = malloc(count * 4);
    members[d] = d;
    for (u32 i = 0; i < count; i++) x[i] = (float)(d * count + i);
    results[d] = malloc(DEVICES * count * 4);
  }
  prog_add_collective(b, &k, S, L);
  CHECK(!*run_somehow(b, params, results));
  for (u32 d = 0; d < DEVICES; d++) {
    const float *at = results[d];
    for (u32 o = 0; o < outer; o++)
      for (u32 m = 0; m < DEVICES; m++)
        for (u32 i = 0; i < size; i++) bad += *at++ != (float)(m * count + o * size + i);
    free(params[d]), free(results[d]);
  }
  CHECK(!bad);
}

static void test_gathers(arena *a) {
  test_gather(a, 3001, 1);
  test_gather(a, 700, 48); /* rows of tiles, and some that are left */
  test_gather(a, 5, 1023);
  test_gather(a, 5, 1024);
  test_gather(a, 3, 2500);
  test_gather(a, 160, 512); /* past the caches */
}

static void test_trips(arena *a) {
  i32 trips[] = {1, 1, 2, 2, 3, 3, 9, 9};
  float out[8];
  void *params[8], *results[8];
  for (int i = 0; i < 8; i++) params[i] = &trips[i], results[i] = &out[i];
  CHECK(!*run_somehow(trips_program(a, 8, 2), params, results));
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

/* One part's failure is the other's. */
static void test_failed_part(arena *a) {
  i32 trips[] = {1, 1, 2, 1, 3, 3, 9, 9};
  float out[8];
  void *params[8], *results[8];
  for (int i = 0; i < 8; i++) params[i] = &trips[i], results[i] = &out[i];
  const program *p = finish(trips_program(a, 8, 2));
  if (cut == 3)
    CHECK(strstr(run_parts(p, params, results, NULL), "waits for device 3 (finished)"));
  else
    CHECK(strstr(run_parts(p, params, results, NULL), "device 2 waits at all_reduce"));
  trips[2] = 1;
  dev_event *gate = dev_event_create();
  CHECK(strcmp(run_parts(finish(trips_program(a, 8, 8)), params, results, gate),
               "input went wrong") == 0);
  dev_event_release(gate);
}

static void test_part_alone(arena *a) {
  executor_image *im = make_image(finish(trips_program(a, 8, 2)));
  status s[] = {executor_launch(pool, &(executor_launch_args){.image = im, .count = 4}),
                executor_launch(pool, &(executor_launch_args){.image = im, .first = 1}),
                executor_launch(pool, &(executor_launch_args){
                                          .image = im, .first = 5, .count = 4, .transport = hub})};
  for (size_t i = 0; i < COUNT(s); i++) {
    CHECK(status_get_code(s[i]) == STATUS_INVALID_ARGUMENT);
    status_free(s[i]);
  }
  exec_image_release(im);
}

static void test_parts(arena *a, const exec_options *first, const exec_options *other) {
  CHECK(!exec_create(first, &pool) && !exec_create(other, &second) && !hub_create(NULL, &hub));
  for (cut = 1; cut < 8; cut += 2) {
    test_collectives(a, 8, 5000);
    test_collectives(a, 8, 3);
    test_collectives(a, 8, 20001); /* in shares */
    if (cut == 1) test_collectives(a, 2, 2100001);
    test_gathers(a);
    test_trips(a);
    if (cut == 3 || cut == 5) test_failed_part(a);
  }
  test_part_alone(a);
  hub_destroy(hub);
  executor_release(second);
  executor_release(pool);
  second = NULL;
}

static void run_tests(arena *a, const exec_options *options) {
  status s = exec_create(options, &pool);
  CHECK(!s);
  test_collectives(a, 8, 5000);
  for (u32 n = 14; n <= 32; n += 2) test_collectives(a, n, 37); /* in passes of all sizes */
  test_collectives(a, 1024, 3);
  test_collectives(a, 2, 2100001); /* more than caches keep */
  test_gathers(a);
  test_trips(a);
  test_deadlock(a);
  test_poisoned(a);
  test_two_threads(a);
  executor_release(pool);
  test_parts(a, options, options);
  test_parts(a, &(exec_options){.kind = "plain"}, options);
}

int main(void) { return exec_tests(run_tests); }
