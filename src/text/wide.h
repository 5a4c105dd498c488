/* Inside text only: numbers of more than 64 bits, as little-endian bytes (type_storage of them).
 * Of integers the bits above the width are zero. */
#ifndef TEXT_WIDE_H
#define TEXT_WIDE_H

#include "ir/attr.h"

/* Decimal or 0x; false: out of range for the type. */
bool wide_int_from_literal(arena *scratch, str literal, bool minus, const type *t, char *out);
void wide_int_print(buf *out, const type *t, const char *bytes);
/* A 0x literal of a float; false: out of range. */
bool wide_bits_from_hex(str literal, size_t size, char *out);

/* FLOAT_f80 and FLOAT_f128 only, otherwise as float.h has it. */
void float_wide_from_literal(float_kind kind, str text, bool negative, char *out);
void float_wide_print(buf *out, float_kind kind, const char *bytes);

static inline bool wide_is(const type *t) {
  return (t->kind == TYPE_INT || t->kind == TYPE_FLOAT) && t->width > 64;
}

#endif
