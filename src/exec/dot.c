/* Matrix products.
 *
 * m, n and k may each be several dims with any strides; lists of offsets flatten them, so that
 * packing reads any layout and the tile loops see plain matrices. A unit is a piece of one
 * batch element's result; in it, panels of both operands are packed and converted to the
 * accumulating type, tiles are summed over k, and the result is converted and stored. Where
 * operands are plain row- or column-major f32 matrices, oneDNN does a unit if it is there. */
#include "exec/accel.h"
#include "exec/dot.h"
#include "exec/placed.h"
#include "num/convert.h"

enum {
  ROW_TERMS = 4096,   /* oneDNN, rows of a matrix summed up: one after the other */
  TILE_TERMS = 16384, /* oneDNN, other products: it makes blocks itself */
  FEWEST = 1 << 10    /* terms of a product with a vector that takes more than a call */
};

/* ---- oneDNN's ---- */

static accel_matrix from_term(accel_matrix x, i64 k, bool rows_first) {
  x.data += x.transposed == rows_first ? k * x.ld : k;
  return x;
}

/* The product of m x n with all of k, by terms. */
static bool multiply_terms(const product *p, const exec_env *env, i64 m, i64 n, accel_matrix x,
                           accel_matrix y, float *z, i64 ldc) {
  float *sums = p->sgemm_groups ? (float *)(env->scratch + p->total_at) : z;
  i64 row = p->sgemm_groups ? n : ldc;
  for (u64 k = 0, done = 0; k < p->k; k += p->terms, done++) {
    i64 terms = (i64)(p->k - k < p->terms ? p->k - k : p->terms);
    if (!accel_multiply(env->accel, m, n, terms, from_term(x, (i64)k, true),
                        from_term(y, (i64)k, false), done % p->calls > 0, sums, row))
      return false;
    if (!p->sgemm_groups || (done % p->calls < p->calls - 1 && k + p->terms < p->k)) continue;
    for (i64 i = 0; i < m; i++)
      dot_add_group(p, done < p->calls, z + i * ldc, sums + i * n, (size_t)n);
  }
  return true;
}

/* f32 copies of small-float operands: count elements from the first on. */
static const float *widen(const product *p, dtype type, const char *from, u64 count, float *to) {
  if (type == DTYPE_f32) return (const float *)from;
  p->k_->load[type](count, to, from, NULL, NULL);
  return to;
}

/* The same product with operands of f16 or bf16: converted to f32, multiplied, rounded. */
static bool try_sgemm_small(const product *p, const exec_env *env, const char *a, const char *b,
                            char *out, u64 m0, u64 m, u64 n0, u64 n) {
  float *wide_a = (float *)(env->scratch + p->wide_at);
  float *wide_b = wide_a + p->wide_a, *c = wide_b + p->wide_b;
  u64 rows_a = p->a.transposed ? p->k : m, rows_b = p->b.transposed ? n : p->k;
  u64 row_a = p->a.transposed ? m : p->k, row_b = p->b.transposed ? p->k : n;
  const float *x = widen(p, p->lhs_type, a + axis_at(&p->lhs_m, m0) * (i64)dtype_size(p->lhs_type),
                         (rows_a - 1) * (u64)p->a.ld + row_a, wide_a);
  const float *y = widen(p, p->rhs_type, b + axis_at(&p->rhs_n, n0) * (i64)dtype_size(p->rhs_type),
                         (rows_b - 1) * (u64)p->b.ld + row_b, wide_b);
  if (!multiply_terms(p, env, (i64)m, (i64)n, (accel_matrix){x, p->a.ld, p->a.transposed},
                      (accel_matrix){y, p->b.ld, p->b.transposed}, c, (i64)n))
    return false;
  size_t size = dtype_size(p->out_type);
  for (u64 i = 0; i < m; i++) {
    char *to = out + (axis_at(&p->out_m, m0 + i) + axis_at(&p->out_n, n0)) * (i64)size;
    if (p->out_type == DTYPE_f32)
      memcpy(to, c + i * n, n * size);
    else
      p->k_->store[p->out_type](n, to, c + i * n, NULL, NULL);
  }
  return true;
}

static bool try_sgemm(const product *p, const exec_env *env, const char *a, const char *b,
                      char *out, u64 m0, u64 m, u64 n0, u64 n) {
  if (!p->use_sgemm || !accel_begin(env->accel)) return false;
  if (p->wide_c) return try_sgemm_small(p, env, a, b, out, m0, m, n0, n);
  const float *x = (const float *)a + axis_at(&p->lhs_m, m0),
              *y = (const float *)b + axis_at(&p->rhs_n, n0);
  float *z = (float *)out + axis_at(&p->out_m, m0) + axis_at(&p->out_n, n0);
  return multiply_terms(p, env, (i64)m, (i64)n, (accel_matrix){x, p->a.ld, p->a.transposed},
                        (accel_matrix){y, p->b.ld, p->b.transposed}, z, p->ldc);
}

/* Of columns [n0, n0 + n) those that matter, in whole vectors. */
static void cut_columns(const u64 *some, u64 lanes, u64 *n0, u64 *n) {
  u64 end = *n0 + *n, first = some[0] / lanes * lanes, last = align_up(some[1], lanes);
  if (*n0 < first) *n0 = first < end ? first : end;
  if (end > last) end = last > *n0 ? last : *n0;
  *n = end - *n0;
}

static void run_dot(const void *data, const exec_env *env, u64 begin, u64 end) {
  const product *p = data;
  for (u64 u = begin; u < end; u++) {
    u64 batch = u / (p->pieces_m * p->pieces_n), piece = u % (p->pieces_m * p->pieces_n);
    u64 m0 = piece / p->pieces_n * p->unit_m, n0 = piece % p->pieces_n * p->unit_n;
    u64 m = p->m - m0 < p->unit_m ? p->m - m0 : p->unit_m;
    u64 n = p->n - n0 < p->unit_n ? p->n - n0 : p->unit_n;
    const char *a = (const char *)env->slots[p->lhs] + p->lhs_offset +
                    axis_at(&p->lhs_b, batch) * (i64)dtype_size(p->lhs_type);
    const char *b = (const char *)env->slots[p->rhs] + p->rhs_offset +
                    axis_at(&p->rhs_b, batch) * (i64)dtype_size(p->rhs_type);
    char *out = dot_result(p, env) + axis_at(&p->out_b, batch) * (i64)dtype_size(p->out_type);
    if (env->columns && p->by_columns) cut_columns(env->columns, p->strips->lanes, &n0, &n);
    if (try_sgemm(p, env, a, b, out, m0, m, n0, n)) continue;
    dot_own(p, env, a, b, out, m0, m, n0, n);
  }
}

/* ---- lowering ---- */

static bool merges(const i64 *dims, const i64 *stride, u32 rank, i64 *step) {
  u32 last = PROG_NONE;
  *step = 1;
  for (u32 d = rank; d-- > 0;) {
    if (dims[d] == 1) continue;
    if (last == PROG_NONE)
      *step = stride[d];
    else if (stride[d] != stride[last] * dims[last])
      return false;
    last = d;
  }
  return true;
}

static bool is_table(const offset_table *t, const i64 *dims, const i64 *stride, u32 rank) {
  return t->rank == rank && memcmp(t->dims, dims, rank * sizeof *dims) == 0 &&
         memcmp(t->stride, stride, rank * sizeof *stride) == 0;
}

const i64 *dot_table(const lower_env *e, const i64 *dims, const i64 *stride, u32 rank) {
  enum { MOST_LOOKED_AT = 64 };
  offset_table *t = e->tables ? *e->tables : NULL;
  for (u32 i = 0; t && i < MOST_LOOKED_AT; t = t->next, i++)
    if (is_table(t, dims, stride, rank)) return t->at;
  u64 n = prog_volume(dims, rank);
  i64 *at = ARENA_ARRAY(e->a, i64, n + 1), index[4 * PROG_MAX_DIMS] = {0}, offset = 0;
  for (u64 i = 0; i < n; i++) {
    at[i] = offset;
    for (u32 d = rank; d-- > 0;) {
      offset += stride[d];
      if (++index[d] < dims[d]) break;
      offset -= index[d] * stride[d];
      index[d] = 0;
    }
  }
  if (!e->tables) return at;
  t = ARENA_NEW(e->a, offset_table);
  *t = (offset_table){*e->tables, rank, arena_copy(e->a, dims, rank * sizeof *dims),
                      arena_copy(e->a, stride, rank * sizeof *stride), at};
  *e->tables = t;
  return at;
}

/* Offsets of all index combinations of dims. */
static axis flatten(const lower_env *e, const i64 *dims, const i64 *stride, u32 rank) {
  axis x = {.n = prog_volume(dims, rank)};
  if (!merges(dims, stride, rank, &x.step)) x.table = dot_table(e, dims, stride, rank);
  return x;
}

/* An operand whose rows (m or n) and k are each one stride, one of them 1. `rows_first`: not
 * transposed means that k is the contiguous one. */
static matrix see_matrix(const axis *row, const axis *k, bool rows_first) {
  matrix r = {0};
  if (row->table || k->table) return r;
  i64 row_step = row->n == 1 ? (rows_first ? (i64)k->n : 1) : row->step;
  i64 k_step = k->n == 1 ? (rows_first ? 1 : (i64)row->n) : k->step;
  i64 outer = rows_first ? row_step : k_step, inner = rows_first ? k_step : row_step;
  i64 inner_n = (i64)(rows_first ? k->n : row->n), outer_n = (i64)(rows_first ? row->n : k->n);
  if (inner == 1 && outer >= inner_n)
    r = (matrix){true, false, outer};
  else if (outer == 1 && inner >= outer_n)
    r = (matrix){true, true, inner};
  return r;
}

static dtype accumulator(dtype lhs, dtype rhs, dtype out) {
  dtype_class kinds[] = {dtype_infos[lhs].kind, dtype_infos[rhs].kind, dtype_infos[out].kind};
  bool complex = false, floating = false, wide = false, wide_complex = false;
  for (int i = 0; i < 3; i++) {
    complex |= kinds[i] == DTYPE_CLASS_COMPLEX;
    floating |= kinds[i] == DTYPE_CLASS_FLOAT;
  }
  wide = lhs == DTYPE_f64 || rhs == DTYPE_f64 || out == DTYPE_f64;
  wide_complex = wide || lhs == DTYPE_c128 || rhs == DTYPE_c128 || out == DTYPE_c128;
  if (complex) return wide_complex ? DTYPE_c128 : DTYPE_c64;
  if (floating) return wide ? DTYPE_f64 : DTYPE_f32;
  /* modulo the result's width all along */
  u32 bits = num_int_bits(out);
  return bits > 0 && bits <= 32 ? DTYPE_s32 : DTYPE_s64;
}
dot_type dot_strip_type(dtype acc) {
  switch (acc) {
  case DTYPE_f32:
    return DOT_F32;
  case DTYPE_f64:
    return DOT_F64;
  case DTYPE_s32:
    return DOT_S32;
  case DTYPE_c64:
    return DOT_C64;
  case DTYPE_c128:
    return DOT_C128;
  default:
    return DOT_S64;
  }
}

static u64 unit_work(const product *p) {
  u64 n;
  return checked_mul(p->unit_m, p->unit_n, &n) && checked_mul(n, p->k, &n) ? n : 1ull << 40;
}

/* One unit is halved along its longer side for a second thread: by the shape alone, since a library
 * may sum up a piece in another order than the whole. More pieces take a tenth longer on one
 * thread, as each packs its operands: ours the right one only, so that it is halved. */
static void choose_units(product *p, bool own) {
  enum { WORTH = 1 << 22, LONG = 256 };
  bool packed = own && (p->each > 1 || p->rhs_n.table || p->rhs_n.step != 1);
  p->unit_m = p->m < 512 ? p->m : 512;
  p->unit_n = p->m > 512 || p->n < 2048 ? p->n : 1024;
  bool one = p->batches == 1 && p->unit_m == p->m && p->unit_n == p->n;
  u64 *side = p->unit_m >= p->unit_n * (packed ? 2 : 1) ? &p->unit_m : &p->unit_n;
  if (one && *side >= LONG && unit_work(p) >= WORTH) *side = align_up(*side / 2, 64);
  p->pieces_m = (p->m + p->unit_m - 1) / p->unit_m;
  p->pieces_n = (p->n + p->unit_n - 1) / p->unit_n;
}

static bool is_up_to_f32(dtype t) { return t == DTYPE_f32 || t == DTYPE_bf16 || t == DTYPE_f16; }

/* Ours is faster where a call of oneDNN's takes as long as what it computes. */
static bool is_small(const product *p) {
  enum { SMALL = 64 };
  bool vector = p->m == 1 || p->n == 1;
  return p->m <= SMALL && p->n <= SMALL && p->k <= SMALL &&
         (!vector || p->m * p->n * p->k < FEWEST);
}

/* Ours turns such a matrix around in less of oneDNN's time: in half of it for few rows. */
static bool is_by_turned(const product *p) {
  enum { LEAST = 13, MOST = 128, WIDE = 4, TERMS = 256, COLUMNS = 512 };
  bool whole = p->lhs_type == DTYPE_f32 && p->rhs_type == DTYPE_f32 && !p->a.transposed;
  bool well = whole && p->strips->vectors == WIDE && p->k >= TERMS && p->n <= COLUMNS;
  return p->b.transposed && p->m >= LEAST && (p->m <= MOST || well);
}

/* Ours reads both where they are, and what it is multiplied with once for each few rows. */
static bool is_one_panel(const product *p) {
  enum { WIDE = 4, NEAR = 512, LINES = 256 };
  u64 lanes = p->strips->lanes;
  bool f32 = p->lhs_type == DTYPE_f32 && p->rhs_type == DTYPE_f32 && p->out_type == DTYPE_f32;
  return f32 && p->strips->vectors == WIDE && p->n > 2 * lanes && p->n <= WIDE * lanes &&
         !p->b.transposed && p->b.ld <= NEAR && (!p->a.transposed || p->a.ld <= LINES);
}

/* The library's kernels for AVX2 read a small product's operands where they are, also where rows
 * are a power of two apart and few of their lines stay in a cache: of few rows each is read once.
 */
static bool is_read_apart(const product *p) {
  enum { WIDE = 4, FEW = 32, APART = 512, COPIED = 264 };
  return p->strips->vectors < WIDE && p->b.ld % APART == 0 && p->unit_m > FEW &&
         p->unit_m * p->unit_n < COPIED * (p->unit_m + p->unit_n);
}

static void choose_sgemm(product *p) {
  enum { MOST = 1 << 22 }; /* elements of f32 copies */
  if (is_small(p) || p->each > 1) return;
  if (!is_up_to_f32(p->lhs_type) || !is_up_to_f32(p->rhs_type) || !is_up_to_f32(p->out_type))
    return;
  p->a = see_matrix(&p->lhs_m, &p->lhs_k, true);
  p->b = see_matrix(&p->rhs_n, &p->rhs_k, false);
  if (!p->a.plain || !p->b.plain || p->k == 0 || is_by_turned(p) || is_one_panel(p) ||
      is_read_apart(p))
    return;
  if (p->out_n.table || p->out_m.table || (p->n > 1 && p->out_n.step != 1)) return;
  p->ldc = p->m == 1 ? (i64)p->n : p->out_m.step;
  p->use_sgemm = p->ldc >= (i64)p->n;
  bool vector = p->m == 1 || p->n == 1;
  bool by_rows = (p->m == 1 && !p->b.transposed) || (p->n == 1 && p->a.transposed);
  p->terms = by_rows ? ROW_TERMS : TILE_TERMS;
  if (p->k <= 2 * p->terms) p->terms = p->k;
  p->calls = vector ? 1 : DOT_GROUP;
  p->sgemm_groups = p->use_sgemm && p->k > p->calls * p->terms;
  if (p->lhs_type == DTYPE_f32 && p->rhs_type == DTYPE_f32 && p->out_type == DTYPE_f32) return;
  u64 rows_a = p->a.transposed ? p->k : p->unit_m, rows_b = p->b.transposed ? p->unit_n : p->k;
  if (!checked_mul(rows_a, (u64)p->a.ld, &p->wide_a) ||
      !checked_mul(rows_b, (u64)p->b.ld, &p->wide_b) || p->wide_a > MOST || p->wide_b > MOST) {
    p->use_sgemm = p->sgemm_groups = false;
    p->wide_a = p->wide_b = 0;
    return;
  }
  p->wide_a += p->k + p->unit_m;
  p->wide_b += p->k + p->unit_n;
  p->wide_c = p->unit_m * p->unit_n;
}

/* So many products of vectors with small matrices that a call for each takes longer than to
 * multiply by elements. */
static bool is_many_small(const product *p) {
  enum { SMALL = 64 * 64, MANY = 16 };
  u64 work;
  return (p->m == 1 || p->n == 1) && p->batches >= MANY && checked_mul(p->m * p->n, p->k, &work) &&
         work <= SMALL;
}

/* A product of vectors is a reduction, whose values are multiplied first. False: its sums would be
 * of another type, or its elements are parts of those in its slots. */
static bool lower_as_sum(const lower_env *e, const product *p, const prog_dot *d, exec_step *out) {
  vm_rtype acc = vm_rtype_of(p->acc);
  bool whole = acc == R_s64 || acc == R_s32;
  dtype t = whole ? p->out_type : p->acc;
  u32 rank = d->nb + d->nm + d->nn + d->nk;
  if (rank > PROG_MAX_DIMS || d->nk == 0 || d->parts || e->k->wrap[p->out_type]) return false;
  if (whole ? !num_int_bits(p->out_type) : acc != vm_rtype_of(p->out_type)) return false;
  if (num_is_small_float(p->out_type) && !vm_reduces_wide(p->out_type)) return false;
  prog_loop *l = ARENA_NEW(e->a, prog_loop);
  *l = (prog_loop){.rank = rank, .reduced = d->nk, .num_in = 2, .num_out = 1};
  l->body.kind = REDUCE_SUM;
  l->in = arena_zalloc(e->a, 2 * sizeof *l->in);
  l->out = arena_zalloc(e->a, sizeof *l->out);
  l->in[0] = (prog_access){.slot = p->lhs, .offset = d->lhs_offset};
  l->in[1] = (prog_access){.slot = p->rhs, .offset = d->rhs_offset};
  l->out[0].slot = p->out;
  l->out[0].offset = d->out_offset;
  for (u32 i = 0; i < rank; i++) {
    l->dims[i] = d->dims[i];
    l->in[0].stride[i] = d->lhs_stride[i];
    l->in[1].stride[i] = d->rhs_stride[i];
    l->out[0].stride[i] = i < rank - d->nk ? d->out_stride[i] : 0;
  }
  const vm_instr code[] = {
      {.op = VM_load, .type = (u8)p->lhs_type, .a = 0}, {.op = VM_convert, .type = (u8)t, .a = 0},
      {.op = VM_load, .type = (u8)p->rhs_type, .a = 1}, {.op = VM_convert, .type = (u8)t, .a = 2},
      {.op = VM_mul, .type = (u8)t, .a = 1, .b = 3},    {.op = VM_store, .type = (u8)t, .a = 4}};
  l->code = (vm_code){.instrs = arena_copy(e->a, code, sizeof code),
                      .len = COUNT(code),
                      .cap = COUNT(code),
                      .num_in = 2,
                      .num_out = 1};
  loop_lower(e, l, out);
  return true;
}

/* The dims of one of the groups b, m, n, k. */
typedef struct dims {
  u32 n;
  i64 size[PROG_MAX_DIMS * 4], lhs[PROG_MAX_DIMS * 4], rhs[PROG_MAX_DIMS * 4],
      out[PROG_MAX_DIMS * 4];
} dims;

/* In any order the sums are the same; the one in which memory lies merges most. `by_out`: the
 * result's memory, else that of the operands. */
static void sort_dims(dims *x, bool by_out) {
  for (u32 i = 1; i < x->n; i++)
    for (u32 j = i; j > 0; j--) {
      i64 *lists[] = {x->size, x->lhs, x->rhs, x->out};
      i64 now = by_out ? x->out[j] : x->lhs[j], before = by_out ? x->out[j - 1] : x->lhs[j - 1];
      if (now < before || (now == before && (by_out || x->rhs[j] <= x->rhs[j - 1]))) break;
      for (u32 l = 0; l < COUNT(lists); l++) {
        i64 t = lists[l][j];
        lists[l][j] = lists[l][j - 1];
        lists[l][j - 1] = t;
      }
    }
}

static dims take_dims(const prog_dot *d, u32 first, u32 n, bool by_out) {
  dims x = {.n = n};
  memcpy(x.size, d->dims + first, n * sizeof(i64));
  memcpy(x.lhs, d->lhs_stride + first, n * sizeof(i64));
  memcpy(x.rhs, d->rhs_stride + first, n * sizeof(i64));
  memcpy(x.out, d->out_stride + first, n * sizeof(i64));
  sort_dims(&x, by_out);
  return x;
}

/* Whether the result's neighbours are rows' and not columns'. Rows that are windows stay rows,
 * since only these are read without being packed. */
static bool lies_across(const dims *m, const dims *n) {
  i64 across = 0, along = 0, step;
  if (!merges(m->size, m->lhs, m->n, &step)) return false;
  for (u32 d = 0; d < n->n; d++)
    if (n->size[d] > 1) along = n->out[d];
  for (u32 d = 0; d < m->n; d++)
    if (m->size[d] > 1) across = m->out[d];
  return across == 1 && along > 1;
}

static void find_axes(const lower_env *e, const prog_dot *d, product *p) {
  u32 m = d->nb, n = m + d->nm, k = n + d->nn;
  dims b_dims = take_dims(d, 0, d->nb, true), m_dims = take_dims(d, m, d->nm, true);
  dims n_dims = take_dims(d, n, d->nn, true), k_dims = take_dims(d, k, d->nk, false);
  p->lhs_b = flatten(e, b_dims.size, b_dims.lhs, b_dims.n);
  p->rhs_b = flatten(e, b_dims.size, b_dims.rhs, b_dims.n);
  p->out_b = flatten(e, b_dims.size, b_dims.out, b_dims.n);
  p->lhs_m = flatten(e, m_dims.size, m_dims.lhs, m_dims.n);
  p->out_m = flatten(e, m_dims.size, m_dims.out, m_dims.n);
  p->rhs_n = flatten(e, n_dims.size, n_dims.rhs, n_dims.n);
  p->out_n = flatten(e, n_dims.size, n_dims.out, n_dims.n);
  p->lhs_k = flatten(e, k_dims.size, k_dims.lhs, k_dims.n);
  p->rhs_k = flatten(e, k_dims.size, k_dims.rhs, k_dims.n);
}

/* The scratch: what dot_own needs; then sums of oneDNN's groups in the place of dot_own's; f32
 * copies. */
static size_t place_scratch(const lower_env *e, product *p) {
  size_t sums = p->sgemm_groups ? align_up(p->unit_m * p->unit_n * 4, 64) : 0;
  size_t line = dot_own_prepare(e, p);
  if (p->row_at < p->total_at + sums) p->row_at = p->total_at + sums;
  p->wide_at = p->row_at + line;
  return p->wide_at + (p->wide_a + p->wide_b + p->wide_c) * 4 + 64;
}

/* The innermost loop, and what its elements are. Of small types that the processor multiplies as
 * they are, several terms are one; bf16 as it does it, denormals being zeros. */
static void choose_strips(const lower_env *e, product *p) {
  static const struct {
    u8 lhs, rhs, acc, strips, each, join_a, join_b;
  } rows[] = {{DTYPE_s8, DTYPE_s8, DTYPE_s32, DOT_QUADS, 4, JOIN_SHIFTED, JOIN_BYTES},
              {DTYPE_u8, DTYPE_s8, DTYPE_s32, DOT_QUADS, 4, JOIN_BYTES, JOIN_BYTES},
              {DTYPE_s8, DTYPE_s8, DTYPE_s32, DOT_PAIRS, 2, JOIN_S8, JOIN_S8},
              {DTYPE_s8, DTYPE_u8, DTYPE_s32, DOT_PAIRS, 2, JOIN_S8, JOIN_U8},
              {DTYPE_u8, DTYPE_s8, DTYPE_s32, DOT_PAIRS, 2, JOIN_U8, JOIN_S8},
              {DTYPE_u8, DTYPE_u8, DTYPE_s32, DOT_PAIRS, 2, JOIN_U8, JOIN_U8},
              {DTYPE_bf16, DTYPE_bf16, DTYPE_f32, DOT_BF16, 2, JOIN_HALVES, JOIN_HALVES}};
  const dot_kernels *k = &e->k->dot;
  p->strips = &k->strips[dot_strip_type(p->acc)];
  p->each = 1;
  p->kc = DOT_TERMS;
  for (size_t i = 0; i < COUNT(rows) && p->each == 1; i++) {
    if (rows[i].lhs != p->lhs_type || rows[i].rhs != p->rhs_type || rows[i].acc != p->acc) continue;
    if (!k->strips[rows[i].strips].lanes || (p->acc == DTYPE_f32 && !e->prog->flush_denormals))
      continue;
    p->strips = &k->strips[rows[i].strips];
    p->each = rows[i].each;
    p->join_a = &k->joins[rows[i].join_a], p->join_b = &k->joins[rows[i].join_b];
    p->as_it_is = rows[i].join_a == JOIN_HALVES || rows[i].join_a == JOIN_BYTES;
    p->shifted = rows[i].join_a == JOIN_SHIFTED;
    if (p->acc == DTYPE_s32) p->kc *= p->each;
  }
  p->size = vm_rtype_size(vm_rtype_of(p->acc));
  p->groups = p->k > DOT_GROUP * p->kc;
}

static dtype slot_type(const lower_env *e, const prog_dot *d, u32 slot) {
  return prog_dot_type(d, &e->prog->slots[slot]);
}

/* Many rows by a small matrix of few columns: a vector has an element of each of as many rows,
 * which are turned around for it a panel at a time. */
static bool is_tall(const lower_env *e, const prog_dot *d, const dims *rows) {
  enum { ROWS = 64, COLUMNS = 8, TERMS = 64 };
  i64 step;
  u32 m = d->nb, n = m + d->nm, k = n + d->nn;
  u64 columns = prog_volume(d->dims + n, d->nn), terms = prog_volume(d->dims + k, d->nk);
  bool f32 = slot_type(e, d, d->lhs) == DTYPE_f32 && slot_type(e, d, d->rhs) == DTYPE_f32 &&
             slot_type(e, d, d->out) == DTYPE_f32;
  if (!merges(rows->size, rows->lhs, rows->n, &step))
    return false; /* windows are read as they lie */
  return f32 && prog_volume(d->dims + m, d->nm) >= ROWS && columns > 1 && columns <= COLUMNS &&
         terms > 1 && terms <= TERMS;
}

/* A small matrix by a vector: rather than one result, a register has as many as it holds. */
static bool is_few_by_vector(const prog_dot *d) {
  u32 m = d->nb, n = m + d->nm, k = n + d->nn;
  u64 rows = prog_volume(d->dims + m, d->nm), terms = prog_volume(d->dims + k, d->nk);
  bool alone = prog_volume(d->dims, d->nb) == 1 && prog_volume(d->dims + n, d->nn) == 1;
  return alone && rows > 1 && rows <= FEWEST && terms <= FEWEST && rows * terms < FEWEST;
}

/* Axes, types and the innermost loop. False: it makes nothing. */
static bool see_product(const lower_env *e, const prog_dot *d, product *p) {
  u32 m = d->nb, n = m + d->nm, k = n + d->nn;
  *p = (product){.lhs = d->lhs,
                 .rhs = d->rhs,
                 .out = d->out,
                 .lhs_type = slot_type(e, d, d->lhs),
                 .rhs_type = slot_type(e, d, d->rhs),
                 .out_type = slot_type(e, d, d->out),
                 .batches = prog_volume(d->dims, d->nb),
                 .m = prog_volume(d->dims + m, d->nm),
                 .n = prog_volume(d->dims + n, d->nn),
                 .k = prog_volume(d->dims + k, d->nk),
                 .k_ = e->k};
  p->lhs_offset = d->lhs_offset * (i64)dtype_size(p->lhs_type);
  p->rhs_offset = d->rhs_offset * (i64)dtype_size(p->rhs_type);
  p->out_offset = d->out_offset * (i64)dtype_size(p->out_type);
  if (p->batches == 0 || p->m == 0 || p->n == 0) return false;
  find_axes(e, d, p);
  p->acc = accumulator(p->lhs_type, p->rhs_type, p->out_type);
  choose_strips(e, p);
  return true;
}

void dot_lower(const lower_env *e, const prog_dot *d, exec_step *out) {
  product *p = ARENA_NEW(e->a, product);
  *out = (exec_step){.run = run_dot, .data = p};
  dims rows = take_dims(d, d->nb, d->nm, true), columns = take_dims(d, d->nb + d->nm, d->nn, true);
  prog_dot turned;
  bool across = lies_across(&rows, &columns), tall = !across && is_tall(e, d, &rows);
  if (across || is_few_by_vector(d)) {
    turned = prog_dot_turned(e->a, d);
    d = &turned;
  }
  if (!see_product(e, d, p)) return;
  if (dot_small_lower(e->a, p, out)) {
    if (dot_small_is_in_order(out)) placed_dot(e, d, out);
    return;
  }
  if (tall) {
    turned = prog_dot_turned(e->a, d);
    see_product(e, &turned, p);
  }
  bool vectors = p->m == 1 && p->n == 1;
  if ((vectors || is_many_small(p)) && lower_as_sum(e, p, d, out)) return;
  if (!tall && (dot_lanes_lower(e->a, p, out) || dot_thin_lower(e->a, p, out))) return;
  choose_units(p, false);
  if (!tall) choose_sgemm(p);
  if (!p->use_sgemm) choose_units(p, true);
  p->by_columns = d != &turned && !tall && !p->use_sgemm;
  if (p->by_columns && dot_own_cuts_terms(p)) out->narrows = p->k;
  out->scratch = place_scratch(e, p);
  out->units = p->batches * p->pieces_m * p->pieces_n;
  out->cost = 100 + unit_work(p) / 32;
  if (!tall && !across) dot_tiles_lower(e, p, d, out);
}
