/* Who waits for what: the words of deadlocks, and of whoever wants to know what hangs. */
#include "exec/launch.h"

enum { MOST_LINES = 64, MOST_NAMES = 8 };

/* The lock is held here and in what follows but launcher_describe, which takes it: states change
 * only under it. */
static place_wait wait_of(const place *p) {
  assert(IS_LOCKED(p->l->on));
  switch (p->state) {
  case PLACE_QUEUED:
    return p->l->ready ? WAIT_QUEUE : WAIT_EVENT;
  case PLACE_PARKED:
    return p->outside == WAIT_CHANNEL ? WAIT_CHANNEL : WAIT_COLLECTIVE;
  case PLACE_MEETING: /* outside as well where who came last is */
  case PLACE_OUTSIDE:
    return p->outside;
  case PLACE_READY:
  case PLACE_RUNNING:
  case PLACE_DONE:
    break;
  }
  return WAIT_NOTHING;
}

/* As in "device 3 waits for the host at copy ..." */
static const char *const wait_text[WAIT_COUNT_] = {
    [WAIT_QUEUE] = "waits for another launch",
    [WAIT_EVENT] = "waits for an event",
    [WAIT_COLLECTIVE] = "waits",
    [WAIT_CALLBACK] = "waits for the host",
    [WAIT_TRANSFER] = "waits for a transfer",
    [WAIT_CHANNEL] = "waits for a message",
};

static void describe_absent(buf *b, u32 position, const place *m) {
  place_wait w = m ? wait_of(m) : WAIT_NOTHING;
  buf_printf(b, " %u", position);
  if (!m) {
    BUF_LIT(b, " (elsewhere)");
    return;
  }
  if (m->state == PLACE_DONE) BUF_LIT(b, " (finished)");
  if (w != WAIT_NOTHING && w != WAIT_COLLECTIVE) buf_printf(b, " (%s)", wait_text[w]);
}

static void describe_group(buf *b, const launch *l, const exec_collective *x, u32 group) {
  u32 shown = 0;
  BUF_LIT(b, "; not there:");
  for (u32 i = x->begin[group]; i < x->begin[group + 1]; i++) {
    const place *m = launch_place(l, x->members[i]);
    bool here = m && m->state == PLACE_PARKED && l->image->collectives[m->pc] == x;
    if (!here && ++shown <= MOST_NAMES) describe_absent(b, x->members[i], m);
  }
  if (shown > MOST_NAMES) buf_printf(b, " and %u more", shown - MOST_NAMES);
}

/* The members of a group that who waits for a transfer wants to hear of. */
static void describe_others(buf *b, const launch *l, const exec_collective *x, u32 group) {
  u32 shown = 0;
  BUF_LIT(b, "; from:");
  for (u32 i = x->begin[group]; i < x->begin[group + 1]; i++)
    if (!launch_place(l, x->members[i]) && ++shown <= MOST_NAMES)
      describe_absent(b, x->members[i], NULL);
  if (shown > MOST_NAMES) buf_printf(b, " and %u more", shown - MOST_NAMES);
}

static void describe_place(buf *b, const place *p) {
  const launch *l = p->l;
  place_wait w = wait_of(p);
  buf_printf(b, "\n  device %u %s", p->position, wait_text[w]);
  if (p->state == PLACE_QUEUED) return;
  const prog_step *s = &l->prog->steps[p->pc];
  const exec_collective *x = l->image->collectives[p->pc];
  buf_printf(b, " at %s \"" STR_FMT "\" (" STR_FMT ")",
             x ? prog_collective_name(x->c->kind) : prog_step_kind_name(s->kind), STR_ARG(s->name),
             STR_ARG(s->loc));
  if (w == WAIT_COLLECTIVE) describe_group(b, l, x, x->group_of[p->position]);
  if (w == WAIT_TRANSFER) describe_others(b, l, x, x->group_of[p->position]);
}

void launch_describe(const launch *l, buf *out) {
  u32 lines = 0;
  for (u32 i = 0; i < l->n; i++)
    if (wait_of(&l->places[i]) != WAIT_NOTHING && lines++ < MOST_LINES)
      describe_place(out, &l->places[i]);
  if (lines > MOST_LINES) buf_printf(out, "\n  and %u devices more", lines - MOST_LINES);
}

void launcher_describe(executor *x, buf *out) {
  launcher *on = (launcher *)x;
  pthread_mutex_lock(&on->lock);
  for (const launch *l = on->first; l; l = l->after) launch_describe(l, out);
  pthread_mutex_unlock(&on->lock);
}

/* Nobody is active, and nothing outside will come: NULL when all are done. */
static status deadlock(const launch *l) {
  buf b;
  buf_init(&b, l->on->mem);
  launch_describe(l, &b);
  status s = NULL;
  if (b.len || !buf_ok(&b))
    s = status_make(STATUS_INTERNAL, "deadlock: every device that is not finished waits:%s",
                    buf_ok(&b) ? buf_cstr(&b) : "");
  buf_deinit(&b);
  return s;
}

launch_halted launch_stopped(launch *l) {
  launch_halted h = {.begun = l->begun, .met = l->met};
  assert(IS_LOCKED(l->on) && !l->active && !l->error);
  if (l->outside == 0)
    h.deadlock = deadlock(l);
  else
    h.waits = l->transport && l->outside == l->begun - l->met;
  if (h.deadlock || h.waits) l->unfinished++;
  return h;
}
