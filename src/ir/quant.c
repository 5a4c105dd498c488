/* Quantized types: what makes two of them one, and what they must satisfy.
 *
 * Source: the quant dialect's documentation in MLIR (types any, uniform, calibrated). */
#include <stdarg.h>
#include <stdio.h>

#include "ir/ctx.h"

static u64 hash_i64s(i64s v, u64 h) { return hash_bytes(v.data, v.len * sizeof(i64), h); }

/* u_spelling too: u8 and unsigned i8 print differently, so they are two types as in the text. */
u64 quant_hash(const quant *q, u64 seed) {
  u64 h = hash_u64((u64)q->form | (u64)q->is_signed << 8 | (u64)q->u_spelling << 9, seed);
  h = hash_ptr(q->expressed, hash_ptr(q->storage, h));
  h = hash_u64((u64)q->max, hash_u64((u64)q->min, h));
  h = hash_i64s(q->zero_points, hash_i64s(q->scales, h));
  return hash_i64s(q->shape, hash_i64s(q->block_sizes, hash_i64s(q->dims, h)));
}

bool quant_same(const quant *a, const quant *b) {
  if (!a || !b) return a == b;
  return a->form == b->form && a->is_signed == b->is_signed && a->u_spelling == b->u_spelling &&
         a->storage == b->storage && a->expressed == b->expressed && a->min == b->min &&
         a->max == b->max && i64s_eq(a->scales, b->scales) &&
         i64s_eq(a->zero_points, b->zero_points) && i64s_eq(a->dims, b->dims) &&
         i64s_eq(a->block_sizes, b->block_sizes) && i64s_eq(a->shape, b->shape);
}

const quant *quant_copy(arena *a, const quant *q) {
  quant *copy = arena_copy(a, q, sizeof *q);
  i64s *lists[] = {&copy->scales, &copy->zero_points, &copy->dims, &copy->block_sizes,
                   &copy->shape};
  for (size_t i = 0; i < COUNT(lists); i++)
    lists[i]->data = arena_copy(a, lists[i]->data, lists[i]->len * sizeof(i64));
  return copy;
}

double quant_double(i64 bits) {
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}

/* The whole range of the storage type. false: no storage type. */
bool quant_default_range(const type *storage, bool is_signed, i64 *min, i64 *max) {
  if (storage->kind == TYPE_FLOAT) {
    /* greatest finite values of the formats that may store */
    i64 top = storage->flt == FLOAT_f8E5M2     ? 57344
              : storage->flt == FLOAT_f8E4M3FN ? 448
              : storage->flt == FLOAT_f4E2M1FN ? 6
                                               : 0;
    *max = top;
    *min = -top;
    return top != 0;
  }
  if (storage->kind != TYPE_INT || storage->width == 0 || storage->width > 32) return false;
  *min = is_signed ? -((i64)1 << (storage->width - 1)) : 0;
  *max = is_signed ? ((i64)1 << (storage->width - 1)) - 1 : ((i64)1 << storage->width) - 1;
  return true;
}

static const char *problem(ir_ctx *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
static const char *problem(ir_ctx *c, const char *fmt, ...) {
  char text[160];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return arena_str(&c->arena, str_of(text)).data;
}

/* Messages are MLIR's, and so are the orders of the checks: what is wrong first is what is said. */
static const char *storage_problem(ir_ctx *c, const quant *q) {
  i64 min, max;
  const type *s = q->storage;
  if (s->kind != TYPE_INT && s->kind != TYPE_FLOAT) return "storage type must be integral";
  if (!quant_default_range(s, q->is_signed, &min, &max))
    return problem(c, "illegal storage type size: %u", s->width);
  if (q->max <= q->min || q->min < min || q->max > max)
    return problem(c, "illegal storage min and storage max: (%lld:%lld)", (long long)q->min,
                   (long long)q->max);
  return NULL;
}

static const char *scales_problem(ir_ctx *c, const quant *q) {
  if (q->scales.len != q->zero_points.len)
    return problem(c, "illegal number of scales and zeroPoints: %zu, %zu", q->scales.len,
                   q->zero_points.len);
  for (size_t i = 0; i < q->scales.len; i++) {
    double s = quant_double(q->scales.data[i]);
    if (!(s > 0 && s - s == 0)) return problem(c, "illegal scale: %e", s);
  }
  return NULL;
}

const char *quant_problem(ir_ctx *c, const quant *q) {
  const char *p = q->form == QUANT_CALIBRATED ? NULL : storage_problem(c, q);
  if (p) return p;
  if (!q->expressed)
    return q->form == QUANT_ANY ? NULL : "uniform quantization requires expressed type";
  if (q->expressed->kind != TYPE_FLOAT) return "expressed type must be floating point";
  if (q->form == QUANT_CALIBRATED) {
    double lo = quant_double(q->scales.data[0]), hi = quant_double(q->scales.data[1]);
    return lo < hi ? NULL : problem(c, "illegal min and max: (%e:%e)", lo, hi);
  }
  if (q->form != QUANT_ANY && q->form != QUANT_SUB_CHANNEL && (p = scales_problem(c, q))) return p;
  if (q->dims.len != q->block_sizes.len && q->form == QUANT_SUB_CHANNEL)
    return problem(c, "number of quantized dimensions and block sizes (%zu vs %zu) does not match",
                   q->dims.len, q->block_sizes.len);
  for (size_t i = 0; i < q->dims.len; i++)
    if (q->dims.data[i] < 0)
      return problem(c, "illegal quantized dimension: %lld", (long long)q->dims.data[i]);
  for (size_t i = 0; i < q->block_sizes.len; i++)
    if (q->block_sizes.data[i] <= 0)
      return problem(c, "illegal block size: %lld", (long long)q->block_sizes.data[i]);
  return NULL;
}
