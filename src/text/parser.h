/* Inside text only: the parser's state and the pieces that its files share.
 *
 * All functions that can fail return false or NULL after one error went to the sink. Scratch
 * memory is released when text_parse ends; ops go to the module's arena, attributes and types to
 * the context's. */
#ifndef TEXT_PARSER_H
#define TEXT_PARSER_H

#include "text/form.h"
#include "text/lexer.h"
#include "text/name_map.h"
#include "text/text.h"

/* A use of a value: %name or %name#number. */
typedef struct operand_ref {
  token at;
  str name; /* without % */
  u32 number;
} operand_ref;

/* `%name: type loc(...)` of a region's entry block; type NULL where the syntax has none. */
typedef struct region_arg {
  token at;
  str name;
  const type *type;
  const attr *attrs; /* dict or NULL */
  const attr *loc;   /* NULL: none given */
} region_arg;
typedef VEC(region_arg) region_args;
typedef VEC(i64) i64_vec;
typedef VEC(const attr *) attr_vec;
typedef VEC(const type *) type_vec;

/* %name or %name:count before an op */
typedef struct result_name {
  token at;
  u32 count;
} result_name;

/* An op on its way from text to ir: everything in the order of the op. */
typedef struct op_state {
  const op_info *info;
  token at;          /* its name */
  token operands_at; /* the first operand of a custom form */
  token function_at; /* where MLIR says that its function type does not fit them */
  const attr *loc;
  VEC(result_name) names;
  VEC(operand_ref) operands;
  type_vec operand_types, result_types;
  bool has_results; /* result_types are known, be they none */
  const attr **slots;
  size_t cap_slots;
  const char *problem; /* with the attributes of a generic form, once the rest is read */
  VEC(named_attr) attrs;
  VEC(region *) regions;
  VEC(block *) successors;
  struct op_state *outer; /* the free list, and the one in use around it */
} op_state;

/* A type by the text it was read from. */
typedef struct type_memo {
  str text;
  const type *type;
} type_memo;
enum { TYPE_MEMO_BITS = 7 };

/* What the core of the grammar (types, attributes, ops) calls but stands above it: the attributes
 * and types of dialects, the forms of ops. The entry points set it (parse.c). */
typedef struct parser parser;
typedef struct parser_syntax {
  const attr *(*dialect_attr)(parser *p); /* at #dialect... */
  /* After !quant.name or !quant<name; `where` is the name. */
  const type *(*quant)(parser *p, const token *where, str name);
  const type *(*mesh_tensor)(parser *p); /* after !mpmd.mesh_tensor */
  bool (*form)(parser *p, op_state *st); /* as the op's row describes it */
  bool (*custom)(parser *p, op_state *st,
                 bool *known); /* by the op's own function, if it has one */
} parser_syntax;

struct parser {
  ir_ctx *ctx;
  const parser_syntax *syntax;
  ir_module *module;
  arena *scratch;
  text_parse_options options;
  str file;
  size_t source_len;
  lexer lex;
  token tok;
  str source;
  const char *symbol; /* the `<` of the outermost #dialect.name<...> being read; NULL: none */
  bool muted;         /* the error to report has been: what follows from it goes without a word */
  u32 depth;
  str custom_op; /* whose custom form is being read: MLIR names it in some messages; or empty */
  str dialect;   /* default dialect of the region at hand, "" or "func" */
  name_map op_names;
  name_map attr_aliases, type_aliases;
  form_cache forms;
  type_memo type_memos[1 << TYPE_MEMO_BITS];
  struct ssa *ssa;
  struct labels *labels; /* blocks of the region at hand */
  op_state *free_states;
  struct loc_fix *loc_fixes; /* ops whose location is an alias defined later */
};

/* ---- tokens: parser.c ---- */
static inline bool at(const parser *p, int kind) { return p->tok.kind == kind; }
static inline bool at_word(const parser *p, const char *word) {
  return p->tok.kind == TOK_ID && str_is(p->tok.text, word);
}
bool parser_next(parser *p);             /* always true; errors show as TOK_ERROR */
bool parser_accept(parser *p, int kind); /* skips it if it is next */
bool parser_accept_word(parser *p, const char *word);
bool parser_missing(parser *p, const char *fmt, ...) PRINTF_LIKE(2, 3); /* before p->tok */
bool parser_expect(parser *p, int kind, const char *message); /* "expected ')'" and the like */
bool parser_expect_word(parser *p, const char *word);
bool parser_error(parser *p, const token *where, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The same, but inside an op's custom form with "custom op 'name' " before it: MLIR says so where a
 * dialect's own code complains, not where a token is missing. */
bool parser_complain(parser *p, const token *where, const char *fmt, ...) PRINTF_LIKE(3, 4);
void parser_note(parser *p, u32 line, u32 col, const char *fmt, ...) PRINTF_LIKE(4, 5);
bool parser_enter(parser *p);           /* one level deeper; false: too deep, reported */
bool parser_room(parser *p, u32 depth); /* for what is itself so deep, here */
static inline void parser_leave(parser *p) { p->depth--; }
/* Puts the cursor, at a bracket, behind the one that closes it. */
bool parser_skip_symbol(parser *p);
/* Bytes of a string token, or of the part of an @ token after the sign. */
str parser_string(parser *p, const token *t);
bool parser_u64(str digits, u64 *out);           /* or 0x and hex digits; false: too many */
bool parser_i64(parser *p, i64 *out);            /* with sign; checks the range */
bool parser_string_value(parser *p, str *out);   /* "..." */
bool parser_word_or_string(parser *p, str *out); /* foo or "foo" */
/* `open` item, item `close`; NULL item functions are not allowed. */
typedef bool parser_item(parser *p, void *user);
bool parser_list(parser *p, int open, int close, parser_item *item, void *user);
/* The same; `where` follows "expected '{'" in messages. */
bool parser_list_in(parser *p, int open, int close, parser_item *item, void *user,
                    const char *where);
bool parser_i64_list(parser *p, i64_vec *out); /* [1, 2] */
const attr *parser_symbol(parser *p);          /* @a or @a::@b */

/* ---- what may have been meant: hints.c; notes after an error, or nothing ---- */
static inline str parser_dialect_of(str name) {
  const char *dot = memchr(name.data, '.', name.len);
  return (str){name.data, dot ? (size_t)(dot - name.data) : name.len};
}
void parser_hint_op(parser *p, const token *t, str name); /* with its dialect */
void parser_hint_dialect(parser *p, const token *t, str dialect);
/* Notation of Shardy's older pages, as it is written today: an op, and what begins with `t`. */
void parser_hint_form(parser *p, const op_state *st);
void parser_hint_token(parser *p, const token *t);

/* ---- types: parse_type.c ---- */
const type *parser_type(parser *p);
const type *parser_int_type(ir_ctx *c, str s, const char **bad); /* i32; bad: what its width is */
bool parser_type_list(parser *p, type_vec *out);                 /* a, b */
bool parser_type_item(parser *p, void *type_list); /* one more, of parser_list: a type_vec */
bool parser_function_type(parser *p, type_vec *inputs, type_vec *results);
const type *parser_optional_type(parser *p, bool *bad);     /* NULL: no type starts here */
bool parser_dims(parser *p, i64_vec *dims, bool *unranked); /* after `<`, raw: 4x?x */

/* ---- symbols of dialects that are kept as text: dialect_symbol.c ---- */
typedef struct dialect_symbol {
  token at, inside; /* where MLIR says that there is no such dialect; that it has no such symbol */
  str dialect, body;
} dialect_symbol;
bool parser_symbol_text(parser *p, dialect_symbol *s); /* at #dialect... or !dialect... */
/* Whether it may stand as it is; t: of an attribute, or NULL. */
bool parser_keep_symbol(parser *p, const dialect_symbol *s, bool is_type, const type *t);

/* ---- quantized types: quant_parse.c ---- */
const type *parser_quant(parser *p, const token *where, str name);

/* ---- attributes: parse_attr.c, parse_dense.c, dialect_parse.c, loc.c ---- */
const attr *parser_attr(parser *p, const type *expected); /* expected: the type, or NULL */
bool parser_attr_begins(const parser *p);                 /* judged by the token at hand */
const attr *parser_dict(parser *p);                       /* { ... } */
bool parser_optional_dict(parser *p, op_state *st);       /* into slots and attributes */
void parser_set_attr(parser *p, op_state *st, str name, const attr *a);
const attr *parser_dense(parser *p, const type *expected);       /* at `dense` */
const attr *parser_sparse(parser *p, const type *expected);      /* at `sparse` */
const attr *parser_dense_array(parser *p);                       /* at `array` */
const attr *parser_affine(parser *p, bool set);                  /* after the word: affine.c */
const attr *parser_number(parser *p, const type *t, bool minus); /* at the literal */
const attr *parser_dialect_attr(parser *p);                      /* at #dialect... */
const attr *parser_dialect_body(parser *p, attr_id id);          /* what follows the mnemonic */
const attr *parser_loc(parser *p);      /* at `loc`, through the closing bracket */
const attr *parser_loc_body(parser *p); /* inside loc(...) */
const attr *parser_optional_loc(parser *p, bool *bad);
/* The optional location after an op; it may be an alias that comes later. `args` (or NULL): a block
 * whose arguments have the same. */
bool parser_op_loc(parser *p, op *o, block *args);

bool parser_alias(parser *p);     /* #name = attribute, !name = type */
bool parser_resources(parser *p); /* {-# ... #-} */
bool parser_fix_locs(parser *p);  /* gives ops the aliased locations that came later */
/* Bits of an integer literal in a type, masked to its width; false: out of range. */
bool parser_int_bits(str literal, bool minus, const type *t, u64 *bits);
/* Bits of a float from a literal: decimal with a point, or hex; false: reported. */
bool parser_float_bits(parser *p, const token *literal, bool minus, const type *t, u64 *bits);
/* Of types of more than 64 bits, see text/wide.h; false: reported. `of` is what has the type. */
bool parser_wide_number(parser *p, const token *literal, bool minus, const type *t, const char *of,
                        char *out);
bool parser_hex(parser *p, const token *t, str *out, bool keep); /* "0x0A" as bytes */

const attr *parser_conv_dims(parser *p); /* [b, 0, f]x[0, i, o]->[b, 0, f] */

/* ---- sdy_parse.c ---- */
const attr *parser_sdy_body(parser *p, attr_id id);
const attr *parser_sharding_list(parser *p); /* [<...>, <...>] as a sharding_per_value */

const attr *parser_element(parser *p, attr_id id);       /* of this kind, short or as #... */
bool parser_elements(parser *p, attr_id id, attrs *out); /* one or more, with commas between */

/* ---- mpmd_parse.c ---- */
const type *parser_mesh_tensor(parser *p);                      /* after its name */
bool parser_mpmd_body(parser *p, attr_id id, const attr **out); /* false: not one of mpmd's */
/* <mesh=.., origin=[..], ..> into the slots, as %placed has them */
bool parser_placed(parser *p, op_state *st, const i8 *slots);

/* ---- values: ssa.c ---- */
void ssa_init(parser *p);
void ssa_push(parser *p, bool isolated);
bool ssa_pop(parser *p, bool isolated); /* checks forward references of an isolated scope */
/* Whether no value or use of this name is in sight; reported as of a region's argument. */
bool ssa_check_new(parser *p, const token *at, str name);
bool ssa_define(parser *p, const token *at, str name, value *first, u32 count);
value *ssa_use(parser *p, const operand_ref *ref, const type *t); /* NULL: reported */

/* ---- ops: parse_op.c ---- */
bool parser_op(parser *p, block *into);
bool parser_operand(parser *p, operand_ref *out);
bool parser_operands(parser *p, op_state *st);       /* none or more, with commas */
bool parser_operand_item(parser *p, void *op_state); /* one more, of parser_list */
/* A region's braces and body; args (may be NULL) are those of the entry block. */
bool parser_region(parser *p, op_state *st, const region_args *args);
bool parser_region_arg(parser *p, region_arg *out, bool typed, bool attrs);
region *parser_new_region(parser *p, op_state *st);

/* ---- forms: form_parse.c; whole ops: custom_parse.c ---- */
bool parser_form(parser *p, op_state *st);
/* The types of operands and results, as a function type or an alias of one. */
bool parser_signature(parser *p, op_state *st);
bool parser_custom(parser *p, op_state *st, bool *known); /* by op id */
bool parser_tensor_op(parser *p, op_state *st);           /* tensor_ops.c */
bool parser_flags(parser *p, op_state *st, int slot);     /* arith's, of the slot's kind */
bool parser_check(parser *p, op_state *st);               /* check.*: check_ops.c */
bool parser_shape(parser *p, op_state *st);               /* shape_ops.c */

#endif
