/* Terrazzo's IR in C: read, walk, build, change, verify, transform and write programs.
 *
 *   tz_context *c;  tz_module *m;  char *text;  size_t n;
 *   tz_error *e = tz_context_create(NULL, &c);
 *   if (!e) e = tz_module_parse(c, source, length, "model.mlir", &m);
 *   if (!e) e = tz_module_run(m, "sdy-propagation-pipeline");
 *   if (!e) e = tz_module_print(m, NULL, &text, &n);
 *
 * Ownership. A context owns types, attributes and modules; a module owns its ops, blocks, regions
 * and values. Such a handle is borrowed: it is valid until its module (types and attributes: its
 * context) is freed, an erased op's too, which has lost its operands and is of no use. A tz_use is
 * valid until the operands of its op are set. Free only contexts, modules (a context frees those
 * that are left), errors, and what is said to end in tz_free.
 * Types and attributes are immutable, and equal ones of one context are one pointer, except dense
 * constants of more than 256 bytes.
 *
 * Threads. A context with all that it owns is used by one thread at a time; contexts know nothing
 * of each other.
 *
 * Errors. What may fail returns a tz_error, NULL if all is well, and then sets its out_ parameter;
 * on failure that is NULL or 0. The message of an error in a program is lines of
 * `file:line:col: error: ...`; a callback of the context gets the same in parts. Getters cannot
 * fail: asked of NULL, of the wrong kind or out of range, they answer NULL, 0 or what is said.
 * Out of memory is an error like others (code 8) and leaks nothing; the module that was being
 * changed can then only be freed.
 *
 * Strings that go in end in NUL, unless a length goes with them; strings that come out are NUL-
 * terminated too and live as long as what they belong to. Sizes are bytes, numbers count from 0,
 * lines and columns from 1. */
#ifndef TERRAZZO_IR_H
#define TERRAZZO_IR_H

#include "terrazzo/terrazzo.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tz_context tz_context;
typedef struct tz_module tz_module;
typedef struct tz_op tz_op;
typedef struct tz_region tz_region;
typedef struct tz_block tz_block;
typedef struct tz_value tz_value; /* a result of an op or an argument of a block */
typedef struct tz_use tz_use;     /* an operand, seen from the value */
typedef struct tz_type tz_type;
typedef struct tz_attr tz_attr;

typedef struct tz_string {
  const char *data; /* "" if there is none */
  size_t length;
} tz_string;

/* ---- diagnostics ----
 *
 * Threads: the function is called by the thread that uses the context, from within its calls. */

typedef enum tz_severity { TZ_ERROR, TZ_WARNING, TZ_REMARK, TZ_NOTE } tz_severity;

typedef struct tz_diagnostic {
  size_t struct_size; /* set by the library */
  tz_severity severity;
  const char *file;      /* "" where the place is not known */
  uint32_t line, column; /* 0: not known */
  const char *message;
  const struct tz_diagnostic *const *notes; /* in order; they have none of their own */
  size_t num_notes;
} tz_diagnostic;

/* Called from within a function of this header, before it returns, a call a diagnostic. All of
 * `d` is gone after the call. It must not use the context. */
typedef void tz_diagnostic_fn(void *user, const tz_diagnostic *d);

/* ---- contexts ----
 *
 * Threads: that of the context, one at a time. It may go from one thread to another where the
 * caller has them wait for each other.
 * Threads, tz_context_create: any, several at once.
 * Threads, tz_context_free: that of the context, as the last call on it and all that it owns. */

typedef struct tz_context_options {
  size_t struct_size;
  bool allow_unregistered;       /* ops, types, attributes of dialects that nobody knows */
  tz_diagnostic_fn *diagnostics; /* NULL: errors are in the messages of tz_error, the rest lost */
  void *diagnostics_user;
} tz_context_options;

/* Options may be NULL. */
TZ_API tz_error *tz_context_create(const tz_context_options *options, tz_context **out_context);
TZ_API void tz_context_free(tz_context *c); /* with all its modules; NULL is fine */

/* ---- types ----
 *
 * Threads: that of the context, one at a time. */

typedef enum tz_type_kind {
  TZ_TYPE_NONE,
  TZ_TYPE_INDEX,
  TZ_TYPE_INTEGER,
  TZ_TYPE_FLOAT,
  TZ_TYPE_COMPLEX,
  TZ_TYPE_TENSOR,
  TZ_TYPE_UNRANKED,
  TZ_TYPE_VECTOR,
  TZ_TYPE_FUNCTION,
  TZ_TYPE_TUPLE,
  TZ_TYPE_TOKEN,
  TZ_TYPE_FUTURE,
  TZ_TYPE_QUANTIZED, /* an element type */
  TZ_TYPE_MEMREF,
  TZ_TYPE_OTHER,       /* of a dialect without a meaning here */
  TZ_TYPE_INVALID = -1 /* of NULL */
} tz_type_kind;

typedef enum tz_signedness { TZ_SIGNLESS, TZ_SIGNED, TZ_UNSIGNED } tz_signedness;

#define TZ_DYNAMIC INT64_MIN /* a dimension of unknown size */

/* Any type as MLIR writes it: "f32", "tensor<2x?xbf16>", "(i32) -> f8E4M3FN". */
TZ_API tz_error *tz_type_parse(tz_context *c, const char *text, const tz_type **out_type);
TZ_API tz_error *tz_type_integer(tz_context *c, uint32_t width, tz_signedness sign,
                                 const tz_type **out_type);
TZ_API tz_error *tz_type_complex(tz_context *c, const tz_type *element, const tz_type **out_type);
/* Dimensions are at least 0 or TZ_DYNAMIC; encoding may be NULL. */
TZ_API tz_error *tz_type_tensor(tz_context *c, const int64_t *dims, size_t rank,
                                const tz_type *element, const tz_attr *encoding,
                                const tz_type **out_type);
TZ_API tz_error *tz_type_function(tz_context *c, const tz_type *const *inputs, size_t num_inputs,
                                  const tz_type *const *results, size_t num_results,
                                  const tz_type **out_type);
TZ_API tz_error *tz_type_tuple(tz_context *c, const tz_type *const *elements, size_t num_elements,
                               const tz_type **out_type);

TZ_API tz_type_kind tz_type_kind_of(const tz_type *t);
/* The text of a type; tz_free. */
TZ_API tz_error *tz_type_print(const tz_type *t, char **out_text);
TZ_API uint32_t tz_type_width(const tz_type *t); /* bits of an integer or float */
TZ_API tz_signedness tz_type_signedness(const tz_type *t);
TZ_API int64_t tz_type_rank(const tz_type *t);          /* tensors, vectors; -1 of others */
TZ_API int64_t tz_type_dim(const tz_type *t, size_t i); /* -1: there is no such dimension */
TZ_API bool tz_type_is_static(const tz_type *t);        /* a tensor without dynamic dimensions */
TZ_API int64_t tz_type_num_elements(const tz_type *t);  /* -1: dynamic, too many, or no tensor */
TZ_API size_t tz_type_element_size(const tz_type *t);   /* bytes, as constants store it; 0: none */
/* Of tensors, vectors and complex numbers; NULL of others. */
TZ_API const tz_type *tz_type_element(const tz_type *t);
TZ_API const tz_attr *tz_type_encoding(const tz_type *t); /* NULL: none */
/* Of functions; the elements of a tuple, and of a future, count as inputs. */
TZ_API size_t tz_type_num_inputs(const tz_type *t);
TZ_API const tz_type *tz_type_input(const tz_type *t, size_t i);
TZ_API size_t tz_type_num_results(const tz_type *t);
TZ_API const tz_type *tz_type_result(const tz_type *t, size_t i);

/* ---- attributes ----
 *
 * An attribute is of a kind, which has a name ("integer", "stablehlo.dot", "sdy.sharding"; an
 * array<i64: ...> is an "array<>"), and has named fields of the sorts below.
 *
 * Threads: that of the context, one at a time. */

typedef enum tz_field_sort {
  TZ_FIELD_INT,
  TZ_FIELD_BOOL,
  TZ_FIELD_STRING, /* bytes */
  TZ_FIELD_INTS,
  TZ_FIELD_TYPE,
  TZ_FIELD_ATTR,
  TZ_FIELD_ATTRS
} tz_field_sort;

typedef struct tz_field {
  const char *name;
  tz_field_sort sort; /* says which of the following counts */
  int64_t number;     /* integers, booleans */
  tz_string bytes;
  const int64_t *numbers;
  const tz_attr *const *attrs;
  size_t length;       /* of numbers or attrs */
  const tz_type *type; /* may be NULL */
  const tz_attr *attr; /* may be NULL */
} tz_field;

/* Any attribute as MLIR writes it: "dense<1.0> : tensor<4xf32>", "#sdy.sharding<@m, [{}]>". */
TZ_API tz_error *tz_attr_parse(tz_context *c, const char *text, const tz_attr **out_attr);
/* From its kind's name and fields, in any order; those left out are zero, empty or NULL (in
 * sdy.dimension_sharding a priority of -1 means none). The
 * verifier, not this function, says whether the values make sense. Locations, and dense, which
 * have functions of their own, are refused. */
TZ_API tz_error *tz_attr_make(tz_context *c, const char *kind, const tz_field *fields,
                              size_t num_fields, const tz_attr **out_attr);
TZ_API tz_error *tz_attr_unit(tz_context *c, const tz_attr **out_attr);
TZ_API tz_error *tz_attr_bool(tz_context *c, bool value, const tz_attr **out_attr);
/* Of an integer type of at most 64 bits, or index; the value must fit. */
TZ_API tz_error *tz_attr_int(tz_context *c, const tz_type *type, int64_t value,
                             const tz_attr **out_attr);
/* Of a float type of at most 64 bits; the nearest value that it has. */
TZ_API tz_error *tz_attr_float(tz_context *c, const tz_type *type, double value,
                               const tz_attr **out_attr);
TZ_API tz_error *tz_attr_string(tz_context *c, const char *data, size_t length,
                                const tz_attr **out_attr);
TZ_API tz_error *tz_attr_symbol(tz_context *c, const char *name, const tz_attr **out_attr); /*@x*/
TZ_API tz_error *tz_attr_type(tz_context *c, const tz_type *type, const tz_attr **out_attr);
TZ_API tz_error *tz_attr_ints(tz_context *c, const int64_t *values, size_t n,
                              const tz_attr **out_attr); /* array<i64: ...> */
TZ_API tz_error *tz_attr_array(tz_context *c, const tz_attr *const *elements, size_t n,
                               const tz_attr **out_attr);
typedef struct tz_named_attr {
  const char *name;
  const tz_attr *attr;
} tz_named_attr;
/* Of a name that comes twice, the later stays. */
TZ_API tz_error *tz_attr_dict(tz_context *c, const tz_named_attr *entries, size_t n,
                              const tz_attr **out_attr);
/* Elements row-major, little-endian, in whole bytes (i1 and below 8 bits: a byte each; complex:
 * pairs): all of the static tensor type, or one, which then stands for all. With borrow the bytes
 * must outlive the context, and are not copied. */
TZ_API tz_error *tz_attr_dense(tz_context *c, const tz_type *tensor, const void *data, size_t bytes,
                               bool borrow, const tz_attr **out_attr);

TZ_API const char *tz_attr_kind(const tz_attr *a);                 /* "" of NULL */
TZ_API tz_error *tz_attr_print(const tz_attr *a, char **out_text); /* tz_free */
TZ_API size_t tz_attr_num_fields(const tz_attr *a);
TZ_API bool tz_attr_field(const tz_attr *a, size_t i, tz_field *out_field); /* false: no such */
/* An enumeration's case ("EQ"); "" of others. */
TZ_API const char *tz_attr_case(const tz_attr *a);
/* The following say false where the attribute is something else. */
TZ_API bool tz_attr_get_int(const tz_attr *a, int64_t *out_value); /* booleans too: 0 and 1 */
TZ_API bool tz_attr_get_float(const tz_attr *a, double *out_value);
TZ_API bool tz_attr_get_string(const tz_attr *a, tz_string *out_value); /* symbols too: the root */
TZ_API bool tz_attr_get_type(const tz_attr *a, const tz_type **out_type);
/* array<i64: ...>; lives as long as the context. */
TZ_API bool tz_attr_get_ints(const tz_attr *a, const int64_t **out_values, size_t *out_n);
/* Arrays. */
TZ_API size_t tz_attr_num_elements(const tz_attr *a);
TZ_API const tz_attr *tz_attr_element(const tz_attr *a, size_t i);
/* Dictionaries: entry i in order of names, or by name. */
TZ_API size_t tz_attr_num_entries(const tz_attr *a);
TZ_API tz_named_attr tz_attr_entry(const tz_attr *a, size_t i); /* {NULL, NULL}: no such */
TZ_API const tz_attr *tz_attr_lookup(const tz_attr *a, const char *name);

/* Dense constants. */
TZ_API bool tz_attr_is_dense(const tz_attr *a);
TZ_API const tz_type *tz_dense_type(const tz_attr *a); /* NULL: no dense constant */
TZ_API bool tz_dense_is_splat(const tz_attr *a);
TZ_API tz_string tz_dense_bytes(const tz_attr *a); /* as stored: one element if splat */
/* Element i in row-major order; false: out of range, or the type has no such value (an integer
 * of 64 bits as double loses bits; the real part of a complex number). */
TZ_API bool tz_dense_int(const tz_attr *a, size_t i, int64_t *out_value);
TZ_API bool tz_dense_float(const tz_attr *a, size_t i, double *out_value);

/* ---- locations: attributes too ----
 *
 * Threads: that of the context, one at a time. */

TZ_API tz_error *tz_loc_unknown(tz_context *c, const tz_attr **out_loc);
TZ_API tz_error *tz_loc_file(tz_context *c, const char *file, uint32_t line, uint32_t column,
                             const tz_attr **out_loc);
/* loc("name"(child)); child NULL: unknown */
TZ_API tz_error *tz_loc_name(tz_context *c, const char *name, const tz_attr *child,
                             const tz_attr **out_loc);
/* The first place in a file that a location speaks of; false: none. */
TZ_API bool tz_loc_position(const tz_attr *loc, tz_string *out_file, uint32_t *out_line,
                            uint32_t *out_column);

/* ---- modules ----
 *
 * Threads: that of the context, one at a time. Modules of one context are not apart in this.
 * What is printed or written is the caller's, and any may free it.
 * Threads, tz_num_passes, tz_pass_at: any, several at once. */

TZ_API tz_error *tz_module_create(tz_context *c, tz_module **out_module); /* an empty one */
/* MLIR text, MLIR bytecode or a portable artifact. `file` is the name in locations and messages.
 * The source need not outlive the call. What was read is not verified. */
TZ_API tz_error *tz_module_parse(tz_context *c, const char *source, size_t length, const char *file,
                                 tz_module **out_module);
/* The same, but the source outlives the context: large constants of bytecode are not copied out of
 * it, so that a file may be mapped and read in little more memory than it takes. */
TZ_API tz_error *tz_module_parse_borrowed(tz_context *c, const char *source, size_t length,
                                          const char *file, tz_module **out_module);
/* A copy with ops of its own, in the same context. */
TZ_API tz_error *tz_module_clone(const tz_module *m, tz_module **out_module);
TZ_API void tz_module_free(tz_module *m); /* NULL is fine */
TZ_API tz_context *tz_module_context(const tz_module *m);
TZ_API tz_op *tz_module_op(const tz_module *m);      /* the builtin.module */
TZ_API tz_block *tz_module_body(const tz_module *m); /* its block */
/* The op of this symbol name in the module's body, or in the first block of an op, such as a module
 * within the module; NULL: none. */
TZ_API tz_op *tz_module_find(const tz_module *m, const char *symbol);
TZ_API tz_op *tz_op_find(const tz_op *o, const char *symbol);

/* Says what is wrong, several things at once. */
TZ_API tz_error *tz_module_verify(tz_module *m);

typedef struct tz_print_options {
  size_t struct_size;
  bool generic;           /* every op in the generic form */
  bool locations;         /* as aliases at the end */
  bool local_scope;       /* no aliases */
  int64_t elide_elements; /* constants of more elements are left out; 0: never */
  bool skip_regions;      /* regions as {...} */
  int64_t elide_resource; /* resources of more characters are left out; 0: never */
  int64_t hex_elements;   /* constants of more elements in hex; 0: of more than 100; -1: never */
  bool users;             /* the users of each value, as comments */
  bool unique_names;      /* no number of a value twice, in whatever region */
  bool location_names;    /* values are called as their locations are */
} tz_print_options;
/* Options may be NULL. The text is NUL-terminated besides; tz_free. A module that does not
 * verify is printed in the generic form. */
TZ_API tz_error *tz_module_print(tz_module *m, const tz_print_options *options, char **out_text,
                                 size_t *out_length);
/* The same text in pieces, which end anywhere, for what is not to be in memory whole. The callback
 * does not call into the context; when it returns false that is an error, CANCELLED (1). */
typedef bool tz_write_fn(void *user, const char *bytes, size_t length);
TZ_API tz_error *tz_module_print_to(tz_module *m, const tz_print_options *options,
                                    tz_write_fn *write, void *user);
TZ_API tz_error *tz_op_print(tz_module *m, tz_op *o, const tz_print_options *options,
                             char **out_text, size_t *out_length);
/* MLIR bytecode; a portable artifact for this version of StableHLO ("1.17.0"), or, with NULL,
 * the ops as they are. tz_free. The module must verify. Ops that stand nowhere and use its values
 * are erased, here and in tz_module_run. */
TZ_API tz_error *tz_module_write_bytecode(tz_module *m, const char *version, char **out_bytes,
                                          size_t *out_length);

/* tz_compile of a module, which must verify and stays as it is; locations are those of its ops. Ops
 * that were registered in its context are known without options.dialects; which ops propagate first
 * only the options say. */
TZ_API tz_error *tz_compile_module(tz_module *m, const tz_compile_options *options,
                                   tz_program **out_program);

/* Runs "a,b{x=1 y=2}", MLIR's notation for pipelines: passes by name, options in braces,
 * builtin.module(...) and func.func(...) around parts of it. The module is verified before and
 * after. After an error it can only be freed. */
TZ_API tz_error *tz_module_run(tz_module *m, const char *pipeline);
typedef struct tz_pass {
  const char *name, *summary;
} tz_pass;
TZ_API size_t tz_num_passes(void);
TZ_API tz_pass tz_pass_at(size_t i); /* {NULL, NULL}: no such */

/* ---- walking ----
 *
 * Threads: that of the context, one at a time, for reading too. */

TZ_API const char *tz_op_name(const tz_op *o); /* "stablehlo.add"; "" of NULL */
TZ_API bool tz_op_is_registered(const tz_op *o);
TZ_API const tz_attr *tz_op_loc(const tz_op *o);
TZ_API tz_op *tz_op_parent(const tz_op *o); /* around it; NULL: the outermost, or nowhere */
TZ_API tz_block *tz_op_block(const tz_op *o);
TZ_API tz_op *tz_op_next(const tz_op *o); /* in its block */
TZ_API tz_op *tz_op_prev(const tz_op *o);
TZ_API size_t tz_op_num_operands(const tz_op *o);
TZ_API tz_value *tz_op_operand(const tz_op *o, size_t i);
TZ_API tz_use *tz_op_operand_use(const tz_op *o, size_t i);
TZ_API size_t tz_op_num_results(const tz_op *o);
TZ_API tz_value *tz_op_result(const tz_op *o, size_t i);
TZ_API size_t tz_op_num_regions(const tz_op *o);
TZ_API tz_region *tz_op_region(const tz_op *o, size_t i);
TZ_API size_t tz_op_num_successors(const tz_op *o);
TZ_API tz_block *tz_op_successor(const tz_op *o, size_t i);
/* Attributes that are there: those of the op's own kind first, then the others by name. */
TZ_API size_t tz_op_num_attrs(const tz_op *o);
TZ_API tz_named_attr tz_op_attr_at(const tz_op *o, size_t i); /* {NULL, NULL}: no such */
TZ_API const tz_attr *tz_op_attr(const tz_op *o, const char *name);

TZ_API tz_op *tz_region_op(const tz_region *r); /* whose region it is */
TZ_API tz_block *tz_region_first_block(const tz_region *r);
TZ_API tz_block *tz_block_next(const tz_block *b);
TZ_API tz_block *tz_block_prev(const tz_block *b);
TZ_API tz_region *tz_block_region(const tz_block *b);
TZ_API size_t tz_block_num_args(const tz_block *b);
TZ_API tz_value *tz_block_arg(const tz_block *b, size_t i);
TZ_API tz_op *tz_block_first_op(const tz_block *b);
TZ_API tz_op *tz_block_last_op(const tz_block *b);

TZ_API const tz_type *tz_value_type(const tz_value *v);
TZ_API bool tz_value_is_arg(const tz_value *v);
TZ_API const tz_attr *tz_value_loc(const tz_value *v); /* its op's, or its own; NULL: not known */
TZ_API size_t tz_value_index(const tz_value *v);       /* among results or arguments */
TZ_API tz_op *tz_value_op(const tz_value *v);         /* that has it as result; NULL: an argument */
TZ_API tz_block *tz_value_block(const tz_value *v);   /* whose argument it is; NULL: a result */
TZ_API tz_use *tz_value_first_use(const tz_value *v); /* latest first */
TZ_API tz_use *tz_use_next(const tz_use *u);
TZ_API tz_op *tz_use_op(const tz_use *u);
TZ_API tz_value *tz_use_value(const tz_use *u);
TZ_API size_t tz_use_index(const tz_use *u); /* which operand of that op */

typedef enum tz_walk {
  TZ_WALK_ON,
  TZ_WALK_SKIP /* what is inside; pre-order */,
  TZ_WALK_STOP
} tz_walk;
typedef tz_walk tz_walk_fn(void *user, tz_op *o);
/* Visits o and all ops inside, outer before inner, or inner first with `post`; in that order
 * fn may erase the op at hand. False: fn stopped it, or o or fn is NULL. */
TZ_API bool tz_op_walk(tz_op *o, bool post, tz_walk_fn *fn, void *user);

/* ---- building and changing ----
 *
 * `m` is the module that the ops belong to; handles of another one are refused. Types and
 * attributes are not looked at: they must be of the module's context.
 *
 * Threads: that of the context, one at a time. */

typedef struct tz_op_spec {
  size_t struct_size;
  const char *name;   /* "stablehlo.add" */
  const tz_attr *loc; /* NULL: unknown */
  tz_value *const *operands;
  size_t num_operands;
  const tz_type *const *results; /* NULL with num_results 0: inferred where the op's kind can */
  size_t num_results;
  const tz_named_attr *attrs;
  size_t num_attrs;
  size_t num_regions; /* each empty: tz_block_create, tz_region_append. Inference sees none. */
  bool no_infer;      /* no results means none */
} tz_op_spec;

/* Makes an op that stands nowhere yet. All lists are copied. An unknown name is an error unless
 * the context allows it. */
TZ_API tz_error *tz_op_create(tz_module *m, const tz_op_spec *spec, tz_op **out_op);
/* The types of the results that an op has, or is to have, from all else: for kinds that can
 * tell. out_types has room for tz_op_num_results(o). */
TZ_API tz_error *tz_op_infer_types(tz_module *m, tz_op *o, const tz_type **out_types);
/* A copy of o and all inside, standing nowhere. o may be of another module of the context, if
 * nothing in it uses values or blocks from outside, as of functions. */
TZ_API tz_error *tz_op_clone(tz_module *m, const tz_op *o, tz_op **out_op);
/* Into a block, in front of an op of it (NULL: at the end); out of where it was. */
TZ_API tz_error *tz_op_insert(tz_module *m, tz_op *o, tz_block *block, tz_op *before);
TZ_API tz_error *tz_op_remove(tz_module *m, tz_op *o); /* out of its block; goes on to live */
/* For good, with all inside; nobody outside may use its results. */
TZ_API tz_error *tz_op_erase(tz_module *m, tz_op *o);
TZ_API tz_error *tz_op_set_operand(tz_module *m, tz_op *o, size_t i, tz_value *v);
TZ_API tz_error *tz_op_set_operands(tz_module *m, tz_op *o, tz_value *const *v, size_t n);
TZ_API tz_error *tz_op_set_attr(tz_module *m, tz_op *o, const char *name,
                                const tz_attr *a); /* NULL removes */
TZ_API tz_error *tz_op_set_loc(tz_module *m, tz_op *o, const tz_attr *loc);
TZ_API tz_error *tz_value_set_type(tz_module *m, tz_value *v, const tz_type *t);
/* All uses of `from` become uses of `to`. */
TZ_API tz_error *tz_value_replace(tz_module *m, tz_value *from, tz_value *to);
TZ_API tz_error *tz_block_create(tz_module *m, tz_block **out_block); /* standing nowhere */
TZ_API tz_error *tz_block_add_arg(tz_module *m, tz_block *b, const tz_type *t, const tz_attr *loc,
                                  tz_value **out_arg);                    /* loc may be NULL */
TZ_API tz_error *tz_block_erase_arg(tz_module *m, tz_block *b, size_t i); /* nobody uses it */
TZ_API tz_error *tz_block_erase(tz_module *m, tz_block *b); /* nobody outside uses its values */
/* To the end of a region; out of where it was. */
TZ_API tz_error *tz_region_append(tz_module *m, tz_region *r, tz_block *b);

/* Where the next op goes: a place for tz_build. A plain struct, to be filled in and changed. */
typedef struct tz_builder {
  tz_module *module;
  tz_block *block;
  tz_op *before;      /* NULL: at the end */
  const tz_attr *loc; /* of ops whose spec has none */
} tz_builder;
/* tz_op_create, then tz_op_insert. */
TZ_API tz_error *tz_build(const tz_builder *b, const tz_op_spec *spec, tz_op **out_op);

#ifdef __cplusplus
}
#endif
#endif
