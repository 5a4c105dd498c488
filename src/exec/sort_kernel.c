/* Many lines sorted at once, each in its lane of vectors, by a network that is the same for all.
 * Built once per instruction set (KERNELS_ISA). */
#include "exec/kernels.h"

#if defined(__AVX512F__)
enum { VECTOR = 64 };
#elif defined(__AVX2__)
enum { VECTOR = 32 };
#else
enum { VECTOR = 16 };
#endif

/* Knuth, The Art of Computer Programming, 5.2.2, algorithm M (Batcher's merge exchange), for rows
 * of KERN_NET_BYTES. */
#define NET(name, T)                                                                               \
  typedef T name##_vec __attribute__((vector_size(VECTOR), may_alias));                            \
  static void name(size_t n, void *rows) {                                                         \
    enum { EACH = KERN_NET_BYTES / VECTOR };                                                       \
    size_t top = 1;                                                                                \
    while (2 * top < n) top *= 2;                                                                  \
    for (size_t p = n > 1 ? top : 0; p; p /= 2)                                                    \
      for (size_t q = top, d = p, r = 0;; d = q - p, q /= 2, r = p) {                              \
        for (size_t i = r; i + d < n; i += 2 * p) {                                                \
          size_t m = (n - d - i < p ? n - d - i : p) * EACH;                                       \
          name##_vec *x = (name##_vec *)rows + i * EACH, *y = x + d * EACH;                        \
          for (size_t k = 0; k < m; k++) {                                                         \
            name##_vec a = x[k], b = y[k], less = (name##_vec)(a < b);                             \
            x[k] = (a & less) | (b & ~less);                                                       \
            y[k] = (b & less) | (a & ~less);                                                       \
          }                                                                                        \
        }                                                                                          \
        if (q == p) break;                                                                         \
      }                                                                                            \
  }
NET(net_words, u32)
NET(net_longs, u64)

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
void PASTE(sort_kernels_fill_, KERNELS_ISA)(vm_kernels *k) {
  k->net[0] = net_words;
  k->net[1] = net_longs;
}
