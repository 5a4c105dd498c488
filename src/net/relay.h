/* A transport between executors of several processes (device/executor.h), over a wire. */
#ifndef NET_RELAY_H
#define NET_RELAY_H

#include "device/executor.h"
#include "net/wire.h"

/* What processes tell one another besides launches. All is called on the wire's thread, which must
 * not wait. */
typedef struct relay_mail {
  /* `data`, head.bytes of it, is the user's until relay_free_mail; NULL with bytes: no memory. */
  void (*came)(void *user, u32 from, const wire_head *head, void *data);
  void (*gone)(void *user, u32 from, status why); /* borrowed */
  void *user;
} relay_mail;

/* Takes the wire, also where it fails. mem NULL: mem_system; must outlive it. mail NULL: what comes
 * is dropped. A process has one part of a launch at most. */
status relay_create(const allocator *mem, wire *w, const relay_mail *mail,
                    executor_transport **out_relay) MUST_USE;
/* head.kind is the relay's, the rest the user's. As wire_send. */
void relay_send_mail(executor_transport *relay, u32 to, wire_message *m);
void relay_free_mail(void *data); /* NULL is fine */
/* Why nothing comes from a process any more (the caller's); NULL: it may. */
status relay_why_gone(executor_transport *relay, u32 rank);
/* No launch uses it any longer. Closes the wire; NULL is fine. */
void relay_destroy(executor_transport *relay);

#endif
