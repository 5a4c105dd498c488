/* What comes to a relay from the other processes. */
#include "net/relay_state.h"

static operand *make_operand(relay *r, u32 from, const wire_head *h) {
  if (h->bytes > SIZE_MAX - sizeof(operand)) return NULL;
  operand *o = mem_alloc(r->mem, sizeof *o + h->bytes);
  if (o) *o = (operand){.from = from, .head = *h};
  if (o) o->lies = o->data;
  return o;
}

/* Of one whose bytes are no message's; NULL: no memory, or there is no such place. */
static operand *find_operand(relay *r, u32 from, const wire_head *h) {
  operand *o = make_operand(r, from, h);
  if (!o || !h->count) return o;
  o->lies = window_find(&r->theirs[from], h->sent, h->received, &o->readers);
  if (o->lies) return o;
  mem_free(r->mem, o, sizeof *o + h->bytes);
  return NULL;
}

void *relay_room(void *user, u32 from, const wire_head *h) {
  relay *r = user;
  incoming *in = &r->incoming[from];
  void *to = NULL;
  enum { MOST_TEXT = 1 << 24 };
  pthread_mutex_lock(&r->lock);
  if (h->kind == PART) {
    in->o = make_operand(r, from, h);
    to = in->o ? in->o->data : NULL;
  } else if (h->bytes <= MOST_TEXT || h->kind == MAIL) {
    todo none = {0};
    in->n = relay_make_note(r, h, &none);
    to = in->n ? in->n->data : NULL;
  }
  pthread_mutex_unlock(&r->lock);
  return to;
}

/* True: it is this meeting's, whose operands are then as if all of each lay there. */
static bool take(const relay *r, meeting *m, operand *o) {
  executor_exchange *x = m->x;
  const wire_head *h = &o->head;
  if (!relay_is_of(m, h) || h->member >= x->num_members || h->part >= x->num_parts) return false;
  size_t at = (size_t)h->member * x->num_parts + h->part;
  const part *p = relay_owner(r, x->launch, x->members[h->member]);
  if (!p || p->rank != o->from || m->have[at]) return false;
  executor_range n = relay_needs(x, relay_part(r, x->launch, r->w->rank), h->member, h->part);
  if (n.end - n.begin != (h->count ? h->received : h->bytes)) return false;
  x->parts[at] = (void *)((uintptr_t)o->lies - n.begin);
  m->have[at] = true;
  m->missing--;
  o->next = x->held;
  x->held = o;
  return true;
}

/* What is there for a meeting of which ours is the last to know. */
void relay_take_early(relay *r, meeting *m) {
  r->early_end = &r->early;
  for (operand *o; (o = *r->early_end);) {
    operand *next = o->next;
    if (take(r, m, o))
      *r->early_end = next;
    else
      r->early_end = &o->next;
  }
}

/* Those whose bytes were no message's were given no room. */
static void part_came(relay *r, u32 from, const wire_head *h, operand *o, todo *t) {
  part *own = relay_part(r, h->launch, r->w->rank);
  if (!h->bytes) o = find_operand(r, from, h);
  if (own) own->received++;
  if (!o) {
    r->broken = r->broken ? r->broken : status_oom();
    relay_review(r, t);
    return;
  }
  meeting *m = r->meetings;
  while (m && !(!m->error && take(r, m, o))) m = m->next;
  if (m) {
    relay_settle(r, m, t);
  } else {
    *r->early_end = o;
    r->early_end = &o->next;
  }
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
  p->answered = h->step == p->asked_wave;
  if (relay_all_stand(r, h->launch, true)) relay_consider(r, h->launch, t);
}

static void window_came(relay *r, u32 from, const wire_head *h, str text, todo *t) {
  (void)h;
  if (r->theirs[from].at || !text.len || text.data[text.len - 1]) return;
  if (!window_open(text.data, &r->theirs[from])) return;
  relay_tell(r, from, &(wire_head){.kind = SEEN}, NULL, t);
  if (r->sees[from]) relay_lend(r, from, t);
}

static void seen_came(relay *r, u32 from, const wire_head *h, str text, todo *t) {
  (void)h, (void)text;
  r->sees[from] = r->window != NULL;
  if (r->sees[from] && r->theirs[from].at) relay_lend(r, from, t);
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
  relay_forget(r, h->launch, all);
}

void relay_hear(relay *r, u32 from, const wire_head *h, str text, operand *o, todo *t) {
  static void (*const fns[])(relay *, u32, const wire_head *, str, todo *) = {
      [JOIN] = join_came,     [FAIL] = fail_came,      [STAND] = stand_came, [ASK] = ask_came,
      [ANSWER] = answer_came, [DEAD] = dead_came,      [LEAVE] = leave_came, [WINDOW] = window_came,
      [SEEN] = seen_came,     [LANE] = relay_lane_came};
  if (h->kind == PART)
    part_came(r, from, h, o, t);
  else if (h->kind < COUNT(fns) && fns[h->kind])
    fns[h->kind](r, from, h, text, t);
}

void relay_came(void *user, u32 from, const wire_head *h, void *at) {
  relay *r = user;
  todo t = {0};
  pthread_mutex_lock(&r->lock);
  bool mail = h->kind == MAIL;
  incoming in = r->incoming[from];
  r->incoming[from] = (incoming){0};
  note *n = in.n;
  relay_drain(r, from, h->before, &t);
  relay_hear(r, from, h, (str){at ? at : "", at ? h->bytes : 0}, in.o, &t);
  r->routes[from].came++;
  relay_drain(r, from, 0, &t);
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
  relay_drain(r, from, UINT64_MAX, &t);
  r->gone[from] =
      why ? status_copy(why)
          : status_make(STATUS_UNAVAILABLE, "process %u of %u has left the job", from, r->w->size);
  if (in->o) relay_free_operand(r, in->o);
  note *n = in->n;
  *in = (incoming){0};
  relay_review(r, &t);
  why = r->gone[from]; /* as it stays */
  relay_do(r, &t);
  if (n) relay_note_sent(&n->m);
  if (r->mail.gone) r->mail.gone(r->mail.user, from, why);
}
