/* Windows whose elements lie apart along a row, as images have whose channels come first. A row of
 * results is as short as the image is wide, and of nine elements each would be fetched by itself.
 * Instead the rows that a window spans are combined element by element, and several of these lines,
 * each padded to a multiple of the step, are one long row of windows along the last dim.
 *
 * An element is then taken by several windows' parts, and the initial value by all: bodies to which
 * that makes no difference only, and sums of integers, which begin with it along rows and have
 * zeros before. */
#include "exec/separate.h"

typedef struct separate {
  const prog_window *w;
  row_windows r;
  const vm_kernels *k;
  kern_fn *direct;
  dtype type;
  bool sum;        /* the initial value counts once */
  i64 width;       /* bytes an element */
  i64 need;        /* elements of a padded line that windows look at */
  i64 pitch, wide; /* of a line: its elements, its windows; the last ones are of no use */
  i64 lines, all;  /* of a unit; of all units */
  i64 room;        /* elements of a unit's lines, and of what the last window looks at */
  size_t acc_at, now_at;
} separate;

/* The line of row g: all rows of its windows combined. `line` has what makes no difference. */
static void combine_rows(const separate *s, const char *in, i64 g, char *line) {
  const row_windows *r = &s->r;
  u32 last = r->rank - 1;
  i64 rows_each = r->out_plane / r->out_dims[last], at[PROG_MAX_DIMS] = {0};
  i64 of[PROG_MAX_DIMS] = {0}, low = r->low[last], skip = max_i64(0, -low), off;
  i64 n = min_i64(r->dims[last], s->need - low) - skip;
  in += g / rows_each * r->plane * s->width;
  rows_at(r, g % rows_each, at);
  line += max_i64(low, 0) * s->width;
  for (i64 k = 0; k < r->volume && n > 0; k += r->window[last]) {
    if (rows_outer(r, at, of, &off))
      s->direct((size_t)n, line, line, in + (off + skip) * s->width, NULL);
    of[last] = r->window[last] - 1;
    rows_next(r, of);
  }
}

/* The windows along n elements' worth of lines. */
static char *combine_along(const separate *s, const exec_env *env, const char *lines, i64 n) {
  u32 last = s->r.rank - 1;
  char *acc = env->scratch + s->acc_at, *now = env->scratch + s->now_at;
  if (s->sum)
    s->k->splat[vm_log2_width((u32)s->width)]((size_t)n, acc, env->slots[s->w->init[0]], NULL,
                                              NULL);
  for (i64 k = 0; k < s->r.window[last]; k++) {
    const char *from = lines + k * s->r.dilation[last] * s->width;
    const char *v =
        rows_fetch(s->k, s->type, NULL, k || s->sum ? now : acc, from, n, 1, s->r.step[last]);
    if (k || s->sum)
      s->direct((size_t)n, acc, acc, v, NULL);
    else if (v != acc)
      memcpy(acc, v, (size_t)(n * s->width));
  }
  return acc;
}

static void run_separate(const void *data, const exec_env *env, u64 begin, u64 end) {
  const separate *s = data;
  i64 size = s->r.out_dims[s->r.rank - 1];
  char *lines = env->scratch;
  for (u64 u = begin; u < end; u++) {
    i64 first = (i64)u * s->lines, n = min_i64(s->lines, s->all - first);
    if (s->sum)
      memset(lines, 0, (size_t)(s->room * s->width));
    else
      s->k->splat[vm_log2_width((u32)s->width)]((size_t)s->room, lines, env->slots[s->w->init[0]],
                                                NULL, NULL);
    for (i64 i = 0; i < n; i++)
      combine_rows(s, env->slots[s->w->in[0]], first + i, lines + i * s->pitch * s->width);
    const char *acc = combine_along(s, env, lines, n * s->wide);
    char *out = (char *)env->slots[s->w->out[0]] + first * size * s->width;
    for (i64 i = 0; i < n; i++)
      memcpy(out + i * size * s->width, acc + i * s->wide * s->width, (size_t)(size * s->width));
  }
}

bool separate_lower(const lower_env *e, const prog_window *w, const row_windows *r, kern_fn *direct,
                    exec_step *out) {
  static const bool once[REDUCE_COUNT_] = {
      [REDUCE_MAX] = true, [REDUCE_MIN] = true, [REDUCE_AND] = true, [REDUCE_OR] = true};
  u32 last = r->rank - 1;
  dtype type = e->prog->slots[w->in[0]].type;
  dtype_class class = dtype_infos[type].kind;
  bool whole = class == DTYPE_CLASS_SINT || class == DTYPE_CLASS_UINT;
  bool sum = whole && w->body.kind == REDUCE_SUM;
  i64 step = r->step[last], span = (r->window[last] - 1) * r->dilation[last];
  if (!direct || w->n != 1 || !(once[w->body.kind] || sum) || r->inner != 1 ||
      r->window[last] == 1 || r->base[last] != 1 || span > ROW_LANES ||
      r->out_dims[last] > ROW_LANES)
    return false;
  separate *s = ARENA_NEW(e->a, separate);
  *s = (separate){.w = w, .r = *r, .k = e->k, .direct = direct, .type = type, .sum = sum};
  s->width = (i64)dtype_size(s->type);
  s->need = (r->out_dims[last] - 1) * step + span + 1;
  s->wide = (s->need + step - 1) / step;
  s->pitch = s->wide * step;
  s->lines = max_i64(1, ROW_LANES / s->wide);
  s->all = r->lead * (r->out_plane / r->out_dims[last]);
  s->room = s->lines * s->pitch + span;
  s->acc_at = align_up((size_t)(s->room * s->width), 64);
  s->now_at = s->acc_at + align_up((size_t)(s->lines * s->wide * s->width), 64);
  i64 rows = r->volume / r->window[last] + 2 * r->window[last];
  *out = (exec_step){.run = run_separate,
                     .data = s,
                     .units = (u64)((s->all + s->lines - 1) / s->lines),
                     .cost = 50 + (u64)(rows * s->room / 8),
                     .scratch = s->now_at + align_up((size_t)(s->lines * s->wide * s->width), 64)};
  return true;
}
