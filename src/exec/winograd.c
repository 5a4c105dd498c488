/* Convolutions by tiles (program/tiles.c). A unit is a block of tiles that follow one another, and
 * stays in a cache: their numbers, 16 products with the kernel's for each panel of its features,
 * and the results. Of what lies with features apart the rows at hand are turned around. The sums of
 * 16 products meet infinities of either sign, and overflow earlier, so that a block which has a
 * result that is no finite number is done as other products are. */
#include "exec/dot.h"

enum { TILES = 48, LINE = 16 }; /* LINE: elements of a cache's line */

typedef struct tiling {
  const product *p;
  const prog_dot *d;
  prog_tiles t;
  bool in_apart, out_apart; /* features of the input, of the result */
  i64 next_v, next_m;   /* from one of a tile's 16 numbers to the next one's, of a tile's c, k */
  size_t m_at, line_at; /* scratch */
  i64 ka[DOT_TERMS];    /* 0, 1, ... */
} tiling;

/* Of a block: tiles [from, to) of a row of tiles. */
typedef struct piece {
  i64 n, row, from, to;
} piece;

static piece piece_at(const tiling *x, i64 tile, i64 end) {
  i64 row = tile / x->t.wide, from = tile % x->t.wide;
  return (piece){row / x->t.high, row % x->t.high, from, min_i64(from + end - tile, x->t.wide)};
}

/* Tiles hang over the edge where results are odd in number: what they have there is that of the
 * last row or column again, and goes into no result that is kept. */
static void take(const tiling *x, const exec_env *env, piece q, float *v) {
  const prog_dot *d = x->d;
  const float *in = (const float *)env->slots[d->lhs] + d->lhs_offset + q.n * d->lhs_stride[0];
  const float *row[4];
  i64 step = d->lhs_stride[2], first = 2 * q.from, column[4];
  for (i64 i = 0; i < 4; i++)
    row[i] = in + min_i64(2 * q.row + i, x->t.h + 1) * d->lhs_stride[1] + first * step;
  if (x->in_apart) {
    float *line = (float *)(env->scratch + x->line_at);
    i64 n = min_i64(2 * q.to + 2, x->t.w + 2) - first;
    step = x->t.c;
    for (u32 i = 0; i < 4; i++, line += n * step) {
      x->p->k_->transpose[2]((size_t)n, (size_t)step, (char *)line, step * 4, (const char *)row[i],
                             d->lhs_stride[6] * 4, false);
      row[i] = line;
    }
  }
  for (i64 tile = q.from; tile < q.to; tile++, v += x->t.c) {
    for (i64 j = 0; j < 4; j++) column[j] = (min_i64(2 * tile + j, x->t.w + 1) - first) * step;
    x->p->k_->winograd->take((size_t)x->t.c, row, column, v, x->next_v);
  }
}

/* Sums over features of v by the i-th numbers of a panel's kernels. */
static void multiply(const tiling *x, const float *u, const float *v, float *m, i64 tiles) {
  const dot_strips *s = x->p->strips;
  i64 panel = x->t.panel, lanes = s->lanes, n;
  for (i64 k = 0; k < x->t.c; k += DOT_TERMS)
    for (i64 j = 0; j < panel; j += n) {
      u32 w = (u32)min_i64((panel - j) / lanes, s->vectors), most = s->rows[w - 1];
      i64 strips = (tiles + most - 1) / most, each = (tiles + strips - 1) / strips;
      n = w * lanes;
      for (i64 i = 0, rows; i < tiles; i += rows) {
        const void *a[DOT_ROWS];
        void *c[DOT_ROWS];
        rows = min_i64(each, tiles - i);
        for (i64 r = 0; r < rows; r++)
          a[r] = v + (i + r) * x->t.c + k, c[r] = m + (i + r) * panel + j;
        s->fn[w - 1][rows - 1](&(dot_strip){.k = (size_t)min_i64(x->t.c - k, DOT_TERMS),
                                            .a = a,
                                            .ka = x->ka,
                                            .b = u + k * panel + j,
                                            .kb = panel,
                                            .c = c,
                                            .more = k > 0});
      }
    }
}

static void give(const tiling *x, const exec_env *env, piece q, i64 feature, const float *m,
                 float *wrong) {
  const prog_dot *d = x->d;
  const i64 *s = d->out_stride;
  float *out = (float *)env->slots[d->out] + d->out_offset + q.n * s[0] + feature * s[3];
  float *none = (float *)(env->scratch + x->line_at), *line = none + x->t.panel, *row[2], *to[4];
  i64 step = x->out_apart ? x->t.panel : s[2], first = 2 * q.from, rows = 1, panel = x->t.panel;
  if (2 * q.row + 1 < x->t.h) rows = 2;
  out += 2 * q.row * s[1] + first * s[2];
  for (i64 i = 0; i < 2; i++) row[i] = x->out_apart ? line + i * 2 * TILES * panel : out + i * s[1];
  i64 n = min_i64(2 * q.to, x->t.w) - first;
  for (i64 at = 0; at < n; at += 2, m += panel) {
    for (i64 i = 0; i < 4; i++)
      to[i] = i / 2 < rows && at + i % 2 < n ? row[i / 2] + (at + i % 2) * step : none;
    x->p->k_->winograd->give((size_t)panel, m, x->next_m, to, wrong);
  }
  for (i64 i = 0; i < rows && x->out_apart; i++)
    x->p->k_->transpose[2]((size_t)panel, (size_t)n, (char *)(out + i * s[1]), s[3] * 4,
                           (const char *)row[i], panel * 4, false);
}

/* The results of a piece, from the kernel as it is. */
static void multiply_directly(const tiling *x, const exec_env *env, piece q) {
  const product *p = x->p;
  i64 n = min_i64(2 * q.to, x->t.w) - 2 * q.from;
  for (i64 row = 2 * q.row; row < min_i64(2 * q.row + 2, x->t.h); row++)
    dot_own(p, env, (const char *)env->slots[p->lhs] + p->lhs_offset,
            (const char *)env->slots[p->rhs] + p->rhs_offset, dot_result(p, env),
            (u64)((q.n * x->t.h + row) * x->t.w + 2 * q.from), (u64)n, 0, p->n);
}

static bool multiply_tiles(const tiling *x, const exec_env *env, i64 first, i64 end) {
  const float *u = (const float *)env->slots[x->d->taps];
  float *v = (float *)env->scratch, *m = (float *)(env->scratch + x->m_at);
  _Alignas(64) float wrong[WINOGRAD_LANES] = {0};
  i64 c = x->t.c, panel = x->t.panel;
  for (i64 tile = first, n; tile < end; tile += n) {
    piece q = piece_at(x, tile, end);
    n = q.to - q.from;
    take(x, env, q, v + (tile - first) * c);
  }
  for (i64 k = 0; k < x->t.k; k += panel) {
    for (i64 i = 0; i < 16; i++)
      multiply(x, u + (i * x->t.k + k) * c, v + i * x->next_v, m + i * x->next_m, end - first);
    for (i64 tile = first, n; tile < end; tile += n) {
      piece q = piece_at(x, tile, end);
      n = q.to - q.from;
      give(x, env, q, k, m + (tile - first) * panel, wrong);
    }
  }
  bool right = true;
  for (u32 i = 0; i < WINOGRAD_LANES; i++) right &= wrong[i] == 0;
  return right;
}

static void run_tiles(const void *data, const exec_env *env, u64 begin, u64 end) {
  const tiling *x = data;
  for (u64 unit = begin; unit < end; unit++) {
    i64 first = (i64)unit * TILES, last = min_i64(first + TILES, x->t.all);
    if (multiply_tiles(x, env, first, last)) continue;
    for (i64 tile = first, n; tile < last; tile += n) {
      piece q = piece_at(x, tile, last);
      n = q.to - q.from;
      multiply_directly(x, env, q);
    }
  }
}

bool dot_tiles_lower(const lower_env *e, const product *p, const prog_dot *d, exec_step *out) {
  tiling *x = ARENA_NEW(e->a, tiling);
  *x = (tiling){.p = p, .d = d};
  if (!d->by_tiles || !prog_find_tiles(d, &x->t) || p->lhs_type != DTYPE_f32 ||
      p->rhs_type != DTYPE_f32 || p->out_type != DTYPE_f32 ||
      e->prog->slots[d->taps].type != DTYPE_f32 ||
      e->prog->slots[d->taps].count < (u64)(16 * x->t.c * x->t.k))
    return false;
  for (i64 i = 0; i < DOT_TERMS; i++) x->ka[i] = i;
  x->in_apart = d->lhs_stride[6] != 1;
  x->out_apart = d->out_stride[3] != 1;
  x->next_v = TILES * x->t.c + LINE; /* no power of two apart */
  x->next_m = TILES * x->t.panel + LINE;
  i64 lines = x->in_apart ? 4 * (2 * TILES + 2) * x->t.c : 0;
  lines = max_i64(lines, (x->out_apart ? 4 * TILES + 1 : 1) * x->t.panel);
  x->m_at = (size_t)(16 * x->next_v * 4);
  x->line_at = x->m_at + (size_t)(16 * x->next_m * 4);
  *out = (exec_step){.run = run_tiles,
                     .data = x,
                     .units = (u64)((x->t.all + TILES - 1) / TILES),
                     .cost = (u64)(100 + TILES * x->t.c * x->t.k / 2),
                     .scratch = max_size(out->scratch, x->line_at + (size_t)lines * 4)};
  return true;
}
