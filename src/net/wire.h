/* Messages between the processes of a job.
 *
 * A wire joins `size` processes, numbered 0 .. size - 1, and carries messages from each to each:
 * reliably, and between any two of them in the order in which they were sent. Whoever sends never
 * waits for the receiver, so nothing that users of a wire do can make two processes wait for each
 * other. All processes must be of one byte order and one version (checked when they meet).
 *
 * Threads: send may be called from any thread at any time. What is told to the wire's user
 * (wire_user) comes from one thread of the wire's, in the order of the messages. */
#ifndef NET_WIRE_H
#define NET_WIRE_H

#include "base/arena.h"
#include "base/status.h"

typedef struct wire wire;

/* In front of each message. What the numbers mean is for those who send and receive. */
typedef struct wire_head {
  u32 kind;
  u32 step, group, member, part;
  u32 first, count, all;
  u64 launch, sent, received;
  u64 before; /* the relay's */
  u64 bytes;  /* that follow */
} wire_head;

typedef struct wire_message wire_message;
struct wire_message {
  wire_head head;
  const void *data; /* head.bytes of them */
  /* Once, from any thread, maybe within send, with no lock of the wire's held: the message and its
   * data are needed no longer, because it is on its way, or nobody is there to get it. */
  void (*sent)(wire_message *m);
  void *user;
  wire_message *next; /* to be sent behind it; NULL: none */
  u32 to;             /* the wire's, as `next` once it is sent */
  bool late;          /* while the wire ticks, it may wait for the next message or tick */
};

typedef struct wire_user {
  /* Where the bytes that follow a head go; NULL: nobody wants them. Not asked where there are
   * none. */
  void *(*room)(void *user, u32 from, const wire_head *h);
  void (*came)(void *user, u32 from, const wire_head *h, void *room);
  /* `from` sends no more; a message that had begun never comes. `why` is borrowed; NULL: it closed
   * its wire. Once for each process. */
  void (*gone)(void *user, u32 from, status why);
  /* About every WIRE_TICK_MS, from wire_tick on until it says false. */
  bool (*tick)(void *user);
  void *user;
} wire_user;
enum { WIRE_TICK_MS = 5 };

typedef struct wire_ops {
  status (*start)(wire *w, const wire_user *user); /* before any message is sent; once */
  void (*send)(wire *w, u32 to, wire_message *m);  /* and those behind it */
  void (*tick)(wire *w);                           /* begins with ticks */
  /* To the other as if this process had ended: there is no memory for what it has to know. */
  void (*cut)(wire *w, u32 to);
  /* Sends what is to be sent, tells the others, and frees the wire; nothing is told after it. Not
   * from a function of its user's. */
  void (*close)(wire *w);
} wire_ops;

struct wire {
  const wire_ops *ops;
  u32 rank, size;
};

/* Over connected stream sockets: fds[r] leads to process r and is the wire's from here on, also
 * where this fails; fds[rank] is not looked at. */
status wire_of_sockets(const allocator *mem, u32 rank, u32 size, const int *fds,
                       wire **out_wire) MUST_USE;

static inline status wire_start(wire *w, const wire_user *u) { return w->ops->start(w, u); }
static inline void wire_send(wire *w, u32 to, wire_message *m) { w->ops->send(w, to, m); }
static inline void wire_tick(wire *w) { w->ops->tick(w); }
static inline void wire_cut(wire *w, u32 to) { w->ops->cut(w, to); }
static inline void wire_close(wire *w) {
  if (w) w->ops->close(w);
}

#endif
