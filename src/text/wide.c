/* Integers wider than 64 bits, and hex floats: digits to bytes and back, in place. Rare, so simple:
 * nine decimal digits at a time, quadratic in the length. */
#include "text/wide.h"

#include "text/lexer.h"

/* Two's complement of so many bits, in place. */
static void negate(char *bytes, size_t size, u32 width) {
  unsigned carry = 1;
  for (size_t i = 0; i < size; i++) {
    carry += 0xFFu & ~(unsigned)(u8)bytes[i];
    bytes[i] = (char)carry;
    carry >>= 8;
  }
  if (width % 8) bytes[size - 1] = (char)((u8)bytes[size - 1] & ((1u << width % 8) - 1));
}

static bool top_bit(const char *bytes, u32 width) {
  return (u8)bytes[(width - 1) / 8] >> ((width - 1) % 8) & 1;
}

/* false: more bits than fit. Bytes are little-endian, as in constants. */
bool wide_bits_from_hex(str literal, size_t size, char *out) {
  memset(out, 0, size);
  for (size_t i = literal.len, at = 0; i-- > 2; at++) {
    char c = literal.data[i];
    unsigned digit = (unsigned)(char_is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
    if (digit == 0) continue;
    if (at / 2 >= size) return false;
    out[at / 2] = (char)((u8)out[at / 2] | digit << at % 2 * 4);
  }
  return true;
}

/* Nine digits at a time into words of 32 bits. */
static bool from_decimal(arena *scratch, str s, size_t size, char *out) {
  size_t cap = size / 4 + 1, len = 0, cut;
  u32 *limb = arena_array(scratch, cap, sizeof *limb);
  for (size_t i = 0; i < s.len; i += cut) {
    u32 factor = 1;
    u64 carry = 0;
    cut = min_size(9, s.len - i);
    for (size_t k = 0; k < cut; k++) {
      carry = carry * 10 + (u64)(s.data[i + k] - '0');
      factor *= 10;
    }
    for (size_t k = 0; k < len; k++) {
      carry += (u64)limb[k] * factor;
      limb[k] = (u32)carry;
      carry >>= 32;
    }
    if (!carry) continue;
    if (len == cap) return false;
    limb[len++] = (u32)carry;
  }
  for (size_t k = 0; k < cap; k++)
    for (size_t b = 0; b < 4; b++) {
      u8 byte = k < len ? (u8)(limb[k] >> 8 * b) : 0;
      if (4 * k + b < size)
        out[4 * k + b] = (char)byte;
      else if (byte)
        return false;
    }
  return true;
}

/* The magnitude first, then the sign. Signless takes what either reading of the bits can say; hex
 * is as wide as its digits, leading zeros aside. */
bool wide_int_from_literal(arena *scratch, str literal, bool minus, const type *t, char *out) {
  size_t size = type_storage(t);
  bool hex = literal.len > 2 && literal.data[1] == 'x';
  if (!(hex ? wide_bits_from_hex(literal, size, out) : from_decimal(scratch, literal, size, out)))
    return false;
  if (t->width % 8 && (u8)out[size - 1] >> t->width % 8) return false;
  if (!minus) return t->sign != SIGNED || !top_bit(out, t->width);
  negate(out, size, t->width);
  return top_bit(out, t->width); /* -0 is none, as in MLIR */
}

/* Divides by 10^9 again and again, which gives groups of digits from the last. In buffers and not
 * an arena, since the printer has none. */
void wide_int_print(buf *out, const type *t, const char *bytes) {
  size_t size = type_storage(t), len = size / 4 + 1;
  buf work, text; /* the magnitude as words; groups of nine digits, last first */
  buf_init(&work, out->mem);
  buf_init(&text, out->mem);
  buf_bytes(&work, bytes, size);
  for (size_t i = size; i < len * 4; i++) buf_char(&work, 0);
  if (!work.failed) {
    if (t->width % 8)
      work.data[size - 1] = (char)((u8)work.data[size - 1] & ((1u << t->width % 8) - 1));
    if (t->sign != UNSIGNED && top_bit(work.data, t->width)) {
      buf_char(out, '-');
      negate(work.data, size, t->width);
    }
    u32 limb;
    do {
      u64 rest = 0;
      for (size_t i = len; i-- > 0;) {
        memcpy(&limb, work.data + 4 * i, 4);
        rest = rest << 32 | limb;
        limb = (u32)(rest / 1000000000u);
        memcpy(work.data + 4 * i, &limb, 4);
        rest %= 1000000000u;
        if (i == len - 1 && limb == 0) len--;
      }
      limb = (u32)rest;
      buf_bytes(&text, (const char *)&limb, 4);
    } while (len > 0);
    for (size_t i = text.failed ? 0 : text.len / 4; i-- > 0;) {
      memcpy(&limb, text.data + 4 * i, 4);
      buf_printf(out, i + 1 == text.len / 4 ? "%u" : "%09u", limb);
    }
  }
  if (work.failed || text.failed) out->failed = true;
  buf_deinit(&work);
  buf_deinit(&text);
}
