/* Which shardings of @main's arguments, and which mesh, cost least: found by running the line.
 *
 * A plan gives every argument a closed sharding over whole axes of one mesh. Arguments of one type
 * that are used in one way (plan_read.c) share a choice, so that the search does not grow with a
 * model's depth. What a plan costs is read off the partitioned program (plan_cost.c): seconds of
 * products and memory traffic, seconds of collectives on the topology's links, and, where memory is
 * limited, what the executor asks for. The answer depends on the program and the question alone,
 * not on threads or clocks. */
#ifndef EXPLAIN_PLAN_H
#define EXPLAIN_PLAN_H

#include "base/index.h"
#include "explain/explain.h"

enum {
  PLAN_AXES = 4,
  PLAN_WHOLE = -1,
  PLAN_ENDS = 2 /* layers at either end of a deep program that are searched on */
};

typedef struct plan_question {
  const explain_source *source; /* devices: of the meshes that are tried; as_propagated, meshes:
                                   not looked at */
  str mesh;              /* "mesh=x=2,y=4" or "x=2,y=4": this one only; empty: all that fit */
  str axes;              /* "data,model": of meshes, where the program has none */
  const topology *links; /* NULL: those of eight accelerators a node, see docs/explain.md */
  u64 memory;            /* that a device has; 0: enough */
  u32 tries;             /* plans to try at most; 0: as many as take some seconds */
  u32 threads;           /* 0: one a processor */
  bool free;             /* constraints inside the program are left out */
} plan_question;

/* Dimension that each axis cuts, or PLAN_WHOLE. */
typedef struct plan_choice {
  signed char dim[PLAN_AXES];
} plan_choice;

typedef struct plan_mesh {
  i64 size[PLAN_AXES];
} plan_mesh;

typedef struct plan_group {
  str name; /* of the first; numbers in brackets that differ are [*] */
  str type;
  i64s dims;
  u64 bytes;    /* of one */
  bool ranked;  /* a tensor */
  bool product; /* an operand of a product */
  u64 kind;
  VEC(u32) args;
} plan_group;

typedef struct plan_cost {
  enum { PLAN_UNKNOWN, PLAN_WORKS, PLAN_LARGE, PLAN_FAILS } state; /* LARGE: for the memory */
  double compute, sends;                                           /* seconds */
  u64 bytes, collectives; /* that a device sends; collectives, trips counted */
  u64 arguments, memory;  /* of a device; memory 0: not known */
} plan_cost;

typedef struct plan_state {
  u32 mesh;                   /* PLAN_OWN: the program as it is */
  const plan_choice *choices; /* by group */
  u32 order;                  /* of those tried */
  bool seen_around;           /* its neighbours were tried */
  plan_cost cost;
} plan_state;
enum { PLAN_OWN = UINT32_MAX };

typedef enum plan_claim {
  PLAN_BEST_OF, /* of those tried */
  PLAN_OPTIMAL  /* of all assignments */
} plan_claim;

/* Another choice for one group, everything else being as in the plan. */
typedef struct plan_other {
  u32 group;
  plan_choice choice;
  plan_cost cost;
} plan_other;

typedef struct plan_answer {
  arena a;
  const plan_question *q;
  topology links; /* with speeds */
  u32 devices;
  /* the program */
  str mesh_name;
  VEC(str) axes;
  VEC(plan_mesh) meshes;
  VEC(plan_group) groups;
  u32 *group_of, *result_of; /* [num_args]; the result that takes an argument over, UINT32_MAX */
  u32 num_args, num_ops;
  str *names;        /* [num_args] */
  i64 **pieces;      /* of the program as it is, see plan_run */
  plan_choice *said; /* [num_groups] what the user has annotated; NULL: nothing, or no such thing */
  bool own_mesh;     /* the program has the mesh: */
  VEC(str) own_axes;
  plan_mesh own_size;
  bool own_names;           /* and its axes are those of the plan */
  const char *overrides[2]; /* of the program as it is, where a mesh was asked for */
  bool fixed;               /* and it is written for it */
  /* with a few of its layers, where they are many; see plan_shrink */
  str small;
  u32 *kept, num_kept; /* its arguments, as numbers of the program's */
  u32 layers, small_layers;
  double small_seconds; /* of the best there, with which others and by_mesh compare */
  /* what was found */
  plan_state best, own; /* own.cost.state PLAN_UNKNOWN: the program is for other devices */
  plan_claim claim;
  double assignments;      /* that there are */
  u32 tried;               /* plans */
  VEC(plan_state) by_mesh; /* the best found of each mesh that was tried, best first */
  VEC(plan_other) others;  /* the best other choice, and leaving it whole, for each group */
} plan_answer;

/* INVALID_ARGUMENT: the program or the mesh is wrong; RESOURCE_EXHAUSTED: out of memory. Always to
 * be ended. That nothing fits the memory is no error: the best has PLAN_LARGE then. */
status plan_make(const plan_question *q, plan_answer *out) MUST_USE;
void plan_end(plan_answer *p);
void plan_print(plan_answer *p, bool json, buf *out);
/* The program with the plan's annotations, as text. */
status plan_annotated(plan_answer *p, buf *out) MUST_USE;

/* ---- between its files ---- */

/* plan_read.c: fills in the program. */
status plan_read(plan_answer *p) MUST_USE;
i64 plan_mesh_devices(const plan_mesh *m); /* -1: too many */
/* plan_shrink.c: where arguments and ops show that there are many layers alike, makes of the module
 * one of a few and keeps its text. kinds: by op number, equal where ops are alike. */
void plan_shrink(plan_answer *p, struct ir_module *m, const u64 *kinds);
/* plan_write.c: gives a module as it was read the mesh and annotations of a state. open: groups
 * that are whole are left to propagation. */
void plan_annotate(const plan_answer *p, const plan_state *s, bool open, struct ir_module *m);
struct op *plan_entry(struct ir_module *m);
/* Of one argument: {{"data"}, {}} and P('data', None). */
void plan_put_sharding(buf *b, const plan_answer *p, const plan_group *g, const plan_choice *c);
void plan_put_spec(buf *b, const plan_answer *p, const plan_group *g, const plan_choice *c);
/* plan_cost.c: sets the costs of n states, on several threads. */
typedef struct plan_run {
  plan_state *state;
  bool open; /* see plan_annotate */
  signed char
      *got;     /* open: [num_groups], the dimension that the program has cut; NULL: not wanted */
  i64 **pieces; /* [num_groups][rank]: sizes of a device's pieces; NULL: not wanted */
  bool loud;    /* that it does not compile is an error */
  bool whole;   /* memory is wanted, whatever the question says */
} plan_run;
status plan_run_all(plan_answer *p, plan_run *runs, size_t n) MUST_USE;
u64 plan_arguments(const plan_answer *p, const plan_state *s); /* bytes of a device's pieces */
static inline double plan_seconds(const plan_cost *c) { return c->compute + c->sends; }
/* Which costs less; ties: less memory, then fewer bytes of arguments. */
int plan_compare(const plan_cost *a, const plan_cost *b);
/* Where one axis goes if it is said of one group: what propagation makes of that. */
typedef struct plan_tactic {
  u32 axis;         /* UINT32_MAX: of any axis */
  signed char *dim; /* by group */
} plan_tactic;

/* plan_moves.c: what is tried next. */
typedef struct plan_search {
  plan_answer *p;
  VEC(plan_state *) all; /* in the order in which they were tried */
  hash_index seen;
  VEC(plan_run) batch; /* to be run */
  VEC(plan_tactic) tactics;
  u32 budget;
  plan_choice *next; /* scratch, by group */
} plan_search;

/* Every axis of the choice divides what it cuts; axes of one device cut nothing. */
bool plan_fits(const plan_answer *p, u32 mesh, const plan_group *g, const plan_choice *c);
/* All choices that fit a group, in one order. */
typedef VEC(plan_choice) plan_choices;
plan_choices plan_list_choices(plan_answer *p, u32 mesh, const plan_group *g);
/* A state to be tried, unless it was, or enough have been. */
void plan_propose(plan_search *s, u32 mesh, const plan_choice *choices);
plan_state *plan_seen(plan_search *s, u32 mesh, const plan_choice *choices); /* NULL: not yet */
status plan_find_tactics(plan_search *s) MUST_USE;
void plan_move_axes(plan_search *s, const plan_state *from);
/* Of one axis: two tactics together. */
void plan_move_pairs(plan_search *s, const plan_state *from);
void plan_move_mesh(plan_search *s, const plan_state *from);
void plan_move_groups(plan_search *s, const plan_state *from);

#endif
