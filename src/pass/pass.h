/* Passes and pipelines: what `terrazzo opt -name` runs, and what compile runs in order.
 *
 * A pass changes a module in place. Its row is data in a table of its module (shard, partition,
 * dialect, pass); pass_find looks through the tables that the caller gives, so that no global
 * registry exists. */
#ifndef PASS_PASS_H
#define PASS_PASS_H

#include "ir/op.h"
#include "pass/rewrite.h"

/* One option as given: `-sdy-x="a=1 b"`; value empty for a bare name. */
typedef struct pass_option {
  str name, value;
} pass_option;

typedef struct pass_args {
  const pass_option *options;
  size_t num_options;
  const struct pass_tables *tables; /* for passes that run others */
  op *root; /* what the pass runs on, for passes that can do less than a module; NULL: all */
} pass_args;

/* false: an error was reported. Scratch memory: an arena of the pass's own over ir_mem and
 * ir_trap of the context, released on return (pass_run does that and hands it in). */
typedef bool pass_fn(ir_module *m, arena *scratch, const pass_args *args);

typedef enum pass_option_kind {
  PASS_FLAG,     /* true or false */
  PASS_INT,      /* 64 bits */
  PASS_UINT,     /* 32 bits, none of them a sign */
  PASS_STRING,   /* anything */
  PASS_LIST,     /* values with commas between */
  PASS_PIPELINE, /* for functions */
  PASS_PIPELINES /* each in the name of what it is for */
} pass_option_kind;

/* A row of a pass's options. */
typedef struct pass_option_info {
  const char *name;
  pass_option_kind kind;
  const char *otherwise; /* the value if it is not given */
  const char *help;      /* NULL: only pipelines give it */
  const char *words;     /* of a string: the only ones there are, with commas between; NULL: any */
} pass_option_info;

/* What anchors a pass can be in, besides `any(...)` around all. */
typedef enum pass_scope {
  PASS_ON_MODULE, /* builtin.module, the outermost one */
  PASS_ON_FUNCS,  /* func.func; from the module it goes to all of them */
  PASS_ON_ANY
} pass_scope;

typedef struct pass_info {
  const char *name;    /* "sdy-aggressive-propagate" */
  const char *summary; /* a sentence for --help */
  pass_fn *fn;
  const char *const *pipeline;     /* names of the passes that it stands for; fn NULL then */
  const pass_option_info *options; /* ends with a NULL name; NULL: it has none */
  pass_scope scope;
  bool nested;     /* runs on args->root alone; others always see the whole module */
  bool any_module; /* takes modules that could not run, as generic passes do */
  bool of_passes;  /* changes nothing itself: what it runs has been verified */
} pass_info;

struct shard_trace;
struct why_log;
typedef struct pass_tables {
  const pass_info *const *tables; /* each ends with a NULL name */
  size_t count;
  /* after every pass that ran; may be NULL */
  void (*after)(void *user, const pass_info *pass, ir_module *m);
  void *user;
  const rewrite_pattern *const *patterns; /* of canonicalize, besides stablehlo's own */
  size_t num_patterns;
  void (*before)(void *user, const pass_info *pass, ir_module *m);
  void (*failed)(void *user, const pass_info *pass, ir_module *m);
  /* Where shardings came from (shard/trace.h), after each pass that propagates; NULL: nobody asks.
   */
  void (*traced)(void *user, const struct shard_trace *t);
  struct why_log
      *why;         /* partition/why.h: what passes are to say of what they do; NULL: nobody asks */
  bool verify_each; /* the module is verified after every pass */
  /* Writes the module as text, for passes told to dump; false: it could not. NULL: never. */
  bool (*save)(void *user, ir_module *m, str path);
} pass_tables;

const pass_info *pass_find(const pass_tables *t, str name); /* NULL: none */
/* Runs one pass or pipeline; a failed one leaves the module valid to destroy only. `before` and
 * `after` are called for passes and for pipelines that are rows. An option that the pass does not
 * have is an error. */
bool pass_run(ir_module *m, const pass_info *pass, const pass_args *args);
/* The one of that name, for passes that run others by name; none is an error. */
bool pass_run_named(ir_module *m, const pass_tables *t, const char *name,
                    const pass_option *options, size_t n);
/* "sdy-a,sdy-b{x=1 y}": a textual pipeline, MLIR's. Ops' names around parts anchor them: these run
 * on each such op in the body of what is around; `builtin.module(...)` and `any(...)` around all,
 * or around an outermost part, is the module itself. All of it is checked before any of it runs.
 * Errors go to the context's sink, with their place in the text, as MLIR has them. */
bool pass_run_text(ir_module *m, str pipeline, const pass_tables *t);

/* A pipeline as read. */
typedef struct pass_node {
  const pass_info *pass; /* NULL: an anchor around `first` */
  str name;
  const pass_option *options;
  size_t num_options;
  struct pass_node *first, *next;
} pass_node;
/* NULL: reported. The root is the anchor: "builtin.module" for the outermost one; empty: what is
 * read are pipelines, each in an anchor of its own. Nodes and strings are of the arena and of
 * `text`. */
const pass_node *pass_parse(ir_ctx *c, arena *a, const char *anchor, str text,
                            const pass_tables *t);
/* What the root holds, on `on`, which is such an op; NULL: the module. */
bool pass_run_nodes(ir_module *m, op *on, const pass_node *root, const pass_tables *t);
/* The pipeline in MLIR's notation, with every option that the passes declare. */
void pass_print(buf *b, const pass_node *n);

/* value of option `name`, or `otherwise` */
str pass_option_get(const pass_args *args, str name, str otherwise);
bool pass_read_flag(str v, bool *out); /* as MLIR reads a bool; nothing is true */
bool pass_option_flag(const pass_args *args, str name, bool otherwise);
i64 pass_option_int(const pass_args *args, str name, i64 otherwise);
static inline op *pass_root(const ir_module *m, const pass_args *args) {
  return args && args->root ? args->root : m->root;
}

/* Generic passes: canonicalize, cse, inline, symbol-dce, strip-debuginfo. */
extern const pass_info pass_generic[], pass_tests[];

#endif
