/* A sharded program against the same program on one device.
 *
 * Both run on the same inputs, given or random. Where results differ by more than rounding, values
 * in between are looked at, a range of ops at a time (verify_look.h), and the first op whose value
 * is wrong is named. Manual computations are run on their mesh in both, all else is whole in one.
 */
#ifndef API_VERIFY_H
#define API_VERIFY_H

#include "explain/explain.h"
#include "terrazzo/terrazzo.h"

typedef struct verify_question {
  const void *const *inputs; /* global arrays; NULL: random ones */
  u64 seed;
  double tolerance; /* of the largest magnitude in an array; 0: by its type */
  u32 at_once;      /* values to look at in one run; 0: 128 */
} verify_question;

typedef struct verify_answer {
  bool same;
  u32 result;   /* the first result that differs */
  double error; /* by this much of its largest magnitude; INFINITY: a NaN, an integer, ... */
  u32 values;   /* how many were compared in between */
  bool found;   /* an op's value differs: */
  why_place at;
  double error_there;
} verify_answer;

/* The log of *out_run, which is always to be ended, names the op. */
status verify_program(tz_runtime *r, const explain_source *s, const verify_question *q,
                      verify_answer *out, explain_run *out_run) MUST_USE;
void verify_print(const explain_run *r, const verify_answer *a, bool json, buf *out);

#endif
