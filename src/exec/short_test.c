/* A program that is done sooner than somebody could be woken shots on the thread that launches it,
 * unless something is ahead of it. */
#include "exec/launch.h"
#include "tests/exec.h"

typedef struct shot {
  waiting w;
  bool worker; /* device_done came on another thread than the test's */
  pthread_t thread;
  executor_image *next; /* to be launched from there */
  float out;
} shot;

static shot shots[3];
static pthread_t host;
static float in = 1e-40f; /* a denormal, which the program reads as zero */

static void device_came(void *user, u32 position, status error);

static void go(shot *r, executor_image *im, dev_event *after) {
  *r = (shot){.w = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER},
              .next = r->next};
  lent t = lend(pool, im->prog, (void *[]){&in}, (void *[]){&r->out});
  CHECK(!executor_launch(pool, &(executor_launch_args){.image = im,
                                                       .devices = (u32[]){0},
                                                       .params = t.params,
                                                       .results = t.results,
                                                       .wait_for = &after,
                                                       .num_wait = after != NULL,
                                                       .device_done = device_came,
                                                       .done = on_done,
                                                       .user = r}));
  take_back(&t); /* of this executor a handle is an address */
}

static void device_came(void *user, u32 position, status error) {
  shot *r = user;
  r->thread = pthread_self();
  r->worker = !pthread_equal(r->thread, host);
  CHECK(executor_on_worker());
  on_device(&r->w, position, error);
  if (r->next) go(&shots[2], r->next, NULL);
}

static bool is_done(shot *r) {
  pthread_mutex_lock(&r->w.lock);
  bool done = r->w.done;
  pthread_mutex_unlock(&r->w.lock);
  return done;
}

static void wait_for(shot *r) {
  pthread_mutex_lock(&r->w.lock);
  while (!r->w.done) pthread_cond_wait(&r->w.cond, &r->w.lock);
  pthread_mutex_unlock(&r->w.lock);
}

/* x * 1e30 on each of some devices, for `n` elements of which one is looked at. */
static executor_image *scale(arena *a, u32 devices, i64 n, u32 count) {
  prog_builder *b = prog_begin(a, 1, devices);
  prog_set_flush_denormals(b, true);
  u32 p = prog_param(b, DTYPE_f32, 1), r = prog_result(b, DTYPE_f32, 1, -1);
  u32 work = prog_work(b, DTYPE_f32, (u64)n);
  for (u32 i = 0; i < count; i++) {
    prog_loop *l = prog_add_loop(b, 1, (i64[]){n}, STR("fill"), STR("f:1:1"));
    u32 v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, p, 0, (i64[]){0}));
    v = vm_emit(b, &l->code, VM_mul, DTYPE_f32, v, vm_const_f64(b, &l->code, DTYPE_f32, 1e30), 0);
    prog_loop_out(b, l, work, 0, (i64[]){1}, v);
  }
  prog_loop *l = prog_add_loop(b, 1, (i64[]){1}, STR("last"), STR("f:2:1"));
  u32 v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, work, 0, (i64[]){1}));
  prog_loop_out(b, l, r, 0, (i64[]){1}, v);
  return make_image(finish(b));
}

static void test_here(executor_image *brief) {
  volatile float small = 1e-40f;
  go(&shots[0], brief, NULL);
  CHECK(is_done(&shots[0]) && pthread_equal(shots[0].thread, pthread_self()));
  CHECK(!executor_on_worker());
  CHECK(shots[0].out == 0 && small * 1e30f > 0); /* the thread's own control word is back */
}

/* Counts from 0 to what the parameter says. */
static executor_image *count(arena *a, u32 devices) {
  prog_builder *b = prog_begin(a, 1, devices);
  u32 p = prog_param(b, DTYPE_f32, 1), r = prog_result(b, DTYPE_f32, 1, -1);
  u32 less = prog_work(b, DTYPE_pred, 1), top = prog_label(b), end = prog_label(b);
  float zero = 0;
  prog_operand whole = {.slot = r}; /* as of what a loop collects: nothing to wait for */
  prog_call begin = {.target = STR("undefined"), .num_out = 1, .out = &whole};
  prog_add_call(b, &begin, STR("begin"), STR("f:1:1"));
  prog_add_fill(b, r, &zero, STR("zero"), STR("f:1:1"));
  prog_place(b, top);
  prog_loop *l = prog_add_loop(b, 0, NULL, STR("less"), STR("f:2:1"));
  u32 x = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, r, 0, NULL));
  u32 y = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, p, 0, NULL));
  prog_loop_out(b, l, less, 0, NULL, vm_emit(b, &l->code, VM_lt, DTYPE_pred, x, y, 0));
  prog_add_jump_unless(b, less, end, STR("test"), STR("f:3:1"));
  l = prog_add_loop(b, 0, NULL, STR("add"), STR("f:4:1"));
  x = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, r, 0, NULL));
  y = vm_const_f64(b, &l->code, DTYPE_f32, 1);
  prog_loop_out(b, l, r, 0, NULL, vm_emit(b, &l->code, VM_add, DTYPE_f32, x, y, 0));
  prog_add_jump(b, top, STR("again"), STR("f:5:1"));
  prog_place(b, end);
  return make_image(finish(b));
}

/* On two devices, which both are free, or one of which has to wait. */
static float many[1 << 20];
static void go_both(shot *r, executor_image *im, float out[2]) {
  for (size_t i = 0; i < COUNT(many); i++) many[i] = in;
  *r = (shot){.w = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER}};
  lent t = lend(pool, im->prog, (void *[]){many, many}, (void *[]){&out[0], &out[1]});
  CHECK(!executor_launch(pool, &(executor_launch_args){.image = im,
                                                       .devices = (u32[]){0, 1},
                                                       .params = t.params,
                                                       .results = t.results,
                                                       .device_done = device_came,
                                                       .done = on_done,
                                                       .user = r}));
  take_back(&t);
}

static void test_both(executor_image *brief, executor_image *both) {
  float out[2] = {1, 1};
  go_both(&shots[1], both, out);
  CHECK(is_done(&shots[1]) && pthread_equal(shots[1].thread, pthread_self()));
  CHECK(out[0] == 0 && out[1] == 0);
  dev_event *e = dev_event_create();
  go(&shots[0], brief, e); /* device 0 has that first */
  go_both(&shots[1], both, out);
  CHECK(!is_done(&shots[1]));
  dev_event_set(e, NULL);
  dev_event_release(e);
  wait_for(&shots[0]), wait_for(&shots[1]);
  CHECK(shots[1].worker);
}

/* The sum over both devices of what is the sum over both, of n values; the last one. */
static executor_image *meet(arena *a, u64 n) {
  static u32 members[] = {0, 1}, begin[] = {0, 2};
  static i64 one[] = {1};
  prog_builder *b = prog_begin(a, 1, 2);
  u32 p = prog_param(b, DTYPE_f32, n), r = prog_result(b, DTYPE_f32, 1, -1);
  u32 sum[] = {prog_work(b, DTYPE_f32, n), prog_work(b, DTYPE_f32, n)};
  prog_collective c = {.kind = COLL_ALL_REDUCE,
                       .n = 1,
                       .num_groups = 1,
                       .begin = begin,
                       .members = members,
                       .outer = one,
                       .size = one,
                       .inner = one,
                       .body = {.kind = REDUCE_SUM}};
  for (u32 i = 0; i < 2; i++) {
    c.in = i ? &sum[0] : &p, c.out = &sum[i];
    prog_add_collective(b, &c, STR("sum"), STR("f:1:1"));
  }
  prog_loop *l = prog_add_loop(b, 1, (i64[]){1}, STR("out"), STR("f:2:1"));
  u32 v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, sum[1], (i64)n - 1, (i64[]){1}));
  prog_loop_out(b, l, r, 0, (i64[]){1}, v);
  return make_image(finish(b));
}

/* Devices that meet, twice, are run in turn, unless the meetings take long. */
static void test_meeting(arena *a, u64 n, bool here) {
  executor_image *meeting = meet(a, n);
  float out[2] = {1, 1};
  in = 3;
  go_both(&shots[1], meeting, out);
  CHECK(!here || (is_done(&shots[1]) && pthread_equal(shots[1].thread, pthread_self())));
  wait_for(&shots[1]);
  CHECK(shots[1].worker != here && out[0] == 12 && out[1] == 12);
  in = 1e-40f;
  exec_image_release(meeting);
}

static void test_elsewhere(executor_image *brief, executor_image *lengthy) {
  dev_event *e = dev_event_create();
  go(&shots[0], brief, e); /* waits; the next is behind it */
  go(&shots[1], brief, NULL);
  CHECK(!is_done(&shots[0]) && !is_done(&shots[1]));
  dev_event_set(e, NULL);
  dev_event_release(e);
  wait_for(&shots[0]), wait_for(&shots[1]);
  CHECK(shots[0].worker && shots[1].worker);
  shots[0].next = brief; /* from a callback it would nest */
  go(&shots[0], lengthy, NULL);
  wait_for(&shots[0]), wait_for(&shots[2]);
  CHECK(shots[0].worker && shots[2].worker);
  shots[0].next = NULL;
}

/* A loop that takes too long for the thread goes on elsewhere, and from then on begins there. */
static void test_loops(arena *a) {
  executor_image *once = count(a, 1), *twice = count(a, 2);
  float out[2];
  in = 100;
  go(&shots[0], once, NULL);
  CHECK(is_done(&shots[0]) && pthread_equal(shots[0].thread, pthread_self()));
  CHECK(shots[0].out == 100);
  go_both(&shots[1], twice, out);
  CHECK(is_done(&shots[1]) && pthread_equal(shots[1].thread, pthread_self()));
  CHECK(out[0] == 100 && out[1] == 100);
  for (u32 i = 0; i < 2; i++) {
    in = 5e6f;
    go(&shots[0], once, NULL);
    wait_for(&shots[0]);
    CHECK(shots[0].worker && shots[0].out == in);
    go_both(&shots[1], twice, out);
    wait_for(&shots[1]);
    CHECK(shots[1].worker && out[0] == in && out[1] == in);
    in = 100;
    go(&shots[0], once, NULL);
    wait_for(&shots[0]);
    CHECK(shots[0].worker && shots[0].out == 100);
  }
  in = 1e-40f;
  exec_image_release(once);
  exec_image_release(twice);
}

/* One worker alone would not be done earlier with what is not quite so brief. */
static void test_alone(arena *a) {
  CHECK(!exec_create(&(exec_options){.kind = "cpu", .threads = 1}, &pool));
  executor_image *some = scale(a, 1, 100000, 4), *lengthy = scale(a, 1, 100000, 1000);
  test_here(some);
  go(&shots[0], lengthy, NULL);
  wait_for(&shots[0]);
  CHECK(shots[0].worker);
  exec_image_release(some);
  exec_image_release(lengthy);
  executor_release(pool);
}

static void *launch_many(void *image) {
  shot r = {0};
  for (int i = 0; i < 2000; i++) {
    go(&r, image, NULL);
    wait_for(&r);
    CHECK(r.out == 0);
  }
  return NULL;
}

int main(void) {
  arena a;
  if (setjmp(trap.at)) return 1;
  host = pthread_self();
  arena_init(&a, &mem_system, &trap);
  CHECK(!exec_create(&(exec_options){.kind = "cpu", .threads = 2}, &pool));
  executor_image *brief = scale(&a, 1, 8, 1), *lengthy = scale(&a, 1, 100000, 4);
  executor_image *both = scale(&a, 2, 8, 1);
  test_here(brief);
  test_both(brief, both);
  test_meeting(&a, 1, true);
  test_meeting(&a, 1 << 18, true); /* shared by workers */
  test_meeting(&a, 1 << 20, false);
  test_elsewhere(brief, lengthy);
  test_loops(&a);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, launch_many, brief);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  exec_image_release(brief);
  exec_image_release(lengthy);
  exec_image_release(both);
  executor_release(pool);
  test_alone(&a);
  arena_deinit(&a);
  return UNIT_END();
}
