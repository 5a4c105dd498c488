/* Machine code while it is written. */
#ifndef EXEC_JIT_CODE_H
#define EXEC_JIT_CODE_H

#include "base/arena.h"

typedef struct jit_code {
  arena *a;
  VEC(u8) bytes;
  VEC(u32) pool;   /* constants behind the code */
  VEC(u32) fixups; /* pairs: where an instruction reads the pool, the constant's number */
} jit_code;

#endif
