/* Matrix products.
 *
 * m, n and k may each be several dims with any strides; lists of offsets flatten them, so that
 * packing reads any layout and the tile loops see plain matrices. A unit is a piece of one
 * batch element's result; in it, panels of both operands are packed and converted to the
 * accumulating type, tiles are summed over k, and the result is converted and stored. Where
 * operands are plain row- or column-major f32 matrices, oneDNN does a unit if it is there. */
#include "exec/accel.h"
#include "exec/dot_kernel.h"
#include "exec/step.h"
#include "num/convert.h"

enum { KC = 256, MC = 144, NC = 512 };
/* One accumulator would lose the small terms of a long sum. So what is summed at once, and how
 * many such sums are added up before they join the others (docs/semantics.md): */
enum {
  GROUP = 64,        /* of sums over KC, or over TILE_TERMS */
  ROW_TERMS = 4096,  /* oneDNN, rows of a matrix summed up: one after the other */
  TILE_TERMS = 16384 /* oneDNN, other products: it makes blocks itself */
};

typedef struct matrix { /* how f32 sgemm would see an operand */
  bool plain, transposed;
  i64 ld;
} matrix;

/* Offsets of a flattened group of dims: index * step, or by a table where the dims do not merge
 * into one. */
typedef struct axis {
  u64 n;
  i64 step;
  const i64 *table; /* NULL: one step */
} axis;
static i64 axis_at(const axis *x, u64 i) { return x->table ? x->table[i] : (i64)i * x->step; }
static void axis_list(const axis *x, u64 first, u64 n, i64 *out) {
  for (u64 i = 0; i < n; i++) out[i] = axis_at(x, first + i);
}

typedef struct product {
  u32 lhs, rhs, out;
  dtype lhs_type, rhs_type, out_type, acc; /* acc: as packed */
  u64 batches, m, n, k;
  u64 unit_m, unit_n, pieces_m, pieces_n;
  axis lhs_b, rhs_b, out_b, lhs_m, lhs_k, rhs_n, rhs_k, out_m, out_n; /* operand_dims */
  const vm_kernels *k_;
  dot_tile tile;
  u32 size; /* bytes of a packed element */
  bool use_sgemm;
  matrix a, b;
  i64 ldc;
  u64 terms, calls;           /* of one call of sgemm; calls whose sums join the others at once */
  bool groups, sgemm_groups;  /* our product, or sgemm's, has more than one */
  u64 wide_a, wide_b, wide_c; /* elements of f32 copies, when some type is smaller; or 0 */
  size_t a_at, b_at, c_at, total_at, row_at, wide_at;
} product;

/* ---- packing ---- */

/* n elements of one row into packed type at `to` */
static void convert_row(const product *p, dtype from, size_t n, void *to, const void *row) {
  vm_rtype rf = vm_rtype_of(from), rt = vm_rtype_of(p->acc);
  if (p->k_->load[from] && rt == R_f32) {
    p->k_->load[from](n, to, row, NULL, NULL);
  } else if (p->k_->load[from] || p->k_->clean[from]) {
    u8 types[2] = {(u8)from, (u8)p->acc};
    p->k_->any(n, to, row, types, NULL);
  } else if (rf == rt) {
    memcpy(to, row, n * vm_rtype_size(rt));
  } else {
    p->k_->convert[rt][rf](n, to, row, NULL, NULL);
  }
}

static bool is_contiguous(const i64 *at, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (at[i] - at[i - 1] != 1) return false;
  return true;
}
static size_t run_length(const i64 *at, size_t n) {
  size_t i = 1;
  while (i < n && at[i] - at[i - 1] == 1) i++;
  return i;
}

/* to[i * apart] = from[i], n elements. */
static void spread(char *to, size_t apart, const char *from, size_t n, size_t size) {
  if (size == 4)
    for (size_t i = 0; i < n; i++) memcpy(to + 4 * i * apart, from + 4 * i, 4);
  else if (size == 8)
    for (size_t i = 0; i < n; i++) memcpy(to + 8 * i * apart, from + 8 * i, 8);
  else
    for (size_t i = 0; i < n; i++) memcpy(to + i * apart * size, from + i * size, size);
}

/* A whole panel of rows at one distance, as they are packed: a transpose for each run of k. */
static bool pack_panel(const product *p, dtype type, const char *base, const i64 *row_of,
                       const i64 *k_of, size_t k, u32 r, char *to) {
  i64 step = row_of[1] - row_of[0], size = (i64)p->size;
  if (type != p->acc || size > 8) return false;
  for (u32 i = 2; i < r; i++)
    if (row_of[i] - row_of[i - 1] != step) return false;
  for (size_t i = 0, n; i < k; i += n) {
    n = run_length(k_of + i, k - i);
    p->k_->transpose[vm_log2_width(p->size)](n, r, to + (i64)i * r * size, r * size,
                                             base + (row_of[0] + k_of[i]) * size, step * size);
  }
  return true;
}

/* Rows one by one; what lies together is moved together. */
static void pack_rows(const product *p, dtype type, const char *base, const i64 *row_of, size_t n,
                      const i64 *k_of, size_t k, u32 r, char *to, char *line) {
  size_t from_size = dtype_size(type), size = p->size;
  for (size_t row = 0; row < n; row++) {
    const char *from = base + row_of[row] * (i64)from_size;
    for (size_t i = 0, run; i < k; i += run) {
      run = run_length(k_of + i, k - i);
      const char *at = from + k_of[i] * (i64)from_size;
      if (type != p->acc) {
        convert_row(p, type, run, line, at);
        at = line;
      }
      spread(to + (i * r + row) * size, r, at, run, size);
    }
  }
  for (size_t row = n; row < r; row++)
    for (size_t i = 0; i < k; i++) memset(to + (i * r + row) * size, 0, size);
}

/* Rows that lie together, not k. */
static void pack_across(const product *p, dtype type, const char *base, i64 row, size_t n,
                        const i64 *k_of, size_t k, u32 r, char *to) {
  size_t from_size = dtype_size(type), size = p->size;
  for (size_t i = 0; i < k; i++, to += r * size) {
    const char *from = base + (row + k_of[i]) * (i64)from_size;
    if (type == p->acc)
      spread(to, 1, from, n, size);
    else
      convert_row(p, type, n, to, from);
    if (n < r) memset(to + n * size, 0, (r - n) * size);
  }
}

/* Panels of `r` rows: to[panel][k][row], zero where rows run out. row_of and k_of are offsets
 * in elements of `type`. */
static void pack_operand(const product *p, dtype type, const char *base, const i64 *row_of,
                         size_t rows, const i64 *k_of, size_t k, u32 r, char *to, char *line) {
  for (size_t row = 0; row < rows; row += r, to += k * r * p->size) {
    size_t n = rows - row < r ? rows - row : r;
    if (n > 1 && is_contiguous(row_of + row, n))
      pack_across(p, type, base, row_of[row], n, k_of, k, r, to);
    else if (n < r || !pack_panel(p, type, base, row_of + row, k_of, k, r, to))
      pack_rows(p, type, base, row_of + row, n, k_of, k, r, to, line);
  }
}

/* ---- our own product ---- */

static void store_tile(const product *p, char *out, const char *c, size_t m0, size_t rows,
                       size_t n0, size_t columns) {
  size_t to_size = dtype_size(p->out_type);
  vm_rtype from = vm_rtype_of(p->acc), to = vm_rtype_of(p->out_type);
  char line[32 * 16];
  for (size_t i = 0; i < rows; i++, c += p->tile.nr * p->size) {
    const char *row = c;
    if (p->k_->store[p->out_type]) {
      p->k_->store[p->out_type](columns, line, c, NULL, NULL);
      row = line;
    } else if (from != to) {
      p->k_->convert[to][from](columns, line, c, NULL, NULL);
      if (p->k_->wrap[p->out_type]) p->k_->wrap[p->out_type](columns, line, line, NULL, NULL);
      row = line;
    }
    char *base = out + axis_at(&p->out_m, m0 + i) * (i64)to_size;
    for (size_t j = 0; j < columns; j++)
      memcpy(base + axis_at(&p->out_n, n0 + j) * (i64)to_size, row + j * to_size, to_size);
  }
}

/* A group's sums join those of the groups before. */
static void add_group(const product *p, bool first, void *total, const void *sums, size_t n) {
  if (first)
    memcpy(total, sums, n * p->size);
  else
    p->k_->binary[VM_add][vm_rtype_of(p->acc)][FORM_VV](n, total, total, sums, NULL);
}

/* rows [m0, m0+mc) x columns [n0, n0+nc), all of k */
static void multiply_block(const product *p, const exec_env *env, const char *a, const char *b,
                           char *out, size_t m0, size_t mc, size_t n0, size_t nc) {
  char *pa = env->scratch + p->a_at, *pb = env->scratch + p->b_at, *c = env->scratch + p->c_at;
  char *line = env->scratch + p->row_at, *total = p->groups ? env->scratch + p->total_at : c;
  u32 mr = p->tile.mr, nr = p->tile.nr;
  size_t tile_bytes = (size_t)mr * nr * p->size;
  size_t tiles_m = (mc + mr - 1) / mr, tiles_n = (nc + nr - 1) / nr;
  i64 rows[MC], columns_at[NC], lhs_k[KC], rhs_k[KC];
  axis_list(&p->lhs_m, m0, mc, rows);
  axis_list(&p->rhs_n, n0, nc, columns_at);
  for (size_t k0 = 0, done = 0; k0 < p->k; k0 += KC, done++) {
    size_t kc = p->k - k0 < KC ? p->k - k0 : KC;
    axis_list(&p->lhs_k, k0, kc, lhs_k);
    axis_list(&p->rhs_k, k0, kc, rhs_k);
    pack_operand(p, p->lhs_type, a, rows, mc, lhs_k, kc, mr, pa, line);
    pack_operand(p, p->rhs_type, b, columns_at, nc, rhs_k, kc, nr, pb, line);
    for (size_t j = 0; j < tiles_n; j++)
      for (size_t i = 0; i < tiles_m; i++)
        p->tile.fn(kc, pa + i * kc * mr * p->size, pb + j * kc * nr * p->size,
                   c + (j * tiles_m + i) * tile_bytes, done % GROUP > 0);
    if (p->groups && (done % GROUP == GROUP - 1 || k0 + kc == p->k))
      add_group(p, done < GROUP, total, c, tiles_m * tiles_n * mr * nr);
  }
  if (p->k == 0) memset(c, 0, tiles_m * tiles_n * tile_bytes);
  for (size_t j = 0; j < tiles_n; j++)
    for (size_t i = 0; i < tiles_m; i++) {
      size_t rows = mc - i * mr < mr ? mc - i * mr : mr;
      size_t columns = nc - j * nr < nr ? nc - j * nr : nr;
      store_tile(p, out, total + (j * tiles_m + i) * tile_bytes, m0 + i * mr, rows, n0 + j * nr,
                 columns);
    }
}

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
    for (i64 i = 0; i < m; i++) add_group(p, done < p->calls, z + i * ldc, sums + i * n, (size_t)n);
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

static void run_dot(const void *data, const exec_env *env, u64 begin, u64 end) {
  const product *p = data;
  for (u64 u = begin; u < end; u++) {
    u64 batch = u / (p->pieces_m * p->pieces_n), piece = u % (p->pieces_m * p->pieces_n);
    u64 m0 = piece / p->pieces_n * p->unit_m, n0 = piece % p->pieces_n * p->unit_n;
    u64 m = p->m - m0 < p->unit_m ? p->m - m0 : p->unit_m;
    u64 n = p->n - n0 < p->unit_n ? p->n - n0 : p->unit_n;
    const char *a =
        (const char *)env->slots[p->lhs] + axis_at(&p->lhs_b, batch) * (i64)dtype_size(p->lhs_type);
    const char *b =
        (const char *)env->slots[p->rhs] + axis_at(&p->rhs_b, batch) * (i64)dtype_size(p->rhs_type);
    char *out =
        (char *)env->slots[p->out] + axis_at(&p->out_b, batch) * (i64)dtype_size(p->out_type);
    if (try_sgemm(p, env, a, b, out, m0, m, n0, n)) continue;
    for (u64 j = 0; j < n; j += NC)
      for (u64 i = 0; i < m; i += MC)
        multiply_block(p, env, a, b, out, m0 + i, m - i < MC ? m - i : MC, n0 + j,
                       n - j < NC ? n - j : NC);
  }
}

/* ---- lowering ---- */

static u64 volume(const i64 *dims, u32 n) {
  u64 v = 1;
  for (u32 d = 0; d < n; d++) v *= (u64)dims[d];
  return v;
}

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

/* Offsets of all index combinations of dims, row-major. */
static axis flatten(arena *a, const i64 *dims, const i64 *stride, u32 rank) {
  axis x = {.n = volume(dims, rank)};
  if (merges(dims, stride, rank, &x.step)) return x;
  i64 *at = ARENA_ARRAY(a, i64, x.n + 1), index[4 * PROG_MAX_DIMS] = {0}, offset = 0;
  for (u64 i = 0; i < x.n; i++) {
    at[i] = offset;
    for (u32 d = rank; d-- > 0;) {
      offset += stride[d];
      if (++index[d] < dims[d]) break;
      offset -= index[d] * stride[d];
      index[d] = 0;
    }
  }
  x.table = at;
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
static dot_type tile_type(dtype acc) {
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

static void choose_units(product *p) {
  p->unit_m = p->m < 512 ? p->m : 512;
  p->unit_n = p->m > 512 || p->n < 2048 ? p->n : 1024;
  p->pieces_m = (p->m + p->unit_m - 1) / p->unit_m;
  p->pieces_n = (p->n + p->unit_n - 1) / p->unit_n;
}

static bool is_up_to_f32(dtype t) { return t == DTYPE_f32 || t == DTYPE_bf16 || t == DTYPE_f16; }

static void choose_sgemm(product *p) {
  enum { MOST = 1 << 22 }; /* elements of f32 copies */
  if (!is_up_to_f32(p->lhs_type) || !is_up_to_f32(p->rhs_type) || !is_up_to_f32(p->out_type))
    return;
  p->a = see_matrix(&p->lhs_m, &p->lhs_k, true);
  p->b = see_matrix(&p->rhs_n, &p->rhs_k, false);
  if (!p->a.plain || !p->b.plain || p->k == 0) return;
  if (p->out_n.table || p->out_m.table || (p->n > 1 && p->out_n.step != 1)) return;
  p->ldc = p->m == 1 ? (i64)p->n : p->out_m.step;
  p->use_sgemm = p->ldc >= (i64)p->n;
  bool vector = p->m == 1 || p->n == 1;
  bool by_rows = (p->m == 1 && !p->b.transposed) || (p->n == 1 && p->a.transposed);
  p->terms = by_rows ? ROW_TERMS : TILE_TERMS;
  if (p->k <= 2 * p->terms) p->terms = p->k;
  p->calls = vector ? 1 : GROUP;
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

/* A product of two vectors is a reduction, whose values are multiplied first. False: its sums would
 * be of another type. */
static bool lower_as_sum(const lower_env *e, const product *p, const prog_dot *d, exec_step *out) {
  vm_rtype acc = vm_rtype_of(p->acc);
  bool whole = acc == R_s64 || acc == R_s32;
  dtype t = whole ? p->out_type : p->acc;
  if (d->nb + d->nk > PROG_MAX_DIMS || d->nk == 0 || e->k->wrap[p->out_type]) return false;
  if (whole ? !num_int_bits(p->out_type) : acc != vm_rtype_of(p->out_type)) return false;
  if (num_is_small_float(p->out_type) && !vm_reduces_wide(p->out_type)) return false;
  prog_loop *l = ARENA_NEW(e->a, prog_loop);
  *l = (prog_loop){.rank = d->nb + d->nk, .reduced = d->nk, .num_in = 2, .num_out = 1};
  l->body.kind = REDUCE_SUM;
  l->in = arena_zalloc(e->a, 2 * sizeof *l->in);
  l->out = arena_zalloc(e->a, sizeof *l->out);
  l->in[0].slot = p->lhs;
  l->in[1].slot = p->rhs;
  l->out[0].slot = p->out;
  for (u32 i = 0; i < l->rank; i++) {
    u32 from = i < d->nb ? i : i + d->nm + d->nn;
    l->dims[i] = d->dims[from];
    l->in[0].stride[i] = d->lhs_stride[from];
    l->in[1].stride[i] = d->rhs_stride[from];
    l->out[0].stride[i] = i < d->nb ? d->out_stride[from] : 0;
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

void dot_lower(const lower_env *e, const prog_dot *d, exec_step *out) {
  product *p = ARENA_NEW(e->a, product);
  const i64 *dims = d->dims;
  u32 m = d->nb, n = m + d->nm, k = n + d->nn;
  *out = (exec_step){.run = run_dot, .data = p};
  *p = (product){.lhs = d->lhs,
                 .rhs = d->rhs,
                 .out = d->out,
                 .lhs_type = e->prog->slots[d->lhs].type,
                 .rhs_type = e->prog->slots[d->rhs].type,
                 .out_type = e->prog->slots[d->out].type,
                 .batches = volume(dims, d->nb),
                 .m = volume(dims + m, d->nm),
                 .n = volume(dims + n, d->nn),
                 .k = volume(dims + k, d->nk),
                 .k_ = e->k};
  if (p->batches == 0 || p->m == 0 || p->n == 0) return;
  arena *a = e->a;
  p->lhs_b = flatten(a, dims, d->lhs_stride, d->nb);
  p->rhs_b = flatten(a, dims, d->rhs_stride, d->nb);
  p->out_b = flatten(a, dims, d->out_stride, d->nb);
  p->lhs_m = flatten(a, dims + m, d->lhs_stride + m, d->nm);
  p->out_m = flatten(a, dims + m, d->out_stride + m, d->nm);
  p->rhs_n = flatten(a, dims + n, d->rhs_stride + n, d->nn);
  p->out_n = flatten(a, dims + n, d->out_stride + n, d->nn);
  p->lhs_k = flatten(a, dims + k, d->lhs_stride + k, d->nk);
  p->rhs_k = flatten(a, dims + k, d->rhs_stride + k, d->nk);
  p->acc = accumulator(p->lhs_type, p->rhs_type, p->out_type);
  if (p->m == 1 && p->n == 1 && lower_as_sum(e, p, d, out)) return;
  p->tile = e->k->dot.tile[tile_type(p->acc)];
  p->size = vm_rtype_size(vm_rtype_of(p->acc));
  choose_units(p);
  choose_sgemm(p);
  size_t mc = align_up(MC + p->tile.mr, 64), nc = align_up(NC + p->tile.nr, 64);
  p->b_at = p->a_at + align_up(mc * KC * p->size, 64);
  p->c_at = p->b_at + align_up(nc * KC * p->size, 64);
  p->total_at = p->c_at + align_up(mc * nc * p->size, 64);
  p->groups = p->k > GROUP * KC;
  size_t total = p->groups ? mc * nc * p->size : 0, sums = p->unit_m * p->unit_n * 4;
  p->row_at = p->total_at + align_up(p->sgemm_groups && sums > total ? sums : total, 64);
  p->wide_at = p->row_at + KC * 32 + 64;
  out->scratch = p->wide_at + (p->wide_a + p->wide_b + p->wide_c) * 4 + 64;
  out->units = p->batches * p->pieces_m * p->pieces_n;
  u64 cost = 0;
  if (!checked_mul(p->unit_m, p->unit_n, &cost) || !checked_mul(cost, p->k, &cost))
    cost = 1ull << 40;
  out->cost = 100 + cost / 32;
}
