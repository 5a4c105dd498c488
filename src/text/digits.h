/* Inside text only: decimal digits of a float on their way from and to its text, see float.h. */
#ifndef TEXT_DIGITS_H
#define TEXT_DIGITS_H

#include "base/base.h"

__extension__ typedef unsigned __int128 u128;

/* A natural number, least limb first: room for any f128, or for a double of 800 digits. */
enum { BIG_LIMBS = 1400 };
typedef struct big {
  u32 limb[BIG_LIMBS];
  int len;
} big;

void big_set(big *b, u128 v);
void big_mul_add(big *b, u32 factor, u32 addend);
/* The top `want` bits, 128 at most, of b * 10^exp, which changes b: they times 2^*e. *sticky is set
 * if they are not all. */
u128 big_times_tens(big *b, int exp, int want, int *e, bool *sticky);

/* Last first, and the power of ten of the last. */
typedef struct digits {
  char d[48];
  int len, exp;
} digits;

/* At most `want` digits of m * 2^e, zeros at the end left out. Digits beyond about `want` are
 * cut off before the rounding (half up), as APFloat does. m is not 0. */
void digits_of(u128 m, int e, int want, digits *out);
size_t digits_six(const digits *v, char *text); /* d.dddddde+dd; both at most 64 characters */
/* Plain notation for moderate exponents, else d.ddE+d. */
size_t digits_full(const digits *v, int precision, char *text);

#endif
