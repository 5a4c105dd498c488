/* Inside text only: how value.num spells a name while a module prints. */
#ifndef TEXT_NAMES_H
#define TEXT_NAMES_H

#include "text/printer.h"

/* The kind, in the low bits: NAME_NUMBER is %7, NAME_ARG %arg7, from NAME_PLAIN on one of the names
 * that ops suggest, with _N where the number above the kind is N + 1. NAME_OWN: the name of that
 * number in `own`, where any name may be wanted (-mlir-use-nameloc-as-prefix). NAME_UNKNOWN: what
 * is printed does not have the value. */
enum {
  NAME_NUMBER,
  NAME_ARG,
  NAME_OWN,
  NAME_UNKNOWN,
  NAME_PLAIN,
  NAME_BITS = 6,
  MAX_PLAIN = (1 << NAME_BITS) - NAME_PLAIN
};

/* An op of several results, or that says so, names each as its row does: %values, %indices. */
bool names_each_result(const printer *w, const op *o);

#endif
