/* A ring of heads: in order, none lost, refused where it is full. */
#include "net/lane.h"

#include <pthread.h>
#include <sched.h>

#include "tests/unit.h"

static void test_order(lane *l) {
  u32 in = 0, out = 0;
  CHECK(!lane_first(l));
  for (u32 turn = 0; turn < 10; turn++) {
    for (; in < out + LANE_LENGTH; in++) CHECK(lane_put(l, &(wire_head){.step = in}));
    CHECK(!lane_put(l, &(wire_head){.step = in}));
    for (u32 i = 0; i < 100; i++, lane_take(l)) CHECK(lane_first(l)->step == out++);
  }
  for (; out < in; lane_take(l)) CHECK(lane_first(l)->step == out++);
  CHECK(!lane_first(l));
}

enum { MANY = 20000 };

static void *put_many(void *data) {
  for (u32 i = 0; i < MANY;)
    if (lane_put(data, &(wire_head){.step = i, .launch = ~(u64)i}))
      i++;
    else
      sched_yield();
  return NULL;
}

static void test_threads(lane *l) {
  pthread_t t;
  u32 wrong = 0;
  CHECK(!pthread_create(&t, NULL, put_many, l));
  for (u32 i = 0; i < MANY;) {
    const wire_head *h = lane_first(l);
    if (!h) {
      sched_yield();
      continue;
    }
    wrong += h->step != i || h->launch != ~(u64)i;
    lane_take(l);
    i++;
  }
  pthread_join(t, NULL);
  CHECK(!wrong && !lane_first(l));
}

int main(void) {
  static lane l;
  test_order(&l);
  test_threads(&l);
  return UNIT_END();
}
