/* Blocks of bytes (shuffle.h), whose source lies between pages that nobody may read. */
#include "exec/shuffle.h"

#include <sys/mman.h>

#include "tests/unit.h"

enum { PAGE = 1 << 14, MOST_TIMES = 9 };

static u64 seed = 1;
static u32 draw(u32 n) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (u32)(seed >> 33) % n;
}

/* Within the first `reach` bytes. */
static void draw_blocks(shuffle_vector *v, u32 bytes, i64 step, u32 reach) {
  u32 n = 0;
  for (u32 i = 0; i < SHUFFLE_BYTES; i++) v->constant[i] = (u8)draw(256);
  for (u32 q = 0; q * SHUFFLE_BLOCK < bytes; q++) {
    v->blocks[q] = draw(SHUFFLE_BLOCKS + 1);
    for (u32 k = 0; k < v->blocks[q]; k++, n++) {
      shuffle_block *b = &v->all[n];
      *b = (shuffle_block){.step = step, .bytes = 1 + draw(SHUFFLE_BLOCK)};
      b->at = draw(reach - b->bytes + 1);
      for (u32 i = 0; i < SHUFFLE_BLOCK; i++) b->pick[i] = draw(3) ? (u8)draw(b->bytes) : 0x80;
    }
  }
}

static void shuffle_plainly(const shuffle_vector *v, u32 bytes, size_t times, u8 *to, i64 step,
                            const u8 *from) {
  for (size_t t = 0; t < times; t++)
    for (u32 i = 0, n = 0; i < bytes; i += SHUFFLE_BLOCK, n += v->blocks[i / SHUFFLE_BLOCK - 1])
      for (u32 j = i; j < i + SHUFFLE_BLOCK && j < bytes; j++) {
        u8 x = v->constant[j];
        for (const shuffle_block *b = &v->all[n]; b < &v->all[n + v->blocks[i / 16]]; b++)
          if (b->pick[j - i] < 0x80) x ^= from[b->at + (i64)t * b->step + b->pick[j - i]];
        to[(i64)t * step + j] = x;
      }
}

static void check_blocks(char *page, i64 step) {
  u8 want[MOST_TIMES * 80], got[MOST_TIMES * 80];
  shuffle_block all[SHUFFLE_QUARTERS * SHUFFLE_BLOCKS];
  for (u32 round = 0; round < 500; round++) {
    shuffle_vector v = {.all = all};
    u32 bytes = 1 + draw(SHUFFLE_BYTES), reach = 16 + draw(30);
    size_t times = 1 + draw(MOST_TIMES);
    i64 far = (i64)(times - 1) * step, to_step = bytes + draw(16);
    draw_blocks(&v, bytes, step, reach);
    v.written = bytes < 64 ? (1ull << bytes) - 1 : ~0ull;
    i64 size = (far < 0 ? -far : far) + reach;
    for (u32 end = 0; end < 2; end++) { /* at either end of the page */
      const char *from = page + (end ? PAGE - size : 0) - (far < 0 ? far : 0);
      memset(want, 1, sizeof want), memset(got, 1, sizeof got);
      shuffle_plainly(&v, bytes, times, want, to_step, (const u8 *)from);
      shuffle_blocks(&v, times, (char *)got, to_step, &from);
      CHECK(memcmp(want, got, sizeof want) == 0);
    }
  }
}

int main(void) {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2")) return UNIT_END();
  char *m = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *page = m + PAGE;
  CHECK(m != MAP_FAILED && mprotect(page, PAGE, PROT_READ | PROT_WRITE) == 0);
  for (u32 i = 0; i < PAGE; i++) page[i] = (char)draw(256);
  static const i64 steps[] = {48, 64, 16, 12, 3, 0, -3, -15, -16, -48, 100};
  for (u32 i = 0; i < COUNT(steps); i++) check_blocks(page, steps[i]);
  munmap(m, 3 * PAGE);
  return UNIT_END();
}
