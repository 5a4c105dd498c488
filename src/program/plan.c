/* The buffer plan: which slots can be one, and where in the workspace each lies.
 *
 * A slot lives from its first touch to its last, in step order; a loop (a jump back from j to
 * t) widens that: what lives into the loop lives to its end, what is read before it is written
 * in it, or is read after it, lives all through it. Two slots may share memory when their
 * lives do not meet, or when they meet in one step that can work in place.
 *
 * Moves: `move a -> b` where a dies and b is born is one slot. In a loop, where b carries a
 * value around and r becomes the next one, `move r -> b` also vanishes if nobody needs the old
 * b once r is being written: then a dynamic_update_slice of a carried array is in place. */
#include "program/holes.h"
#include "program/parts.h"

typedef slot_life life;

typedef struct range {
  u32 begin, end; /* target and jump of a loop */
} range;

/* A step that touches a slot. */
typedef struct touch_at {
  u32 step;
  struct touch_at *next;
} touch_at;

typedef struct planner {
  arena *a, *out; /* out: what the steps have */
  program *p;
  life *touched;      /* first and last touch */
  life *lives;        /* the same, widened by loops */
  touch_at **touches; /* all of a slot's, in no order */
  VEC(range) loops;
  u32 step; /* of the walk */
} planner;

static void touch(void *user, u32 *slot, slot_use use) {
  planner *pl = user;
  life *l = &pl->touched[*slot];
  touch_at *t = arena_alloc(pl->a, sizeof *t);
  *t = (touch_at){pl->step, pl->touches[*slot]};
  pl->touches[*slot] = t;
  if (l->first == PROG_NONE) {
    l->first = pl->step;
    l->read_first = use != USE_WRITE;
  }
  l->last = pl->step;
}

static void find_loops(planner *pl) {
  pl->loops.len = 0;
  for (u32 i = 0; i < pl->p->num_steps; i++) {
    const prog_jump *j = prog_step_jump(&pl->p->steps[i]);
    for (u32 k = 0; j && k < j->n; k++)
      if (j->target[k] <= i) VEC_PUSH(pl->a, pl->loops, (range){j->target[k], i});
  }
}

/* What is written first and touched in the loop alone is made anew in each turn, and keeps its
 * life. */
static bool widen(life *l, range r) {
  if (l->first == PROG_NONE || l->first > r.end || l->last < r.begin) return false;
  bool inside = l->first >= r.begin && l->last <= r.end;
  if (inside && !l->read_first) return false;
  life old = *l;
  if (l->first > r.begin) l->first = r.begin;
  if (l->last < r.end) l->last = r.end;
  return old.first != l->first || old.last != l->last;
}

/* Widens one slot's touches to its life. */
static void find_life(planner *pl, u32 slot) {
  const program *p = pl->p;
  life *l = &pl->lives[slot];
  *l = pl->touched[slot];
  if (l->first == PROG_NONE) return;
  for (bool again = true; again;) {
    again = false;
    for (size_t r = 0; r < pl->loops.len; r++) again |= widen(l, pl->loops.data[r]);
  }
  if (p->slots[slot].kind == SLOT_PARAM) l->first = 0;
  if (p->slots[slot].kind == SLOT_RESULT) l->last = p->num_steps;
}

static void find_lives(planner *pl) {
  program *p = pl->p;
  for (u32 i = 0; i < p->num_slots; i++) pl->touched[i] = (life){PROG_NONE, 0, false};
  for (pl->step = 0; pl->step < p->num_steps; pl->step++)
    prog_step_slots(&p->steps[pl->step], touch, pl);
  for (u32 i = 0; i < p->num_slots; i++) find_life(pl, i);
}

/* All steps use `to` in the place of `from`, whose life becomes part of its own. */
static void rename_all(planner *pl, u32 from, u32 to) {
  touch_at **end = &pl->touches[from];
  for (; *end; end = &(*end)->next) prog_step_rename(&pl->p->steps[(*end)->step], from, to);
  *end = pl->touches[to];
  pl->touches[to] = pl->touches[from];
  pl->touches[from] = NULL;
  life *a = &pl->touched[from], *b = &pl->touched[to];
  if (a->first != PROG_NONE) {
    if (b->first == PROG_NONE || a->first < b->first)
      b->read_first = a->read_first;
    else if (a->first == b->first)
      b->read_first |= a->read_first;
    if (b->first == PROG_NONE || a->first < b->first) b->first = a->first;
    if (a->last > b->last) b->last = a->last;
  }
  *a = (life){PROG_NONE, 0, false};
  find_life(pl, from);
  find_life(pl, to);
}

/* ---- aliased parameters ---- */

/* Whether result r's memory may be taken from parameter slot q as the program stands. */
static bool alias_is_safe(planner *pl, u32 q, u32 r) {
  const life *in = &pl->lives[q], *out = &pl->lives[r];
  if (in->first == PROG_NONE || out->first == PROG_NONE || in->last < out->first) return true;
  if (in->last > out->first) return false;
  const prog_step *s = &pl->p->steps[in->last];
  return prog_step_in_place(pl->p, s, q, r) ||
         (prog_step_is_move(pl->p, s) && s->u.copy_->src.slot == q && s->u.copy_->dst.slot == r);
}

/* All tables anew: after steps or slots were added or taken out. */
static void refresh(planner *pl) {
  pl->touched = ARENA_ARRAY(pl->a, life, pl->p->num_slots);
  pl->lives = ARENA_ARRAY(pl->a, life, pl->p->num_slots);
  pl->touches = arena_zalloc(pl->a, (pl->p->num_slots + 1) * sizeof *pl->touches);
  find_loops(pl);
  find_lives(pl);
}

/* A result that takes over a parameter is written in its memory: where the program still reads
 * the parameter after that, it reads a copy. */
static void separate_aliases(planner *pl) {
  program *p = pl->p;
  for (u32 i = 0; i < p->num_results; i++) {
    i32 alias = p->slots[p->result_slot[i]].alias;
    if (alias < 0) continue;
    u32 q = p->param_slot[alias];
    if (alias_is_safe(pl, q, p->result_slot[i])) continue;
    prog_save_param(pl->out, pl->a, p, q);
    refresh(pl);
  }
}

/* ---- moves ---- */

static bool is_free_slot(const program *p, u32 s) { return p->slots[s].kind == SLOT_WORK; }

/* Whether result b, if it took the place of slot a, would still leave its parameter alone. */
static bool result_may_replace(planner *pl, u32 b, u32 a) {
  const prog_slot *s = &pl->p->slots[b];
  if (s->kind != SLOT_RESULT || s->alias < 0) return true;
  u32 q = pl->p->param_slot[s->alias], first = pl->lives[a].first;
  const life *in = &pl->lives[q];
  if (in->first == PROG_NONE || in->last < first) return true;
  const prog_step *at = &pl->p->steps[first];
  if (in->last > first) return false;
  return prog_step_in_place(pl->p, at, q, a) ||
         (prog_step_is_move(pl->p, at) && at->u.copy_->src.slot == q && at->u.copy_->dst.slot == a);
}

/* move a -> b at step t: one dies, the other is born */
static bool merge_straight(planner *pl, u32 t, u32 a, u32 b) {
  program *p = pl->p;
  const life *la = &pl->lives[a], *lb = &pl->lives[b];
  if (!is_free_slot(p, a) || la->last != t || lb->first != t) return false;
  if (is_free_slot(p, b)) {
    rename_all(pl, b, a);
    return true;
  }
  if (p->slots[b].kind != SLOT_RESULT || !result_may_replace(pl, b, a)) return false;
  rename_all(pl, a, b);
  return true;
}

static range innermost(const planner *pl, u32 t) {
  range best = {0, PROG_NONE};
  for (size_t i = 0; i < pl->loops.len; i++) {
    range r = pl->loops.data[i];
    if (r.begin <= t && t <= r.end && r.end - r.begin < best.end - best.begin) best = r;
  }
  return best;
}

typedef struct probe {
  u32 slot;
  bool read, written;
} probe;
static void probe_slot(void *user, u32 *slot, slot_use use) {
  probe *q = user;
  if (*slot != q->slot) return;
  q->read |= use != USE_WRITE;
  q->written |= use != USE_READ;
}

/* move r -> c at step m, inside a loop that c is carried around: nobody touches c between r's
 * first write and m, and all of it happens in the same turn of the same loop */
static bool merge_carried(planner *pl, u32 m, u32 r, u32 c) {
  program *p = pl->p;
  range loop = innermost(pl, m);
  const life *lr = &pl->lives[r];
  if (loop.end == PROG_NONE || !is_free_slot(p, r) || !is_free_slot(p, c)) return false;
  if (lr->last != m || lr->first < loop.begin || lr->read_first) return false;
  range first_loop = innermost(pl, lr->first);
  if (first_loop.begin != loop.begin || first_loop.end != loop.end) return false;
  for (u32 i = lr->first; i <= loop.end; i++) {
    probe q = {.slot = c};
    prog_step_slots(&p->steps[i], probe_slot, &q);
    if (i == m || (!q.read && !q.written)) continue;
    if (i != lr->first || q.written) return false;
    const prog_step *s = &p->steps[i];
    bool copies = prog_step_is_move(p, s) && s->u.copy_->src.slot == c;
    if (!copies && !prog_step_in_place(p, s, c, r)) return false;
  }
  rename_all(pl, r, c);
  return true;
}

static void merge_moves(planner *pl) {
  program *p = pl->p;
  for (u32 t = 0; t < p->num_steps; t++) {
    const prog_step *s = &p->steps[t];
    if (!prog_step_is_move(p, s)) continue;
    u32 a = s->u.copy_->src.slot, b = s->u.copy_->dst.slot;
    if (a == b || p->slots[a].type != p->slots[b].type) continue;
    if (merge_straight(pl, t, a, b) || merge_carried(pl, t, a, b)) continue;
    range in = innermost(pl, t);
    if (prog_may_join(pl->a, p, in.begin, in.end, pl->lives, a, b)) rename_all(pl, a, b);
  }
}

/* Takes out the moves that became nothing. */
static void drop_idle_moves(planner *pl) {
  program *p = pl->p;
  u32 *now = ARENA_ARRAY(pl->a, u32, p->num_steps + 1), n = 0;
  for (u32 t = 0; t < p->num_steps; t++) {
    const prog_step *s = &p->steps[t];
    now[t] = n;
    if (prog_step_is_move(p, s) && s->u.copy_->src.slot == s->u.copy_->dst.slot) continue;
    p->steps[n++] = *s;
  }
  now[p->num_steps] = n;
  if (n == p->num_steps) return;
  prog_set_steps(p, p->steps, n, now);
  refresh(pl);
}

/* ---- layout ---- */

static u64 padded_bytes(const program *p, u32 slot) {
  u64 bytes = prog_slot_bytes(&p->slots[slot]), padded;
  return checked_add(bytes, (u64)63, &padded) ? padded & ~63ull : UINT64_MAX & ~63ull;
}

/* A result's buffer, in which others may lie from step `from` on, and until they end before step
 * `until`. From there on it belongs to the result, and to those whose memory it takes over: its
 * heirs. */
typedef struct home {
  u32 result; /* slot */
  u32 from, until;
  holes free;
} home;

enum { MAX_HOMES = 64, LEAST_HOME = 4096 };

typedef struct layout {
  planner *pl;
  holes work;
  home homes[MAX_HOMES]; /* the largest first */
  u32 num_homes;
  u32 *home_of;  /* by slot: where it lies, or has to; PROG_NONE: in the workspace */
  u32 *root;     /* by slot: whose memory it has */
  bool *given;   /* its memory went to another slot */
  bool *settled; /* lies in a home because its result has its memory */
} layout;

/* Whether what is born may have the donor's memory for as long as it lives. */
static bool may_inherit(const layout *l, u32 donor, u32 born) {
  u32 which = l->home_of[donor];
  if (l->given[donor]) return false;
  if (which == l->home_of[born] || which == PROG_NONE) return true;
  const prog_slot *s = l->pl->p->slots;
  return l->pl->lives[born].last < l->homes[which].until &&
         prog_slot_bytes(&s[born]) <= prog_slot_bytes(&s[donor]);
}

typedef struct donor_search {
  const layout *l;
  u32 born, step, from, found; /* from: no older ones */
} donor_search;
/* A dying input whose memory the born output may take over. */
static void find_donor(void *user, u32 *slot, slot_use use) {
  donor_search *d = user;
  planner *pl = d->l->pl;
  program *p = pl->p;
  if (use != USE_READ || d->found != PROG_NONE || !is_free_slot(p, *slot)) return;
  u32 first = pl->lives[*slot].first;
  if (pl->lives[*slot].last != d->step || first == d->step || first < d->from) return;
  if (padded_bytes(p, *slot) != padded_bytes(p, d->born)) return;
  if (dtype_size(p->slots[*slot].type) != dtype_size(p->slots[d->born].type)) return;
  if (!may_inherit(d->l, *slot, d->born)) return;
  if (prog_step_in_place(p, &p->steps[d->step], *slot, d->born)) d->found = *slot;
}
static u32 donor_at(const layout *l, u32 born, u32 t, u32 from) {
  donor_search d = {.l = l, .born = born, .step = t, .from = from, .found = PROG_NONE};
  prog_step_donors(&l->pl->p->steps[t], born, find_donor, &d);
  return d.found;
}
static u32 donor_of(const layout *l, u32 born) {
  return donor_at(l, born, l->pl->lives[born].first, 0);
}

/* Of what is more, or less, from each step on: the most that there is at a time, and when. */
typedef struct peak {
  i64 bytes;
  u32 step;
} peak;
static peak most_of(const planner *pl, const i64 *change) {
  peak most = {0};
  i64 now = 0;
  for (u32 t = 0; t < pl->p->num_steps; t++)
    if ((now += change[t]) > most.bytes) most = (peak){now, t};
  return most;
}

/* The most bytes of temporaries and of results begun that are there at once. */
static peak peak_of(planner *pl) {
  const program *p = pl->p;
  i64 *change = arena_zalloc(pl->a, (p->num_steps + 2) * sizeof(i64));
  layout l = {.pl = pl,
              .home_of = ARENA_ARRAY(pl->a, u32, p->num_slots + 1),
              .given = arena_zalloc(pl->a, p->num_slots + 1)};
  for (u32 i = 0; i < p->num_slots; i++) l.home_of[i] = PROG_NONE;
  for (u32 i = 0; i < p->num_slots; i++) {
    const life *at = &pl->lives[i];
    i64 bytes = (i64)prog_slot_bytes(&p->slots[i]);
    bool counts = p->slots[i].kind == SLOT_RESULT || is_free_slot(p, i);
    if (!counts || at->first == PROG_NONE) continue;
    u32 donor = donor_of(&l, i);
    if (donor != PROG_NONE) l.given[donor] = true;
    change[at->first + (donor != PROG_NONE)] += bytes; /* while its step runs, both are one */
    change[at->last + 1] -= bytes;
  }
  return most_of(pl, change);
}

/* Its heirs, and theirs, have places in it from the start. */
static void settle_heirs(layout *l, u32 which) {
  planner *pl = l->pl;
  home *h = &l->homes[which];
  for (u32 born = h->result, heir;; born = heir) {
    heir = donor_at(l, born, h->until, h->from);
    if (heir == PROG_NONE || l->home_of[heir] != PROG_NONE) return;
    if (prog_slot_bytes(&pl->p->slots[heir]) > prog_slot_bytes(&pl->p->slots[h->result])) return;
    l->home_of[heir] = which;
    l->settled[heir] = true;
    h->until = pl->lives[heir].first;
  }
}

static void add_home(layout *l, home h) {
  const program *p = l->pl->p;
  u64 bytes = padded_bytes(p, h.result);
  u32 at = l->num_homes;
  if (bytes < LEAST_HOME || h.until == PROG_NONE || h.from >= h.until) return;
  while (at > 0 && padded_bytes(p, l->homes[at - 1].result) < bytes) at--;
  if (at == MAX_HOMES) return;
  if (l->num_homes < MAX_HOMES) l->num_homes++;
  memmove(&l->homes[at + 1], &l->homes[at], (l->num_homes - at - 1) * sizeof(home));
  l->homes[at] = h;
}

/* Before it is written for the first time. */
static void add_first_home(layout *l, u32 result) {
  planner *pl = l->pl;
  const prog_slot *s = &pl->p->slots[result];
  home h = {.result = result, .until = pl->lives[result].first};
  if (s->alias >= 0) {
    const life *in = &pl->lives[pl->p->param_slot[s->alias]];
    if (in->first != PROG_NONE) h.from = in->last + 1;
  }
  add_home(l, h);
}

static void find_homes(layout *l) {
  planner *pl = l->pl;
  for (u32 i = 0; i < pl->p->num_slots; i++) {
    l->home_of[i] = PROG_NONE;
    if (pl->p->slots[i].kind == SLOT_RESULT) add_first_home(l, i);
  }
  prog_gaps gaps = prog_find_gaps(pl->a, pl->p);
  for (size_t i = 0; i < gaps.len; i++) {
    const prog_gap *g = &gaps.data[i];
    if (g->until == pl->lives[g->slot].first) continue; /* after the parameter: its first home */
    add_home(l, (home){.result = g->slot, .from = g->from, .until = g->until});
  }
  for (u32 i = 0; i < l->num_homes; i++) {
    give(pl->a, &l->homes[i].free, (hole){0, padded_bytes(pl->p, l->homes[i].result)});
    settle_heirs(l, i);
  }
}

/* The home with the smallest hole for it, and of such the first to end; PROG_NONE: none has one for
 * so long. */
static u32 find_home(const layout *l, u32 slot, u32 *out_hole) {
  const life *life = &l->pl->lives[slot];
  u64 bytes = padded_bytes(l->pl->p, slot), exact = prog_slot_bytes(&l->pl->p->slots[slot]);
  u32 best = PROG_NONE;
  for (u32 i = 0; i < l->num_homes; i++) {
    const home *h = &l->homes[i];
    if (life->first < h->from || life->last >= h->until) continue;
    u32 k = find_hole(&h->free, bytes);
    if (k == PROG_NONE) continue;
    const hole *o = &h->free.list.data[k];
    if (o->offset + exact > prog_slot_bytes(&l->pl->p->slots[h->result])) continue;
    if (best != PROG_NONE) {
      u64 least = l->homes[best].free.list.data[*out_hole].bytes;
      if (least < o->bytes || (least == o->bytes && l->homes[best].until <= h->until)) continue;
    }
    best = i;
    *out_hole = k;
  }
  return best;
}

static void lie_in(layout *l, u32 slot, u32 which, u64 offset) {
  prog_slot *s = l->pl->p->slots;
  l->home_of[slot] = which;
  s[slot].alias = which == PROG_NONE ? -1 : (i32)s[l->homes[which].result].index;
  s[slot].offset = offset;
}

static void place_born(layout *l, u32 slot) {
  planner *pl = l->pl;
  u64 bytes = padded_bytes(pl->p, slot);
  u32 donor = donor_of(l, slot), k, which = l->home_of[slot];
  l->root[slot] = slot;
  if (donor != PROG_NONE) {
    l->given[donor] = true;
    l->root[slot] = l->root[donor];
    l->settled[slot] &= l->settled[donor];
    lie_in(l, slot, l->home_of[donor], pl->p->slots[donor].offset);
  } else if (which != PROG_NONE) { /* nobody else is there by now */
    lie_in(l, slot, which, take(&l->homes[which].free, 0, bytes));
  } else if ((k = find_hole(&l->work, bytes)) != PROG_NONE) {
    lie_in(l, slot, PROG_NONE, take(&l->work, k, bytes));
  } else if ((which = find_home(l, slot, &k)) != PROG_NONE) {
    lie_in(l, slot, which, take(&l->homes[which].free, k, bytes));
  } else {
    lie_in(l, slot, PROG_NONE, take_more(&l->work, bytes));
  }
}

/* Slots in the order of a key, by counting: begin[t] .. begin[t+1] of `order`. */
typedef struct by_step {
  u32 *begin, *order;
} by_step;
static by_step sort_slots(planner *pl, bool by_last) {
  program *p = pl->p;
  by_step r = {arena_zalloc(pl->a, (p->num_steps + 2) * sizeof(u32)),
               ARENA_ARRAY(pl->a, u32, p->num_slots + 1)};
  for (int pass = 0; pass < 2; pass++) {
    for (u32 i = 0; i < p->num_slots; i++) {
      const life *l = &pl->lives[i];
      if (!is_free_slot(p, i) || l->first == PROG_NONE) continue;
      u32 key = by_last ? l->last : l->first;
      if (pass == 0)
        r.begin[key + 1]++;
      else
        r.order[r.begin[key]++] = i;
    }
    if (pass == 0)
      for (u32 t = 0; t <= p->num_steps; t++) r.begin[t + 1] += r.begin[t];
  }
  for (u32 t = p->num_steps + 1; t > 0; t--) r.begin[t] = r.begin[t - 1];
  r.begin[0] = 0;
  return r;
}

/* Slots that have one place, one after the other. */
typedef struct tenant {
  u32 root, first, last;
  u64 bytes, exact; /* padded; the most of one of them */
  u64 at;
  u32 home;
} tenant;
typedef VEC(tenant) tenants;

static bool may_move(const layout *l, u32 slot) {
  return is_free_slot(l->pl->p, slot) && l->pl->lives[slot].first != PROG_NONE && !l->settled[slot];
}

enum { MOST_TENANTS = 1024 };

/* The largest first; more than MOST_TENANTS: some of them. number: by root, which it is. */
static tenants list_tenants(const layout *l, u32 *number) {
  planner *pl = l->pl;
  tenants list = {0};
  for (u32 i = 0; i < pl->p->num_slots && list.len <= MOST_TENANTS; i++)
    if (may_move(l, i) && l->root[i] == i)
      VEC_PUSH(pl->a, list, ((tenant){.root = i, .bytes = padded_bytes(pl->p, i)}));
  if (list.len > MOST_TENANTS) return list;
  for (size_t i = 1; i < list.len; i++) {
    tenant t = list.data[i];
    size_t k = i;
    for (; k > 0 && list.data[k - 1].bytes < t.bytes; k--) list.data[k] = list.data[k - 1];
    list.data[k] = t;
  }
  for (u32 i = 0; i < list.len; i++) {
    tenant *t = &list.data[i];
    number[t->root] = i;
    t->first = pl->lives[t->root].first;
  }
  for (u32 i = 0; i < pl->p->num_slots; i++) {
    if (!may_move(l, i)) continue;
    tenant *t = &list.data[number[l->root[i]]];
    if (t->last < pl->lives[i].last) t->last = pl->lives[i].last;
    if (t->exact < prog_slot_bytes(&pl->p->slots[i])) t->exact = prog_slot_bytes(&pl->p->slots[i]);
  }
  return list;
}

/* The first gap between those that are placed, by place, and live while it does. */
static u64 gap_among(const tenants *placed, const tenant *t) {
  u64 at = 0;
  for (size_t i = 0; i < placed->len; i++) {
    const tenant *o = &placed->data[i];
    if (o->last < t->first || t->last < o->first) continue;
    if (o->at >= at && o->at - at >= t->bytes) break;
    if (at < o->at + o->bytes) at = o->at + o->bytes;
  }
  return at;
}

static void settle_at(arena *a, tenants *placed, tenant *t, u32 home, u64 at) {
  t->home = home, t->at = at;
  VEC_PUSH(a, *placed, *t);
  size_t k = placed->len - 1;
  for (; k > 0 && placed->data[k - 1].at > at; k--) placed->data[k] = placed->data[k - 1];
  placed->data[k] = *t;
}

/* In the smallest home that has a gap for it, or in the workspace: placed[num_homes]. */
static void place_among(const layout *l, tenants *placed, tenant *t) {
  for (u32 i = l->num_homes; i-- > 0;) {
    const home *h = &l->homes[i];
    u64 all = prog_slot_bytes(&l->pl->p->slots[h->result]), at;
    if (t->first < h->from || t->last >= h->until || t->exact > all) continue;
    if ((at = gap_among(&placed[i], t)) > all - t->exact) continue;
    settle_at(l->pl->a, &placed[i], t, i, at);
    return;
  }
  tenants *work = &placed[l->num_homes];
  settle_at(l->pl->a, work, t, PROG_NONE, gap_among(work, t));
}

/* What no places can be less than: the most bytes that are needed at once, beside homes. */
static u64 least_of(const layout *l, const tenants *list) {
  i64 *change = arena_zalloc(l->pl->a, (l->pl->p->num_steps + 2) * sizeof(i64));
  for (size_t i = 0; i < list->len; i++) {
    change[list->data[i].first] += (i64)list->data[i].bytes;
    change[list->data[i].last + 1] -= (i64)list->data[i].bytes;
  }
  for (u32 i = 0; i < l->num_homes; i++) {
    i64 bytes = (i64)padded_bytes(l->pl->p, l->homes[i].result);
    change[l->homes[i].from] -= bytes;
    change[l->homes[i].until] += bytes;
  }
  return (u64)most_of(l->pl, change).bytes;
}

/* In order, each in the lowest free place below `limit`; false: *worst has none. */
static bool place_all(const layout *l, tenants *list, u64 limit, size_t *worst, u64 *end) {
  tenants placed[MAX_HOMES + 1] = {0};
  *end = 0;
  for (size_t i = 0; i < list->len; i++) {
    tenant *t = &list->data[i];
    place_among(l, placed, t);
    u64 top = t->home == PROG_NONE ? t->at + t->bytes : 0;
    if (*end < top) *worst = i, *end = top;
    if (top >= limit) return false;
  }
  return true;
}

/* Small ones that were there in time may have torn apart what a large one needed, or have taken the
 * home that would have been large enough for it. The largest go first; then whatever came to lie
 * highest goes first, again and again. The best is taken. */
static void place_again(layout *l) {
  enum { MOST_WORK = 1 << 20, MOST_ROUNDS = 24 };
  planner *pl = l->pl;
  u32 *number = ARENA_ARRAY(pl->a, u32, pl->p->num_slots + 1);
  tenants list = list_tenants(l, number);
  if (list.len > MOST_TENANTS || l->work.end > INT64_MAX) return;
  u64 least = least_of(l, &list), work = 0, end;
  for (u32 round = 0; round < MOST_ROUNDS && work <= MOST_WORK && pl->p->workspace > least;
       round++, work += list.len * list.len) {
    size_t worst = 0;
    if (place_all(l, &list, pl->p->workspace, &worst, &end)) {
      for (u32 i = 0; i < list.len; i++) number[list.data[i].root] = i;
      for (u32 i = 0; i < pl->p->num_slots; i++) {
        if (!may_move(l, i)) continue;
        const tenant *t = &list.data[number[l->root[i]]];
        lie_in(l, i, t->home, t->at);
      }
      pl->p->workspace = end;
    }
    tenant t = list.data[worst];
    memmove(&list.data[1], list.data, worst * sizeof t);
    list.data[0] = t;
  }
}

/* In step order: what is born at a step takes its place before what dies there gives its own
 * back, since both are there while the step runs. Only a donor's memory passes on within a step.
 * What the workspace has no hole for goes into the buffer of a result that is not written yet. */
static void lay_out(planner *pl) {
  program *p = pl->p;
  by_step born = sort_slots(pl, false), dying = sort_slots(pl, true);
  layout *l = ARENA_NEW(pl->a, layout);
  *l = (layout){.pl = pl,
                .home_of = ARENA_ARRAY(pl->a, u32, p->num_slots + 1),
                .root = ARENA_ARRAY(pl->a, u32, p->num_slots + 1),
                .given = arena_zalloc(pl->a, p->num_slots + 1),
                .settled = arena_zalloc(pl->a, p->num_slots + 1)};
  find_homes(l);
  for (u32 i = 0; i < p->num_slots; i++) /* merged into another one: nobody touches it */
    if (is_free_slot(p, i) && pl->lives[i].first == PROG_NONE) p->slots[i].count = 0;
  for (u32 t = 0; t < p->num_steps; t++) {
    for (u32 k = born.begin[t]; k < born.begin[t + 1]; k++) place_born(l, born.order[k]);
    for (u32 k = dying.begin[t]; k < dying.begin[t + 1]; k++) {
      u32 slot = dying.order[k], which = l->home_of[slot];
      if (l->given[slot]) continue;
      give(pl->a, which == PROG_NONE ? &l->work : &l->homes[which].free,
           (hole){p->slots[slot].offset, padded_bytes(p, slot)});
    }
  }
  p->workspace = l->work.end;
  place_again(l);
}

/* equal: also where the most that there is at once stays the same. */
static void sink_steps(planner *pl, bool equal) {
  prog_step *before = pl->p->steps, *sunk = prog_sink(pl->a, pl->p);
  if (!sunk) return;
  i64 bytes = peak_of(pl).bytes;
  pl->p->steps = sunk;
  refresh(pl);
  if (peak_of(pl).bytes < bytes + equal) return;
  pl->p->steps = before;
  refresh(pl);
}

/* Each time at the step that has then the most. */
static void remake_values(planner *pl) {
  enum { MOST_ROUNDS = 8 };
  for (u32 i = 0; i < MOST_ROUNDS; i++, refresh(pl)) {
    peak most = peak_of(pl);
    if (!prog_remake(pl->out, pl->a, pl->p, most.step, (u64)most.bytes)) return;
  }
}

static void join_stacks(planner *pl) {
  enum { MOST_JOINED = 64 };
  for (u32 i = 0; i < MOST_JOINED && prog_join_stacks(pl->out, pl->a, pl->p, pl->lives); i++) {
    refresh(pl);
    merge_moves(pl);
    drop_idle_moves(pl);
  }
}

/* Called by prog_finish for a program that prog_check has found sound. The order matters: copies
 * for aliases are moves as others are, strips are made of what is then left, of neighbours that
 * sinking made, and only what no merge made one needs a place. */
void prog_plan(arena *a, arena *scratch, program *p) {
  planner pl = {.a = scratch, .out = a, .p = p};
  prog_take_wrapped(a, scratch, p);
  refresh(&pl);
  separate_aliases(&pl);
  merge_moves(&pl);
  drop_idle_moves(&pl);
  join_stacks(&pl);
  sink_steps(&pl, true);
  if (prog_form_strips(a, scratch, p)) {
    refresh(&pl);
    sink_steps(&pl, false); /* what they do not need they have put in front of them */
  }
  remake_values(&pl);
  if (prog_join_parts(scratch, p, pl.lives)) refresh(&pl);
  if (prog_view_updates(a, scratch, p, pl.lives)) refresh(&pl);
  prog_view_slices(scratch, p, pl.lives);
  lay_out(&pl);
}
