/* terrazzo opt, in parts: what was asked for (opt_args.c), what is watched (opt_watch.c). */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include "bytecode/bytecode.h"
#include "cli.h"
#include "pass/pass.h"
#include "text/text.h"

/* Which dumps of the IR, to standard error. */
typedef struct dump_options {
  bool before_all, after_all, after_change, after_failure, module_scope;
  const char *before, *after; /* names with commas between; NULL: none */
} dump_options;

typedef struct opt_options {
  const char *file, *output;
  buf pipeline; /* comma-separated */
  text_print_options print;
  bool split, list, help, unregistered, bytecode, no_verify_each, explicit_module;
  bool show_dialects, dump_pipeline, timing, ignored;
  const char *dialects[17]; /* shared objects, and a NULL */
  size_t num_dialects;
  const char *op_priorities;
  const char *expect;         /* of -verify-diagnostics: "all" or "only-expected"; NULL: nothing */
  const char *marker;         /* of -split-input-file */
  const char *joint;          /* between the parts of the output; NULL: the marker */
  const char *timing_display; /* "list" or "tree" */
  const char *verbosity; /* "errors", "warnings" or "remarks": what is said, and all before it */
  diag_kind least;       /* the same */
  const char *target;    /* of the bytecode; NULL: the default */
  i64 format;            /* of the bytecode; 0: the default */
  dump_options dump;
  struct interpret_options *interpret; /* run the modules; NULL: print them */
  bytecode_write_options write;
} opt_options;

/* The passes and patterns that there are. */
pass_tables opt_passes(void);

/* false: reported. */
bool opt_arguments(opt_options *o, int argc, char **argv);
void opt_help(void);
void opt_list_passes(void);
void opt_show_dialects(void);

/* --load-dialect and --op-priorities, for a context that has read nothing. false: reported. */
bool opt_extend(const opt_options *o, ir_ctx *c);

/* ---- watching passes run ---- */

typedef struct timed {
  const char *name;
  u64 begin, ns;
  u32 depth;
} timed;

typedef struct watch {
  const opt_options *o;
  arena a; /* of its own, over the trap that watch_init was given */
  VEC(timed) times;
  u64 begin;
  u32 depth;
  VEC(u64) before; /* hashes of the module's text, for after_change */
} watch;

void watch_init(watch *w, const opt_options *o, oom_trap *trap);
void watch_install(watch *w, pass_tables *t);
/* A part of the work that is no pass: from begin to end. Returns a handle. */
size_t watch_begin(watch *w, const char *name);
void watch_end(watch *w, size_t at);
void watch_report(watch *w); /* -mlir-timing; then releases all */

#endif
