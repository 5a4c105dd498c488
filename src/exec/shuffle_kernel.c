/* Vectors of 64 bytes made of up to four others (shuffle.h). */
#include "exec/shuffle.h"

#if defined(__AVX512VBMI__)
#include <immintrin.h>

enum { AHEAD = 512 }; /* bytes: windows that lie across lines are fetched ahead too late */

static inline __m512i get(const u8 *p) { return _mm512_loadu_si512(p); }

static inline __attribute__((always_inline)) void
shuffle(u32 n, const shuffle_vector *v, size_t times, char *to, i64 step, const char *const *from) {
  const char *at[SHUFFLE_WINDOWS];
  i64 next[SHUFFLE_WINDOWS];
  u64 read[SHUFFLE_WINDOWS], moved = v->moved, late = v->late, written = v->written;
  for (u32 w = 0; w < n; w++)
    at[w] = from[v->of[w]] + v->at[w], next[w] = v->step[w], read[w] = v->read[w];
  __m512i first = get(v->index[0]), second = get(v->index[1]), same = get(v->constant);
  for (; times-- > 0; to += step) {
    __m512i x[SHUFFLE_WINDOWS], y = same;
    for (u32 w = 0; w < n; w++, at[w - 1] += next[w - 1]) {
      _mm_prefetch(at[w] + AHEAD, _MM_HINT_T0);
      x[w] = _mm512_maskz_loadu_epi8(read[w], at[w]);
    }
    if (n == 1) y ^= _mm512_maskz_permutexvar_epi8(moved, first, x[0]);
    if (n > 1) y ^= _mm512_maskz_permutex2var_epi8(moved, x[0], first, x[1]);
    if (n == 3) y ^= _mm512_maskz_permutexvar_epi8(late, second, x[2]);
    if (n == 4) y ^= _mm512_maskz_permutex2var_epi8(late, x[2], second, x[3]);
    _mm512_mask_storeu_epi8(to, written, y);
  }
}

void shuffle_vectors(const shuffle_vector *v, size_t times, char *to, i64 step,
                     const char *const *from) {
  if (v->windows <= 1) shuffle(1, v, times, to, step, from);
  if (v->windows == 2) shuffle(2, v, times, to, step, from);
  if (v->windows == 3) shuffle(3, v, times, to, step, from);
  if (v->windows == 4) shuffle(4, v, times, to, step, from);
}
#endif
