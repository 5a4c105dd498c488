/* Whether what is compiled multiplies and adds in one, rounded once: with AVX2, and on all of
 * aarch64 but in the kernels that are to round each product (KERNELS_ISA base). Results are the
 * same bits with any such instruction set. */
#ifndef EXEC_FMA_H
#define EXEC_FMA_H

#if defined(__FMA__) || (defined(__ARM_FEATURE_FMA) && defined(KERNELS_FUSED))
#define HAS_FMA
#endif

#endif
