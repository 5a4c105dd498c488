/* Meetings within a process: who comes to one waits in a list until all its members are there, and
 * the last one copies. Launches call it through the table of executor_transport (meet.c, launch.c).
 * One mutex guards the lists; no callback is called under it but `describe` of parts that wait,
 * which takes its launcher's lock, below this one. */
#include "exec/hub.h"

#include <pthread.h>

/* Positions of a launch that are together on one executor. */
typedef struct part {
  struct part *next;
  u64 launch;
  u32 first, count, all;
  bool left;
  status error;              /* it has failed */
  u64 begun, done;           /* of its meetings: handed in; and come about */
  executor_standstill stand; /* the last; it holds while its numbers are these two */
} part;

typedef struct hub {
  executor_transport base; /* first */
  const allocator *mem;
  pthread_mutex_t lock;
  part *parts;
  executor_exchange *waiting; /* for others */
} hub;

static bool is_of(const executor_exchange *x, u32 member) {
  return x->members[member] - x->first < x->count;
}

/* A launch all of whose parts have left is forgotten. The lock is held. */
static void forget(hub *h, u64 launch, u32 all) {
  for (const part *p = h->parts; p; p = p->next)
    if (p->launch == launch && p->left) all -= p->count;
  for (part **at = &h->parts; all == 0 && *at;) {
    part *p = *at;
    if (p->launch != launch) {
      at = &p->next;
      continue;
    }
    *at = p->next;
    status_free(p->error);
    mem_free(h->mem, p, sizeof *p);
  }
}

/* Why this meeting will never be; NULL: it may. The lock is held. */
static status hopeless(const hub *h, const executor_exchange *x) {
  for (const part *p = h->parts; p; p = p->next) {
    if (p->launch != x->launch) continue;
    if (p->error) return status_copy(p->error);
    for (u32 m = 0; p->left && m < x->num_members; m++)
      if (x->members[m] - p->first < p->count)
        return status_make(STATUS_INTERNAL,
                           "deadlock: a collective (step %u) waits for device %u (finished)",
                           x->step, x->members[m]);
  }
  return NULL;
}

static bool is_same(const executor_exchange *a, const executor_exchange *b) {
  return a->launch == b->launch && a->step == b->step && a->group == b->group &&
         a->phase == b->phase;
}

/* The lock is held. It is there: whoever meets, fails or leaves has joined. */
static part *find_part(const hub *h, u64 launch, u32 first) {
  part *p = h->parts;
  while (p->launch != launch || p->first != first) p = p->next;
  return p;
}

/* Who waits for the same meeting as x, if they and x are all its members; else NULL. */
static executor_exchange *take_group(hub *h, const executor_exchange *x) {
  u32 there = 0;
  executor_exchange *taken = NULL;
  for (u32 m = 0; m < x->num_members; m++) there += is_of(x, m);
  for (const executor_exchange *o = h->waiting; o; o = o->next)
    for (u32 m = 0; is_same(o, x) && m < x->num_members; m++) there += is_of(o, m);
  for (executor_exchange **at = &h->waiting; there == x->num_members && *at;) {
    executor_exchange *o = *at;
    if (!is_same(o, x)) {
      at = &o->next;
      continue;
    }
    *at = o->next;
    o->next = taken;
    taken = o;
    find_part(h, o->launch, o->first)->done++;
  }
  return taken;
}

static bool stands(const part *p) {
  return p->left || (p->stand.describe && p->begun == p->stand.begun && p->done == p->stand.done);
}

/* All parts of the launch are there, and wait for one another. The lock is held. */
static bool is_deadlock(const hub *h, u64 launch) {
  u32 all = 0, here = 0, waiting = 0;
  for (const part *p = h->parts; p; p = p->next) {
    if (p->launch != launch) continue;
    if (p->error || !stands(p)) return false;
    all = p->all;
    here += p->count;
    waiting += !p->left;
  }
  return here == all && waiting;
}

/* Lines by position: parts stand in the order that they came in. */
static status describe_deadlock(const hub *h, u64 launch) {
  buf b;
  buf_init(&b, h->mem);
  for (u32 at = 0, next; at < UINT32_MAX; at = next) {
    next = UINT32_MAX;
    for (const part *p = h->parts; p; p = p->next) {
      if (p->launch != launch) continue;
      if (p->first == at && !p->left) p->stand.describe(p->stand.user, &b);
      if (p->first > at && p->first < next) next = p->first;
    }
  }
  status s = status_make(STATUS_INTERNAL, "deadlock: every device that is not finished waits:%s",
                         buf_ok(&b) ? buf_cstr(&b) : "");
  buf_deinit(&b);
  return s;
}

/* Called after each change of what `stands` reads, so that the last one finds it: all parts then
 * have an error, and their meetings are hopeless. The lock is held. */
static bool end_deadlock(hub *h, u64 launch) {
  if (!is_deadlock(h, launch)) return false;
  status s = describe_deadlock(h, launch);
  for (part *p = h->parts; p; p = p->next)
    if (p->launch == launch) p->error = status_copy(s);
  status_free(s);
  return true;
}

/* An operand as it was, in the list of who reads it. */
typedef struct copy {
  struct copy *next;
  size_t size;
  char data[];
} copy;

static status copy_parts(const hub *h, executor_exchange *to, const executor_exchange *from) {
  for (u32 m = 0; m < from->num_members; m++)
    for (u32 i = 0; is_of(from, m) && i < from->num_parts; i++) {
      size_t size = sizeof(copy) + from->bytes[i];
      copy *c = mem_alloc(h->mem, size);
      if (!c) return status_oom();
      *c = (copy){to->held, size};
      to->held = c;
      to->parts[m * to->num_parts + i] = c->data;
      if (from->bytes[i]) memcpy(c->data, from->parts[m * from->num_parts + i], from->bytes[i]);
    }
  return NULL;
}

static void release(executor_transport *t, executor_exchange *x) {
  for (copy *c = x->held, *next; c; c = next) {
    next = c->next;
    mem_free(((hub *)t)->mem, c, c->size);
  }
  x->held = NULL;
}

/* Takes out what is hopeless now, and says so; called with the lock, which it gives up. */
static void end_hopeless(hub *h, u64 launch) {
  executor_exchange *lost = NULL;
  status error = NULL;
  for (executor_exchange **at = &h->waiting; *at;) {
    executor_exchange *x = *at;
    status why = x->launch == launch ? hopeless(h, x) : NULL;
    if (!why) {
      at = &x->next;
      continue;
    }
    *at = x->next;
    x->next = lost;
    lost = x;
    find_part(h, launch, x->first)->done++;
    status_free(error);
    error = why;
  }
  pthread_mutex_unlock(&h->lock);
  for (executor_exchange *next; lost; lost = next) {
    next = lost->next;
    lost->done(lost->user, error);
  }
  status_free(error);
}

static status join(executor_transport *t, u64 launch, u32 first, u32 count, u32 all) {
  hub *h = (hub *)t;
  part *p = mem_alloc(h->mem, sizeof *p);
  if (!p) return status_oom();
  pthread_mutex_lock(&h->lock);
  *p = (part){.next = h->parts, .launch = launch, .first = first, .count = count, .all = all};
  h->parts = p;
  pthread_mutex_unlock(&h->lock);
  return NULL;
}

/* The last part to come copies for all, without the lock: those that it took are in no list any
 * more, and their owners wait for `done`. All copies are made before the first `done`, which
 * gives up the parts that others still copy from. */
static void exchange(executor_transport *t, executor_exchange *x) {
  hub *h = (hub *)t;
  pthread_mutex_lock(&h->lock);
  part *p = find_part(h, x->launch, x->first);
  status error = hopeless(h, x);
  x->next = error ? NULL : take_group(h, x);
  p->begun++;
  if (!error && !x->next) {
    x->next = h->waiting;
    h->waiting = x;
    if (end_deadlock(h, p->launch))
      end_hopeless(h, p->launch);
    else
      pthread_mutex_unlock(&h->lock);
    return;
  }
  p->done++;
  pthread_mutex_unlock(&h->lock);
  for (executor_exchange *to = x; to; to = to->next)
    for (executor_exchange *from = x; from; from = from->next)
      if (from != to && !error) error = copy_parts(h, to, from);
  for (executor_exchange *next; x; x = next) {
    next = x->next; /* done may free it */
    x->done(x->user, error);
  }
  status_free(error);
}

static void fail(executor_transport *t, u64 launch, u32 first, status error) {
  hub *h = (hub *)t;
  pthread_mutex_lock(&h->lock);
  part *p = find_part(h, launch, first);
  if (!p->error) p->error = status_copy(error);
  end_hopeless(h, launch);
}

static void stand(executor_transport *t, u64 launch, u32 first, const executor_standstill *s) {
  hub *h = (hub *)t;
  pthread_mutex_lock(&h->lock);
  part *p = find_part(h, launch, first);
  if (s->begun + s->done >= p->stand.begun + p->stand.done) p->stand = *s;
  if (end_deadlock(h, launch))
    end_hopeless(h, launch);
  else
    pthread_mutex_unlock(&h->lock);
}

/* Once the lock is given up in between, another part that leaves may forget the launch, and free
 * this part with it: so `all` is read before. */
static void leave(executor_transport *t, u64 launch, u32 first) {
  hub *h = (hub *)t;
  pthread_mutex_lock(&h->lock);
  part *p = find_part(h, launch, first);
  u32 all = p->all;
  p->left = true;
  end_hopeless(h, launch);
  pthread_mutex_lock(&h->lock);
  if (end_deadlock(h, launch)) { /* who is left waited for this one */
    end_hopeless(h, launch);
    pthread_mutex_lock(&h->lock);
  }
  forget(h, launch, all);
  pthread_mutex_unlock(&h->lock);
}

static const executor_transport_ops hub_ops = {.join = join,
                                               .exchange = exchange,
                                               .release = release,
                                               .fail = fail,
                                               .stand = stand,
                                               .leave = leave};

status hub_create(const allocator *mem, executor_transport **out_hub) {
  if (!mem) mem = &mem_system;
  hub *h = mem_zalloc(mem, sizeof *h);
  *out_hub = h ? &h->base : NULL;
  if (!h) return status_oom();
  h->base.ops = &hub_ops;
  h->mem = mem;
  pthread_mutex_init(&h->lock, NULL); /* does not fail on Linux */
  return NULL;
}

void hub_destroy(executor_transport *hub_base) {
  hub *h = (hub *)hub_base;
  if (!h) return;
  for (part *p = h->parts, *next; p;
       p = next) { /* of launches that had fewer parts than they said */
    next = p->next;
    status_free(p->error);
    mem_free(h->mem, p, sizeof *p);
  }
  pthread_mutex_destroy(&h->lock);
  mem_free(h->mem, h, sizeof *h);
}
