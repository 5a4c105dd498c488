/* Plans for random windows, followed element by element. */
#include "partition/window.h"

#include <setjmp.h>

#include "tests/unit.h"

static u64 rng_state = 1;
static i64 rng(i64 low, i64 high) {
  rng_state = rng_state * 6364136223846793005u + 1442695040888963407u;
  return low + (i64)((rng_state >> 33) % (u64)(high - low + 1));
}

static shard_window random_window(void) {
  shard_window w = {.parts = rng(1, 9), .shard = rng(1, 7), .divisor = 1};
  w.wraps = rng(0, 3) == 0;
  w.size = w.parts * w.shard - (w.wraps ? 0 : rng(0, 1) * rng(0, w.shard - 1));
  w.step = rng(0, 1) ? w.shard : rng(-2, 2) * w.shard + rng(-2, 2);
  if (rng(0, 3) == 0) {
    w.divisor = rng(2, 4);
    w.step = w.shard * w.divisor + rng(-2, 2);
  }
  w.begin = rng(-2 * w.shard, 2 * w.shard) + (w.step < 0 ? w.size - w.shard : 0);
  w.length = rng(1, 2 * w.shard);
  w.last = w.size;
  if (!w.wraps && w.size > 1 && rng(0, 3) == 0) {
    w.first = rng(0, w.size - 1);
    w.last = rng(w.first + 1, w.size);
  }
  return w;
}

enum { NOTHING = -1, RUBBISH = -2 };

/* The row of shard t: as a device puts it together, from what others send and from nothing else. */
static void fill_row(const shard_window *w, const window_plan *p, i64 t, i64 *row) {
  i64 at = 0;
  for (u32 i = 0; i < p->num_hops; i++) {
    const window_hop *h = &p->hops[i];
    i64 n = h->high - h->low, s = h->own ? t : window_source(w, p, h, t);
    for (i64 k = 0; k < n && t % p->ways == h->way; k++) {
      i64 e = h->low + k;
      bool sent = s >= 0 && e >= h->sent_low && e < h->sent_high;
      row[at + k] = !sent ? NOTHING : s * w->shard + e < w->size ? s * w->shard + e : RUBBISH;
    }
    if (h->way == p->ways - 1) at += n;
  }
  CHECK(at == p->length);
}

static bool sends_once(const shard_window *w, const window_plan *p, const window_hop *h) {
  bool sends[16] = {false};
  for (i64 t = 0; t < w->parts; t++) {
    i64 s = window_source(w, p, h, t);
    if (s >= 0 && sends[s]) return false;
    if (s >= 0) sends[s] = true;
  }
  return true;
}

static bool is_right(const shard_window *w, const window_plan *p, i64 t, const i64 *row) {
  i64 begin = window_row_start(w, p, t);
  for (i64 k = 0; k < w->length; k++) {
    i64 e = window_start(w, t) + k, at = begin + k;
    bool matters = w->wraps || (e >= w->first && e < w->last);
    if (w->wraps) e = ((e % w->size) + w->size) % w->size;
    if (matters && (at < 0 || at >= p->length || row[at] != e)) return false;
    if (!matters && p->zeros && (at < 0 || at >= p->length || row[at] != NOTHING)) return false;
  }
  return p->varies || begin == 0;
}

static void check_random(arena *a, int count) {
  int made = 0;
  for (int i = 0; i < count; i++) {
    shard_window w = random_window();
    window_plan p;
    if (!window_make_plan(a, &w, &p)) continue;
    made++;
    for (u32 k = 0; k < p.num_hops; k++) CHECK(p.hops[k].own || sends_once(&w, &p, &p.hops[k]));
    for (i64 t = 0; t < w.parts; t++) {
      i64 *row = ARENA_ARRAY(a, i64, p.length);
      fill_row(&w, &p, t, row);
      bool ok = is_right(&w, &p, t, row);
      CHECK(ok);
      if (!ok)
        fprintf(stderr, "parts %d shard %d step %d begin %d length %d\n", (int)w.parts,
                (int)w.shard, (int)w.step, (int)w.begin, (int)w.length);
    }
    arena_reset(a);
  }
  CHECK(made > count / 2);
}

static void check_moved(arena *a, const char *what, shard_window w, i64 moved, u32 hops) {
  window_plan p;
  bool ok = window_make_plan(a, &w, &p) && p.moved == moved && p.num_hops == hops;
  CHECK(ok);
  if (!ok) fprintf(stderr, "%s: %d moved in %d hops\n", what, (int)p.moved, (int)p.num_hops);
}

int main(void) {
  oom_trap trap;
  arena a;
  arena_init(&a, &mem_system, &trap);
  if (setjmp(trap.at)) return 1;
  check_random(&a, 20000);
#define WINDOW(...)                                                                                \
  (shard_window){.size = 32, .shard = 4, .parts = 8, .divisor = 1, .last = 32, __VA_ARGS__}
  check_moved(&a, "rotation", WINDOW(.step = 4, .begin = 1, .length = 4, .wraps = true), 1, 2);
  check_moved(&a, "rotation by shards", WINDOW(.step = 4, .begin = 8, .length = 4, .wraps = true),
              4, 1);
  check_moved(&a, "borders", WINDOW(.step = 4, .begin = -1, .length = 6), 2, 3);
  check_moved(&a, "reversal", WINDOW(.step = -4, .begin = 28, .length = 4), 4, 1);
  check_moved(&a, "every other", WINDOW(.step = 4, .begin = 0, .length = 3), 0, 1);
  check_moved(&a, "first half", WINDOW(.step = 2, .begin = 0, .length = 2), 4, 2);
  check_moved(&a, "first of two", WINDOW(.step = 8, .begin = 0, .length = 8), 8, 2);
  arena_deinit(&a);
  return UNIT_END();
}
