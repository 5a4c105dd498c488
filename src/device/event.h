/* Events: a shared, refcounted "it has happened, and this is how it went".
 *
 * An event is made pending and set once. Whoever waits registers a callback or blocks.
 * Dropping a handle never cancels a callback. Thread-safe throughout. No lock is held while
 * a callback runs, so a callback may release the event, register more, or set others. */
#ifndef DEVICE_EVENT_H
#define DEVICE_EVENT_H

#include "base/status.h"

typedef struct dev_event dev_event;
enum { DEV_EVENT_KIND = 0x74766501 }; /* an event begins with a handle (base/handle.h) of it */

dev_event *dev_event_create(void);         /* pending, one reference; NULL: no memory */
dev_event *dev_event_create_open(void);    /* the same; dev_event_try_set may set it */
dev_event *dev_event_retain(dev_event *e); /* returns e */
void dev_event_release(dev_event *e);      /* NULL is fine */

/* Sets the outcome (takes the status) and runs the callbacks on this thread. Only once. */
void dev_event_set(dev_event *e, status error);
/* By whoever has a handle: FAILED_PRECONDITION unless it is open and has not been set before. */
status dev_event_try_set(dev_event *e, status error) MUST_USE;

bool dev_event_is_ready(const dev_event *e);
status dev_event_error(const dev_event *e); /* borrowed; NULL while pending or when OK */
status dev_event_await(dev_event *e);       /* blocks; the error, borrowed */

/* fn(user, error) runs exactly once: at once on this thread if e is ready, otherwise on the
 * thread that sets it. `error` is borrowed. False (fn not called): no memory. */
typedef void dev_event_fn(void *user, status error);
bool dev_event_on_ready(dev_event *e, dev_event_fn *fn, void *user) MUST_USE;

#endif
