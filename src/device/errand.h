/* A thread of a client's that does what its callers would not wait for: large copies, and giving
 * back memory that nobody has asked for again. It begins with the first errand. */
#ifndef DEVICE_ERRAND_H
#define DEVICE_ERRAND_H

#include "base/base.h"

typedef struct dev_errands dev_errands;
typedef void dev_errand_fn(void *user); /* may release anything, and must not wait */

/* `idle` (may be NULL) is what dev_errand_later asks for. NULL: no memory. */
dev_errands *dev_errands_create(dev_errand_fn *idle, void *user);
/* Does what is left to do and ends the thread; errands that come later are refused. From a callback
 * of the thread itself it does not wait for that. Once more is fine; in a forked child it does
 * nothing. */
void dev_errands_stop(dev_errands *e);
void dev_errands_release(dev_errands *e); /* NULL is fine; after stop */

/* fn(user) will run once, on the thread, in the order of the calls. false: it will not, for want of
 * memory or a thread, after a stop, in a forked child. */
bool dev_errand_run(dev_errands *e, dev_errand_fn *fn, void *user);
/* Runs idle(user) in a while, once for many calls. */
void dev_errand_later(dev_errands *e);

#endif
