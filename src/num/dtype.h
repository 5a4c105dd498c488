/* Element types as the executor, the devices and the plugin know them. */
#ifndef NUM_DTYPE_H
#define NUM_DTYPE_H

#include "base/base.h"

/* DT(id, MLIR spelling, bits in an element as stored on a device, PJRT_Buffer_Type or 0, class)
 * Sub-byte integers and floats are stored a byte an element, as JAX sends them. */
#define DTYPES(DT)                                                                                 \
  DT(pred, "i1", 8, 1, BOOL)                                                                       \
  DT(s8, "i8", 8, 2, SINT)                                                                         \
  DT(s16, "i16", 16, 3, SINT)                                                                      \
  DT(s32, "i32", 32, 4, SINT)                                                                      \
  DT(s64, "i64", 64, 5, SINT)                                                                      \
  DT(u8, "ui8", 8, 6, UINT)                                                                        \
  DT(u16, "ui16", 16, 7, UINT)                                                                     \
  DT(u32, "ui32", 32, 8, UINT)                                                                     \
  DT(u64, "ui64", 64, 9, UINT)                                                                     \
  DT(f16, "f16", 16, 10, FLOAT)                                                                    \
  DT(f32, "f32", 32, 11, FLOAT)                                                                    \
  DT(f64, "f64", 64, 12, FLOAT)                                                                    \
  DT(bf16, "bf16", 16, 13, FLOAT)                                                                  \
  DT(c64, "complex<f32>", 64, 14, COMPLEX)                                                         \
  DT(c128, "complex<f64>", 128, 15, COMPLEX)                                                       \
  DT(f8e5m2, "f8E5M2", 8, 16, FLOAT)                                                               \
  DT(f8e4m3fn, "f8E4M3FN", 8, 17, FLOAT)                                                           \
  DT(f8e4m3b11fnuz, "f8E4M3B11FNUZ", 8, 18, FLOAT)                                                 \
  DT(f8e5m2fnuz, "f8E5M2FNUZ", 8, 19, FLOAT)                                                       \
  DT(f8e4m3fnuz, "f8E4M3FNUZ", 8, 20, FLOAT)                                                       \
  DT(s4, "i4", 8, 21, SINT)                                                                        \
  DT(u4, "ui4", 8, 22, UINT)                                                                       \
  DT(token, "!stablehlo.token", 0, 23, TOKEN)                                                      \
  DT(s2, "i2", 8, 24, SINT)                                                                        \
  DT(u2, "ui2", 8, 25, UINT)                                                                       \
  DT(f8e4m3, "f8E4M3", 8, 26, FLOAT)                                                               \
  DT(f8e3m4, "f8E3M4", 8, 27, FLOAT)                                                               \
  DT(f8e8m0fnu, "f8E8M0FNU", 8, 28, FLOAT)                                                         \
  DT(f4e2m1fn, "f4E2M1FN", 8, 29, FLOAT)                                                           \
  DT(f6e2m3fn, "f6E2M3FN", 8, 0, FLOAT)                                                            \
  DT(f6e3m2fn, "f6E3M2FN", 8, 0, FLOAT)

typedef enum dtype {
#define DT(id, ...) DTYPE_##id,
  DTYPES(DT)
#undef DT
      DTYPE_COUNT
} dtype;

/* What arithmetic an element has; pred is apart from the integers, since it neither wraps nor has a
 * sign. */
typedef enum dtype_class {
  DTYPE_CLASS_BOOL,
  DTYPE_CLASS_SINT,
  DTYPE_CLASS_UINT,
  DTYPE_CLASS_FLOAT,
  DTYPE_CLASS_COMPLEX,
  DTYPE_CLASS_TOKEN
} dtype_class;

typedef struct dtype_info {
  const char *name; /* MLIR's spelling */
  u16 length;       /* of the name */
  u16 bytes;        /* of a stored element; 0 for tokens */
  u16 pjrt;         /* PJRT_Buffer_Type; 0 (invalid) where PJRT has none */
  dtype_class kind;
} dtype_info;

/* By dtype. */
extern const dtype_info dtype_infos[DTYPE_COUNT];

static inline size_t dtype_size(dtype t) { return dtype_infos[t].bytes; }
/* false: no such type, and *out is left alone. Linear in the number of types. */
bool dtype_from_name(str mlir_name, dtype *out);
bool dtype_from_pjrt(int pjrt, dtype *out);

#endif
