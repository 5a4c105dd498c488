#include "device/event.h"

#include <pthread.h>
#include <stdatomic.h>

#include "tests/unit.h"

typedef struct seen {
  atomic_int calls;
  status_code code;
  dev_event *drop; /* released by the callback */
  int order, *clock;
} seen;

static void note(void *user, status error) {
  seen *s = user;
  s->code = status_get_code(error);
  if (s->clock) s->order = ++*s->clock;
  if (s->drop) dev_event_release(s->drop);
  atomic_fetch_add(&s->calls, 1);
}

static void test_order_and_late(void) {
  dev_event *e = dev_event_create();
  int clock = 0;
  seen a = {.clock = &clock}, b = {.clock = &clock}, c = {.clock = &clock};
  CHECK(!dev_event_is_ready(e) && !dev_event_error(e));
  CHECK(dev_event_on_ready(e, note, &a) && dev_event_on_ready(e, note, &b));
  CHECK(a.calls == 0);
  dev_event_set(e, NULL);
  CHECK(a.order == 1 && b.order == 2 && dev_event_is_ready(e));
  CHECK(dev_event_on_ready(e, note, &c) && c.order == 3);
  CHECK(dev_event_await(e) == NULL);
  dev_event_release(e);
}

static void test_error_and_drop(void) {
  dev_event *e = dev_event_create();
  seen a = {.drop = e}, b = {0};
  CHECK(dev_event_on_ready(e, note, &a) && dev_event_on_ready(e, note, &b));
  dev_event_retain(e);
  dev_event_set(e, status_make(STATUS_INTERNAL, "broken"));
  CHECK(a.code == STATUS_INTERNAL && b.code == STATUS_INTERNAL);
  CHECK(status_get_code(dev_event_error(e)) == STATUS_INTERNAL);
  dev_event_release(e);
  e = dev_event_create(); /* dropped while pending */
  seen c = {0};
  CHECK(dev_event_on_ready(e, note, &c));
  dev_event_release(e);
  CHECK(c.calls == 1 && c.code == STATUS_CANCELLED);
}

static void *set_it(void *user) {
  dev_event_set(user, NULL);
  dev_event_release(user);
  return NULL;
}

static void test_threads(void) {
  for (int i = 0; i < 500; i++) {
    dev_event *e = dev_event_create();
    seen s[4] = {{0}};
    pthread_t t;
    pthread_create(&t, NULL, set_it, dev_event_retain(e));
    int ok = 0;
    for (int k = 0; k < 4; k++) ok += dev_event_on_ready(e, note, &s[k]);
    status error = dev_event_await(e);
    pthread_join(t, NULL);
    if (i == 0) CHECK(ok == 4 && !error);
    for (int k = 0; k < 4; k++) ok -= s[k].calls == 1;
    if (ok || i == 499) CHECK(ok == 0);
    dev_event_release(e);
  }
}

int main(void) {
  test_order_and_late();
  test_error_and_drop();
  test_threads();
  return UNIT_END();
}
