/* Floating-point constants as text: bit patterns of any format to and from decimal.
 *
 * Reading rounds to nearest even. Writing gives the text of LLVM's APFloat::toString as MLIR's
 * printer calls it: six digits with an exponent where that reads back as the same bits, else
 * enough digits, else the bit pattern in hex (which infinities and NaN always get). */
#ifndef TEXT_FLOAT_H
#define TEXT_FLOAT_H

#include "ir/attr.h"

/* `text` is digits [. digits] [e [+-] digits], unsigned. */
u64 float_from_text(float_kind kind, str text, bool negative);
/* MLIR's parser reads a double first and rounds that; so does this. */
u64 float_from_literal(float_kind kind, str text, bool negative);
void float_print(buf *out, float_kind kind, u64 bits);
/* The nearest, ties to even; infinities and NaN become what the format has for overflow. */
u64 float_from_double(float_kind kind, double v);
double float_to_double(float_kind kind, u64 bits); /* of formats supported; NaN if not finite */
/* Least and greatest positive finite value; 0 and infinity of formats not supported. */
void float_range(float_kind kind, double *smallest, double *largest);
/* Formats of at most 64 bits; false for f80 and f128. */
bool float_is_supported(float_kind kind);
bool float_is_zero(float_kind kind, u64 bits); /* of either sign */

#endif
