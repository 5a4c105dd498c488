/* Inside api only: contexts and modules, and how an entry guards itself.
 *
 * An entry that may allocate or report begins with ENTER(c) and ends with `return
 * leave(&entry_, status)`, its work being in a function of its own: out of memory jumps back to
 * ENTER, which returns status_oom. Entries nest: a foreign dialect's callback may call them. */
#ifndef API_CONTEXT_H
#define API_CONTEXT_H

#include "api/sized.h"
#include "ir/op.h"
#include "terrazzo/trace.h"

/* One message of the compiler. */
typedef struct pending {
  diag_kind kind;
  u32 line, col;
  size_t file, text; /* offsets into tz_context.strings, NUL-terminated */
} pending;

/* For one thread at a time. All that its handles point to is in the arena of `ir` or of a module,
 * and is valid until that is freed; types and attributes live as long as the context. */
struct tz_context {
  oom_trap own_trap, *trap; /* the IR's */
  diag_sink own_sink, *sink;
  ir_ctx *ir;
  tz_module *modules;          /* live ones */
  struct foreign_def *foreign; /* registered ops, the latest first */
  struct foreign_symbol *symbols;
  bool allow_unregistered;
  tz_diagnostic_fn *diagnostics;
  void *diagnostics_user;
  u32 depth; /* of entries */
  buf log;   /* lines for the message of a tz_error */
  buf queue; /* pending, in order, to be told at the end of the outermost entry */
  buf strings;
};

struct tz_module {
  tz_context *context;
  ir_module *ir; /* NULL: freed; the struct itself lives as long as the context */
  tz_module *next, **link;
  bool verified; /* and not changed since */
  bool edited;   /* ever: ops may use values that stand nowhere */
};

typedef struct entry {
  tz_context *c;
  oom_trap outer;       /* of the entry around this one */
  const arena *scratch; /* the latest at the beginning */
} entry;

void entry_begin(entry *e, tz_context *c);
/* Tells diagnostics; makes the status the caller's. */
tz_error *leave(entry *e, status s) MUST_USE;

#define ENTER(context)                                                                             \
  entry entry_;                                                                                    \
  if (!(context)) return bad_handle();                                                             \
  entry_begin(&entry_, (context));                                                                 \
  if (setjmp((context)->trap->at)) return leave(&entry_, status_oom())

tz_error *bad_handle(void);                                    /* "NULL, or of something freed" */
status wrong(const char *fmt, ...) PRINTF_LIKE(1, 2) MUST_USE; /* invalid argument */
/* What the compiler has reported in this entry, as a status. */
status reported(tz_context *c) MUST_USE;
/* The context of a module that still lives; NULL otherwise. */
static inline tz_context *live(const tz_module *m) { return m && m->ir ? m->context : NULL; }
tz_module *module_adopt(tz_context *c, ir_module *ir);
/* tz_module_run; a trace is filled, or NULL. */
status module_run(tz_module *m, const char *pipeline, tz_trace *trace) MUST_USE;
struct shard_trace;
void trace_record(void *trace, const struct shard_trace *from); /* a pass_tables' traced */
/* A copy for tz_free of what the buffer has; out NULL: no memory. Empties the buffer. */
status give_text(buf *b, char **out_text, size_t *out_length) MUST_USE;

walk_result mark(void *user, op *o); /* sets the num of the op and its values to 1 */

/* build.c: before a change, so that a jump out of the middle leaves the right marks. */
void touch(tz_module *m);
/* Whether a handle is of another module, and what is said then. */
bool op_foreign(const tz_module *m, const op *o);
bool value_foreign(const tz_module *m, const value *v);
status foreign(void) MUST_USE;

/* The handle of a module that the API may not have made. */
tz_module *module_handle(tz_context *c, ir_module *ir);

/* Handles are the compiler's own pointers. */
static inline op *op_of(const tz_op *o) { return (op *)(uintptr_t)o; }
static inline value *value_of(const tz_value *v) { return (value *)(uintptr_t)v; }
static inline block *block_of(const tz_block *b) { return (block *)(uintptr_t)b; }
static inline region *region_of(const tz_region *r) { return (region *)(uintptr_t)r; }
static inline const type *type_of(const tz_type *t) { return (const type *)(const void *)t; }
static inline const attr *attr_of(const tz_attr *a) { return (const attr *)(const void *)a; }
static inline tz_op *op_out(const op *o) { return (tz_op *)(uintptr_t)o; }
static inline tz_value *value_out(const value *v) { return (tz_value *)(uintptr_t)v; }
static inline tz_block *block_out(const block *b) { return (tz_block *)(uintptr_t)b; }
static inline const tz_type *type_out(const type *t) { return (const tz_type *)(const void *)t; }
static inline const tz_attr *attr_out(const attr *a) { return (const tz_attr *)(const void *)a; }

/* Lists are pointers to pointers of another name only. Made by functions: gcc suspects that a
 * compound literal beside a setjmp does not survive it. */
static inline types types_of(const tz_type *const *t, size_t n) {
  return (types){(const type *const *)(const void *)t, n};
}
static inline attrs attrs_of(const tz_attr *const *a, size_t n) {
  return (attrs){(const attr *const *)(const void *)a, n};
}
static inline i64s ints_of(const int64_t *values, size_t n) { return (i64s){values, n}; }
static inline str data_of(const void *data, size_t n) { return (str){data, n}; }
static inline tz_error *error_out(status s) { return (tz_error *)(uintptr_t)s; }
static inline bool is_loc(const attr *a) {
  return attr_is(loc_unknown, a) || attr_is(loc_file, a) || attr_is(loc_name, a) ||
         attr_is(loc_callsite, a) || attr_is(loc_fused, a);
}
bool all_there(const void *const *list, size_t n); /* no NULL among them */

#endif
