/* What device/executor.h promises, asked of every executor by name. Nothing here looks behind the
 * table. Launches in parts are in conformance_parts_test.c. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/conformance.h"

/* ---- programs ---- */

/* result = param + 1, in every word */
static const program *plus_one(arena *a, u32 n, i64 words, bool in_place) {
  prog_builder *b = prog_begin(a, 1, n);
  u32 p = prog_param(b, DTYPE_s32, (u64)words);
  u32 r = prog_result(b, DTYPE_s32, (u64)words, in_place ? 0 : -1);
  prog_loop *l = prog_add_loop(b, 1, &words, NAME, AT);
  u32 v = vm_load(b, &l->code, DTYPE_s32, prog_loop_in(b, l, p, 0, (i64[]){1}));
  v = vm_emit(b, &l->code, VM_add, DTYPE_s32, v, vm_const_f64(b, &l->code, DTYPE_s32, 1), 0);
  prog_loop_out(b, l, r, 0, (i64[]){1}, v);
  return finish(b);
}

/* As many sums over neighbours as the parameter's first word says; the result's first counts. */
static const program *sums_while(arena *a, u32 n) {
  prog_builder *b = prog_begin(a, 1, n);
  u32 trips = prog_param(b, DTYPE_s32, 1), r = prog_result(b, DTYPE_s32, 1, -1);
  u32 i = prog_work(b, DTYPE_s32, 1), all = prog_work(b, DTYPE_s32, 1);
  u32 more = prog_work(b, DTYPE_pred, 1), top = prog_label(b), end = prog_label(b);
  u32 members[MOST], begin[MOST + 1];
  prog_add_fill(b, i, &(i32){0}, NAME, AT);
  prog_place(b, top);
  prog_loop *l = prog_add_loop(b, 0, NULL, NAME, AT);
  u32 v = vm_load(b, &l->code, DTYPE_s32, prog_loop_in(b, l, i, 0, NULL));
  u32 w = vm_load(b, &l->code, DTYPE_s32, prog_loop_in(b, l, trips, 0, NULL));
  prog_loop_out(b, l, more, 0, NULL, vm_emit(b, &l->code, VM_lt, DTYPE_pred, v, w, 0));
  prog_add_jump_unless(b, more, end, NAME, AT);
  for (u32 d = 0; d < n; d++) members[d] = d;
  for (u32 g = 0; g <= n / 2; g++) begin[g] = 2 * g;
  prog_collective k = {.kind = COLL_ALL_REDUCE,
                       .n = 1,
                       .in = &i,
                       .out = &all,
                       .num_groups = n / 2,
                       .begin = begin,
                       .members = members,
                       .body = {.kind = REDUCE_SUM}};
  prog_add_collective(b, &k, STR("psum"), STR("loop.mlir:7:9"));
  l = prog_add_loop(b, 0, NULL, NAME, AT);
  v = vm_load(b, &l->code, DTYPE_s32, prog_loop_in(b, l, i, 0, NULL));
  v = vm_emit(b, &l->code, VM_add, DTYPE_s32, v, vm_const_f64(b, &l->code, DTYPE_s32, 1), 0);
  prog_loop_out(b, l, i, 0, NULL, v);
  prog_add_jump(b, top, NAME, AT);
  prog_place(b, end);
  prog_add_move(b, i, r, NAME, AT);
  return finish(b);
}

/* ---- memory ---- */

static void test_memory(void) {
  static const i64 square[] = {2, 3};
  i64 one = 1, none = 0;
  executor_array a = {DTYPE_s32, {square, 2}, NULL}, word = {DTYPE_s32, {&one, 1}, NULL};
  i32 in[] = {1, 2, 3, 4, 5, 6}, out[8] = {0};
  executor_memory *m = executor_alloc(on, 1, 28), *other = executor_alloc(on, 0, 24);
  CHECK(m && other && m != other);
  /* as it is; at an offset; in another order, forwards and backwards */
  CHECK(!executor_write(on, m, 4, &a, in) && !executor_read(on, m, 4, &a, out));
  CHECK(memcmp(in, out, sizeof in) == 0 && word_of(m, 3) == 3);
  a.byte_strides = (i64[]){4, 8};
  CHECK(!executor_write(on, m, 0, &a, in) && word_of(m, 1) == 3 && word_of(m, 3) == 2);
  CHECK(!executor_read(on, m, 0, &a, out) && memcmp(in, out, sizeof in) == 0);
  a.byte_strides = (i64[]){-12, -4};
  CHECK(!executor_write(on, m, 0, &a, &in[5]) && word_of(m, 0) == 6 && word_of(m, 5) == 1);
  /* a part, another memory, nothing at all */
  CHECK(!executor_write(on, m, 8, &word, &(i32){77}) && word_of(m, 1) == 5 && word_of(m, 2) == 77);
  CHECK(!executor_copy(on, other, m, 24) && word_of(other, 2) == 77 && word_of(other, 5) == 1);
  a = (executor_array){DTYPE_s32, {&none, 1}, NULL};
  CHECK(!executor_write(on, m, 28, &a, in) && !executor_read(on, m, 28, &a, out));
  CHECK(!executor_copy(on, other, m, 0));
  executor_free(on, m, 28);
  executor_free(on, other, 24);
  m = executor_alloc(on, 0, 0);
  CHECK(m);
  executor_free(on, m, 0);
  CHECK(!executor_alloc(on, 0, SIZE_MAX / 2));
}

static void test_truths(void) {
  i64 four = 4;
  executor_array pred = {DTYPE_pred, {&four, 1}, NULL}, bytes = {DTYPE_u8, {&four, 1}, NULL};
  u8 in[] = {0, 1, 2, 255}, out[4];
  executor_memory *m = executor_alloc(on, 0, 4);
  CHECK(!executor_write(on, m, 0, &pred, in) && !executor_read(on, m, 0, &bytes, out));
  CHECK(memcmp(out, (u8[]){0, 1, 1, 1}, 4) == 0);
  CHECK(!executor_write(on, m, 0, &bytes, in) && !executor_read(on, m, 0, &bytes, out));
  CHECK(memcmp(out, in, 4) == 0);
  executor_free(on, m, 4);
}

/* Of somebody else's memory, and where ours is. */
static void test_addresses(void) {
  _Alignas(64) i32 mine[4] = {1, 2, 3, 4};
  i64 one = 1;
  executor_array word = {DTYPE_s32, {&one, 1}, NULL};
  executor_memory *m = executor_import(on, 0, mine, sizeof mine);
  if (m) {
    CHECK(word_of(m, 2) == 3 && !executor_write(on, m, 4, &word, &(i32){9}) && mine[1] == 9);
    executor_forget(on, m);
    CHECK(mine[3] == 4);
  }
  if (!executor_can_map(on)) return;
  m = executor_alloc(on, 1, 64);
  i32 *p = executor_map(on, m);
  CHECK(p && (uintptr_t)p % 16 == 0 && !executor_write(on, m, 8, &word, &(i32){5}) && p[2] == 5);
  p[3] = 6;
  CHECK(word_of(m, 3) == 6 && executor_map(on, m) == p);
  executor_free(on, m, 64);
}

/* ---- images ---- */

static void count(void *user) { ++*(int *)user; }

static void test_image(arena *a) {
  int released = 0;
  executor_image *im = NULL;
  CHECK(!executor_image_create(on, plus_one(a, 1, 4, false), count, &released, &im));
  CHECK(executor_image_retain(on, im) == im);
  executor_image_release(on, im);
  CHECK(released == 0);
  heard h;
  prepare(&h, plus_one(a, 1, 4, false), 16, 0);
  executor_image_release(on, h.image);
  h.image = im;
  dev_event *gate = dev_event_create();
  CHECK(!start(&h, NULL, gate));
  executor_image_retain(on, im);
  executor_image_release(on, im);
  CHECK(released == 0); /* the launch has it too */
  dev_event_set(gate, NULL);
  CHECK(!finished(&h) && word_of(h.results[0], 3) == 1);
  dev_event_release(gate);
  release(&h);
  executor_image_release(on, NULL);
  executor_stats stats; /* a launch holds its image a little longer than `done` is told */
  for (int i = 0; i < 1000 && !released; i++) usleep(1000);
  CHECK(released == 1);
  executor_get_stats(on, &stats);
  CHECK(stats.launches > 0 && stats.steps > 0);
}

/* ---- launches ---- */

static void test_launch(arena *a, u32 n) {
  heard h;
  prepare(&h, plus_one(a, n, 1000, false), 4000, 10);
  CHECK(!start(&h, NULL, NULL) && !finished(&h));
  for (u32 d = 0; d < n; d++)
    CHECK(word_of(h.results[d], 999) == 11 + (i32)d && word_of(h.params[d], 0) == 10 + (i32)d);
  release(&h);
}

/* Several launches on one device come one after the other, each on what the one before made. */
static void test_order(arena *a) {
  enum { TURNS = 20 };
  heard h[TURNS];
  dev_event *gate = dev_event_create();
  const program *p = plus_one(a, 2, 500, true);
  for (int i = 0; i < TURNS; i++) {
    prepare(&h[i], p, 2000, 0);
    for (u32 d = 0; d < 2; d++) {
      executor_free(on, h[i].results[d], 2000);
      if (i) executor_free(on, h[i].params[d], 2000);
      h[i].params[d] = h[i].results[d] = h[0].params[d];
    }
    CHECK(!start(&h[i], (u32[]){3, 7}, i ? NULL : gate));
  }
  CHECK(!dev_event_is_ready(h[TURNS - 1].done) && word_of(h[0].params[0], 0) == 0);
  dev_event_set(gate, NULL);
  for (int i = 0; i < TURNS; i++) CHECK(!finished(&h[i]));
  CHECK(word_of(h[0].params[0], 7) == TURNS && word_of(h[0].params[1], 499) == TURNS + 1);
  for (int i = 0; i < TURNS; i++) {
    for (u32 d = 0; d < 2; d++) {
      h[i].results[d] = executor_alloc(on, d, 2000);
      if (i) h[i].params[d] = executor_alloc(on, d, 2000);
    }
    release(&h[i]);
  }
  dev_event_release(gate);
}

/* A launch that waits holds up only its own devices; one of two devices may be through before the
 * other has begun, and what depends on that runs. */
static void test_waiting(arena *a) {
  heard first, both, last;
  dev_event *gate = dev_event_create();
  buf text;
  buf_init(&text, &mem_system);
  prepare(&first, plus_one(a, 1, 4, false), 16, 0);
  prepare(&both, plus_one(a, 2, 4, false), 16, 0);
  prepare(&last, plus_one(a, 1, 4, false), 16, 0);
  CHECK(!start(&first, (u32[]){0}, gate) && !start(&both, (u32[]){0, 1}, NULL));
  CHECK(!start(&last, (u32[]){1}, both.ready[1]) && !finished(&last));
  CHECK(!dev_event_is_ready(first.done) && !dev_event_is_ready(both.ready[0]));
  executor_describe(on, &text);
  CHECK(strstr(buf_cstr(&text), "device 0 waits for an event") &&
        strstr(buf_cstr(&text), "device 0 waits for another launch"));
  dev_event_set(gate, NULL);
  CHECK(!finished(&both) && !finished(&first) && word_of(both.results[1], 0) == 2);
  release(&first), release(&both), release(&last);
  dev_event_release(gate);
  buf_deinit(&text);
}

static void test_failed_input(arena *a) {
  heard h;
  dev_event *gate = dev_event_create();
  prepare(&h, sum(a, 2, 2, 4), 16, 0);
  CHECK(!start(&h, NULL, gate));
  dev_event_set(gate, status_make(STATUS_ABORTED, "input went wrong"));
  status s = finished(&h);
  CHECK(status_get_code(s) == STATUS_ABORTED && strstr(status_message(s).data, "went wrong"));
  CHECK(status_get_code(dev_event_error(h.ready[1])) == STATUS_ABORTED);
  release(&h);
  prepare(&h, sum(a, 2, 2, 4), 16, 0); /* an event that is there already counts as well */
  CHECK(!start(&h, NULL, gate) && status_get_code(finished(&h)) == STATUS_ABORTED);
  release(&h);
  dev_event_release(gate);
}

/* Failed by its caller, before it begins, and when it is over. */
static void test_failed_from_outside(arena *a) {
  heard h;
  dev_event *gate = dev_event_create();
  prepare(&h, sum(a, 2, 2, 4), 16, 0);
  CHECK(!executor_fail(on, &h, status_make(STATUS_ABORTED, "too early")));
  CHECK(!start(&h, NULL, gate));
  CHECK(executor_fail(on, &h, status_make(STATUS_ABORTED, "no longer wanted")));
  CHECK(!executor_fail(on, &h, status_make(STATUS_ABORTED, "twice")));
  dev_event_set(gate, NULL);
  status s = finished(&h);
  CHECK(status_get_code(s) == STATUS_ABORTED && strstr(status_message(s).data, "no longer"));
  CHECK(!executor_fail(on, &h, status_make(STATUS_ABORTED, "too late")));
  release(&h);
  dev_event_release(gate);
}

/* A callback launches. */
static void launch_next(void *user, status error) {
  CHECK(!error && executor_on_worker() && !start(user, NULL, NULL));
}
static void test_callback(arena *a) {
  heard first, next;
  prepare(&first, plus_one(a, 1, 4, false), 16, 0);
  prepare(&next, plus_one(a, 1, 4, false), 16, 1);
  dev_event *gate = dev_event_create();
  CHECK(dev_event_on_ready(first.ready[0], launch_next, &next) && !executor_on_worker());
  CHECK(!start(&first, NULL, gate));
  dev_event_set(gate, NULL);
  CHECK(!finished(&first) && !finished(&next) && word_of(next.results[0], 0) == 2);
  release(&first), release(&next);
  dev_event_release(gate);
}

/* ---- collectives ---- */

/* ---- functions of the host ---- */

/* result = what the host makes of param, twice */
static const program *calling(arena *a, u32 n, const char *target, bool host) {
  prog_builder *b = prog_begin(a, 1, n);
  i64 dims[] = {2, 3}, param = 5;
  u32 p = prog_param(b, DTYPE_s32, 6), w = prog_work(b, DTYPE_s32, 6);
  u32 r = prog_result(b, DTYPE_s32, 6, -1);
  prog_operand in = {p, {dims, 2}}, between = {w, {dims, 2}}, out = {r, {dims, 2}};
  prog_call c = {.target = str_of(target),
                 .config = STR("as told"),
                 .host = host,
                 .num_in = 1,
                 .num_out = 1,
                 .in = &in,
                 .out = &between,
                 .params = {&param, 1}};
  prog_add_call(b, &c, NAME, AT);
  c.in = &between;
  c.out = &out;
  prog_add_call(b, &c, NAME, AT);
  return finish(b);
}

typedef struct answered {
  executor_call *call;
  bool refused;
} answered;

static void *answer(void *user) {
  answered *h = user;
  executor_call *c = h->call;
  bool fine = str_is(c->target, "double") && str_is(c->config, "as told") && c->num_in == 1 &&
              c->num_out == 1 && c->params.len == 1 && c->params.data[0] == 5 &&
              c->in[0].type == DTYPE_s32 && c->in[0].dims.len == 2 && c->out[0].dims.data[1] == 3;
  const i32 *x = c->in[0].data;
  i32 *y = c->out[0].data;
  for (int i = 0; fine && i < 6; i++) y[i] = 2 * x[i];
  status refusal = h->refused ? status_make(STATUS_ABORTED, "position %u", c->position) : NULL;
  c->done(c, fine ? refusal : status_make(STATUS_INTERNAL, "another call"));
  free(h);
  return NULL;
}
static void answer_elsewhere(void *user, executor_call *call) {
  pthread_t t;
  answered *h = malloc(sizeof *h);
  *h = (answered){call, user && call->position == 1};
  CHECK(executor_on_worker());
  CHECK(pthread_create(&t, NULL, answer, h) == 0 && pthread_detach(t) == 0);
}

static bool says(status s, status_code code, const char *words) {
  return status_get_code(s) == code && strstr(status_message(s).data, words);
}

static void test_host(arena *a) {
  heard h;
  executor_image *none = NULL;
  prepare(&h, calling(a, 3, "double", true), 24, 7);
  CHECK(!start_with(&h, NULL, NULL, (executor_host){answer_elsewhere, NULL}) && !finished(&h));
  for (u32 d = 0; d < 3; d++) CHECK(word_of(h.results[d], 5) == 4 * (7 + (i32)d));
  release(&h);
  prepare(&h, calling(a, 3, "double", true), 24, 7);
  CHECK(!start_with(&h, NULL, NULL, (executor_host){answer_elsewhere, &h}));
  CHECK(says(finished(&h), STATUS_ABORTED, "position 1"));
  release(&h);
  prepare(&h, calling(a, 1, "double", true), 24, 7);
  CHECK(!start(&h, NULL, NULL));
  CHECK(says(finished(&h), STATUS_UNIMPLEMENTED, "'double' of the host"));
  release(&h);
  status s = executor_image_create(on, calling(a, 1, "double", false), NULL, NULL, &none);
  CHECK(says(s, STATUS_UNIMPLEMENTED, "no function 'double'"));
  status_free(s);
}

static void test_sum(arena *a, u32 n, u32 group, i64 words) {
  heard h;
  prepare(&h, sum(a, n, group, words), 4 * (size_t)words, 1);
  executor_stats before, after;
  executor_get_stats(on, &before);
  CHECK(!start(&h, NULL, NULL) && !finished(&h));
  executor_get_stats(on, &after);
  CHECK(after.launches == before.launches + 1 && after.rendezvous - before.rendezvous == n / group);
  for (u32 d = 0; d < n; d++) {
    i32 expected = 0;
    for (u32 m = d / group * group; m < (d / group + 1) * group; m++) expected += 1 + (i32)m;
    CHECK(word_of(h.results[d], 0) == expected);
    CHECK(word_of(h.results[d], (size_t)words - 1) == expected);
  }
  release(&h);
}

/* Pairs that go round a loop more or less often; and a pair of which one leaves early. */
static void test_trips(arena *a) {
  heard h;
  i64 one = 1;
  executor_array word = {DTYPE_s32, {&one, 1}, NULL};
  for (int turn = 0; turn < 2; turn++) {
    prepare(&h, sums_while(a, 8), 4, 0);
    for (u32 d = 0; d < 8; d++) {
      i32 trips = (i32)(d / 2) + (turn && d == 2);
      CHECK(!executor_write(on, h.params[d], 0, &word, &trips));
    }
    CHECK(!start(&h, NULL, NULL));
    status s = finished(&h);
    const char *text = s ? status_message(s).data : "";
    CHECK(turn == (status_get_code(s) == STATUS_INTERNAL));
    if (turn)
      CHECK(strstr(text, "deadlock") && strstr(text, "device 2 waits at all_reduce \"psum\"") &&
            strstr(text, "loop.mlir:7:9") && strstr(text, "3 (finished)") &&
            !strstr(text, "device 4"));
    for (u32 d = 0; d < 8; d++) CHECK(turn || word_of(h.results[d], 0) == (i32)(d / 2));
    release(&h);
  }
}

/* ---- the end ---- */

static void test_fork(arena *a) {
  heard h;
  prepare(&h, plus_one(a, 1, 4, false), 16, 0);
  pid_t child = fork();
  if (child == 0) {
    status s = start(&h, NULL, NULL);
    executor_stop(on);
    _exit(status_get_code(s) == STATUS_FAILED_PRECONDITION ? 0 : 1);
  }
  int how = -1;
  CHECK(child > 0 && waitpid(child, &how, 0) == child && how == 0);
  release(&h);
}

static void *open_gate(void *gate) {
  usleep(2000);
  dev_event_set(gate, NULL);
  return NULL;
}

/* What is under way ends, nothing begins any more, memory and images stay. */
static void test_stop(arena *a) {
  heard h;
  pthread_t t;
  dev_event *gate = dev_event_create();
  prepare(&h, plus_one(a, 2, 4, false), 16, 0);
  CHECK(!start(&h, NULL, gate));
  pthread_create(&t, NULL, open_gate, gate);
  executor_stop(on);
  CHECK(dev_event_is_ready(h.done) && !finished(&h) && word_of(h.results[1], 0) == 2);
  pthread_join(t, NULL);
  status s = start(&h, NULL, NULL);
  CHECK(status_get_code(s) == STATUS_FAILED_PRECONDITION);
  status_free(s);
  executor_stop(on);
  release(&h);
  dev_event_release(gate);
}

/* By name, by the environment's, and no other. */
static void test_kinds(void) {
  status s = exec_create(&(exec_options){.kind = "gpu"}, &on);
  CHECK(status_get_code(s) == STATUS_INVALID_ARGUMENT && !on);
  CHECK(strstr(status_message(s).data, "'gpu' (known: cpu, plain)"));
  status_free(s);
  setenv("TERRAZZO_EXECUTOR", "plain", 1);
  CHECK(!exec_create(NULL, &on) && strcmp(on->ops->name, "plain") == 0);
  executor_release(on);
  setenv("TERRAZZO_EXECUTOR", "", 1);
  CHECK(!exec_create(NULL, &on) && strcmp(on->ops->name, "cpu") == 0);
  executor_release(on);
  unsetenv("TERRAZZO_EXECUTOR");
}

/* What only the plain executor tells. */
static void test_misuse(arena *a) {
  executor *other;
  i64 two = 2;
  executor_array words = {DTYPE_s32, {&two, 1}, NULL};
  CHECK(!exec_create(&(exec_options){.kind = "plain"}, &other));
  executor_memory *m = executor_alloc(on, 0, 8), *theirs = executor_alloc(other, 0, 8);
  i32 w[2] = {0};
  heard h;
  prepare(&h, plus_one(a, 1, 4, false), 16, 0);
  executor_memory *good = h.params[0];
  h.params[0] = m; /* too small */
  status all[] = {executor_write(on, m, 4, &words, w), executor_read(on, m, SIZE_MAX, &words, w),
                  executor_copy(on, m, theirs, 8), executor_copy(on, m, m, 9),
                  start(&h, NULL, NULL)};
  for (size_t i = 0; i < COUNT(all); i++) {
    CHECK(status_get_code(all[i]) == STATUS_INVALID_ARGUMENT);
    status_free(all[i]);
  }
  h.params[0] = good;
  release(&h);
  executor_free(on, m, 8);
  executor_free(other, theirs, 8);
  executor_release(other);
}

static void run_all(arena *a, const char *kind, u32 threads) {
  CHECK(!exec_create(&(exec_options){.kind = kind, .threads = threads}, &on));
  CHECK(strcmp(on->ops->name, kind) == 0);
  CHECK(executor_retain(on) == on);
  executor_release(on);
  test_memory();
  test_truths();
  test_addresses();
  test_image(a);
  for (u32 n = 1; n <= MOST; n *= 4) test_launch(a, n);
  test_order(a);
  test_waiting(a);
  test_failed_from_outside(a);
  test_failed_input(a);
  test_callback(a);
  test_host(a);
  test_sum(a, 2, 2, 1);
  test_sum(a, 16, 4, 5000);
  test_sum(a, 16, 16, 100000);
  test_sum(a, 4, 1, 3);
  test_trips(a);
  if (strcmp(kind, "plain") == 0) test_misuse(a);
  test_fork(a);
  test_stop(a);
  executor_release(on);
}

int main(void) {
  arena a;
  if (setjmp(trap.at)) return 1;
  arena_init(&a, &mem_system, &trap);
  test_kinds();
  run_all(&a, "cpu", 1);
  run_all(&a, "cpu", 3);
  run_all(&a, "plain", 0);
  arena_deinit(&a);
  return UNIT_END();
}
