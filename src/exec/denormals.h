/* Whether this thread's arithmetic takes denormals as zeros of their sign and makes no others
 * (FTZ and DAZ), as XLA:CPU has it. docs/semantics.md says what that means to each operation. */
#ifndef EXEC_DENORMALS_H
#define EXEC_DENORMALS_H

#include "base/base.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#if defined(__SSE2__)
enum { DENORMALS_BITS = 0x8040 }; /* FTZ and DAZ */
static inline u64 denormals_word(void) { return _mm_getcsr(); }
static inline void denormals_set_word(u64 word) { _mm_setcsr((u32)word); }
#elif defined(__aarch64__)
enum { DENORMALS_BITS = 1 << 24 };
static inline u64 denormals_word(void) {
  u64 word;
  __asm__ volatile("mrs %0, fpcr" : "=r"(word));
  return word;
}
static inline void denormals_set_word(u64 word) {
  __asm__ volatile("msr fpcr, %0" : : "r"(word) : "memory");
}
#else
enum { DENORMALS_BITS = 0 };
static inline u64 denormals_word(void) { return 0; }
static inline void denormals_set_word(u64 word) { (void)word; }
#endif

static inline bool denormals_flushed(void) { return (denormals_word() & DENORMALS_BITS) != 0; }
static inline void denormals_flush(bool on) {
  u64 word = denormals_word() & ~(u64)DENORMALS_BITS;
  denormals_set_word(on ? word | DENORMALS_BITS : word);
}

/* Statements that reckon with denormals, as libm and our own functions do. They see `flush`:
 * whether others are flushed here. */
#define EXACTLY(...)                                                                               \
  {                                                                                                \
    bool flush = denormals_flushed();                                                              \
    if (flush) denormals_flush(false);                                                             \
    __VA_ARGS__;                                                                                   \
    if (flush) denormals_flush(true);                                                              \
  }

#endif
