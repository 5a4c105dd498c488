/* Vectors of 64 bytes made of up to eight others (shuffle.h). */
#include "exec/shuffle.h"

#if defined(__AVX512VBMI__)
#include <immintrin.h>

/* Windows that lie across lines are fetched ahead too late; many are of rows that go on so. */
enum { AHEAD = 512, SOME = 4 };

static inline __m512i get(const u8 *p) { return _mm512_loadu_si512(p); }

static inline __attribute__((always_inline)) void
shuffle(u32 n, const shuffle_vector *v, size_t times, char *to, i64 step, const char *const *from) {
  const char *at[SHUFFLE_WINDOWS];
  i64 next[SHUFFLE_WINDOWS];
  u64 read[SHUFFLE_WINDOWS], moved[SHUFFLE_WINDOWS / 2], written = v->written;
  __m512i index[SHUFFLE_WINDOWS / 2], same = get(v->constant);
  for (u32 w = 0; w < n; w++)
    at[w] = from[v->of[w]] + v->at[w], next[w] = v->step[w], read[w] = v->read[w];
  for (u32 k = 0; 2 * k < n; k++) index[k] = get(v->index[k]), moved[k] = v->moved[k];
  for (; times-- > 0; to += step) {
    __m512i x[SHUFFLE_WINDOWS], y = same;
    for (u32 w = 0; w < n; w++, at[w - 1] += next[w - 1]) {
      if (n <= SOME) _mm_prefetch(at[w] + AHEAD, _MM_HINT_T0);
      x[w] = _mm512_maskz_loadu_epi8(read[w], at[w]);
    }
    for (u32 k = 0; 2 * k < n; k++)
      y ^= 2 * k + 1 < n
               ? _mm512_maskz_permutex2var_epi8(moved[k], x[2 * k], index[k], x[2 * k + 1])
               : _mm512_maskz_permutexvar_epi8(moved[k], index[k], x[2 * k]);
    _mm512_mask_storeu_epi8(to, written, y);
  }
}

/* Windows that there are not read nothing. */
void shuffle_vectors(const shuffle_vector *v, size_t times, char *to, i64 step,
                     const char *const *from) {
  if (v->windows <= 1) shuffle(1, v, times, to, step, from);
  if (v->windows == 2) shuffle(2, v, times, to, step, from);
  if (v->windows == 3) shuffle(3, v, times, to, step, from);
  if (v->windows == 4) shuffle(4, v, times, to, step, from);
  if (v->windows == 5 || v->windows == 6) shuffle(6, v, times, to, step, from);
  if (v->windows > 6) shuffle(8, v, times, to, step, from);
}
#endif
