#include "partition/window.h"

enum { MAX_HOPS = 64, MAX_WAYS = 4 };

typedef struct span {
  i64 low, high; /* empty: low >= high */
} span;

static bool is_empty(span x) { return x.low >= x.high; }
static span overlap(span x, span y) {
  return (span){max_i64(x.low, y.low), min_i64(x.high, y.high)};
}
static span hull(span x, span y) {
  if (is_empty(x)) return y;
  if (is_empty(y)) return x;
  return (span){min_i64(x.low, y.low), max_i64(x.high, y.high)};
}

i64 window_start(const shard_window *w, i64 t) {
  return div_floor_i64(t * w->step + w->begin, w->divisor);
}

static span window_of(const shard_window *w, i64 t) {
  i64 start = window_start(w, t);
  return (span){start, start + w->length};
}

/* Does it matter to shard t what it gets? */
static bool matters(const shard_window *w, i64 t) {
  return w->wraps || !is_empty(overlap(window_of(w, t), (span){w->first, w->last}));
}

static i64 anchor(const shard_window *w, const window_plan *p, i64 t) {
  return p->anchored ? div_floor_i64(window_start(w, t), w->shard) : t;
}

i64 window_row_start(const shard_window *w, const window_plan *p, i64 t) {
  return window_start(w, t) - anchor(w, p, t) * w->shard - p->base;
}

/* What shard t needs of the shard so far from its anchor, as elements of that. */
static span needed(const shard_window *w, const window_plan *p, i64 from, i64 t) {
  i64 at = (anchor(w, p, t) + from) * w->shard;
  span x = overlap(window_of(w, t), (span){at, at + w->shard});
  if (!w->wraps) x = overlap(x, (span){w->first, w->last});
  return (span){x.low - at, x.high - at};
}

i64 window_source(const shard_window *w, const window_plan *p, const window_hop *h, i64 t) {
  if (t % p->ways != h->way || is_empty(needed(w, p, h->from, t))) return -1;
  i64 s = (anchor(w, p, t) + h->from) % w->parts;
  return s < 0 ? s + w->parts : s;
}

bool window_reaches_out(const shard_window *w) {
  for (i64 t = 0; t < w->parts && !w->wraps; t++) {
    span x = window_of(w, t);
    if (x.low < w->first || x.high > w->last) return true;
  }
  return false;
}

/* What the row holds of all windows that matter, as elements of the anchor's shard. The others may
 * lie beyond the row's ends. */
static span find_row(const shard_window *w, window_plan *p) {
  span row = {0};
  bool all = true;
  i64 first = window_start(w, 0) - anchor(w, p, 0) * w->shard;
  for (i64 t = 0; t < w->parts; t++) {
    i64 start = window_start(w, t) - anchor(w, p, t) * w->shard;
    p->varies |= start != first;
    if (matters(w, t))
      row = hull(row, (span){start, start + w->length});
    else
      all = false;
  }
  p->zeros = !w->wraps && w->parts * w->shard == w->size && w->first == 0 && w->last == w->size &&
             (all || !p->varies);
  return is_empty(row) ? (span){first, first + w->length} : row;
}

/* On each way of a hop a shard sends to one shard. `last`: by shard, the number of what it sent. */
static bool sends_once(const shard_window *w, const window_plan *p, const window_hop *h, u32 *last,
                       u32 number) {
  for (i64 t = h->way; t < w->parts; t += p->ways) {
    i64 s = window_source(w, p, h, t);
    if (s < 0) continue;
    if (last[s] == number) return false;
    last[s] = number;
  }
  return true;
}

/* How many ways the hops need; 0: too many. */
static i64 count_ways(arena *a, const shard_window *w, const window_plan *p, i64 from, i64 to) {
  u32 *last = arena_zalloc(a, (size_t)w->parts * sizeof *last), number = 0;
  for (i64 ways = 1; ways <= MAX_WAYS; ways++) {
    window_plan q = {.ways = ways, .anchored = p->anchored};
    bool ok = true;
    for (window_hop h = {.from = from}; ok && h.from <= to; h.from++)
      for (h.way = 0; ok && h.way < ways; h.way++) ok = sends_once(w, &q, &h, last, ++number);
    if (ok) return ways;
  }
  return 0;
}

/* Who has elements of its own where it needs nothing has no zeros there. */
static void fill_hop(const shard_window *w, window_plan *p, span row, window_hop *h) {
  i64 at = h->from * w->shard;
  span has = overlap(row, (span){at, at + w->shard}), sent = {0};
  h->own = true;
  bool all = true;
  for (i64 t = h->way; t < w->parts; t += p->ways) {
    i64 s = window_source(w, p, h, t);
    all &= s >= 0;
    if (s < 0) continue;
    sent = hull(sent, needed(w, p, h->from, t));
    h->own &= s == t;
  }
  p->zeros &= !(p->anchored && h->own) || all;
  h->low = has.low - at;
  h->high = has.high - at;
  h->sent_low = is_empty(sent) ? h->low : sent.low;
  h->sent_high = is_empty(sent) ? h->low : sent.high;
  h->own &= !is_empty(sent);
}

static bool plan(arena *a, const shard_window *w, bool anchored, window_plan *out) {
  *out = (window_plan){.anchored = anchored, .ways = 1};
  span row = find_row(w, out);
  i64 first = div_floor_i64(row.low, w->shard), last = div_floor_i64(row.high - 1, w->shard);
  if (last - first >= MAX_HOPS) return false;
  out->ways = anchored ? count_ways(a, w, out, first, last) : 1;
  if (!out->ways) return false;
  window_hop *hops = ARENA_ARRAY(a, window_hop, (size_t)((last - first + 1) * out->ways));
  for (i64 k = first; k <= last; k++)
    for (i64 way = 0; way < out->ways; way++) {
      window_hop *h = &hops[out->num_hops++];
      *h = (window_hop){.from = k, .way = way};
      fill_hop(w, out, row, h);
      if (!h->own) out->moved += h->sent_high - h->sent_low;
    }
  out->hops = hops;
  out->base = row.low;
  out->length = row.high - row.low;
  return w->parts == 1 || out->moved <= (w->parts - 1) * w->shard;
}

bool window_make_plan(arena *a, const shard_window *w, window_plan *out) {
  window_plan other;
  bool ok = plan(a, w, false, out);
  if (ok && !out->varies) return true;
  if (!plan(a, w, true, &other) || (ok && other.moved >= out->moved)) return ok;
  *out = other;
  return true;
}
