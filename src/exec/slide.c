/* Long windows along one dim, of a known body.
 *
 * A window of n elements is made of pieces of 1, 2, 4, ... of them, by the bits of n, and pieces
 * of twice a length are pieces of that length, combined with those as far behind. So an element
 * costs two operations a bit of n, on whole vectors, whether they are sums or maxima, and sums
 * are those of a tree. Padding and holes are the body's neutral element. */
#include "exec/slide.h"

#include "exec/combine.h"
#include "num/convert.h"

typedef struct sliding {
  const prog_window *w;
  const vm_kernels *k;
  row_windows r; /* rank 1 */
  dtype type;
  u32 size, width; /* bytes of an element: stored, in a register */
  kern_fn *op;
  u64 neutral[2];       /* in a register */
  i64 piece, pieces;    /* lanes of a block */
  i64 row, blocks;      /* windows of a block */
  i64 reach, positions; /* of a window; of a block, at most */
  size_t buffer;        /* bytes of one of four */
} sliding;

static void fill(const sliding *s, char *to, i64 elements) {
  if (elements > 0)
    s->k->splat[vm_log2_width(s->width)]((size_t)elements, to, s->neutral, NULL, NULL);
}

/* `n` positions from padded position p on, each `lanes` wide, in register form. */
static void load(const sliding *s, const char *in, i64 p, i64 n, i64 lanes, char *to) {
  const row_windows *r = &s->r;
  i64 base = r->base[0], bytes = lanes * s->width;
  i64 before = p < 0 ? min_i64(-p, n) : 0, end = (r->dims[0] - 1) * base + 1;
  i64 behind = max_i64(min_i64(p + n - end, n), 0);
  if (r->dims[0] == 0) before = n, behind = 0;
  fill(s, to, (base > 1 ? n : before) * lanes);
  fill(s, to + (n - behind) * bytes, behind * lanes);
  i64 first = p + before, count = n - before - behind;
  if (base == 1 && lanes == r->inner && count > 0)
    vm_load_elements(s->k, s->type, (size_t)(count * lanes), to + before * bytes,
                     in + first * r->inner * (i64)s->size);
  if (base == 1 && lanes == r->inner) return;
  i64 skip = count > 0 ? (base - first % base) % base : 0;
  for (i64 i = skip; i < count; i += base)
    vm_load_elements(s->k, s->type, (size_t)lanes, to + (before + i) * bytes,
                     in + (first + i) / base * r->inner * (i64)s->size);
}

/* All windows that begin at positions [0, n), in `made`; `now` has the elements, and `spare` as
 * much room. */
static void slide(const sliding *s, i64 n, i64 positions, i64 lanes, char *now, char *spare,
                  char *made) {
  i64 dilation = s->r.dilation[0], window = s->r.window[0], done = 0, bytes = lanes * s->width;
  for (i64 size = 1; size <= window; size *= 2) {
    if (window & size) {
      const char *from = now + done * dilation * bytes;
      if (done)
        s->op((size_t)(n * lanes), made, made, from, NULL);
      else
        memcpy(made, from, (size_t)(n * bytes));
      done += size;
    }
    positions -= size * dilation;
    if (size > window / 2) break;
    s->op((size_t)(positions * lanes), spare, now, now + size * dilation * bytes, NULL);
    char *t = now;
    now = spare;
    spare = t;
  }
}

static void run_block(const sliding *s, const exec_env *env, i64 lead, i64 c, i64 first, i64 end) {
  const row_windows *r = &s->r;
  i64 lanes = min_i64(s->piece, r->inner - c), step = r->step[0], count = end - first;
  i64 n = (count - 1) * step + 1, positions = n + s->reach - 1;
  char *now = env->scratch, *spare = now + s->buffer, *made = spare + s->buffer;
  char *init = made + s->buffer;
  const char *in =
      (const char *)env->slots[s->w->in[0]] + (lead * r->plane * r->inner + c) * (i64)s->size;
  load(s, in, first * step - r->low[0], positions, lanes, now);
  slide(s, n, positions, lanes, now, spare, made);
  if (step > 1) {
    i64 apart = step * lanes, log = vm_log2_width(s->width);
    if (lanes == 1)
      s->k->stride[log]((size_t)count, now, made, &apart, NULL);
    else
      for (i64 i = 0; i < count; i++)
        memcpy(now + i * lanes * s->width, made + i * apart * s->width, (size_t)(lanes * s->width));
    made = now;
  }
  u64 value[2];
  vm_load_elements(s->k, s->type, 1, value, env->slots[s->w->init[0]]);
  s->k->splat[vm_log2_width(s->width)]((size_t)(count * lanes), init, value, NULL, NULL);
  s->op((size_t)(count * lanes), init, init, made, NULL);
  char *out = (char *)env->slots[s->w->out[0]] +
              ((lead * r->out_plane + first) * r->inner + c) * (i64)s->size;
  i64 runs = lanes == r->inner ? 1 : count, run = count * lanes / runs;
  for (i64 i = 0; i < runs; i++)
    vm_store_elements(s->k, s->type, (size_t)run, out + i * r->inner * (i64)s->size,
                      init + i * run * s->width);
}

static void run_slide(const void *data, const exec_env *env, u64 begin, u64 end) {
  const sliding *s = data;
  for (u64 u = begin; u < end; u++) {
    i64 rest = (i64)u, first = rest % s->blocks * s->row;
    rest /= s->blocks;
    run_block(s, env, rest / s->pieces, rest % s->pieces * s->piece, first,
              min_i64(first + s->row, s->r.out_plane));
  }
}

/* ---- lowering ---- */

/* Operations an element, against one an element of the window. */
static bool is_worth_it(const row_windows *r) {
  i64 bits = 0;
  for (i64 n = r->window[0]; n > 0; n /= 2) bits++;
  return r->window[0] > (2 * bits + 2) * r->step[0];
}

static bool choose_blocks(sliding *s) {
  enum { LANES = 64, ELEMENTS = 4096, MOST = 1 << 22 };
  const row_windows *r = &s->r;
  i64 step = r->step[0];
  s->reach = (r->window[0] - 1) * r->dilation[0] + 1;
  s->piece = s->reach > ELEMENTS ? 1 : min_i64(r->inner, LANES);
  s->pieces = (r->inner + s->piece - 1) / s->piece;
  s->row = max_i64(ELEMENTS / s->piece, s->reach) / step + 1;
  s->row = min_i64(s->row, r->out_plane);
  s->blocks = (r->out_plane + s->row - 1) / s->row;
  s->positions = (s->row - 1) * step + s->reach;
  s->buffer = align_up((size_t)(s->positions * s->piece) * s->width, 64);
  return s->positions <= MOST;
}

bool slide_lower(const lower_env *e, const prog_window *w, const row_windows *r, exec_step *out) {
  dtype t = e->prog->slots[w->out[0]].type;
  u64 neutral[2] = {0, 0};
  if (w->n != 1 || w->body.kind == REDUCE_CODE || r->rank != 1 || r->inner == 0) return false;
  if (num_is_small_float(t) && !vm_reduces_wide(t)) return false; /* rounds after each */
  if (e->k->wrap[t] || !is_worth_it(r) || !prog_reducer_neutral(w->body.kind, t, neutral))
    return false;
  vm_op op = prog_body_op(w->body.kind);
  sliding *s = ARENA_NEW(e->a, sliding);
  *s = (sliding){.w = w,
                 .k = e->k,
                 .r = *r,
                 .type = t,
                 .size = (u32)dtype_size(t),
                 .width = vm_rtype_size(vm_rtype_of(t)),
                 .op = e->k->binary[op][vm_rtype_of(t)][FORM_VV]};
  if (!s->op || !choose_blocks(s)) return false;
  vm_load_elements(e->k, t, 1, s->neutral, neutral);
  *out = (exec_step){.run = run_slide,
                     .data = s,
                     .units = (u64)(r->lead * s->pieces * s->blocks),
                     .cost = 100 + (u64)(s->positions * s->piece) * 4,
                     .scratch = 4 * s->buffer};
  return true;
}
