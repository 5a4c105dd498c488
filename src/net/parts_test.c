/* The conformance suite's part about parts of a launch, on executors that a hub joins, or relays.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "exec/hub.h"
#include "net/relay.h"
#include "tests/conformance.h"

static executor *other;
/* Of each, and for a third part on the first executor; a hub is all of them. */
static executor_transport *way, *other_way, *third_way;
static const u32 *numbers; /* of the launches' positions; NULL: each is its own */

static void swap(void) {
  executor *x = on;
  executor_transport *w = way;
  on = other;
  other = x;
  way = other_way;
  other_way = w;
}

static void connect_hub(void) {
  CHECK(!hub_create(NULL, &way));
  other_way = third_way = way;
}
static void disconnect_hub(void) { hub_destroy(way); }

/* As three processes would be. */
static void connect_relays(void) {
  executor_transport **ways[3] = {&way, &other_way, &third_way};
  int fds[3][3];
  wire *w;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < i; k++) {
      int pair[2];
      CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
      fds[i][k] = pair[0];
      fds[k][i] = pair[1];
    }
  for (u32 i = 0; i < 3; i++) {
    CHECK(!wire_of_sockets(NULL, i, 3, fds[i], &w));
    CHECK(!relay_create(NULL, w, NULL, ways[i]));
  }
}
static void *disconnect(void *relay) {
  relay_destroy(relay);
  return NULL;
}
static void disconnect_relays(void) {
  executor_transport *ways[] = {way, other_way, third_way};
  pthread_t t[3];
  for (int i = 0; i < 3; i++) CHECK(!pthread_create(&t[i], NULL, disconnect, ways[i]));
  for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
}

/* Positions [first, first + count) on the executor that is `on`. */
static status start_part_by(executor_transport *t, heard *h, u32 first, u32 count, u64 id,
                            dev_event *wait_for) {
  h->first = first;
  h->count = count;
  return executor_launch(on, &(executor_launch_args){.image = h->image,
                                                     .first = first,
                                                     .count = count,
                                                     .numbers = numbers,
                                                     .transport = t,
                                                     .id = id,
                                                     .devices = straight + first,
                                                     .params = h->params + first,
                                                     .results = h->results + first,
                                                     .wait_for = &wait_for,
                                                     .num_wait = wait_for ? 1 : 0,
                                                     .device_done = on_device,
                                                     .done = on_done,
                                                     .user = h});
}

static status start_part(heard *h, u32 first, u32 count, u64 id, dev_event *wait_for) {
  return start_part_by(way, h, first, count, id, wait_for);
}

static void prepare_parts(heard h[2], const program *p, size_t bytes, i32 first) {
  prepare(&h[0], p, bytes, first);
  swap();
  prepare(&h[1], p, bytes, first);
  swap();
}

static void release_parts(heard h[2]) {
  release(&h[0]);
  swap();
  release(&h[1]);
  swap();
}

/* A group whose members are cut anywhere sums as one that is not. */
static void test_parts_meet(arena *a, u32 cut) {
  heard h[2];
  prepare_parts(h, sum(a, 8, 4, 300), 1200, 1);
  CHECK(!start_part(&h[0], 0, cut, cut, NULL));
  swap();
  CHECK(!start_part(&h[1], cut, 8 - cut, cut, NULL) && !finished(&h[1]));
  for (u32 d = cut; d < 8; d++) CHECK(word_of(h[1].results[d], 299) == (d < 4 ? 10 : 26));
  swap();
  CHECK(!finished(&h[0]));
  for (u32 d = 0; d < cut; d++) CHECK(word_of(h[0].results[d], 0) == (d < 4 ? 10 : 26));
  release_parts(h);
}

static const u32 shuffled[] = {0, 4, 1, 5, 2, 6, 3, 7};

/* So large that each member sums a share; no two elements are alike. */
static void test_shares(arena *a, const u32 *by, u32 cut, u64 id) {
  enum { WORDS = 40001 };
  static i32 in[WORDS], out[WORDS];
  i64 n = WORDS;
  executor_array all = {DTYPE_s32, {&n, 1}, NULL};
  heard h[2];
  prepare_parts(h, sum(a, 8, 8, WORDS), sizeof in, 0);
  for (u32 k = 0; k < 2; k++, swap())
    for (i32 d = 0; d < 8; d++) {
      for (i32 i = 0; i < WORDS; i++) in[i] = i * (d + 1) + d;
      CHECK(!executor_write(on, h[k].params[d], 0, &all, in));
    }
  numbers = by;
  CHECK(!start_part(&h[0], 0, cut, id, NULL));
  swap();
  CHECK(!start_part(&h[1], cut, 8 - cut, id, NULL) && !finished(&h[1]));
  swap();
  CHECK(!finished(&h[0]));
  for (u32 d = 0; d < 8; d++) {
    if (d == cut) swap();
    CHECK(!executor_read(on, h[d >= cut].results[d], 0, &all, out));
    u32 wrong = 0;
    for (i32 i = 0; i < WORDS; i++) wrong += out[i] != i * 36 + 28;
    CHECK(wrong == 0);
  }
  swap();
  numbers = NULL;
  release_parts(h);
}

/* Positions of a part need not be in a row: what each has is by number. */
static void test_numbers(arena *a) {
  heard h[2];
  numbers = shuffled;
  prepare_parts(h, sum(a, 8, 4, 300), 1200, 1);
  CHECK(!start_part(&h[0], 0, 3, 50, NULL));
  swap();
  CHECK(!start_part(&h[1], 3, 5, 50, NULL) && !finished(&h[1]));
  swap();
  CHECK(!finished(&h[0]));
  for (u32 k = 0; k < 2; k++, swap())
    for (u32 p = 0; p < 8; p++) /* groups of positions, values of numbers */
      if (shuffled[p] < 3 ? k == 0 : k == 1)
        CHECK(word_of(h[k].results[shuffled[p]], 299) == (p < 4 ? 1 + 5 + 2 + 6 : 3 + 7 + 4 + 8));
  numbers = NULL;
  release_parts(h);
}

/* One that has failed fails the other; a part without a transport, or of positions that there are
 * not, is refused. */
static void test_part_fails(arena *a) {
  heard h[2];
  dev_event *gate = dev_event_create();
  prepare_parts(h, sum(a, 8, 8, 4), 16, 0);
  CHECK(!start_part(&h[0], 0, 5, 100, NULL));
  swap();
  CHECK(!start_part(&h[1], 5, 3, 100, gate));
  swap();
  dev_event_set(gate, status_make(STATUS_ABORTED, "input went wrong"));
  CHECK(status_get_code(finished(&h[0])) == STATUS_ABORTED);
  CHECK(status_get_code(finished(&h[1])) == STATUS_ABORTED);
  executor_transport *kept = way;
  status bad[2] = {start_part(&h[0], 5, 4, 101, NULL)};
  way = NULL;
  bad[1] = start_part(&h[0], 0, 4, 102, NULL);
  way = kept;
  for (size_t i = 0; i < COUNT(bad); i++) {
    CHECK(status_get_code(bad[i]) == STATUS_INVALID_ARGUMENT);
    status_free(bad[i]);
  }
  release_parts(h);
  dev_event_release(gate);
}

/* Positions 0 .. n - 3 meet at "left" where the parameter is 0 and at "right" where it is not; the
 * last two meet nobody. */
static const program *left_or_right(arena *a, u32 n) {
  prog_builder *b = prog_begin(a, 1, n);
  u32 p = prog_param(b, DTYPE_s32, 1), r = prog_result(b, DTYPE_s32, 1, -1);
  u32 yes = prog_work(b, DTYPE_pred, 1), left = prog_label(b), end = prog_label(b);
  u32 begin[] = {0, n - 2}, members[MOST];
  for (u32 i = 0; i < n; i++) members[i] = i;
  prog_loop *l = prog_add_loop(b, 0, NULL, NAME, AT);
  u32 v = vm_load(b, &l->code, DTYPE_s32, prog_loop_in(b, l, p, 0, NULL));
  v = vm_emit(b, &l->code, VM_ne, DTYPE_pred, v, vm_const_f64(b, &l->code, DTYPE_s32, 0), 0);
  prog_loop_out(b, l, yes, 0, NULL, v);
  prog_collective k = {.kind = COLL_ALL_REDUCE,
                       .n = 1,
                       .in = &p,
                       .out = &r,
                       .num_groups = 1,
                       .begin = begin,
                       .members = members,
                       .body = {.kind = REDUCE_SUM}};
  prog_add_jump_unless(b, yes, left, NAME, AT);
  prog_add_collective(b, &k, STR("right"), STR("f.mlir:3:3"));
  prog_add_jump(b, end, NAME, AT);
  prog_place(b, left);
  prog_add_collective(b, &k, STR("left"), STR("f.mlir:2:3"));
  prog_place(b, end);
  return finish(b);
}

/* Each part waits for the other, in another meeting, where no part by itself is stuck: found
 * whoever comes last, and once those have left who might have come. */
static void test_parts_wait(arena *a, u64 id, bool late) {
  heard h[2], rest;
  i64 one = 1;
  executor_array word = {DTYPE_s32, {&one, 1}, NULL};
  dev_event *gate = dev_event_create();
  const program *p = left_or_right(a, 6);
  prepare_parts(h, p, 4, 0);
  prepare(&rest, p, 4, 0);
  for (u32 d = 0; d < 4; d++) {
    CHECK(!executor_write(on, h[0].params[d], 0, &word, &(i32){0}));
    CHECK(!executor_write(other, h[1].params[d], 0, &word, &(i32){1}));
  }
  if (late) CHECK(!start_part_by(third_way, &rest, 4, 2, id, gate));
  CHECK(!start_part(&h[0], 0, 2, id, NULL));
  swap();
  CHECK(!start_part(&h[1], 2, 2, id, NULL));
  swap();
  if (!late) CHECK(!start_part_by(third_way, &rest, 4, 2, id, gate));
  if (late) usleep(2000);
  CHECK(!dev_event_is_ready(h[0].done) && !dev_event_is_ready(h[1].done));
  dev_event_set(gate, NULL);
  for (int i = 0; i < 2; i++) {
    status s = finished(&h[i]);
    const char *text = s ? status_message(s).data : "";
    CHECK(status_get_code(s) == STATUS_INTERNAL && strstr(text, "deadlock"));
    for (u32 d = 0; d < 4; d++) {
      char line[160];
      snprintf(line, sizeof line,
               "\n  device %u waits for a transfer at all_reduce \"%s\" (f.mlir:%d:3); from: %s", d,
               d < 2 ? "left" : "right", d < 2 ? 2 : 3,
               d < 2 ? "2 (elsewhere) 3 (elsewhere)" : "0 (elsewhere) 1 (elsewhere)");
      CHECK(strstr(text, line));
    }
  }
  (void)dev_event_await(rest.done);
  release_parts(h);
  release(&rest);
  dev_event_release(gate);
}

static void test_parts(arena *a, const char *kind, u32 threads, bool relayed) {
  CHECK(!exec_create(&(exec_options){.kind = kind, .threads = threads}, &other));
  if (relayed)
    connect_relays();
  else
    connect_hub();
  for (u32 cut = 1; cut < 8; cut += 2) test_parts_meet(a, cut);
  test_numbers(a);
  for (u32 cut = 3; cut < 5; cut++) {
    test_shares(a, NULL, cut, 60 + cut);
    test_shares(a, shuffled, cut, 70 + cut);
  }
  test_part_fails(a);
  for (u64 i = 0; i < 20; i++) test_parts_wait(a, 200 + i, i % 2);
  executor_stop(other);
  executor_stop(on);
  if (relayed)
    disconnect_relays();
  else
    disconnect_hub();
  executor_release(other);
}

static void run_all(arena *a, const char *kind, u32 threads) {
  const char *kinds[] = {kind, "plain"};
  for (size_t i = 0; i < 2 * COUNT(kinds); i++) {
    CHECK(!exec_create(&(exec_options){.kind = kind, .threads = threads}, &on));
    test_parts(a, kinds[i / 2], threads, i % 2);
    executor_release(on);
  }
}

int main(void) {
  arena a;
  if (setjmp(trap.at)) return 1;
  arena_init(&a, &mem_system, &trap);
  run_all(&a, "cpu", 1);
  run_all(&a, "cpu", 3);
  run_all(&a, "plain", 0);
  arena_deinit(&a);
  return UNIT_END();
}
