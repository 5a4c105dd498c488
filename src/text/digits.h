/* Inside text only: decimal digits of a float on their way to its text, see float.h. */
#ifndef TEXT_DIGITS_H
#define TEXT_DIGITS_H

#include "base/base.h"

/* Last first, and the power of ten of the last. */
typedef struct digits {
  char d[48];
  int len, exp;
} digits;

void digits_round(digits *v, int want);         /* to at most `want`, half up, as APFloat does */
size_t digits_six(const digits *v, char *text); /* d.dddddde+dd; both at most 64 characters */
size_t digits_full(const digits *v, int precision, char *text);

#endif
