/* What compile has of each row. */
#ifndef COMPILE_COVERAGE_H
#define COMPILE_COVERAGE_H

#include "ir/op.h"

/* What the program has of an op, for `terrazzo ops`. */
typedef enum compile_way {
  COMPILE_NO,
  COMPILE_VANISHES, /* nothing is left of it to run: functions, shardings, calls */
  COMPILE_RUNS
} compile_way;
compile_way compile_way_of(op_id id);

#endif
