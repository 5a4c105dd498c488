/* What comes to a relay from the other processes. */
#include "net/relay_state.h"

/* The lock is held. */
static void *room_for_part(relay *r, u32 from, const wire_head *h) {
  incoming *in = &r->incoming[from];
  for (meeting *m = r->meetings; m; m = m->next) {
    if (!relay_is_of(m, h) || !relay_fits(r, m->x, from, h) || m->have[relay_place(m->x, h)])
      continue;
    if (m->error) continue;
    m->have[relay_place(m->x, h)] = true;
    m->receiving++;
    in->m = m;
    return m->x->parts[relay_place(m->x, h)];
  }
  if (h->bytes > SIZE_MAX - sizeof(early)) return NULL;
  early *e = in->e = mem_alloc(r->mem, sizeof *e + h->bytes);
  if (e) *e = (early){.from = from, .head = *h};
  return e ? e->data : NULL;
}

void *relay_room(void *user, u32 from, const wire_head *h) {
  relay *r = user;
  incoming *in = &r->incoming[from];
  void *to = NULL;
  enum { MOST_TEXT = 1 << 24 };
  pthread_mutex_lock(&r->lock);
  if (h->kind == PART) {
    to = room_for_part(r, from, h);
  } else if (h->bytes <= MOST_TEXT || h->kind == MAIL) {
    todo none = {0};
    in->n = relay_make_note(r, h, &none);
    to = in->n ? in->n->data : NULL;
  }
  pthread_mutex_unlock(&r->lock);
  return to;
}

/* What is there for a meeting of which ours is the last to know. */
void relay_take_early(relay *r, meeting *m) {
  r->early_end = &r->early;
  for (early *e; (e = *r->early_end);) {
    if (!relay_is_of(m, &e->head) || !relay_fits(r, m->x, e->from, &e->head) ||
        m->have[relay_place(m->x, &e->head)]) {
      r->early_end = &e->next;
      continue;
    }
    if (e->head.bytes) memcpy(m->x->parts[relay_place(m->x, &e->head)], e->data, e->head.bytes);
    m->have[relay_place(m->x, &e->head)] = true;
    m->missing--;
    *r->early_end = e->next;
    mem_free(r->mem, e, sizeof *e + e->head.bytes);
  }
}

/* Operands without bytes were given no room. */
static void part_came(relay *r, u32 from, const wire_head *h, todo *t) {
  incoming in = r->incoming[from];
  if (!h->bytes) (void)room_for_part(r, from, h), in = r->incoming[from];
  r->incoming[from] = (incoming){0};
  part *own = relay_part(r, h->launch, r->w->rank);
  if (own) own->received++;
  if (in.m) {
    in.m->receiving--;
    in.m->missing--;
    relay_settle(r, in.m, t);
  } else if (!in.e) {
    r->broken = r->broken ? r->broken : status_oom();
    relay_review(r, t);
  } else {
    *r->early_end = in.e;
    r->early_end = &in.e->next;
    for (meeting *m = r->meetings; m; m = m->next)
      if (relay_is_of(m, h)) {
        relay_take_early(r, m);
        relay_settle(r, m, t);
        break;
      }
  }
  relay_report(r, h->launch, t);
}

static void serve_all(relay *r, u64 launch, todo *t) {
  for (meeting *m = r->meetings; m; m = m->next)
    if (m->x->launch == launch && !m->error) m->error = relay_serve(r, m, t);
}

static void join_came(relay *r, u32 from, const wire_head *h, str text, todo *t) {
  (void)text;
  status s = relay_add_part(r, h->launch, from, h->first, h->count, h->all);
  if (s && !r->broken)
    r->broken = s;
  else
    status_free(s);
  serve_all(r, h->launch, t);
  relay_review(r, t);
}

static void fail_came(relay *r, u32 from, const wire_head *h, str text, todo *t) {
  part *p = relay_part(r, h->launch, from);
  if (p && !p->error)
    p->error = status_make((status_code)h->step, "%.*s", (int)text.len, text.data);
  relay_review(r, t);
}

static void stand_came(relay *r, u32 from, const wire_head *h, str text, todo *t) {
  (void)text;
  part *p = relay_part(r, h->launch, from);
  if (!p) return;
  p->says_it_stands = true;
  p->sent = h->sent;
  p->received = h->received;
  relay_consider(r, h->launch, t);
}

static void ask_came(relay *r, u32 from, const wire_head *h, str text, todo *t) {
  (void)from, (void)text;
  relay_answer(r, h, t);
}

/* An answer to an older question is as good as a report. */
static void answer_came(relay *r, u32 from, const wire_head *h, str text, todo *t) {
  part *p = relay_part(r, h->launch, from);
  char *copy = p && text.len ? mem_alloc(r->mem, text.len) : NULL;
  if (!p) return;
  mem_free(r->mem, p->text, p->text_bytes);
  if (copy) memcpy(copy, text.data, text.len);
  p->text = copy;
  p->text_bytes = copy ? text.len : 0;
  p->sent = h->sent;
  p->received = h->received;
  p->answered = h->step == r->wave;
  if (relay_all_stand(r, h->launch, true)) relay_consider(r, h->launch, t);
}

static void dead_came(relay *r, u32 from, const wire_head *h, str text, todo *t) {
  (void)from;
  part *p = relay_part(r, h->launch, r->w->rank);
  if (p && !p->error) p->error = status_make(STATUS_INTERNAL, "%.*s", (int)text.len, text.data);
  relay_review(r, t);
}

static void leave_came(relay *r, u32 from, const wire_head *h, str text, todo *t) {
  (void)text;
  part *p = relay_part(r, h->launch, from);
  if (!p) return;
  p->left = true;
  p->sent = h->sent;
  p->received = h->received;
  u32 all = p->all;
  relay_review(r, t);
  relay_report(r, h->launch, t);
  relay_forget(r, h->launch, all);
}

void relay_came(void *user, u32 from, const wire_head *h, void *at) {
  static void (*const fns[])(relay *, u32, const wire_head *, str, todo *) = {
      [JOIN] = join_came,     [FAIL] = fail_came, [STAND] = stand_came, [ASK] = ask_came,
      [ANSWER] = answer_came, [DEAD] = dead_came, [LEAVE] = leave_came};
  relay *r = user;
  todo t = {0};
  pthread_mutex_lock(&r->lock);
  bool mail = h->kind == MAIL;
  note *n = h->kind == PART ? NULL : r->incoming[from].n;
  if (h->kind == PART)
    part_came(r, from, h, &t);
  else if (h->kind < COUNT(fns) && fns[h->kind])
    fns[h->kind](r, from, h, (str){at ? at : "", at ? h->bytes : 0}, &t);
  if (h->kind != PART) r->incoming[from] = (incoming){0};
  relay_do(r, &t);
  if (mail && r->mail.came)
    r->mail.came(r->mail.user, from, h, at);
  else if (n)
    relay_note_sent(&n->m);
}

void relay_gone(void *user, u32 from, status why) {
  relay *r = user;
  incoming *in = &r->incoming[from];
  todo t = {0};
  pthread_mutex_lock(&r->lock);
  r->gone[from] =
      why ? status_copy(why)
          : status_make(STATUS_UNAVAILABLE, "process %u of %u has left the job", from, r->w->size);
  if (in->m) in->m->receiving--; /* what came of it is not looked at */
  if (in->m && !in->m->error) in->m->error = status_copy(r->gone[from]);
  if (in->e) mem_free(r->mem, in->e, sizeof *in->e + in->e->head.bytes);
  note *n = in->n;
  *in = (incoming){0};
  relay_review(r, &t);
  why = r->gone[from]; /* as it stays */
  relay_do(r, &t);
  if (n) relay_note_sent(&n->m);
  if (r->mail.gone) r->mail.gone(r->mail.user, from, why);
}
