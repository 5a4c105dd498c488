/* Shorthands for who adds primitives; `j` is what is built. */
#ifndef EXEC_JIT_SHORT_H
#define EXEC_JIT_SHORT_H

#include "exec/jit_ir.h"

#define CONST(bits) jit_const32(j, (u32)(bits))
#define OP1(prim, x) jit_add1(j, JP_##prim, 0, x)
#define OP2(prim, x, y) jit_add2(j, JP_##prim, x, y)
#define OP3(prim, x, y, z) jit_add3(j, JP_##prim, x, y, z)
#define IMM1(prim, imm, x) jit_add1(j, JP_##prim, (u32)(imm), x)
#define IMM2(prim, imm, x, y) jit_add(j, JP_##prim, (u32)(imm), x, y, 0)
enum { I_EQ = 0, I_LT = 1, I_LE = 2, I_NE = 4, I_GE = 5, I_GT = 6 }; /* comparisons of integers */

typedef jit_value V;
typedef jit_build J;

#endif
