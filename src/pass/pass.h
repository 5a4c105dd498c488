/* Passes and pipelines: what `terrazzo opt -name` runs, and what compile runs in order.
 *
 * A pass changes a module in place. Its row is data in a table of its module (shard, partition,
 * dialect, pass); pass_find looks through the tables that the caller gives, so that no global
 * registry exists. */
#ifndef PASS_PASS_H
#define PASS_PASS_H

#include "ir/op.h"

/* One option as given: `-sdy-x="a=1 b"`; value empty for a bare name. */
typedef struct pass_option {
  str name, value;
} pass_option;

typedef struct pass_args {
  const pass_option *options;
  size_t num_options;
  const struct pass_tables *tables; /* for passes that run others */
} pass_args;

/* false: an error was reported. Scratch memory: an arena of the pass's own over ir_mem and
 * ir_trap of the context, released on return (pass_run does that and hands it in). */
typedef bool pass_fn(ir_module *m, arena *scratch, const pass_args *args);

typedef struct pass_info {
  const char *name;    /* "sdy-aggressive-propagate" */
  const char *summary; /* a sentence for --help */
  pass_fn *fn;
  const char *const *pipeline; /* names of the passes that it stands for; fn NULL then */
} pass_info;

typedef struct pass_tables {
  const pass_info *const *tables; /* each ends with a NULL name */
  size_t count;
  /* after every pass that ran; may be NULL */
  void (*after)(void *user, const pass_info *pass, ir_module *m);
  void *user;
} pass_tables;

const pass_info *pass_find(const pass_tables *t, str name); /* NULL: none */
/* Runs one pass or pipeline; a failed one leaves the module valid to destroy only. */
bool pass_run(ir_module *m, const pass_info *pass, const pass_args *args);
/* "sdy-a,sdy-b{x=1 y}": a textual pipeline; `builtin.module(...)` and `func.func(...)` around
 * parts are accepted. Errors go to the context's sink. */
bool pass_run_text(ir_module *m, str pipeline, const pass_tables *t);
/* value of option `name`, or `otherwise` */
str pass_option_get(const pass_args *args, str name, str otherwise);
bool pass_option_flag(const pass_args *args, str name, bool otherwise);

/* Generic passes: symbol-dce, canonicalize (what is implemented of it), cse, inline. */
extern const pass_info pass_generic[];

#endif
