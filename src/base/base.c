/* What of base.h is too long to be inline. */
#include "base/base.h"

int str_cmp(str a, str b) {
  size_t n = min_size(a.len, b.len);
  int c = n ? memcmp(a.data, b.data, n) : 0;
  return c ? c : (a.len > b.len) - (a.len < b.len);
}

/* A multiply and a shift a word, then a strong finish: attributes are mostly short lists of words.
 * The length goes in first, so that a zero tail does not vanish. */
u64 hash_bytes(const void *data, size_t len, u64 seed) {
  const u8 *p = data;
  u64 h = hash_u64(len, seed), w;
  for (; len >= 8; p += 8, len -= 8) {
    memcpy(&w, p, 8);
    h = (h ^ w) * 0x9fb21c651e98df25u;
    h ^= h >> 32;
  }
  if (len) {
    w = 0;
    memcpy(&w, p, len);
    h = (h ^ w) * 0x9fb21c651e98df25u;
  }
  return hash_u64(h, 0);
}

i64 gcd_i64(i64 a, i64 b) {
  while (b) {
    i64 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
