/* Inside text only: the printer's state and the pieces that its files share. Output goes to a buf,
 * whose failure is sticky, so nothing here returns errors. */
#ifndef TEXT_PRINTER_H
#define TEXT_PRINTER_H

#include "base/index.h"
#include "text/form.h"
#include "text/text.h"

typedef struct resource_keys {
  VEC(str) list;
  hash_index index; /* of copies */
} resource_keys;

/* What stands above the printing of ops: their forms. Set where ops are printed (print.c). */
typedef struct printer printer;
typedef struct printer_syntax {
  void (*form)(printer *w, const op *o, const form *f);
  bool (*custom)(printer *w, const op *o); /* see printer_custom */
} printer_syntax;

/* One a call of text_print*. Its memory is the scratch arena behind `forms.a`. */
struct printer {
  buf *out;
  const printer_syntax *syntax;
  text_print_options options;
  form_cache forms;
  u32 indent;
  str dialect;           /* whose prefix ops at this place leave out */
  const char *plain[64]; /* names that ops suggest; see names.h */
  u32 num_plain;
  VEC(str) own; /* see names.h */
  struct scope *scope;
  struct predecessors *predecessors; /* of the region at hand, if it has several blocks */
  resource_keys *resources;          /* keys that the text mentions, in order; NULL: not gathered */
  struct aliases *aliases;           /* of attributes; NULL: print them in place */
  u32 held;                          /* attributes that change their text once it is there */
  const attr *unknown;               /* loc(unknown) */
  hash_index distinct;               /* numbers of distinct attributes */
};

#define PUT(w, literal) BUF_LIT((w)->out, literal)
static inline void put(printer *w, str s) { buf_str(w->out, s); }
static inline void put_char(printer *w, char c) { buf_char(w->out, c); }
/* The text so far may leave the buffer; not within a short piece that somebody looks back at. */
static inline void printer_drain(printer *w) {
  if (!w->held) buf_drain(w->out);
}
void printer_i64(printer *w, i64 v);
void printer_newline(printer *w); /* and the indentation */
void printer_i64s(printer *w, i64s v, bool brackets);
void printer_quoted(printer *w, str s);
void printer_hex(printer *w, str bytes);        /* without a 0x */
void printer_word_or_string(printer *w, str s); /* quoted unless a bare identifier */
void printer_symbol(printer *w, str s);         /* @s */

void printer_type(printer *w, const type *t);
void printer_quant(printer *w, const quant *q);
void printer_function_type(printer *w, types inputs, types results);

/* elide: leave out `: i64` and `: f64` */
void printer_attr(printer *w, const attr *a, bool elide);
void printer_attr_bare(printer *w, const attr *a); /* no type at all */
void printer_named(printer *w, str name, const attr *a);
/* Dialects' attributes without #dialect.mnemonic. plain: as forms have them, where that
 * differs (no angle brackets around lists). */
void printer_dialect_body(printer *w, const attr *a, bool plain);
void printer_dialect_attr(printer *w, const attr *a);

/* ---- sdy_print.c ---- */
bool printer_sdy_body(printer *w, const attr *a, bool plain); /* false: not of sdy or mpmd */
void printer_mesh_tensor(printer *w, const type *t);
void printer_placed(printer *w, const op *o, const i8 *slots); /* <mesh=.., origin=[..], ..> */

/* ---- locations: loc_print.c ---- */
void printer_loc(printer *w, const attr *loc); /* loc(...) */
/* With a space before it, if locations are printed at all; loc(#alias) where allowed. */
void printer_trailing_loc(printer *w, const attr *loc, bool allow_alias);
/* Aliases are collected in a first printing whose text is thrown away. */
struct aliases *printer_aliases_begin(arena *a);
bool printer_collects(const printer *w); /* prints only to see what needs an alias */
/* The attribute's alias, if it has one; false: it is to be written out. */
bool printer_alias(printer *w, const attr *a);
void printer_attr_itself(printer *w, const attr *a);                /* never its alias */
void printer_visit_loc(printer *w, const attr *loc, bool deferred); /* nothing once numbered */
void printer_aliases_number(struct aliases *t);
void printer_aliases_print(printer *w, bool deferred); /* the #loc = ... lines */

/* ---- resources: resource_print.c ---- */
void printer_note_resource(printer *w, str key);
void printer_resources_print(printer *w, ir_ctx *c); /* nothing if no constant names one */

/* ---- ops: print_op.c ---- */
void printer_op(printer *w, const op *o);
void printer_generic(printer *w, const op *o, bool with_name);
void printer_value(printer *w, const value *v);
void printer_operands(printer *w, const op *o, size_t begin, size_t n);
void printer_types(printer *w, const op *o, size_t begin, size_t n); /* of operands */
void printer_result_types(printer *w, const op *o, size_t begin, size_t n);
void printer_fn(printer *w, const op *o); /* (operands) -> results */
void printer_region(printer *w, const region *r, bool entry_args, bool empty_block);
/* %a: type {attrs} loc(...); attrs: a dictionary or NULL */
void printer_region_arg(printer *w, const value *v, const attr *attrs);
/* { a = 1 } with a space before it, of what is not left out: bit k of `hide` hides slot k. Empty:
 * nothing. `keyword`: " attributes " before it. */
void printer_attr_dict(printer *w, const op *o, u64 hide, bool keyword);

/* ---- names.c ---- */
void printer_number(printer *w, const op *root); /* sets the num of values and blocks */

/* ---- form_print.c, custom_print.c ---- */
void printer_form(printer *w, const op *o, const form *f);
bool printer_is_long(const attr *a);             /* too many elements to write one by one */
bool printer_tensor_op(printer *w, const op *o); /* tensor_ops.c */
void printer_flags(printer *w, const op *o, int slot);
bool printer_check(printer *w, const op *o); /* check.*: check_ops.c */
bool printer_shape(printer *w, const op *o); /* shape_ops.c */
/* false: none for this op; said before an attribute or a region is printed */
bool printer_custom(printer *w, const op *o);

#endif
