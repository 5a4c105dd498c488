/* Copies between dense arrays whose dimensions lie in any two orders, beside one element after the
 * other. */
#include "device/copy.h"

#include <stdlib.h>

#include "tests/unit.h"

static u64 state = 1;
static u32 pick(u32 n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (u32)(state >> 33) % n;
}

/* Strides of a dense array in a random order of its dimensions, sometimes backwards; *offset is
 * where the first element is. */
static void random_strides(i64s dims, size_t element, i64 *strides, i64 *offset) {
  size_t order[8];
  i64 stride = (i64)element;
  for (size_t i = 0; i < dims.len; i++) order[i] = i;
  for (size_t i = dims.len; i-- > 1;) {
    size_t k = pick((u32)i + 1), t = order[i];
    order[i] = order[k];
    order[k] = t;
  }
  *offset = 0;
  for (size_t i = 0; i < dims.len; i++) {
    size_t d = order[i];
    bool back = pick(8) == 0;
    strides[d] = back ? -stride : stride;
    if (back) *offset += (dims.data[d] - 1) * stride;
    stride *= dims.data[d];
  }
}

static void test_one(void) {
  static const size_t elements[] = {1, 2, 4, 8, 16, 3, 32};
  size_t rank = pick(5), element = elements[pick(COUNT(elements))];
  i64 dims[8], ds[8], ss[8], at[8] = {0}, d0, s0, count = 1;
  for (size_t i = 0; i < rank; i++) count *= dims[i] = 1 + (i64)pick(rank > 3 ? 12 : 70);
  size_t bytes = (size_t)count * element;
  random_strides((i64s){dims, rank}, element, ds, &d0);
  random_strides((i64s){dims, rank}, element, ss, &s0);
  char *src = malloc(bytes), *dst = calloc(1, bytes), *want = calloc(1, bytes);
  for (size_t i = 0; i < bytes; i++) src[i] = (char)pick(256);
  dev_copy_strided(dst + d0, ds, src + s0, ss, (i64s){dims, rank}, element);
  for (i64 n = 0; n < count; n++) {
    i64 d = d0, s = s0;
    for (size_t i = 0; i < rank; i++) d += at[i] * ds[i], s += at[i] * ss[i];
    memcpy(want + d, src + s, element);
    for (size_t i = rank; i-- > 0 && ++at[i] == dims[i];) at[i] = 0;
  }
  CHECK(memcmp(dst, want, bytes) == 0);
  free(src);
  free(dst);
  free(want);
}

int main(void) {
  for (int i = 0; i < 300; i++) test_one();
  return UNIT_END();
}
