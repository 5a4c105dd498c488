/* Inside api only: what verify.c looks at, values of @main that become results besides its own. */
#ifndef API_VERIFY_LOOK_H
#define API_VERIFY_LOOK_H

#include "explain/explain.h"

typedef VEC(why_place) place_list;

typedef struct looking {
  const explain_source *s;
  const char **meshes; /* of the source's, each with one device */
  bool manual;         /* it has manual computations, which are for their mesh alone */
  bool reference;
  u32 first, count;  /* ops of the log to look at; count 0: only at the program's results */
  place_list values; /* of the results that the latest run has more, in its log */
  place_list pieces; /* of those that come after them; WHY_NOWHERE: one of the op's several */
  arena *a;          /* of that log */
} looking;

/* Of the program that nobody shards, on its source: calls in @main are opened, so that what they do
 * is seen; the same place once for each call. Where there are manual computations all else is kept
 * whole instead, on their mesh. For explain_source.change; user is the looking. */
bool look_at_source(void *user, why_log *w, ir_module *m);
/* On the program of one device, which stays as it is: of the sharded one all that could be shards
 * of values, what is elsewhere for a while and parts of sums among them; of the whole one only what
 * stands in manual computations. Each is a result of all pieces one after the other along a first
 * dimension, in the order of the first mesh. For .plant. */
bool look_at_pieces(void *user, const why_log *w, ir_module *m);
/* The program's first mesh; NULL: there is none. */
const why_mesh *first_mesh(const why_log *w);
bool in_manual(const why_log *w, u32 op);

/* ---- how pieces may lie ---- */

/* slices: [devices][rank], the shard that each has along each dimension. true: no more. */
typedef bool layout_fn(void *user, const u32 *slices);
/* Each way in which pieces of these sizes can be shards of the whole over the mesh's axes and parts
 * of them; at most some dozens. false: there is none. */
bool each_layout(const why_mesh *m, i64s whole, i64s local, layout_fn *fn, void *user);

/* ---- comparing ---- */

/* The largest difference, as a part of the largest magnitude, but for a few that are far from all
 * others. INFINITY: whole numbers or truth values that differ, a NaN that only one has. */
double array_error(dtype t, const void *x, const void *y, size_t bytes);
/* What may be rounding. */
double array_tolerance(dtype t);

/* Pieces of all devices one after the other, and the whole value. */
typedef struct compared_pieces {
  const why_mesh *mesh;
  dtype type;
  i64s local, whole;
  i64 num;
  const char *pieces, *of;
  size_t bytes; /* of the whole */
} compared_pieces;
/* array_error of the best of all layouts; parts: of those as parts of sums. -1: there is no layout.
 */
double compare_pieces(const compared_pieces *p, bool parts);

/* ---- what was seen ---- */

typedef struct found_op {
  /* parts: what each device has adds up to the value */
  enum { OP_UNSEEN, OP_RIGHT, OP_PARTS, OP_WRONG } is;
  bool visited;
  u32 index; /* of the result that is wrong */
  double error;
} found_op;

typedef struct found_ops {
  found_op *ops; /* by number in the log */
  u32 *stack;
  u32 num;
} found_ops;

status found_begin(found_ops *f, const why_log *w) MUST_USE;
void found_end(found_ops *f);
/* Where a result of @main that differs comes from: the first op with a wrong value that it is made
 * from by way of wrong or unseen ones only, else the one that makes it, if nobody could see its
 * value; 0: there is none. Shards of a value may look wrong
 * where it is kept otherwise for a while, but then what is made of them is right. */
u32 found_first(found_ops *f, const why_log *w, u32 result);

#endif
