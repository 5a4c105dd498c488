/* Inside compile only: products of two values; lower_math.c has those of real numbers, lower_conv.c
 * those with windows, and lower_complex.c those of complex ones. */
#ifndef COMPILE_LOWER_PRODUCT_H
#define COMPILE_LOWER_PRODUCT_H

#include "compile/lower.h"

/* The dims of a product: first those of batches, then of rows, columns and terms, and which dim of
 * an operand each is, if it is in there. That of the result is itself. */
enum { DOT_BATCHES, DOT_ROWS, DOT_COLUMNS, DOT_SUMMED, DOT_KINDS };
typedef struct dot_map {
  u32 end[DOT_KINDS]; /* of each kind */
  i64 size[2 * PROG_MAX_DIMS];
  u8 lhs[2 * PROG_MAX_DIMS], rhs[2 * PROG_MAX_DIMS];
} dot_map;
dot_map dot_map_dims(const node *lhs, const node *rhs, const dot_attr *d);
static inline u32 dot_begin(const dot_map *m, u32 kind) { return kind ? m->end[kind - 1] : 0; }
i64 dot_volume(const dot_map *m, u32 kind);

typedef struct dot_dims {
  prog_dot step;
  i64 dims[4 * PROG_MAX_DIMS];
  i64 lhs[4 * PROG_MAX_DIMS], rhs[4 * PROG_MAX_DIMS], out[4 * PROG_MAX_DIMS];
  u32 n;
  bool may_tile;
} dot_dims;
/* `of`: nb, nm, nn or nk of the step, in this order. */
void dot_add_dim(dot_dims *x, u32 *of, i64 size, i64 lhs, i64 rhs, i64 out);
/* Those of a kind; strides by dims of operands and result. */
void dot_add_kind(dot_dims *x, const dot_map *m, u32 kind, const i64 *lhs, const i64 *rhs,
                  const i64 *out);
/* The step, whose operands and result, all MEM, begin so many elements behind what it says. */
void dot_emit(lower *L, dot_dims *x, const node *lhs, const node *rhs, const node *out);
/* An operand that a dot can read as it lies. */
void dot_settle(lower *L, node *n);
/* Strides for the result n of o, dense in the order of all who use it, if they transpose it alike;
 * NULL: they do not. */
const i64 *dot_strides_by_uses(lower *L, op *o, const node *n);

/* Whether it is one of a vector and a matrix that is computed and nobody else wants, which so need
 * not be written: as a sum of products (lower_reduce.c). *out_ok, false: reported. */
bool reduces_product(lower *L, op *o, const dot_map *m, bool *out_ok);

/* Of c64 or c128 alone. */
bool complex_product(lower *L, op *o, const dot_map *m);

#endif
