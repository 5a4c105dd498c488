/* A step that the host does: its place waits outside, which is no deadlock, and comes back. */
#include <unistd.h>

#include "exec/fft_kernel.h"
#include "exec/launch.h"
#include "tests/exec.h"

enum { N = 2 };

static place *_Atomic outside[N]; /* by position */

static void ask_host(const void *data, void *const *slots, place *p) {
  (void)data, (void)slots;
  CHECK(executor_on_worker());
  atomic_store(&outside[p->position], p);
}

static place *asked(u32 position) {
  place *p;
  while (!(p = atomic_exchange(&outside[position], NULL))) usleep(100);
  return p;
}

/* Step 0 is the host's; then the two meet. */
static executor_image *host_then_sum(arena *a) {
  prog_builder *b = prog_begin(a, 1, N);
  u32 p = prog_param(b, DTYPE_f32, 1), r = prog_result(b, DTYPE_f32, 1, -1);
  u32 w = prog_work(b, DTYPE_f32, 1);
  prog_add_fill(b, w, &(float){0}, STR("ask"), STR("f:1:1"));
  prog_collective c = {.kind = COLL_ALL_REDUCE,
                       .n = 1,
                       .in = &p,
                       .out = &r,
                       .num_groups = 1,
                       .begin = (u32[]){0, N},
                       .members = (u32[]){0, 1},
                       .body = {.kind = REDUCE_SUM}};
  prog_add_collective(b, &c, STR("meet"), STR("f:2:1"));
  executor_image *im = make_image(finish(b));
  im->steps[0].start = ask_host;
  im->cost = UINT64_MAX; /* as of a program that calls somebody */
  return im;
}

typedef struct flight {
  float in[N], out[N];
  lent memory;
  waiting w;
} flight;

static void take_off(flight *f, executor_image *im) {
  *f = (flight){.in = {1, 2},
                .w = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER}};
  f->memory =
      lend(pool, im->prog, (void *[]){&f->in[0], &f->in[1]}, (void *[]){&f->out[0], &f->out[1]});
  CHECK(!executor_launch(pool, &(executor_launch_args){.image = im,
                                                       .devices = (u32[]){0, 1},
                                                       .params = f->memory.params,
                                                       .results = f->memory.results,
                                                       .device_done = on_device,
                                                       .done = on_done,
                                                       .user = &f->w}));
}

static const char *land(flight *f) {
  pthread_mutex_lock(&f->w.lock);
  while (!f->w.done) pthread_cond_wait(&f->w.cond, &f->w.lock);
  CHECK(f->w.devices == N);
  pthread_mutex_unlock(&f->w.lock);
  take_back(&f->memory);
  return f->w.text;
}

static bool is_waiting(const char *line) {
  buf text;
  bool found = false;
  for (int i = 0; i < 2000 && !found; i++) {
    buf_init(&text, &mem_system);
    executor_describe(pool, &text);
    found = strstr(buf_cstr(&text), line) != NULL;
    buf_deinit(&text);
    if (!found) usleep(1000);
  }
  return found;
}

/* What a call takes is known of the executor's own, so that few of it run where they are launched,
 * and not of the host's. */
static bool has_cost(arena *a, bool host) {
  prog_builder *b = prog_begin(a, 1, 1);
  i64 dims[] = {3, 8}, params[] = {FFT_FORWARD, 3, 8, 1};
  prog_operand in = {prog_param(b, DTYPE_c64, 24), {dims, 2}};
  prog_operand out = {prog_result(b, DTYPE_c64, 24, -1), {dims, 2}};
  prog_call c = {.target = STR("fft"),
                 .host = host,
                 .num_in = 1,
                 .num_out = 1,
                 .in = &in,
                 .out = &out,
                 .params = {params, 4}};
  prog_add_call(b, &c, STR("call"), STR("f:1:1"));
  executor_image *im = make_image(finish(b));
  bool known = im->cost < 1000000;
  exec_image_release(im);
  return known;
}

static void run_tests(arena *a, const exec_options *options) {
  flight f;
  CHECK(!exec_create(options, &pool));
  executor_image *im = host_then_sum(a);
  take_off(&f, im);
  place *first = asked(0);
  place_resume(asked(1), NULL);
  CHECK(is_waiting("device 0 waits for the host at loop \"ask\" (f:1:1)"));
  CHECK(is_waiting("device 1 waits at all_reduce \"meet\" (f:2:1); not there: 0 (waits for the"));
  place_resume(first, NULL);
  CHECK(!*land(&f) && f.out[0] == 3 && f.out[1] == 3);

  take_off(&f, im); /* the host fails, while the other is parked */
  place_resume(asked(1), NULL);
  CHECK(is_waiting("device 1 waits at"));
  place_resume(asked(0), status_make(STATUS_ABORTED, "the host is busy"));
  CHECK(strcmp(land(&f), "the host is busy") == 0);

  take_off(&f, im); /* another fails: who is outside comes back first */
  first = asked(0);
  place_resume(asked(1), status_make(STATUS_ABORTED, "not now"));
  usleep(2000);
  pthread_mutex_lock(&f.w.lock);
  CHECK(!f.w.done);
  pthread_mutex_unlock(&f.w.lock);
  place_resume(first, NULL);
  CHECK(strcmp(land(&f), "not now") == 0);
  exec_image_release(im);
  CHECK(has_cost(a, false) && !has_cost(a, true));
  executor_release(pool);
}

int main(void) { return exec_tests(run_tests); }
