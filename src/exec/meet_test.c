/* Meetings: who is in none, and a launch that fails while some of its devices are in one. */
#include <pthread.h>
#include <unistd.h>

#include "base/base.h"
#include "exec/exec.h"
#include "exec/image.h"
#include "tests/oom.h"

enum { MOST = 4 };

static oom_trap trap;

/* What the callbacks of a launch have said. */
typedef struct heard {
  executor *on;
  executor_memory *params[MOST], *results[MOST]; /* of the launch; one each by device */
  pthread_mutex_t lock;
  pthread_cond_t cond;
  u32 devices[MOST], done;
  bool failed;
} heard;

static void on_device(void *user, u32 position, status error) {
  heard *h = user;
  (void)error;
  pthread_mutex_lock(&h->lock);
  h->devices[position]++;
  pthread_mutex_unlock(&h->lock);
}
static void on_done(void *user, status error) {
  heard *h = user;
  pthread_mutex_lock(&h->lock);
  h->done++;
  h->failed = error != NULL;
  pthread_cond_signal(&h->cond);
  pthread_mutex_unlock(&h->lock);
}
static void wait_until_done(heard *h) {
  pthread_mutex_lock(&h->lock);
  while (!h->done) pthread_cond_wait(&h->cond, &h->lock);
  pthread_mutex_unlock(&h->lock);
  for (u32 i = 0; i < MOST && h->params[i]; i++) {
    executor_forget(h->on, h->params[i]);
    executor_forget(h->on, h->results[i]);
  }
}

static void start(executor *pool, executor_image *im, const u32 *devices, void **params,
                  void **results, heard *h) {
  const program *p = im->prog;
  *h = (heard){pool, .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
  for (u32 i = 0; i < program_num_devices(p); i++) {
    h->params[i] =
        executor_import(pool, i, params[i], prog_slot_bytes(&p->slots[p->param_slot[0]]));
    h->results[i] =
        executor_import(pool, i, results[i], prog_slot_bytes(&p->slots[p->result_slot[0]]));
  }
  status s = executor_launch(pool, &(executor_launch_args){.image = im,
                                                           .devices = devices,
                                                           .params = h->params,
                                                           .results = h->results,
                                                           .device_done = on_device,
                                                           .done = on_done,
                                                           .user = h});
  CHECK(!s);
  status_free(s);
}

static executor_image *image_of(prog_builder *b) {
  const program *p;
  executor_image *im = NULL;
  status s = prog_finish(b, &p);
  if (!s) s = exec_image_create(NULL, p, NULL, NULL, &im);
  CHECK(!s);
  status_free(s);
  return im;
}

/* Devices 0 and 1 meet at a collective, the others are in no group. */
static executor_image *pair_program(arena *a, prog_collective_kind kind, u32 n, u64 count) {
  prog_builder *b = prog_begin(a, 1, n);
  u32 p = prog_param(b, DTYPE_f32, count), r = prog_result(b, DTYPE_f32, count, -1);
  u32 w = prog_work(b, DTYPE_f32, count), begin[] = {0, 2}, members[] = {0, 1};
  prog_collective c = {.kind = kind,
                       .n = 1,
                       .in = &p,
                       .out = &w,
                       .num_groups = 1,
                       .begin = begin,
                       .members = members,
                       .body = {.kind = kind == COLL_ALL_REDUCE ? REDUCE_SUM : REDUCE_CODE}};
  prog_add_collective(b, &c, STR("meet"), STR("f:1:1"));
  prog_loop *l = prog_add_loop(b, 1, (i64[]){(i64)count}, STR("copy"), STR("f:2:1"));
  u32 v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, w, 0, (i64[]){1}));
  prog_loop_out(b, l, r, 0, (i64[]){1}, vm_emit(b, &l->code, VM_neg, DTYPE_f32, v, 0, 0));
  return image_of(b);
}

static void test_in_no_group(arena *a, prog_collective_kind kind) {
  enum { N = 9 };
  executor *pool = NULL;
  CHECK(!exec_create(&(exec_options){.threads = 2}, &pool));
  executor_image *im = pair_program(a, kind, MOST, N);
  for (int turn = 0; turn < 3; turn++) { /* in memory that was used before, from the second on */
    float in[MOST][N], out[MOST][N];
    void *params[MOST], *results[MOST];
    heard h;
    for (u32 d = 0; d < MOST; d++) {
      for (u32 i = 0; i < N; i++) in[d][i] = (float)(d + 1), out[d][i] = 99;
      params[d] = in[d], results[d] = out[d];
    }
    start(pool, im, (u32[]){0, 1, 2, 3}, params, results, &h);
    wait_until_done(&h);
    CHECK(out[1][N - 1] == (kind == COLL_ALL_REDUCE ? -3 : -1));
    CHECK(out[2][0] == 0 && out[2][N - 1] == 0 && out[3][0] == 0);
  }
  exec_image_release(im);
  executor_release(pool);
}

/* Device 2 begins late, when the others are in the middle of a long sum, and gets no memory. Two
 * workers share the sum; the third has been busy on device 2 until then. */
static void fail_while_meeting(executor_image *pair, executor_image *late, void **memory,
                               long nth) {
  executor *pool = NULL;
  oom_in_a_row = 2; /* the heap asks twice */
  CHECK(!exec_create(&(exec_options){.threads = 3}, &pool));
  heard first, second;
  start(pool, late, (u32[]){2}, memory + 6, memory + 7, &first);
  start(pool, pair, (u32[]){0, 1, 2}, memory, memory + 3, &second);
  usleep(1000);
  atomic_store(&oom_countdown, nth);
  wait_until_done(&first);
  wait_until_done(&second);
  atomic_store(&oom_countdown, -9);
  executor_release(pool);
  CHECK(first.done == 1 && second.done == 1);
  for (u32 d = 0; d < 3; d++) CHECK(second.devices[d] == 1);
}

static executor_image *sum_of_two(arena *a, u64 count) {
  prog_builder *b = prog_begin(a, 1, 3);
  u32 p = prog_param(b, DTYPE_f32, count), r = prog_result(b, DTYPE_f32, count, -1);
  prog_collective c = {.kind = COLL_ALL_REDUCE,
                       .n = 1,
                       .in = &p,
                       .out = &r,
                       .num_groups = 1,
                       .begin = (u32[]){0, 2},
                       .members = (u32[]){0, 1},
                       .body = {.kind = REDUCE_SUM}};
  prog_add_collective(b, &c, STR("meet"), STR("f:1:1"));
  return image_of(b);
}

static executor_image *long_alone(arena *a, u64 count) {
  prog_builder *b = prog_begin(a, 1, 1);
  u32 state = prog_param(b, DTYPE_u64, 2), bits = prog_result(b, DTYPE_u32, count, -1);
  prog_rng g = {.kind = RNG_THREEFRY, .state = state, .out = bits};
  g.new_state = prog_work(b, DTYPE_u64, 2);
  prog_add_rng(b, &g, STR("bits"), STR("f:1:1"));
  return image_of(b);
}

static void test_failure_while_meeting(arena *a) {
  enum { SUM = 1 << 23, BITS = 1 << 19 };
  executor_image *pair = sum_of_two(a, SUM), *late = long_alone(a, BITS);
  void *memory[8];
  for (int i = 0; i < 8; i++) memory[i] = calloc(i == 6 ? 4 : SUM, 4);
  for (long nth = 1; nth <= 4; nth++) fail_while_meeting(pair, late, memory, nth);
  for (int i = 0; i < 8; i++) free(memory[i]);
  exec_image_release(pair);
  exec_image_release(late);
}

int main(void) {
  arena a;
  arena_init(&a, &mem_system, &trap);
  if (setjmp(trap.at)) return 1;
  test_in_no_group(&a, COLL_ALL_REDUCE);
  test_in_no_group(&a, COLL_BROADCAST);
  test_failure_while_meeting(&a);
  arena_deinit(&a);
  return UNIT_END();
}
