/* A transport between executors of several processes (device/executor.h), over a wire. */
#ifndef NET_RELAY_H
#define NET_RELAY_H

#include "device/executor.h"
#include "net/wire.h"

/* Takes the wire, also where it fails. mem NULL: mem_system; must outlive it. A process has one
 * part of a launch at most. */
status relay_create(const allocator *mem, wire *w, executor_transport **out_relay) MUST_USE;
/* No launch uses it any longer. Closes the wire; NULL is fine. */
void relay_destroy(executor_transport *relay);

#endif
