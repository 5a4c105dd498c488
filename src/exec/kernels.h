/* The block VM's kernels: loops over one block of values, one function per operation and
 * register type, in a table per instruction set.
 *
 * A register holds a block of values of a register type: integers and pred as themselves,
 * f16, bf16 and smaller floats as f32. A kernel may be given the same pointer for its result
 * and an operand of equal width, not one that overlaps otherwise. */
#ifndef EXEC_KERNELS_H
#define EXEC_KERNELS_H

#include "exec/dot_kernel.h"
#include "exec/fft_kernel.h"
#include "exec/fold_kernel.h"
#include "exec/linalg_kernel.h"
#include "exec/move_kernel.h"
#include "exec/shuffle.h"
#include "exec/small_kernel.h"
#include "exec/thin_kernel.h"
#include "exec/transpose_kernel.h"
#include "exec/winograd_kernel.h"
#include "program/program.h"

#define VM_RTYPES(R) /* id, C type */                                                              \
  R(pred, u8)                                                                                      \
  R(s8, i8)                                                                                        \
  R(s16, i16)                                                                                      \
  R(s32, i32)                                                                                      \
  R(s64, i64)                                                                                      \
  R(u8, u8)                                                                                        \
  R(u16, u16)                                                                                      \
  R(u32, u32)                                                                                      \
  R(u64, u64)                                                                                      \
  R(f32, float)                                                                                    \
  R(f64, double)                                                                                   \
  R(c64, kern_c64)                                                                                 \
  R(c128, kern_c128)

typedef enum vm_rtype {
#define R(id, type) R_##id,
  VM_RTYPES(R)
#undef R
      R_COUNT
} vm_rtype;

typedef struct kern_c64 {
  float re, im;
} kern_c64;
typedef struct kern_c128 {
  double re, im;
} kern_c128;

/* d = op(a, b, c) over n elements; what a unary or binary one does not use is NULL. */
typedef void kern_fn(size_t n, void *d, const void *a, const void *b, const void *c);
/* first[i] = pairs[2 * i], second[i] = pairs[2 * i + 1], n of each */
typedef void kern_unzip_fn(size_t n, void *first, void *second, const void *pairs);
typedef void kern_zip_fn(size_t n, void *pairs, const void *first, const void *second);

/* Sorts the columns of n rows by their unsigned values, each row KERN_NET_BYTES of words. */
typedef void kern_net_fn(size_t n, void *rows);
enum { KERN_NET_BYTES = 64 };

enum { FORM_VV, FORM_VS, FORM_SV, FORM_COUNT }; /* vector or scalar operands */

/* d[r * n + i] = a[r * step], for i < n. */
typedef void kern_spread_fn(size_t rows, size_t n, void *d, const void *a, i64 step);

typedef struct vm_kernels {
  kern_fn *unary[VM_OP_COUNT][R_COUNT];              /* by the operand's type */
  kern_fn *binary[VM_OP_COUNT][R_COUNT][FORM_COUNT]; /* NULL VS or SV: splat first */
  kern_fn *convert[R_COUNT][R_COUNT];                /* [to][from] */
  kern_fn *select[5][4];                             /* [log2 width][form of a * 2 + form of b] */
  kern_fn *splat[5];                                 /* a: one element */
  kern_spread_fn *spread[4];                         /* [log2 width] */
  kern_fn *stride[5];                                /* a: base, b: const i64 * element stride */
  kern_fn *scatter[5];                               /* the same, to d strided */
  kern_transpose_fn *transpose[4];                   /* [log2 width] */
  kern_spread_few_fn *spread_few;                    /* of 4 bytes; NULL: none */
  kern_unzip_fn *unzip[5];                           /* [log2 width] */
  kern_zip_fn *zip[5];
  kern_fn *iota[R_COUNT];      /* a: i64 first, b: i64 step */
  kern_fn *load[DTYPE_COUNT];  /* small float to f32 */
  kern_fn *store[DTYPE_COUNT]; /* f32 to small float */
  kern_fn *round[DTYPE_COUNT]; /* f32 to the nearest value of the type, or NULL: store, load */
  kern_fn *wrap[DTYPE_COUNT];  /* sub-byte integers back into range */
  kern_fn *clean[DTYPE_COUNT]; /* the same, and pred to 0 or 1: from memory, which may have any */
  kern_fold_fn *fold[REDUCE_COUNT_][R_COUNT]; /* NULL: use the binary kernel */
  kern_fn *any; /* any conversion; b: u8 from, to: the types as they lie in memory */
  const fold_kernels *fold_rows[R_COUNT]; /* NULL but of floats */
  dot_kernels dot;
  fft_plan_fn *fft[2];              /* f32, f64 */
  const linalg_kernels *linalg[2];  /* the same */
  const winograd_kernels *winograd; /* of f32 */
  const thin_kernels *thin[2];      /* the same; bytes: with f32 */
  const small_kernels *small[2];    /* f32, f64 */
  const move_kernels *move;
  kern_shuffle_fn *shuffle; /* NULL: there is none */
  bool by_blocks;           /* what it takes */
  kern_net_fn *net[2]; /* of words of 4 and 8 bytes; NULL: there is none */
  const char *isa;
} vm_kernels;

/* The best table for this processor; chosen once, thread-safe. */
const vm_kernels *vm_kernels_get(void);

/* Slow kernels that are the same for every instruction set: libm, complex, odd conversions. To
 * be called first: the fast ones replace some of them. */
void vm_kernels_add_math(vm_kernels *k);

/* Fills a table with the fast ones, compiled for one instruction set each. */
void vm_kernels_fill_base(vm_kernels *k);
void vm_kernels_fill_v3(vm_kernels *k);
void vm_kernels_fill_v4(vm_kernels *k);
void vm_kernels_fill_neon(vm_kernels *k);
void sort_kernels_fill_v3(vm_kernels *k);
void sort_kernels_fill_v4(vm_kernels *k);
void sort_kernels_fill_neon(vm_kernels *k);
/* What these call, of complex numbers. */
void wide_kernels_fill_v3(vm_kernels *k);
void wide_kernels_fill_v4(vm_kernels *k);
void wide_kernels_fill_neon(vm_kernels *k);
void complex_kernels_fill_base(vm_kernels *k);
void complex_kernels_fill_v3(vm_kernels *k);
void complex_kernels_fill_v4(vm_kernels *k);
void complex_kernels_fill_neon(vm_kernels *k);

/* Whether a reduction keeps its partial results in f32 registers as they are. The smaller formats
 * round after every step, as StableHLO, its interpreter and XLA:CPU have it: with two or three
 * bits of mantissa that is another result, not a less exact one. */
static inline bool vm_reduces_wide(dtype t) { return t == DTYPE_f16 || t == DTYPE_bf16; }

/* n elements of type t between memory and registers. Where its type is narrower than a byte, what
 * lies in memory may have any upper bits, and a pred any byte but 0 for true; a register never. */
void vm_load_elements(const vm_kernels *k, dtype t, size_t n, void *to, const void *from);
void vm_store_elements(const vm_kernels *k, dtype t, size_t n, void *to, const void *from);

static inline vm_rtype vm_rtype_of(dtype t) {
  static const u8 map[DTYPE_COUNT] = {
      [DTYPE_pred] = R_pred,      [DTYPE_s2] = R_s8,
      [DTYPE_s4] = R_s8,          [DTYPE_s8] = R_s8,
      [DTYPE_u2] = R_u8,          [DTYPE_u4] = R_u8,
      [DTYPE_u8] = R_u8,          [DTYPE_s16] = R_s16,
      [DTYPE_s32] = R_s32,        [DTYPE_s64] = R_s64,
      [DTYPE_u16] = R_u16,        [DTYPE_u32] = R_u32,
      [DTYPE_u64] = R_u64,        [DTYPE_f64] = R_f64,
      [DTYPE_c64] = R_c64,        [DTYPE_c128] = R_c128,
      [DTYPE_f32] = R_f32,        [DTYPE_f16] = R_f32,
      [DTYPE_bf16] = R_f32,       [DTYPE_f8e5m2] = R_f32,
      [DTYPE_f8e4m3fn] = R_f32,   [DTYPE_f8e4m3b11fnuz] = R_f32,
      [DTYPE_f8e5m2fnuz] = R_f32, [DTYPE_f8e4m3fnuz] = R_f32,
      [DTYPE_f8e4m3] = R_f32,     [DTYPE_f8e3m4] = R_f32,
      [DTYPE_f8e8m0fnu] = R_f32,  [DTYPE_f4e2m1fn] = R_f32,
      [DTYPE_f6e2m3fn] = R_f32,   [DTYPE_f6e3m2fn] = R_f32,
  };
  return (vm_rtype)map[t];
}
static inline u32 vm_rtype_size(vm_rtype r) {
  static const u8 sizes[R_COUNT] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16};
  return sizes[r];
}
static inline u32 vm_log2_width(u32 bytes) {
  return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4;
}

#endif
