/* Convolutions by tiles (program/tiles.c).
 *
 * A unit is a block of tiles that follow one another, and stays in a cache: their numbers, 16
 * products with the kernel's for each panel of its features, and the results. Of the kernel's
 * gradient a unit is some features of either side: the blocks of all tiles are its terms.
 *
 * Of what lies with features apart the rows at hand are turned around. The sums of 16 products meet
 * infinities of either sign, and overflow earlier, so that a unit which has a result that is no
 * finite number is done as other products are. */
#include "exec/dot.h"

enum {
  TILES = 48,              /* of a block */
  LINE = 16,               /* elements of a cache's line */
  COLUMNS = 2 * TILES + 2, /* of pixels that a block may need of a row */
  FEATURES = 64, /* of the input, that a unit of the gradient has: half where there were */
  UNITS = 4      /* less of these */
};

typedef struct tiling {
  const product *p;
  const prog_dot *d;
  prog_tiles t;
  i64 features; /* of the input, at once */
  i64 next_v,
      next_m; /* from one of 16 numbers to the next one's: of tiles by features, by panels */
  i64 sums;   /* the gradient: elements of its 16 sums */
  size_t m_at, sums_at, total_at, zeros_at, line_at; /* scratch */
  i64 ka[DOT_TERMS];
} tiling;

/* Of a block: tiles [from, to) of a row of tiles. */
typedef struct piece {
  i64 n, row, from, to;
} piece;

static piece piece_at(const tiling *x, i64 tile, i64 end) {
  i64 row = tile / x->t.wide, from = tile % x->t.wide;
  return (piece){row / x->t.high, row % x->t.high, from, min_i64(from + end - tile, x->t.wide)};
}

/* ---- tiles' numbers ---- */

/* Images of high x wide pixels. A tile's rows and columns are those `at` from where its results
 * begin; below 0, and outside, there are zeros. */
typedef struct source {
  const float *data;
  const i64 *stride; /* images, rows, columns, features */
  i64 high, wide, features;
  const i64 *at;
} source;

static void take_piece(const tiling *x, const exec_env *env, const source *s, piece q, float *v,
                       i64 next) {
  const float *zeros = (const float *)(env->scratch + x->zeros_at), *row[4], *pixel[16] = {0};
  float *line = (float *)(env->scratch + x->line_at);
  i64 first = 2 * q.from, step = s->stride[2], n = min_i64(2 * q.to + 2, s->wide) - first;
  i64 apart[16] = {0};
  for (i64 i = 0; i < 4; i++) {
    i64 y = 2 * q.row + s->at[i];
    row[i] = s->at[i] < 0 || y >= s->high
                 ? NULL
                 : s->data + q.n * s->stride[0] + y * s->stride[1] + first * step;
  }
  if (s->stride[3] != 1) {
    for (u32 i = 0; i < 4; i++, line += COLUMNS * s->features) {
      if (!row[i]) continue;
      x->p->k_->transpose[2]((size_t)n, (size_t)s->features, (char *)line, s->features * 4,
                             (const char *)row[i], s->stride[3] * 4, false);
      row[i] = line;
    }
    step = s->features;
  }
  for (i64 tile = 0; tile < q.to - q.from; tile++, v += s->features) {
    bool inside = tile > 0 && 2 * tile + 3 < n;
    for (u32 i = 0; i < 16 && inside; i++) pixel[i] += apart[i];
    for (u32 i = 0; i < 16 && !inside; i++) {
      i64 at = s->at[i % 4], column = 2 * tile + at;
      bool there = row[i / 4] && at >= 0 && column < n;
      pixel[i] = there ? row[i / 4] + column * step : zeros;
      apart[i] = there ? 2 * step : 0;
    }
    x->p->k_->winograd->take((size_t)s->features, pixel, v, next);
  }
}

static void take(const tiling *x, const exec_env *env, const source *s, i64 first, i64 end,
                 float *v, i64 next) {
  for (i64 tile = first, n; tile < end; tile += n, v += n * s->features) {
    piece q = piece_at(x, tile, end);
    n = q.to - q.from;
    take_piece(x, env, s, q, v, next);
  }
}

/* Features of the input, from one on. */
static source input(const tiling *x, const exec_env *env, i64 feature) {
  static const i64 at[] = {0, 1, 2, 3};
  const float *data = (const float *)env->slots[x->d->lhs] + x->d->lhs_offset;
  return (source){
      data + feature * x->t.from[3], x->t.from, x->t.h + 2, x->t.w + 2, x->features, at};
}

/* ---- products ---- */

/* m[i][j] = sum over p < k of a[i * apart + ka[p]] * b[p * panel + j], added to it if `more`. */
static void multiply(const tiling *x, i64 rows, i64 k, const float *a, i64 apart, const float *b,
                     float *m, bool more) {
  const dot_strips *s = x->p->strips;
  i64 panel = x->t.panel, lanes = s->lanes, row[TILES > FEATURES ? TILES : FEATURES],
      to[COUNT(row)];
  for (i64 i = 0; i < rows; i++) row[i] = i * apart, to[i] = i * panel;
  for (i64 j = 0; j < panel;) {
    u32 w = dot_vectors(s, (u64)((panel - j) / lanes), DOT_WELL);
    dot_rows(s, w,
             (dot_strip){.k = (size_t)k,
                         .rows = (u64)rows,
                         .a = a,
                         .row = row,
                         .ka = x->ka,
                         .b = b + j,
                         .kb = panel,
                         .c = m + j,
                         .to = to,
                         .more = more});
    j += w * lanes;
  }
}

/* ---- results of tiles ---- */

static void give(const tiling *x, const exec_env *env, piece q, i64 feature, const float *m,
                 float *wrong) {
  const i64 *s = x->t.to;
  bool apart = s[3] != 1;
  i64 step = apart ? x->t.panel : s[2], first = 2 * q.from, panel = x->t.panel;
  float *none = (float *)(env->scratch + x->line_at), *row[2], *to[4];
  float *out = (float *)env->slots[x->d->out] + x->d->out_offset + q.n * s[0] + 2 * q.row * s[1] +
               first * s[2] + feature * s[3];
  i64 rows = min_i64(x->t.h - 2 * q.row, 2), n = min_i64(2 * q.to, x->t.w) - first;
  for (i64 i = 0; i < 2; i++) row[i] = apart ? none + (1 + i * COLUMNS) * panel : out + i * s[1];
  for (i64 at = 0; at < n; at += 2, m += panel) {
    for (i64 i = 0; i < 4; i++)
      to[i] = i / 2 < rows && at + i % 2 < n ? row[i / 2] + (at + i % 2) * step : none;
    x->p->k_->winograd->give((size_t)panel, m, x->next_m, to, wrong);
  }
  for (i64 i = 0; i < rows && apart; i++)
    x->p->k_->transpose[2]((size_t)panel, (size_t)n, (char *)(out + i * s[1]), s[3] * 4,
                           (const char *)row[i], panel * 4, false);
}

/* Rows [m0, m0 + m) of the product from column n0 on, as it is. */
static void multiply_directly(const tiling *x, const exec_env *env, i64 m0, i64 m, i64 n0, i64 n) {
  const product *p = x->p;
  dot_own(p, env, (const char *)env->slots[p->lhs] + p->lhs_offset,
          (const char *)env->slots[p->rhs] + p->rhs_offset, dot_result(p, env), (u64)m0, (u64)m,
          (u64)n0, (u64)n);
}

static bool is_right(const float *wrong) {
  bool right = true;
  for (u32 i = 0; i < WINOGRAD_LANES; i++) right &= wrong[i] == 0;
  return right;
}

static bool multiply_tiles(const tiling *x, const exec_env *env, i64 first, i64 end) {
  const float *u = (const float *)env->slots[x->d->taps];
  float *v = (float *)env->scratch, *m = (float *)(env->scratch + x->m_at);
  _Alignas(64) float wrong[WINOGRAD_LANES] = {0};
  i64 c = x->t.c, panel = x->t.panel;
  source in = input(x, env, 0);
  memset(env->scratch + x->zeros_at, 0, (size_t)c * 4);
  take(x, env, &in, first, end, v, x->next_v);
  for (i64 k = 0; k < x->t.k; k += panel) {
    for (i64 i = 0; i < 16; i++) {
      for (i64 p = 0; p < c; p += DOT_TERMS)
        multiply(x, end - first, min_i64(c - p, DOT_TERMS), v + i * x->next_v + p, c,
                 u + (i * x->t.k + k) * c + p * panel, m + i * x->next_m, p > 0);
    }
    for (i64 tile = first, n; tile < end; tile += n) {
      piece q = piece_at(x, tile, end);
      n = q.to - q.from;
      give(x, env, q, k, m + (tile - first) * panel, wrong);
    }
  }
  return is_right(wrong);
}

static void run_tiles(const void *data, const exec_env *env, u64 begin, u64 end) {
  const tiling *x = data;
  for (u64 unit = begin; unit < end; unit++) {
    i64 first = (i64)unit * TILES, last = min_i64(first + TILES, x->t.all);
    if (multiply_tiles(x, env, first, last)) continue;
    for (i64 tile = first, n; tile < last; tile += n) {
      piece q = piece_at(x, tile, last);
      n = q.to - q.from;
      for (i64 row = 2 * q.row; row < min_i64(2 * q.row + 2, x->t.h); row++)
        multiply_directly(x, env, (q.n * x->t.h + row) * x->t.w + 2 * q.from,
                          min_i64(2 * q.to, x->t.w) - 2 * q.from, 0, x->t.k);
    }
  }
}

/* ---- the kernel's gradient ---- */

/* Four sums become twice three taps. What a result's gradients become has the other sign in the
 * first and the last number of four, since it is made as that of pixels 0, r[1], r[0] and 0. */
static void give_three(const tiling *x, float *sums, i64 step, float *t) {
  float *a = sums, *b = a + step * x->sums, *c = b + step * x->sums, *d = c + step * x->sums;
  kern_fn *add = x->p->k_->binary[VM_add][R_f32][FORM_VV];
  kern_fn *sub = x->p->k_->binary[VM_sub][R_f32][FORM_VV];
  size_t n = (size_t)x->sums;
  add(n, t, b, c, NULL);
  sub(n, b, b, c, NULL);
  sub(n, c, t, a, NULL);
  sub(n, a, c, a, NULL);
  sub(n, t, t, d, NULL);
  sub(n, c, t, d, NULL);
}

/* The taps of a unit; whether they are finite. */
static bool give_taps(const tiling *x, float *sums, float *spare, float *out) {
  const i64 *s = x->d->out_stride;
  float wrong[WINOGRAD_LANES] = {0};
  for (i64 i = 0; i < 4; i++) give_three(x, sums + i * x->sums, 4, spare);
  for (i64 i = 0; i < 3; i++) give_three(x, sums + 4 * i * x->sums, 1, spare);
  for (i64 tap = 0; tap < 9; tap++)
    for (i64 c = 0; c < x->features; c++) {
      const float *from = sums + (tap / 3 * 4 + tap % 3) * x->sums + c * x->t.panel;
      float *to = out + c * s[0] + tap / 3 * s[1] + tap % 3 * s[2];
      for (i64 k = 0; k < x->t.panel; k += WINOGRAD_LANES)
        for (i64 i = 0; i < WINOGRAD_LANES; i++) {
          float y = from[k + i] * 0.25f;
          to[(k + i) * s[3]] = y;
          wrong[i] += y - y;
        }
    }
  return is_right(wrong);
}

/* Features [c, c + x->features) by a panel from k on. */
static bool sum_tiles(const tiling *x, const exec_env *env, i64 c, i64 k) {
  static const i64 at[] = {-1, 1, 0, -1}; /* 0, r[1], r[0], 0 */
  const prog_tiles *t = &x->t;
  float *v = (float *)env->scratch, *r = (float *)(env->scratch + x->m_at);
  float *sums = (float *)(env->scratch + x->sums_at),
        *total = (float *)(env->scratch + x->total_at);
  const float *gradient = (const float *)env->slots[x->d->rhs] + x->d->rhs_offset;
  source in = input(x, env, c);
  memset(env->scratch + x->zeros_at, 0, (size_t)max_i64(x->features, t->panel) * 4);
  source of = {gradient + k * t->to[3], t->to, t->h, t->w, t->panel, at};
  for (i64 first = 0, done = 0, end; first < t->all; first = end, done++) {
    end = min_i64(first + TILES, t->all);
    take(x, env, &in, first, end, v, x->next_v);
    take(x, env, &of, first, end, r, x->next_m);
    for (i64 i = 0; i < 16; i++) {
      multiply(x, x->features, end - first, v + i * x->next_v, 1, r + i * x->next_m,
               sums + i * x->sums, done % DOT_GROUP > 0);
    }
    if (done % DOT_GROUP == DOT_GROUP - 1 || end == t->all)
      dot_add_group(x->p, done < DOT_GROUP, total, sums, (size_t)(16 * x->sums));
  }
  float *out = (float *)env->slots[x->d->out] + x->d->out_offset;
  return give_taps(x, total, sums, out + c * x->d->out_stride[0] + k * x->d->out_stride[3]);
}

/* A feature's nine taps follow one another, or a tap's features do. */
static void sum_directly(const tiling *x, const exec_env *env, i64 c, i64 k) {
  bool together = x->d->out_stride[0] > x->d->out_stride[1];
  if (together) multiply_directly(x, env, 9 * c, 9 * x->features, k, x->t.panel);
  for (i64 tap = 0; tap < 9 && !together; tap++)
    multiply_directly(x, env, tap * x->t.c + c, x->features, k, x->t.panel);
}

static void run_sums(const void *data, const exec_env *env, u64 begin, u64 end) {
  const tiling *x = data;
  i64 panels = x->t.k / x->t.panel;
  for (u64 unit = begin; unit < end; unit++) {
    i64 c = (i64)unit / panels * x->features, k = (i64)unit % panels * x->t.panel;
    if (!sum_tiles(x, env, c, k)) sum_directly(x, env, c, k);
  }
}

/* ---- lowering ---- */

static bool is_by_tiles(const lower_env *e, const product *p, const prog_dot *d, prog_tiles *t) {
  const prog_slot *taps = &e->prog->slots[d->taps];
  return d->by_tiles && prog_find_tiles(d, t) && p->lhs_type == DTYPE_f32 &&
         p->rhs_type == DTYPE_f32 && p->out_type == DTYPE_f32 &&
         (t->gradient || (taps->type == DTYPE_f32 && taps->count >= (u64)(16 * t->c * t->k)));
}

/* Returns where scratch ends. */
static size_t place_scratch(tiling *x) {
  i64 panel = x->t.panel, most = max_i64(x->features, panel);
  bool apart = x->t.from[3] != 1 || x->t.to[3] != 1;
  x->next_v = TILES * x->features + LINE; /* no power of two apart */
  x->next_m = TILES * panel + LINE;
  x->sums = x->t.gradient ? x->features * panel : 0;
  x->m_at = (size_t)(16 * x->next_v * 4);
  x->sums_at = x->m_at + (size_t)(16 * x->next_m * 4);
  x->total_at = x->sums_at + (size_t)(16 * x->sums * 4);
  x->zeros_at = x->total_at + (size_t)(16 * x->sums * 4);
  x->line_at = x->zeros_at + (size_t)(most * 4);
  return x->line_at + (size_t)((apart ? 4 * COLUMNS + 1 : 1) * most * 4);
}

bool dot_tiles_lower(const lower_env *e, const product *p, const prog_dot *d, exec_step *out) {
  tiling *x = ARENA_NEW(e->a, tiling);
  *x = (tiling){.p = p, .d = d};
  if (!is_by_tiles(e, p, d, &x->t)) return false;
  const prog_tiles *t = &x->t;
  i64 blocks = (t->all + TILES - 1) / TILES;
  i64 panels = t->k / t->panel;
  x->features = t->gradient ? FEATURES : t->c;
  while (t->c % x->features ||
         (x->features > FEATURES / 2 && t->gradient && t->c / x->features * panels < UNITS))
    x->features /= 2;
  for (i64 i = 0; i < DOT_TERMS; i++) x->ka[i] = t->gradient ? i * x->features : i;
  u64 cost = (u64)(TILES / 2 * x->features * (t->gradient ? t->panel * blocks : t->k));
  *out = (exec_step){.run = t->gradient ? run_sums : run_tiles,
                     .data = x,
                     .units = (u64)(t->gradient ? t->c / x->features * panels : blocks),
                     .cost = 100 + cost,
                     .scratch = max_size(out->scratch, place_scratch(x))};
  return true;
}
