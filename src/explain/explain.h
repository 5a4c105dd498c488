/* Answers about a sharded program, made by running the line (compile/compile.h) and looking.
 *
 * Each question is a function that fills a plain structure, and two printers, for people and as
 * JSON. Structures live in the arena of an explain_run and are valid until it ends. Bad programs
 * end in a status with `file:line:col: error: ...` lines, as compile_source has it. */
#ifndef EXPLAIN_EXPLAIN_H
#define EXPLAIN_EXPLAIN_H

#include "base/status.h"
#include "compile/compile.h"
#include "partition/why.h"

typedef struct explain_source {
  str text, file;
  u32 devices;               /* 0: as the module says */
  const char *const *meshes; /* as in compile_options */
  const char *meshes_said;   /* what messages call them; NULL: "meshes" */
  bool as_propagated;        /* no choices that cost less */
  oom_trap *trap;            /* where it goes when memory is out behind a line; not NULL */
  /* Changes the source besides edits, once its ops are numbered, and the program of one device, for
   * tests; NULL: nobody does. false: reported. */
  bool (*change)(void *user, why_log *w, ir_module *m);
  bool (*plant)(void *user, const why_log *w, ir_module *m);
  void *user;
} explain_source;

/* ---- changes of annotations ---- */

typedef enum edit_kind {
  EDIT_DROP, /* takes `axis` out of the annotation at `at` */
  EDIT_OPEN, /* opens all dimensions of the annotation at `at` */
  /* a constraint on operand at.index of op at.op (WHY_INSIDE), or on a result; of @main's
   * signature: another annotation */
  EDIT_CONSTRAIN,
  EDIT_FREE, /* takes the constraint at.op away */
} edit_kind;
typedef struct explain_edit {
  edit_kind kind;
  why_place at;
  str axis;     /* EDIT_DROP */
  str sharding; /* EDIT_CONSTRAIN: #sdy.sharding<...> */
} explain_edit;

/* Does it to a source that why_begin has numbered; false: reported. An edit whose place does not
 * exist changes nothing. */
bool explain_apply(why_log *w, ir_module *m, const explain_edit *list, size_t n);

/* ---- a run of the line ---- */

typedef struct explain_collective {
  str kind, axes; /* "all_gather", as wire_use.axes */
  u32 group;
  u64 bytes, trips;
  bool unknown, asked;
  double beside; /* as wire_use.beside */
  i64s devices;  /* its groups one after the other, `row` each; -1: none */
  u32 row;
  why_tags tags; /* what it serves */
} explain_collective;

typedef VEC(explain_collective) explain_collectives;
/* Of the program of one device (compile_options.partitioned), without tags. In the arena. */
explain_collectives explain_list(arena *a, ir_module *m);

typedef struct explain_run {
  const explain_source *source;
  why_log log;
  explain_collectives collectives;
  u64 bytes;       /* that a device sends in all */
  str remarks;     /* what is held whole, a line each */
  executable *exe; /* where it was asked for */
} explain_run;

/* `whole`: up to an executable. Always to be ended. */
status explain_line(const explain_source *s, const explain_edit *edits, size_t num_edits,
                    bool whole, explain_run *out) MUST_USE;
/* Of two at once, up to executables; both are to be ended. */
status explain_both(const explain_source *a, const explain_source *b, explain_run *out_a,
                    explain_run *out_b) MUST_USE;
void explain_end(explain_run *r);

/* ---- words ---- */

/* "argument 3 'params.w1'", "add 'jit(f)/add' at f.py:3:8": for people. */
void explain_put_op(buf *b, const why_log *w, u32 op);
void explain_put_place(buf *b, const why_log *w, why_place p);
/* [{"x"}, {}], without the mesh where there is only one */
void explain_put_sharding(buf *b, const why_log *w, str sharding);
void explain_put_bytes(buf *b, u64 bytes);        /* 1.5 KiB */
void explain_put_seconds(buf *b, double seconds); /* 12 us */
void explain_put_edit(buf *b, const why_log *w, const explain_edit *e);
/* "id": the op's number in the source, "op": ..., "name": ..., "file": ..., "line": ...,
 * "column": ... */
void explain_json_op(buf *b, const why_log *w, u32 op);
void explain_json_place(buf *b, const why_log *w, why_place p);

/* ---- comms ---- */

/* What joins devices. Those whose numbers are the same when divided by `size` are on one level;
 * devices of a collective along an axis that is named are on that axis' links instead. */
typedef struct comms_link {
  str name;
  bool axis;
  u64 size;                  /* of a level; UINT64_MAX: all */
  double bandwidth, latency; /* bytes a second that a device sends; seconds a message */
} comms_link;

typedef struct topology {
  VEC(comms_link) links; /* levels from the innermost on, axes in any order */
  double flops;          /* of a device, a second */
  double memory;         /* bytes that a device reads and writes in its own, a second */
} topology;

/* Reads a topology (docs/explain.md has the format); false: reported to the sink with its line. */
bool topology_read(arena *a, diag_sink *sink, str file, str text, topology *out);

typedef struct comms_row {
  str kind, axes, link;
  u64 count, calls, bytes; /* collectives, runs of them, bytes that a device sends */
  double seconds, hidden;  /* hidden: of these, behind products that could run meanwhile */
} comms_row;

typedef struct comms_answer {
  VEC(comms_row) rows; /* most seconds first */
  comms_row sum;
} comms_answer;

comms_answer explain_comms(explain_run *r, const topology *t);
/* Seconds that one run of a collective takes, and over which link. */
double comms_seconds(const topology *t, const explain_collective *c, str *out_link);
void explain_comms_print(const comms_answer *c, bool json, buf *out);

/* ---- why ---- */

typedef enum root_kind {
  ROOT_ARGUMENT,   /* annotation of an argument of @main */
  ROOT_RETURNED,   /* annotation of a result of @main */
  ROOT_CONSTRAINT, /* a constraint of the program */
  ROOT_MANUAL,     /* a manual computation has its operands or results so */
  ROOT_CHOSEN,     /* it costs less than what propagation had */
  ROOT_OP,         /* the op itself, whatever is annotated */
  ROOT_UNKNOWN
} root_kind;

typedef struct why_chain {
  VEC(size_t) events; /* from the value back */
  root_kind kind;
  why_place root;
  u32 by; /* op that says so; 0: the signature */
  str says;
} why_chain;

typedef struct why_cause {
  why_axis axis;
  why_chain chain;
} why_cause;

typedef struct why_part {
  why_tag tag;
  VEC(why_cause) causes;
} why_part;

typedef struct why_fix {
  const explain_edit *edits; /* together */
  size_t num_edits;
  u64 bytes; /* of the whole program after it; UINT64_MAX: that does not compile */
  bool gone; /* no collective of this kind, along these axes, for this op is left */
} why_fix;

typedef struct why_answer {
  u32 number; /* from 1, in the order of the program */
  const explain_collective *c;
  VEC(why_part) parts;
  VEC(why_fix) fixes; /* what was tried; best first */
} why_answer;

void explain_chain(explain_run *r, size_t event, why_place holder, str axis, why_chain *out);
why_answer explain_why(explain_run *r, u32 number);
/* Tries changes of annotations by running the line again, at most `limit` of them and as many as it
 * takes to drop what asks for the collective. EXPLAIN_SOME: fewer where the program is large. */
#define EXPLAIN_SOME UINT32_MAX
status explain_fix(explain_run *r, why_answer *a, u32 limit) MUST_USE;
/* The first annotation that its causes lead to and that is not among `known`; false: there is none
 * to change. */
bool explain_root_edit(const why_answer *a, const explain_edit *known, size_t n, explain_edit *out);
bool explain_same_edit(const explain_edit *x, const explain_edit *y);

typedef struct why_question {
  u32 number; /* of one collective; 0: all */
  str value;  /* "%arg0", "result 0", or the name of an op in the source; empty: none */
  u32 line;   /* of the source; 0: none */
  u32 tries;  /* changes to try for each collective */
  u32 most;   /* kinds of collectives that people see; all of them where changes are tried */
  bool json;
  const topology *links; /* for times; NULL: none */
} why_question;
enum { EXPLAIN_SHOWN = 6 }; /* steps of a chain that people see, half from each end */
/* Why a collective is needed, and who said that a chain's end is sharded so, as clauses. */
void explain_put_reason(buf *b, const why_log *w, const explain_collective *c, why_tag t);
const char *explain_root_words(root_kind kind);
void explain_put_edits(buf *b, const why_log *w, const why_fix *f);
/* INVALID_ARGUMENT: there is no such collective, value or line. */
status explain_why_print(explain_run *r, const why_question *q, buf *out) MUST_USE;

/* ---- diff ---- */

/* One kind of difference; places and ops are of the second program, or of the first where it is
 * only there. Alike ones are counted together. */
typedef enum diff_kind {
  DIFF_ANNOTATION, /* of the signature or a constraint */
  DIFF_VALUE,      /* is sharded otherwise */
  DIFF_COMES,      /* a collective that the first does not have */
  DIFF_GOES,       /* one that the second does not have */
  DIFF_OP_COMES,   /* ops of one name that only the second has */
  DIFF_OP_GOES
} diff_kind;
typedef struct diff_row {
  diff_kind kind;
  why_place at; /* the first of them */
  bool of_first;
  str before, after; /* shardings; of collectives: kind and axes */
  u64 count, bytes;  /* bytes: of the values, or that a device sends */
} diff_row;

typedef struct diff_answer {
  VEC(diff_row) rows; /* by kind, those of most bytes first */
  u64 bytes[2], collectives[2], memory[2];
  double flops[2];
} diff_answer;

/* Of two runs that are whole; ops are matched by structure and place in the source. */
diff_answer explain_diff(explain_run *a, explain_run *b);
void explain_diff_print(explain_run *a, explain_run *b, const diff_answer *d, bool json, u32 most,
                        buf *out);

/* ---- check ---- */

typedef enum check_kind {
  CHECK_REPLICATED, /* a large value that nobody shards */
  CHECK_WHOLE,      /* an op that needs a dimension whole that is cut */
  CHECK_IN_LOOP,    /* a gather inside a loop */
  CHECK_PADDING,    /* a dimension that its axes do not divide */
  CHECK_AXIS,       /* an axis that nothing uses */
  CHECK_FIGHT,      /* constraints that differ on one value */
  CHECK_DONATION    /* a donated argument that no result takes over */
} check_kind;
typedef struct check_row {
  check_kind kind;
  why_place at, other;
  str text;  /* what is said of it */
  u64 bytes; /* what it costs a device: bytes that are held or sent without need */
} check_row;
typedef struct check_answer {
  VEC(check_row) rows; /* by bytes */
} check_answer;

/* Of a run that is whole. large: values of fewer bytes may be replicated. */
check_answer explain_check(explain_run *r, u64 large);
void explain_check_print(explain_run *r, const check_answer *c, bool json, u32 most, buf *out);

/* ---- mem ---- */

/* One buffer of a device. */
typedef struct mem_buffer {
  enum { MEM_ARGUMENT, MEM_RESULT, MEM_WORK, MEM_CONSTANT } kind;
  u32 index; /* of the argument or result */
  u64 bytes;
  str type, sharding, name; /* element type; as the source has it, where it is known */
  str made_by, loc;         /* the op that writes it first, "file:line:col" */
  u32 first, last;          /* steps, from 0 */
} mem_buffer;

typedef struct mem_answer {
  u32 devices, num_steps;
  u64 arguments, results; /* results: those that take over no argument */
  u64 donated;            /* of results that do, which cost nothing */
  u64 workspace;          /* what a device allocates for a run */
  u64 constants;          /* once, for all devices */
  u64 total;              /* of a device: arguments, results, workspace */
  u64 peak;               /* of the workspace, alive at once */
  u32 peak_step;
  str peak_name, peak_loc;
  VEC(mem_buffer) alive; /* at the peak, largest first; arguments and results among them */
  u64 *over_time;        /* [num_steps]: of the workspace, alive while the step runs */
} mem_answer;

/* Bytes that a device needs for a run, as mem_answer.total. */
u64 explain_total(const program *p);
/* Of a run that is whole. */
mem_answer explain_mem(explain_run *r);
void explain_mem_print(explain_run *r, const mem_answer *m, bool json, u32 most, buf *out);

/* ---- report ---- */

/* What the page knows, for people and programs, and for other viewers. */
typedef enum report_form {
  REPORT_PAGE,  /* HTML that needs nothing else (explain/page) */
  REPORT_DATA,  /* what the page knows, as JSON */
  REPORT_GRAPH, /* of Model Explorer */
  REPORT_TRACE  /* of Chrome's trace viewer: an estimated run, each loop once; wants links */
} report_form;
typedef struct report_question {
  const topology *links; /* for times; NULL: none */
  u32 tries;             /* changes to try for each collective */
  u64 large;             /* as for explain_check */
  explain_run *other;    /* a whole run of what it was before; NULL: no comparison */
  report_form form;
} report_question;

void explain_put_graph(explain_run *r, buf *out);
void explain_put_timeline(explain_run *r, const topology *links, buf *out);
/* Of a run that is whole. INVALID_ARGUMENT: the form wants links. */
status explain_report(explain_run *r, const report_question *q, buf *out) MUST_USE;

#endif
