/* Whether an op may run where the program might not have run it: no undefined behaviour, given that
 * dimensions that types leave open may turn out wrong at run time.
 *
 * Source: openxla/stablehlo docs/spec.md and the traits of dialect/StablehloOps.td. */
#ifndef DIALECT_SPECULATE_H
#define DIALECT_SPECULATE_H

#include "ir/op.h"

typedef enum speculation {
  SPECULATION_UNKNOWN, /* the op says nothing */
  SPECULATION_YES,
  SPECULATION_NO,
  SPECULATION_BY_REGIONS, /* if the ops inside may */
} speculation;

speculation op_speculation(const op *o); /* a verified op */

#endif
