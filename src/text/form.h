/* The form column of ir/ops: how an op's custom syntax is written, read in both directions.
 *
 * A form is the text that follows the op's name, spaces and all; the parser takes spaces lightly.
 *
 *   $name            operands of that group, or an attribute in its plain spelling: an i64 as 3,
 *                    i64s as [1, 2], a symbol as @x, an enum as its case, a dialect's attribute
 *                    without its #name
 *   %directive       one of the table in form.c; arguments in parentheses: %type(operand)
 *   <?name ... ?>    only if that attribute is there, or that operand group is not empty
 *   anything else    stands for itself
 *
 * Directives
 *   %attrs           the dictionary of all attributes that the form does not mention, if any;
 *                    %attrs(a=false, b=1): left out as well where they have these values
 *   %operands        all operands
 *   %fn              types of operands and results as a function type
 *   %same            one type if all operands and results have it, else as %fn
 *   %type(x)         types of an operand or result group
 *   %list(x)         operands of a group, each with a comma after it
 *   %symbol(x)       a string attribute as @name
 *   %region          ( arguments ) { ... }
 * and the others of form.c, each used by one op or two.
 *
 * An operand type that a form leaves out is the result's, and the other way round. "custom"
 * instead of a form: a pair of functions by op id in custom_parse.c and custom_print.c. */
#ifndef TEXT_FORM_H
#define TEXT_FORM_H

#include "ir/op.h"

typedef enum form_kind { FORM_TEXT, FORM_OPERANDS, FORM_ATTR, FORM_DIRECTIVE, FORM_IF } form_kind;

typedef enum directive {
#define DIRECTIVE(id) DIR_##id,
#include "text/directives.def"
  DIR_COUNT
} directive;

enum { FORM_ARGS = 5 };

typedef struct form_step {
  u8 kind;            /* form_kind */
  u8 directive;       /* which one */
  i8 group;           /* operand group, or -1 */
  i8 slot;            /* attribute slot, or -1 */
  u16 skip;           /* FORM_IF: number of steps inside */
  str text;           /* FORM_TEXT */
  i8 args[FORM_ARGS]; /* of directives: groups or slots, as the directive means them */
} form_step;

typedef struct form_default {
  u8 slot;
  str value; /* "false", "0", "[]", "{}", "default" */
} form_default;

typedef struct form {
  const form_step *steps;
  size_t num_steps;
  u64 mentioned; /* slots that the form spells, which %attrs leaves out */
  const form_default *defaults;
  size_t num_defaults;
} form;

/* Forms are compiled when first needed; the cache belongs to one parser or printer. */
typedef struct form_cache {
  arena *a;
  const form *of[OP_COUNT];
  struct foreign_form *foreign; /* of ops of foreign dialects */
} form_cache;
/* NULL: no form (generic, or "custom"). A form that is wrong is a bug that tests find: it
 * reads as "generic only". */
const form *form_get(form_cache *c, const op_info *info);
bool form_is_default(const form *f, const op_info *info, size_t slot, const attr *a);

#endif
