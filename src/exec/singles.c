#include "exec/singles.h"

#include "exec/extremes.h"

enum { AHEAD = 64 }; /* some more than a processor works on at a time */

#define SINGLE(name, T, expr) SINGLE_OF(name, T, expr, )
#define SINGLE_OF(name, T, expr, unroll)                                                           \
  static inline void name##_one_##T(const single_run *r, i64 i, T zero) {                          \
    T *all = r->to;                                                                                \
    const T *in = r->from;                                                                         \
    u32 at = (u32)r->places[i];                                                                    \
    if (__builtin_expect(at > r->most, 0) && (at += r->wrap) > r->most) return;                    \
    T x = all[at], y = in[i * r->step];                                                            \
    (void)x, (void)zero;                                                                           \
    all[at] = (T)(expr);                                                                           \
  }                                                                                                \
  static void name##_at_##T(const single_run *run) {                                               \
    const single_run r = *run;                                                                     \
    T zero = (T)minus_zero;                                                                        \
    i64 n = (i64)r.n, i = 0;                                                                       \
    for (; r.far && i < n - AHEAD; i++) {                                                          \
      __builtin_prefetch((T *)r.to + r.places[i + AHEAD]);                                         \
      name##_one_##T(&r, i, zero);                                                                 \
    }                                                                                              \
    unroll                                                                                         \
    for (; i < n; i++) name##_one_##T(&r, i, zero);                                                \
  }
#define PUT(T) SINGLE(put, T, y)
#define ADD(T) SINGLE(add, T, x + y)
#define ADD_FOURS(T) SINGLE_OF(add, T, x + y, _Pragma("GCC unroll 4")) /* what is counted */
/* Two that differ are compared once. */
#define MOST(x, y, by, exact)                                                                      \
  (__builtin_expect(__builtin_islessgreater(x, y), 1) ? (x by y ? x : y) + zero : exact(x, y, zero))
#define FLOATS(T, t)                                                                               \
  ADD(T)                                                                                           \
  SINGLE(mul, T, x *y)                                                                             \
  SINGLE(max, T, MOST(x, y, >, maximum_##t))                                                       \
  SINGLE(min, T, MOST(x, y, <, minimum_##t))
#define SIGNED(T)                                                                                  \
  SINGLE(mul, T, (u64)x *(u64)y)                                                                   \
  SINGLE(max, T, x > y ? x : y)                                                                    \
  SINGLE(min, T, x < y ? x : y)
/* What is added in f32 and rounded each time. */
typedef u16 bf16;
#define ADD_WIDE(T, t) SINGLE(add, T, num_f32_to_##t(num_##t##_to_f32(x) + num_##t##_to_f32(y)))
#define MOST_WIDE(name, by, exact)                                                                 \
  static inline bf16 name##_wide(bf16 a, bf16 b) {                                                 \
    float x = num_bf16_to_f32(a), y = num_bf16_to_f32(b), zero = (float)minus_zero;                \
    return (bf16)(num_f32_bits(MOST(x, y, by, exact)) >> 16);                                      \
  }                                                                                                \
  SINGLE(name, bf16, name##_wide(x, y))
PUT(u8) PUT(u16) PUT(u32) PUT(u64)
ADD(u8) ADD(u16) ADD_FOURS(u32) ADD(u64)
ADD_WIDE(bf16, bf16)
MOST_WIDE(max, >, maximum_f32)
MOST_WIDE(min, <, minimum_f32)
FLOATS(float, f32)
FLOATS(double, f64)
SIGNED(i32)
SIGNED(i64)

single_fn *single_find(prog_reducer kind, vm_rtype t, u32 log2_width) {
  static single_fn *const puts[] = {put_at_u8, put_at_u16, put_at_u32, put_at_u64};
  static single_fn *const adds[] = {add_at_u8, add_at_u16, add_at_u32, add_at_u64};
  static single_fn *const of[REDUCE_COUNT_][R_COUNT] = {
#define OF(id, op)                                                                                 \
  [REDUCE_##id] = {[R_s32] = op##_at_i32,                                                          \
                   [R_s64] = op##_at_i64,                                                          \
                   [R_f32] = op##_at_float,                                                        \
                   [R_f64] = op##_at_double}
      OF(PROD, mul),
      OF(MAX, max),
      OF(MIN, min),
      [REDUCE_SUM] = {[R_f32] = add_at_float, [R_f64] = add_at_double},
  };
  if (kind == REDUCE_CODE) return puts[log2_width];
  bool integer = t >= R_s8 && t <= R_u64; /* of any sign the sums have the same bits */
  return of[kind][t] ? of[kind][t] : kind == REDUCE_SUM && integer ? adds[log2_width] : NULL;
}

single_fn *single_find_bf16(prog_reducer kind) {
  return kind == REDUCE_SUM   ? add_at_bf16
         : kind == REDUCE_MAX ? max_at_bf16
         : kind == REDUCE_MIN ? min_at_bf16
                              : NULL;
}
