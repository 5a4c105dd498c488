/* MLIR text in and out: every concrete syntax that Terrazzo reads and prints.
 *
 * Source: the MLIR language reference, and the assembly formats of the dialects (the `form`
 * column of ir/ops, explained in text/form.h). The parser checks what is syntactic; meaning is
 * the verifier's. Printing follows MLIR's printer byte for byte. */
#ifndef TEXT_TEXT_H
#define TEXT_TEXT_H

#include "ir/op.h"

typedef struct text_parse_options {
  bool allow_unregistered; /* ops, types and attributes of dialects that we have no rows of */
} text_parse_options;

/* NULL: errors were reported to the context's sink. `source` need not live on. */
ir_module *text_parse(ir_ctx *c, str file_name, str source, const text_parse_options *options);

/* One attribute or type, which must be all of the text; NULL: reported. */
const attr *text_parse_attr(ir_ctx *c, str source, const text_parse_options *options);
const type *text_parse_type(ir_ctx *c, str source, const text_parse_options *options);

typedef struct print_limit {
  bool set; /* false: as if the option did not exist */
  i64 most;
} print_limit;

typedef struct text_print_options {
  bool generic;               /* -mlir-print-op-generic */
  bool debuginfo;             /* -mlir-print-debuginfo: locations, as aliases at the end */
  bool local_scope;           /* -mlir-print-local-scope: no aliases */
  print_limit elide_elements; /* dense constants of more elements print as elided */
  print_limit elide_resource; /* resource strings of more characters are left out */
  print_limit hex_elements;   /* dense constants of more print as hex; -1: none do; unset: 100 */
  bool skip_regions;          /* regions print as {...} */
  bool unique_names;          /* numbers of values are not used twice in other regions */
  bool users;                 /* comments with the users of values */
  bool location_names;        /* values are called as their locations are */
  bool strays;                /* what is printed may use values that stand nowhere in it */
  const char *unknown;        /* ops whose names begin so print in generic form; NULL: none */
} text_print_options;

/* Options may be NULL. Overwrites the scratch numbers (value.num, block.num) of the module that is
 * printed. An op is printed with the names it has in its module. false: `out` has failed. */
bool text_print(buf *out, const ir_module *m, const text_print_options *options);
bool text_print_op(buf *out, ir_ctx *c, const op *o, const text_print_options *options);
void text_print_attr(buf *out, const attr *a);
void text_print_type(buf *out, const type *t);
/* For messages. */
const char *text_show_attr(arena *to, const attr *a);
const char *text_show_type(arena *to, const type *t);
const char *text_show_i64s(arena *to, i64s v); /* 1, 2, 3 */

/* What is wrong with the algorithm of a product, in the context's arena; NULL: nothing. */
const char *dot_algorithm_problem(ir_ctx *c, const dot_algorithm_attr *a);
/* The same for the bounds of a ranked tensor, if it has any. */
const char *bounds_problem(ir_ctx *c, const type *t);

#endif
