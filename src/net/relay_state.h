/* A relay's state, and what its files do for one another: relay.c is the transport's table, and
 * what the parts of launches and their meetings are; relay_came.c what comes from others;
 * relay_still.c how a standstill of all is found. Functions that take a todo are called with the
 * lock. */
#ifndef NET_RELAY_STATE_H
#define NET_RELAY_STATE_H

#include <pthread.h>

#include "net/lane.h"
#include "net/relay.h"
#include "net/window.h"

/* WINDOW: what the sender's is called; SEEN: that the sender sees ours; LANE: what comes by one,
 * which is at `sent` of its window; POKE: that something does. A PART's head says the
 * phase as `first`; with `count`, its bytes are in the window, at `sent`, `received` of them. */
enum { JOIN, PART, FAIL, STAND, ASK, ANSWER, DEAD, LEAVE, MAIL, WINDOW, SEEN, LANE, POKE };

/* Positions of a launch that are together in one process. */
typedef struct part {
  struct part *next;
  u64 launch;
  u32 rank, first, count, all;
  bool left;
  status error;                   /* it has failed */
  u64 sent, received;             /* operands; of others: as they last said */
  u64 begun, done;                /* ours: of its meetings, handed in; and come about */
  executor_standstill stand;      /* ours: the last; it holds while its numbers are these two */
  bool says_it_stands;            /* process 0, of others */
  u64 asked_sent, asked_received; /* process 0: as they were when all were asked, */
  u64 asked_at;                   /* and when (ns); 0: they have not been */
  u32 asked_wave;
  bool answered; /* process 0: it still stands, with these numbers */
  char *text;    /* process 0: what its devices wait for */
  size_t text_bytes;
} part;

/* An operand that has come: ahead of our part of its meeting, or held by it. */
typedef struct operand {
  struct operand *next;
  u32 from;
  wire_head head;
  char *lies;
  atomic_uint *readers; /* in its sender's window; NULL: it is `data`, head.bytes of it */
  char data[];
} operand;

/* A meeting that our members have come to. */
typedef struct meeting {
  struct meeting *next;
  executor_exchange *x;
  status error; /* it will not be */
  u32 missing;  /* operands that have not come */
  u32 unsent;   /* messages with ours that the wire still has */
  bool *have;   /* [member * num_parts + part] */
  bool *served; /* by process: it gets, or needs, nothing more */
  size_t size;
} meeting;

/* An operand of ours, on the way. */
typedef struct leaving {
  wire_message m;
  char *room;       /* in our window, to be filled; NULL: somebody else does, or it is not there */
  const void *from; /* ours */
} leaving;

/* All that one process gets. */
typedef struct batch {
  struct relay *r;
  meeting *m;
  struct batch *next; /* to be sent */
  u32 to, count, left;
  size_t size;
  leaving operands[];
} batch;

/* A message with its own copy of what it says. */
typedef struct note {
  wire_message m; /* first */
  const allocator *mem;
  u32 to;
  bool waits;        /* it may, until the other looks by itself */
  struct note *next; /* to be sent */
  char data[];
} note;

typedef struct incoming { /* what the bytes that come from a process are */
  operand *o;
  note *n;
} incoming;

/* Between a process and us: lanes and the wire, and what has gone by them. */
typedef struct route {
  lane *lent;      /* in our window; */
  lane *out;       /* it, once it has been told of; NULL: none */
  u64 laid, wired; /* sent; these three under `sending` */
  lane *in;        /* in its window */
  u64 taken, came; /* of its messages, by lane and by wire */
} route;

typedef struct relay {
  executor_transport base; /* first */
  const allocator *mem;
  wire *w;
  relay_mail mail;
  pthread_mutex_t lock;
  part *parts;
  meeting *meetings;
  operand *early, **early_end;
  status *gone;       /* by process: why it sends no more; NULL: it may */
  incoming *incoming; /* by process; the wire's thread's */
  window *window;     /* NULL: there is none */
  os_shared *theirs;  /* by process: the window of one on this machine */
  bool *sees;         /* by process: it has opened ours */
  route *routes;      /* by process */
  pthread_mutex_t sending;
  atomic_uint heard; /* how often our window's bell had been rung when we last looked */
  status broken;     /* no memory for what came: nothing is sure any more */
  u32 wave;
} relay;

/* What is to be done when the lock is given up. */
typedef struct todo {
  note *notes, **notes_end;
  batch *send;
  meeting *over;
  bool cut; /* no memory for a note: the others must not wait for it */
} todo;

/* ---- relay.c ---- */

void relay_note_sent(wire_message *m);
note *relay_make_note(relay *r, const wire_head *h, todo *t); /* NULL: no memory */
void relay_tell(relay *r, u32 to, const wire_head *h, const void *data, todo *t);
void relay_tell_all(relay *r, const wire_head *h, const void *data, todo *t);
part *relay_part(const relay *r, u64 launch, u32 rank);      /* NULL: it has not joined */
part *relay_owner(const relay *r, u64 launch, u32 position); /* NULL: nobody has joined with it */
status relay_add_part(relay *r, u64 launch, u32 rank, u32 first, u32 count, u32 all) MUST_USE;
void relay_forget(relay *r, u64 launch, u32 all); /* where all parts have left */
bool relay_is_of(const meeting *m, const wire_head *h);
/* What the positions of a part look at of an operand. */
executor_range relay_needs(const executor_exchange *x, const part *of, u32 member, u32 k);
void relay_free_operand(relay *r, operand *o);
/* Our operands to all that have members of the group and have joined. */
status relay_serve(relay *r, meeting *m, todo *t) MUST_USE;
/* Takes it out where nothing of it is under way: it has come about, or never will. */
void relay_settle(relay *r, meeting *m, todo *t);
void relay_review(relay *r, todo *t); /* all meetings anew, after what may have ended them */
void relay_do(relay *r, todo *t);     /* gives up the lock */

/* ---- relay_still.c ---- */

bool relay_all_stand(const relay *r, u64 launch, bool again);
void relay_consider(relay *r, u64 launch, todo *t);
wire_head relay_numbers(const part *p, u32 kind);
bool relay_tick(void *user); /* a wire_user's */
void relay_answer(relay *r, const wire_head *ask, todo *t);

/* ---- relay_lanes.c ---- */

void relay_lend(relay *r, u32 to, todo *t);
void relay_lane_came(relay *r, u32 from, const wire_head *h, str text, todo *t);
/* Messages to a process, without the lock; `waits`: until it looks by itself. */
void relay_send(relay *r, u32 to, wire_message *list, bool waits);
void relay_drain(relay *r, u32 from, u64 until, todo *t);
void relay_drain_all(relay *r, todo *t);
void relay_look(executor_transport *base);
void relay_listen(executor_transport *base, bool on);

/* ---- relay_came.c: a wire_user ---- */

/* A message; o: its operand, if it brought one. */
void relay_hear(relay *r, u32 from, const wire_head *h, str text, operand *o, todo *t);

void relay_take_early(relay *r, meeting *m);
void *relay_room(void *user, u32 from, const wire_head *h);
void relay_came(void *user, u32 from, const wire_head *h, void *at);
void relay_gone(void *user, u32 from, status why);

#endif
