/* Stable sorts along one dim: each line is sorted as a permutation, by merging.
 *
 * The comparator is a VM code on one pair of elements, which is slow to call. Most are one
 * comparison of the same function of both sides, f(left) < f(right), or several, of which the next
 * one counts where both sides are equal: then f is computed for the whole line in blocks, made into
 * integers that order the same way, and those are sorted. A line of a few sorted runs, such as
 * those that other devices have sorted, is merged only. Where few of many are kept, a heap holds
 * the best so far, which most of a line never gets into. Integers of a single operand that are
 * sorted bring its elements back, but for a few of which several have one (sort_words.h). Lines
 * that are not long are sorted several at once where the processor has wide vectors (sort_strip.c).
 */
#include "exec/sort_first.h"
#include "exec/sorting.h"

/* An unsigned integer that orders as the register value does. */
static u64 order_key(vm_rtype type, const char *p) {
  u8 b;
  i8 s8;
  u16 h;
  i16 s16;
  u32 w;
  u64 d;
  switch (type) {
  case R_s8:
    memcpy(&s8, p, 1);
    return (u64)((i64)s8 + 128);
  case R_s16:
    memcpy(&s16, p, 2);
    return (u64)((i64)s16 + 32768);
  case R_u16:
    memcpy(&h, p, 2);
    return h;
  case R_u32:
    memcpy(&w, p, 4);
    return w;
  case R_s32:
    memcpy(&w, p, 4);
    return w ^ 0x80000000u;
  case R_f32:
    memcpy(&w, p, 4);
    return w & 0x80000000u ? ~w : w | 0x80000000u;
  case R_u64:
    memcpy(&d, p, 8);
    return d;
  case R_s64:
    memcpy(&d, p, 8);
    return d ^ 1ull << 63;
  case R_f64:
    memcpy(&d, p, 8);
    return d >> 63 ? ~d : d | 1ull << 63;
  default:
    memcpy(&b, p, 1);
    return b;
  }
}

/* ---- sorting ---- */

/* Least significant digit first over the bytes that differ; stable. */
static void radix_sort(u64 *keys, u32 *perm, u64 *spare_keys, u32 *spare, size_t n) {
  u64 any = 0, all = ~0ull;
  for (size_t i = 0; i < n; i++) any |= keys[i], all &= keys[i];
  u64 *k = keys, *k2 = spare_keys;
  u32 *p = perm, *p2 = spare;
  for (u32 shift = 0; shift < 64; shift += 8) {
    if (((any ^ all) >> shift & 0xff) == 0) continue;
    size_t at[256] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++) at[k[i] >> shift & 0xff]++;
    for (int d = 0; d < 256; d++) {
      size_t count = at[d];
      at[d] = sum;
      sum += count;
    }
    for (size_t i = 0; i < n; i++) {
      size_t to = at[k[i] >> shift & 0xff]++;
      k2[to] = k[i];
      p2[to] = p[i];
    }
    u64 *tk = k;
    k = k2, k2 = tk;
    u32 *tp = p;
    p = p2, p2 = tp;
  }
  if (p != perm) memcpy(perm, p, n * sizeof(u32));
}

/* False: there are more than a few sorted runs. */
static bool merge_runs(u64 *keys, u32 *perm, u64 *spare_keys, u32 *spare, size_t n) {
  enum { MOST = 16 };
  size_t begin[MOST + 1] = {0}, runs = 1;
  for (size_t i = 1; i < n; i++) {
    if (keys[i - 1] <= keys[i]) continue;
    if (runs == MOST) return false;
    begin[runs++] = i;
  }
  begin[runs] = n;
  u64 *k = keys, *k2 = spare_keys;
  u32 *p = perm, *p2 = spare;
  while (runs > 1) {
    size_t left = 0;
    for (size_t i = 0; i < runs; i += 2) {
      size_t to = begin[i], x = to, mid = begin[i + 1], y = mid;
      size_t end = i + 1 < runs ? begin[i + 2] : mid;
      for (; x < mid && y < end; to++) {
        u64 kx = k[x], ky = k[y], second = ky < kx, mask = -second; /* nobody could foresee it */
        k2[to] = kx ^ ((kx ^ ky) & mask);
        p2[to] = p[x + ((y - x) & mask)];
        y += second, x += !second;
      }
      size_t from = x < mid ? x : y;
      memcpy(k2 + to, k + from, (end - to) * sizeof *k);
      memcpy(p2 + to, p + from, (end - to) * sizeof *p);
      begin[left++] = begin[i];
    }
    begin[runs = left] = n;
    u64 *tk = k;
    k = k2, k2 = tk;
    u32 *tp = p;
    p = p2, p2 = tp;
  }
  if (p != perm) memcpy(perm, p, n * sizeof(u32));
  return true;
}

static void insertion_sort(u64 *keys, u32 *perm, size_t n) {
  for (size_t i = 1; i < n; i++) {
    u64 k = keys[i];
    u32 p = perm[i];
    size_t j = i;
    for (; j > 0 && keys[j - 1] > k; j--) keys[j] = keys[j - 1], perm[j] = perm[j - 1];
    keys[j] = k, perm[j] = p;
  }
}

typedef struct pair_less {
  const sorting *r;
  const char *const *line; /* by operand, gathered */
  void **reg;
} pair_less;

static bool goes_first(const pair_less *l, u32 x, u32 y) {
  const sorting *r = l->r;
  for (u32 i = 0; i < r->s->n; i++) {
    l->reg[2 * i] = (void *)(uintptr_t)(l->line[i] + (size_t)x * r->width[i]);
    l->reg[2 * i + 1] = (void *)(uintptr_t)(l->line[i] + (size_t)y * r->width[i]);
  }
  vm_run(r->less, l->reg, 1);
  return *(const u8 *)l->reg[r->less->outputs[0].reg] != 0;
}

static void merge_sort(const pair_less *l, u32 *perm, u32 *spare, size_t n) {
  u32 *from = perm, *to = spare;
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t i = 0; i < n; i += 2 * width) {
      size_t mid = i + width < n ? i + width : n, end = i + 2 * width < n ? i + 2 * width : n;
      size_t a = i, b = mid;
      if (mid == end || !goes_first(l, from[mid], from[mid - 1])) { /* in order already */
        memcpy(to + i, from + i, (end - i) * sizeof *to);
        continue;
      }
      for (size_t k = i; k < end; k++) {
        bool second = a == mid || (b < end && goes_first(l, from[b], from[a]));
        to[k] = second ? from[b++] : from[a++];
      }
    }
    u32 *t = from;
    from = to, to = t;
  }
  if (from != perm) memcpy(perm, from, n * sizeof(u32));
}

enum { BLOCK = SORT_BLOCK };

static u64 key_of(const sort_key *key, const char *v) {
  u64 k = order_key(key->type, v);
  return key->descending ? ~k & ~0ull >> (64 - 8 * key->width) : k;
}

/* Of elements in the order of the line: the last of `n` keys least. */
static void compute_keys(const sorting *r, const sort_key *key, size_t n, void ***reg,
                         const char *const *line, u64 *keys) {
  size_t size = (size_t)r->s->size;
  for (size_t j = 0; j < n; j++, key++)
    for (size_t i = 0; i < size; i += BLOCK) {
      size_t m = size - i < BLOCK ? size - i : BLOCK;
      const char *at = line[key->operand] + i * r->width[key->operand];
      const char *v = sort_key_values(key, reg[key - r->keys], at, m);
      for (size_t k = 0; k < m; k++) {
        u64 more = j ? keys[i + k] << 8 * key->width : 0;
        keys[i + k] = more | key_of(key, v + k * key->width);
      }
    }
}

/* As many keys at a time as a word has room for, the last ones first. */
static void sort_by_keys(const sorting *r, const exec_env *env, void ***reg,
                         const char *const *line, u32 *perm) {
  u64 *keys = (u64 *)(env->scratch + r->keys_at), *other = (u64 *)(env->scratch + r->spare_keys_at);
  u32 *spare = (u32 *)(env->scratch + r->spare_at);
  size_t n = (size_t)r->s->size;
  for (u32 end = r->num_keys; end;) {
    u32 first = end, bytes = 0;
    while (first && bytes + r->keys[first - 1].width <= 8) bytes += r->keys[--first].width;
    bool sorted = end < r->num_keys;
    compute_keys(r, r->keys + first, end - first, reg, line, sorted ? other : keys);
    for (size_t i = 0; i < n && sorted; i++) keys[i] = other[perm[i]];
    if (n <= 48)
      insertion_sort(keys, perm, n);
    else if (!merge_runs(keys, perm, other, spare, n))
      radix_sort(keys, perm, other, spare, n);
    end = first;
  }
}

static void move_line(u32 width, i64 n, char *to, i64 ts, const char *from, i64 fs) {
  if (width == 4)
    for (i64 i = 0; i < n; i++) memcpy(to + i * ts, from + i * fs, 4);
  else
    for (i64 i = 0; i < n; i++) memcpy(to + i * ts, from + i * fs, width);
}

/* The line of operand i, one element beside the other, where nobody writes it. */
static const char *gather_line(const sorting *r, const exec_env *env, u32 i, i64 at) {
  const prog_sort *s = r->s;
  i64 w = r->width[i];
  char *to = env->scratch + r->line_at + i * r->line_bytes;
  if (s->in[i] == PROG_NONE) {
    for (i32 k = 0; k < s->size; k++) memcpy(to + k * w, &k, sizeof k);
    return to;
  }
  const char *from = (const char *)env->slots[s->in[i]] + at * w;
  if (s->inner == 1 && !r->in_place) return from;
  move_line((u32)w, s->size, to, w, from, w * s->inner);
  return to;
}

/* ---- the first few ---- */

/* What is kept so far is a heap: the last of it at the root. */
static bool is_later(const sort_kept *x, const sort_kept *y) {
  return x->key != y->key ? x->key > y->key : x->at > y->at;
}

static void sift_down(sort_kept *h, size_t n, sort_kept v) {
  size_t i = 0;
  for (size_t c; (c = 2 * i + 1) < n; i = c) {
    if (c + 1 < n && is_later(&h[c + 1], &h[c])) c++;
    if (!is_later(&h[c], &v)) break;
    h[i] = h[c];
  }
  h[i] = v;
}

static void sift_up(sort_kept *h, size_t i, sort_kept v) {
  for (size_t p; i && is_later(&v, &h[p = (i - 1) / 2]); i = p) h[i] = h[p];
  h[i] = v;
}

typedef i32 lanes __attribute__((vector_size(16), aligned(4), may_alias));

/* From k on, how far 16 at a time none can come before the root, as signed words. */
static size_t skip(const sorting *r, const char *v, size_t k, size_t n, u64 root) {
  const lanes zero = {0};
  const word_turn *t = &r->turn;
  i32 fold = (i32)(u32)t->fold, turn = (i32)(u32)(t->flip ^ t->turn) ^ INT32_MIN;
  i32 last = (i32)(u32)root ^ INT32_MIN;
  for (; r->keys->width == 4 && k + 16 <= n; k += 16) {
    const lanes *at = (const lanes *)(v + 4 * k);
    lanes any = zero;
    for (int i = 0; i < 4; i++) {
      lanes x = at[i];
      any |= (x ^ ((x >> 31) & fold) ^ turn) < last;
    }
    if (any[0] | any[1] | any[2] | any[3]) break;
  }
  return k;
}

/* Later elements with the root's key stay outside: the sort is stable. */
static void offer(const sorting *r, sort_kept *h, const char *v, size_t begin, size_t n) {
  const sort_key *by = r->keys;
  size_t most = (size_t)r->s->keep, k = 0;
  for (; k < n && begin + k < most; k++)
    sift_up(h, begin + k, (sort_kept){key_of(by, v + k * by->width), (u32)(begin + k)});
  while (k < n) {
    size_t end = (k = skip(r, v, k, n, h[0].key)) + 16;
    for (; k < n && k < end; k++) {
      u64 key = key_of(by, v + k * by->width);
      if (key < h[0].key) sift_down(h, most, (sort_kept){key, (u32)(begin + k)});
    }
  }
}

/* The places of the first `keep` of a line, in their order. */
static void select_first(const sorting *r, const exec_env *env, void **reg, const char *line,
                         u32 *perm) {
  sort_kept *h = (sort_kept *)(env->scratch + r->keys_at);
  size_t n = (size_t)r->s->size, most = (size_t)r->s->keep;
  bool short_keys = most <= SORT_FIRST_MOST && r->keys->width == 4;
  u64 held[SORT_FIRST_MOST];
  if (n <= SORT_SHORT && most <= SORT_SHORT_KEEP && short_keys) {
    sort_short(&r->turn, sort_key_values(r->keys, reg, line, n), n, most, perm);
    return;
  }
  memset(held, 0xff, sizeof held);
  for (size_t i = 0; i < n; i += BLOCK) {
    size_t m = n - i < BLOCK ? n - i : BLOCK;
    const char *at = line + i * r->width[r->keys->operand];
    const char *v = sort_key_values(r->keys, reg, at, m);
    if (short_keys)
      sort_first(&r->turn, v, m, i, most, (i32 *)(env->scratch + r->spare_keys_at), held);
    else
      offer(r, h, v, i, m);
  }
  for (size_t k = 0; short_keys && k < most; k++) perm[k] = (u32)held[k];
  if (short_keys) return;
  for (size_t left = most; left > 0; left--) {
    perm[left - 1] = h[0].at;
    sift_down(h, left - 1, h[left - 1]);
  }
}

static void put_kept(const sorting *r, const exec_env *env, u32 i, const char *line, i64 outer,
                     i64 inner, const u32 *perm) {
  const prog_sort *s = r->s;
  i64 w = r->width[i], step = w * s->inner;
  char *to = (char *)env->slots[s->out[i]] + (outer * s->keep * s->inner + inner) * w;
  if (s->in[i] == PROG_NONE)
    for (i64 k = 0; k < s->keep; k++) memcpy(to + k * step, &perm[k], sizeof *perm);
  else if (w == 4)
    for (i64 k = 0; k < s->keep; k++) memcpy(to + k * step, line + (size_t)perm[k] * 4, 4);
  else
    for (i64 k = 0; k < s->keep; k++)
      memcpy(to + k * step, line + (size_t)perm[k] * (size_t)w, (size_t)w);
}

/* ---- the only operand ---- */

enum { MOST_ODD = 8 };

static u64 word_at(const void *words, size_t i, u32 width) {
  return width == 4 ? ((const u32 *)words)[i] : ((const u64 *)words)[i];
}

/* Words that elements have which are not what they are of: -0 and 0, where they count as equal. */
typedef struct odd_words {
  u64 word[MOST_ODD];
  size_t place[MOST_ODD]; /* where the next one goes */
  u32 n;
} odd_words;

static u32 odd_index(const odd_words *o, u64 word) {
  u32 k = 0;
  while (k < o->n && o->word[k] != word) k++;
  return k;
}

/* False: there are too many. */
static bool note_odd(odd_words *o, const char *v, const char *at, const void *words, size_t n,
                     u32 width) {
  if (v == at || memcmp(v, at, n * width) == 0) return true;
  for (size_t i = 0; i < n; i++) {
    if (memcmp(v + i * width, at + i * width, width) == 0) continue;
    u64 word = word_at(words, i, width);
    u32 k = odd_index(o, word);
    if (k == MOST_ODD) return false;
    o->word[k] = word;
    if (k == o->n) o->n++;
  }
  return true;
}

/* The elements with odd words, in their order. */
static void put_odd(const sorting *r, void **reg, const char *line, odd_words *o,
                    const word_turn *t, void *words, const void *sorted, char *to, i64 step) {
  size_t n = (size_t)r->s->size, keep = (size_t)r->s->keep;
  u32 w = r->keys->width;
  for (u32 k = 0; k < o->n; k++) {
    size_t low = 0, high = n;
    while (low < high) {
      size_t mid = (low + high) / 2;
      if (word_at(sorted, mid, w) < o->word[k])
        low = mid + 1;
      else
        high = mid;
    }
    o->place[k] = low;
  }
  for (size_t i = 0; o->n && i < n; i += BLOCK) {
    size_t m = n - i < BLOCK ? n - i : BLOCK;
    sort_to_words(t, w, sort_key_values(r->keys, reg, line + i * w, m), m, words);
    for (size_t j = 0; j < m; j++) {
      u32 k = odd_index(o, word_at(words, j, w));
      if (k < o->n && o->place[k] < keep)
        memcpy(to + (i64)o->place[k] * step, line + (i + j) * w, w);
      if (k < o->n) o->place[k]++;
    }
  }
}

/* False: too many elements have the word of another, and nothing was done. */
static bool sort_alone(const sorting *r, const exec_env *env, void **reg, const char *line,
                       i64 outer, i64 inner) {
  const prog_sort *s = r->s;
  size_t n = (size_t)s->size;
  u32 w = r->keys->width;
  char *words = env->scratch + r->keys_at, *spare = env->scratch + r->spare_keys_at;
  word_turn t = r->turn;
  odd_words odd = {.n = 0};
  for (size_t i = 0; i < n; i += BLOCK) {
    size_t m = n - i < BLOCK ? n - i : BLOCK;
    const char *at = line + i * w, *v = sort_key_values(r->keys, reg, at, m);
    sort_to_words(&t, w, v, m, words + i * w);
    if (!note_odd(&odd, v, at, words + i * w, m, w)) return false;
  }
  void *sorted = sort_words(words, spare, n, w), *free_words = sorted == words ? spare : words;
  char *to = (char *)env->slots[s->out[0]] + (outer * s->keep * s->inner + inner) * w;
  i64 step = w * s->inner;
  sort_from_words(&t, w, sorted, (size_t)s->keep, to, step);
  put_odd(r, reg, line, &odd, &t, free_words, sorted, to, step);
  return true;
}

/* ---- lines ---- */

void sort_run(const void *data, const exec_env *env, u64 begin, u64 end) {
  const sorting *r = data;
  const prog_sort *s = r->s;
  size_t n = (size_t)s->size;
  u32 *perm = (u32 *)(env->scratch + r->perm_at), *spare = (u32 *)(env->scratch + r->spare_at);
  const char *line[PROG_MAX_SORTED];
  void **reg = vm_begin(r->less, env->scratch, 1), **key[SORT_KEYS];
  for (u32 i = 0; i < r->num_keys; i++)
    key[i] = vm_begin(r->keys[i].unit, env->scratch + r->keys[i].at, BLOCK);
  u64 single = begin; /* lines before it go one by one */
  for (u64 u = begin; u < end; u++) {
    if (r->lanes && u >= single) {
      u32 lines = sort_strip_run(r, env, key[0], u, end);
      if (lines) {
        u += lines - 1;
        continue;
      }
      single = u + r->lanes;
    }
    i64 outer = s->inner == 1 ? (i64)u : (i64)u / s->inner, inner = (i64)u - outer * s->inner;
    for (u32 i = 0; i < s->n; i++)
      if (!r->num_keys || s->in[i] != PROG_NONE)
        line[i] = gather_line(r, env, i, outer * s->size * s->inner + inner);
    if (r->alone && sort_alone(r, env, key[0], line[0], outer, inner)) continue;
    for (size_t i = 0; i < n && !r->few; i++) perm[i] = (u32)i;
    if (r->few)
      select_first(r, env, key[0], line[r->keys->operand], perm);
    else if (r->num_keys)
      sort_by_keys(r, env, key, line, perm);
    else
      merge_sort(&(pair_less){r, line, reg}, perm, spare, n);
    for (u32 i = 0; i < s->n; i++) put_kept(r, env, i, line[i], outer, inner, perm);
  }
}
