/* Plain types, string views, checked arithmetic: what every module may assume. */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

/* A string view: borrowed bytes, not terminated. */
typedef struct str {
  const char *data;
  size_t len;
} str;

/* A borrowed list of integers (shapes, permutations, device lists). */
typedef struct i64s {
  const i64 *data;
  size_t len;
} i64s;

/* The empty string before it makes the compiler refuse anything but a literal. */
#define STR(literal) ((str){"" literal, sizeof(literal) - 1})
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)(s).len, (s).data
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define PRINTF_LIKE(fmt, first) __attribute__((format(printf, fmt, first)))
#define MUST_USE __attribute__((warn_unused_result))
#define API __attribute__((visibility("default")))

static inline str str_of(const char *s) { return (str){s, s ? strlen(s) : 0}; }
static inline bool str_eq(str a, str b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}
static inline bool str_is(str a, const char *b) { return str_eq(a, str_of(b)); }
static inline bool str_starts(str a, str prefix) {
  return a.len >= prefix.len && str_eq((str){a.data, prefix.len}, prefix);
}
static inline str str_from(str a, size_t begin) { return (str){a.data + begin, a.len - begin}; }
int str_cmp(str a, str b); /* bytewise; a prefix sorts first */

static inline bool i64s_eq(i64s a, i64s b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len * sizeof(i64)) == 0);
}

static inline bool i64s_contain(i64s list, i64 x) {
  for (size_t i = 0; i < list.len; i++)
    if (list.data[i] == x) return true;
  return false;
}

/* Checked arithmetic: false when the result does not fit; *out is then unspecified. */
#define checked_add(a, b, out) (!__builtin_add_overflow((a), (b), (out)))
#define checked_sub(a, b, out) (!__builtin_sub_overflow((a), (b), (out)))
#define checked_mul(a, b, out) (!__builtin_mul_overflow((a), (b), (out)))

/* `align` is a power of two; the sum must not overflow. */
static inline size_t align_up(size_t n, size_t align) { return (n + align - 1) & ~(align - 1); }
static inline size_t min_size(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t max_size(size_t a, size_t b) { return a > b ? a : b; }
static inline i64 min_i64(i64 a, i64 b) { return a < b ? a : b; }
static inline i64 max_i64(i64 a, i64 b) { return a > b ? a : b; }
static inline i64 abs_i64(i64 a) { return a < 0 ? -a : a; } /* a > INT64_MIN */
i64 gcd_i64(i64 a, i64 b); /* of numbers >= 0; gcd(a, 0) is a */
/* Of any number by a positive one. */
static inline i64 div_floor_i64(i64 a, i64 b) { return a / b - (a % b < 0); }
static inline i64 div_ceil_i64(i64 a, i64 b) { return a / b + (a % b > 0); }

/* 64-bit hash of bytes, seeded so that hashes chain. Not for untrusted adversaries. */
u64 hash_bytes(const void *data, size_t len, u64 seed);
/* The finalizer of splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
 * generators"), over a sum that depends on the order of what is chained. */
static inline u64 hash_u64(u64 x, u64 seed) {
  x ^= seed + 0x9e3779b97f4a7c15u + (seed << 6) + (seed >> 2);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
/* Of what is at an address of ours: a few instructions, as most that is hashed is such. */
static inline u64 hash_ptr(const void *p, u64 seed) {
  u64 x = ((u64)(uintptr_t)p ^ (seed << 29 | seed >> 35)) * 0x9e3779b97f4a7c15u;
  return x ^ x >> 32; /* indices go by the low bits */
}

#endif
