/* Whether the processor that is compiled for has multiply-add in one, rounded once: with AVX2, and
 * on all of aarch64. Results are the same bits with any such instruction set. */
#ifndef EXEC_FMA_H
#define EXEC_FMA_H

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define HAS_FMA
#endif

#endif
