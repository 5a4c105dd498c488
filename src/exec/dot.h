/* A matrix product as dot.c lowers it; dot_own.c multiplies without a library. */
#ifndef EXEC_DOT_H
#define EXEC_DOT_H

#include "exec/step.h"

/* What is summed up at once, and how many such sums are added up before they join the others
 * (docs/semantics.md): one accumulator would lose the small terms of a long sum. */
enum { DOT_TERMS = 256, DOT_GROUP = 64 };

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
  const i64 *steps; /* of the first ones, where dot_own has it */
} axis;
static inline i64 axis_at(const axis *x, u64 i) {
  return x->table ? x->table[i] : (i64)i * x->step;
}

/* Of n elements from the first on. */
static inline void axis_list(const axis *x, u64 first, u64 n, i64 *out) {
  if (x->table)
    memcpy(out, x->table + first, n * sizeof *out);
  else
    for (u64 i = 0; i < n; i++) out[i] = (i64)(first + i) * x->step;
}

typedef struct product {
  u32 lhs, rhs, out;
  i64 lhs_offset, rhs_offset, out_offset;  /* bytes into their slots */
  dtype lhs_type, rhs_type, out_type, acc; /* acc: as packed */
  u64 batches, m, n, k;
  u64 unit_m, unit_n, pieces_m, pieces_n;
  axis lhs_b, rhs_b, out_b, lhs_m, lhs_k, rhs_n, rhs_k, out_m, out_n; /* operand_dims */
  const vm_kernels *k_;
  const dot_strips *strips;
  u32 size;                        /* bytes of a packed element */
  u32 each;                        /* terms that are packed as one element (dot_kernel.h) */
  const dot_join *join_a, *join_b; /* of several */
  bool as_it_is;                   /* joined, lhs is what it was */
  bool shifted;                    /* 128 is added to the terms of lhs */
  bool once;                       /* windows' terms are joined where they lie, not in each row */
  u64 kc;                          /* terms summed up at once */
  bool use_sgemm;
  matrix a, b;
  i64 ldc;
  u64 terms, calls;           /* of one call of sgemm; calls whose sums join the others at once */
  bool by_columns;            /* as they are numbered in exec_env */
  bool groups, sgemm_groups;  /* our product, or sgemm's, has more than one */
  u64 wide_a, wide_b, wide_c; /* elements of f32 copies, when some type is smaller; or 0 */
  u64 mc, nc;                 /* rows and columns that are made at once */
  bool across_a;              /* packed by terms, not rows */
  u32 most;                   /* vectors of a panel */
  bool direct_a, direct_b, direct_c; /* read and written where they are, not packed */
  axis packed_m, packed_k, out_row;  /* of packed rows; of sums that are not written there */
  axis joined_k;                     /* of joined terms that are read where they are */
  size_t a_at, b_at, c_at, total_at, row_at, wide_at;
} product;

static inline char *dot_result(const product *p, const exec_env *env) {
  return (char *)env->slots[p->out] + p->out_offset;
}

/* Offsets of all index combinations of dims, row-major. */
const i64 *dot_table(const lower_env *e, const i64 *dims, const i64 *stride, u32 rank);
/* Chooses how; the rest of *p is there. Returns bytes of scratch from p->row_at on. */
size_t dot_own_prepare(const lower_env *e, product *p);
/* Rows [m0, m0 + m) and columns [n0, n0 + n) of one batch element. */
void dot_own(const product *p, const exec_env *env, const char *a, const char *b, char *out, u64 m0,
             u64 m, u64 n0, u64 n);
/* Whether it leaves out terms that are zeros (exec_env). */
bool dot_own_cuts_terms(const product *p);
/* The strips whose sums are of that type. */
dot_type dot_strip_type(dtype acc);
/* A product of many small matrices that lie side by side; false: it is not one. */
bool dot_lanes_lower(arena *a, const product *p, exec_step *out);
/* A product of a matrix with at most eight vectors (thin_kernel.h); false: it is not one, or the
 * matrix does not lie so. */
bool dot_thin_lower(arena *a, const product *p, exec_step *out);
/* A convolution by tiles (winograd.c), in whose scratch dot_own has its own; false: it is none. */
bool dot_tiles_lower(const lower_env *e, const product *p, const prog_dot *d, exec_step *out);
/* Products of small matrices, many of them or long ones (small_kernel.h); false: it is none. */
bool dot_small_lower(arena *a, const product *p, exec_step *out);
/* Whether a step is one of these, and adds an element's terms up one after the other. */
bool dot_small_is_in_order(const exec_step *x);
/* Terms k0 and on that are apart, k of so many bytes, one behind the other. */
void dot_bring_terms(char *to, const char *from, const axis *terms, u64 k0, u64 k, size_t size);
/* All rows of a call, any number, by a panel of so many vectors. */
void dot_rows(const dot_strips *s, u32 vectors, dot_strip t);
/* How many vectors the next panel has, where so many are left; `most`, where these are many, of
 * DOT_WELL, which strips do best, and DOT_VECTORS, which read longer runs of far memory. */
u32 dot_vectors(const dot_strips *s, u64 left, u32 most);
/* n elements that lie together, as the accumulating type. */
void dot_convert_row(const product *p, dtype from, size_t n, void *to, const void *row);
/* A row of n sums, rounded, to elements from the first on of an axis whose element 0 is `out`;
 * line: as many of the result's type. */
void dot_store_row(const product *p, const axis *at, char *out, const char *row, u64 first,
                   size_t n, char *line);
/* A group's sums join those of the groups before. */
void dot_add_group(const product *p, bool first, void *total, const void *sums, size_t n);

#endif
