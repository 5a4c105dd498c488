/* That all wait for one another is found by process 0. At each tick a part that stands still tells
 * it how many operands it has sent and got; when all stand, and the sums are equal, it asks all
 * once more. Equal answers mean that nothing was under way in between (Mattern, Algorithms for
 * distributed termination detection, 1987). */
#include "base/os.h"
#include "net/relay_state.h"

static bool is_self(const relay *r, const part *p) { return p->rank == r->w->rank; }

/* A meeting of ours goes on by itself. */
static bool is_busy(const relay *r, u64 launch) {
  for (const meeting *m = r->meetings; m; m = m->next)
    if (m->x->launch == launch && (m->unsent || !m->missing)) return true;
  return false;
}

static bool stands(const relay *r, const part *p) {
  if (!is_self(r, p)) return p->left || p->says_it_stands;
  if (!p->left && is_busy(r, p->launch)) return false;
  return p->left || (p->stand.describe && p->begun == p->stand.begun && p->done == p->stand.done);
}

/* Process 0: all parts of the launch are there and wait, nothing is under way to one, and some have
 * not left. `again`: all have said so twice, with the same numbers. */
bool relay_all_stand(const relay *r, u64 launch, bool again) {
  u32 all = 0, here = 0, waiting = 0;
  u64 sent = 0, received = 0;
  for (const part *p = r->parts; p; p = p->next) {
    if (p->launch != launch) continue;
    bool same = p->sent == p->asked_sent && p->received == p->asked_received;
    if (p->error || !stands(r, p)) return false;
    if (again && !(same && (p->answered || p->left || is_self(r, p)))) return false;
    all = p->all;
    here += p->count;
    waiting += !p->left;
    sent += p->sent;
    received += p->received;
  }
  return here == all && waiting && sent == received;
}

/* Lines by position. */
static status describe_deadlock(const relay *r, u64 launch) {
  buf b;
  buf_init(&b, r->mem);
  for (u32 at = 0, next; at < UINT32_MAX; at = next) {
    next = UINT32_MAX;
    for (const part *p = r->parts; p; p = p->next) {
      if (p->launch != launch) continue;
      if (p->first == at && is_self(r, p) && !p->left) p->stand.describe(p->stand.user, &b);
      if (p->first == at && p->text) buf_bytes(&b, p->text, p->text_bytes);
      if (p->first > at && p->first < next) next = p->first;
    }
  }
  status s = status_make(STATUS_INTERNAL, "deadlock: every device that is not finished waits:%s",
                         buf_ok(&b) ? buf_cstr(&b) : "");
  buf_deinit(&b);
  return s;
}

/* Whether there is something to ask: it has not been, or of other numbers, or the answers are long
 * in coming (who did not stand when it was asked does not answer). */
static bool is_new(const relay *r, u64 launch) {
  enum { PATIENCE_NS = 50000000 };
  u64 now = os_now_ns();
  for (const part *p = r->parts; p; p = p->next)
    if (p->launch == launch && (!p->asked_at || now - p->asked_at > PATIENCE_NS ||
                                p->sent != p->asked_sent || p->received != p->asked_received))
      return true;
  return false;
}

/* Process 0: once all stand, asks all parts whether they still do; when they have answered, it is
 * the end of the launch. */
void relay_consider(relay *r, u64 launch, todo *t) {
  if (r->w->rank != 0) return;
  if (relay_all_stand(r, launch, true)) {
    status s = describe_deadlock(r, launch);
    str text = status_message(s);
    relay_tell_all(r, &(wire_head){.kind = DEAD, .launch = launch, .bytes = text.len}, text.data,
                   t);
    for (part *p = r->parts; p; p = p->next)
      if (p->launch == launch && !p->error) p->error = status_copy(s);
    status_free(s);
    relay_review(r, t);
    return;
  }
  if (!relay_all_stand(r, launch, false) || !is_new(r, launch)) return;
  r->wave++;
  for (part *p = r->parts; p; p = p->next) {
    if (p->launch != launch) continue;
    p->asked_sent = p->sent;
    p->asked_received = p->received;
    p->asked_at = os_now_ns();
    p->asked_wave = r->wave;
    p->answered = false;
    wire_head h = {.kind = ASK, .launch = launch, .step = r->wave};
    if (!is_self(r, p) && !p->left) relay_tell(r, p->rank, &h, NULL, t);
  }
  if (relay_all_stand(r, launch, true))
    relay_consider(r, launch, t); /* nobody else has to be asked */
}

wire_head relay_numbers(const part *p, u32 kind) {
  return (wire_head){.kind = kind, .launch = p->launch, .sent = p->sent, .received = p->received};
}

static void report(relay *r, part *p, todo *t) {
  if (r->w->rank == 0) {
    relay_consider(r, p->launch, t);
  } else if (!p->left && stands(r, p)) {
    wire_head h = relay_numbers(p, STAND);
    relay_tell(r, 0, &h, NULL, t);
  }
}

bool relay_tick(void *user) {
  relay *r = user;
  todo t = {0};
  pthread_mutex_lock(&r->lock);
  relay_drain_all(r, &t);
  bool any = r->parts != NULL;
  for (part *p = r->parts; p; p = p->next)
    if (is_self(r, p)) report(r, p, &t);
  relay_do(r, &t);
  return any;
}

/* To process 0: whether we still stand, and at what. */
void relay_answer(relay *r, const wire_head *ask, todo *t) {
  part *p = relay_part(r, ask->launch, r->w->rank);
  if (!p || p->left || !stands(r, p)) return;
  buf b;
  buf_init(&b, r->mem);
  p->stand.describe(p->stand.user, &b);
  wire_head h = relay_numbers(p, ANSWER);
  h.step = ask->step;
  h.bytes = buf_ok(&b) ? b.len : 0;
  relay_tell(r, 0, &h, b.data, t);
  buf_deinit(&b);
}
