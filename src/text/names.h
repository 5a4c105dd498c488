/* Inside text only: how value.num spells a name while a module prints. */
#ifndef TEXT_NAMES_H
#define TEXT_NAMES_H

#include "text/printer.h"

/* NAME_NUMBER: %7; NAME_arg: %arg7; the others a plain name, or with _N where number is N + 1 */
#define PLAIN_NAMES(F) F(c) F(cst) F(iterArg)
typedef enum name_kind {
  NAME_NUMBER,
  NAME_arg,
#define F(name) NAME_##name,
  PLAIN_NAMES(F)
#undef F
} name_kind;
enum { NAME_BITS = 4 };

#endif
