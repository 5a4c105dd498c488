#include "exec/sorting.h"

enum { ROW = KERN_NET_BYTES, LONG = 8 };

const char *sort_key_values(const sort_key *key, void **reg, const char *line, size_t n) {
  reg[0] = (void *)(uintptr_t)line;
  vm_run(key->unit, reg, n);
  return reg[key->unit->outputs[0].reg];
}

typedef struct strip {
  i64 line;
  u32 lines;
} strip;

/* `count` elements of each line of operand i, between memory and columns of `rows`. */
static void move(const sorting *r, const strip *p, u32 i, char *memory, i64 count, char *rows,
                 bool out) {
  i64 w = r->width[i], row = w * r->lanes, inner = r->s->inner;
  char *at = memory + (p->line + p->line / inner * (count - 1) * inner) * w;
  kern_transpose_fn *turn = r->k->transpose[vm_log2_width((u32)w)];
  size_t n = (size_t)count, bytes = p->lines * (size_t)w;
  if (inner == 1 && out)
    turn(p->lines, n, at, w * count, rows, row, false);
  else if (inner == 1)
    turn(n, p->lines, rows, row, at, w * count, false);
  else if (out)
    r->k->move->rows(n, bytes, at, w * inner, rows, row, false);
  else
    r->k->move->rows(n, bytes, rows, row, at, w * inner, false);
}

static bool make_words(const sorting *r, void **reg, char *rows, char *words) {
  u32 w = r->width[r->keys->operand], short_words[SORT_BLOCK];
  u64 *longs = (u64 *)(void *)words;
  for (size_t i = 0, n = (size_t)r->s->size * r->lanes; i < n; i += SORT_BLOCK) {
    size_t m = n - i < SORT_BLOCK ? n - i : SORT_BLOCK;
    const char *v = sort_key_values(r->keys, reg, rows + i * w, m);
    if (r->alone) {
      if (v != rows + i * w && memcmp(v, rows + i * w, m * w) != 0) return false;
      sort_to_words(&r->turn, w, v, m, words + i * w);
      continue;
    }
    sort_to_words(&r->turn, 4, v, m, short_words);
    for (size_t k = 0; k < m; k++) longs[i + k] = (u64)short_words[k] << 32 | (i + k) / LONG;
  }
  return true;
}

#define TAKE(T)                                                                                    \
  static void take_##T(size_t n, void *to, const void *from, const u64 *longs) {                   \
    for (size_t k = 0; k < n; k++)                                                                 \
      ((T *)to)[k] = ((const T *)from)[(u32)longs[k] * LONG + k % LONG];                           \
  }
#define TAKES(DO) DO(u8) DO(u16) DO(u32) DO(u64)
TAKES(TAKE)
typedef void take_fn(size_t n, void *to, const void *from, const u64 *longs);
#define NAME(T) take_##T,
static take_fn *const takes[] = {TAKES(NAME)};

/* Each operand in the order of `longs`. */
static void put_all(const sorting *r, const strip *p, const exec_env *env, char *rows,
                    const u64 *longs, char *taken) {
  const prog_sort *s = r->s;
  size_t n = (size_t)s->keep * LONG;
  for (u32 i = 0; i < s->n; i++) {
    if (s->in[i] == PROG_NONE) {
      for (size_t k = 0; k < n; k++) ((u32 *)(void *)taken)[k] = (u32)longs[k];
    } else {
      if (i || r->keys->operand) move(r, p, i, env->slots[s->in[i]], s->size, rows, false);
      takes[vm_log2_width(r->width[i])](n, taken, rows, longs);
    }
    move(r, p, i, env->slots[s->out[i]], s->keep, taken, true);
  }
}

u32 sort_strip_run(const sorting *r, const exec_env *env, void **reg, u64 line, u64 end) {
  const prog_sort *s = r->s;
  size_t bytes = ROW * (size_t)s->size;
  u64 lines = end - line, left = (u64)s->inner - line % (u64)s->inner;
  if (s->inner > 1 && left < lines) lines = left;
  if (lines > r->lanes) lines = r->lanes;
  if (lines * 4 < r->lanes || lines == 0) return 0;
  strip p = {(i64)line, (u32)lines};
  char *rows = env->scratch + r->strip_at, *words = rows + bytes;
  if (lines < r->lanes) memset(rows, 0, bytes);
  move(r, &p, r->keys->operand, env->slots[s->in[r->keys->operand]], s->size, rows, false);
  if (!make_words(r, reg, rows, words)) return 0;
  r->k->net[!r->alone || r->width[0] == LONG]((size_t)s->size, words);
  if (r->alone) {
    sort_from_words(&r->turn, r->width[0], words, (size_t)s->keep * r->lanes, rows, r->width[0]);
    move(r, &p, 0, env->slots[s->out[0]], s->keep, rows, true);
  } else {
    put_all(r, &p, env, rows, (u64 *)(void *)words, words + bytes);
  }
  return p.lines;
}
