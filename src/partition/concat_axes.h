/* Inside partition only: the axes under which Shardy computes an op whose dimensions have one
 * factor each, to the last tie. common_axes.h does better where nobody compares. */
#ifndef PARTITION_CONCAT_AXES_H
#define PARTITION_CONCAT_AXES_H

#include "shard/rule.h"

typedef struct concat_problem {
  const rule *rule;
  const mesh *mesh;
  const axis_list *axes; /* [tensor][factor] */
  const i64 *sizes;      /* elements of each tensor */
} concat_problem;

bool rule_has_factor(const rule *r, u32 t, u32 f);
/* out[num_factors] */
void concat_axes(arena *a, const concat_problem *p, axis_list *out);

#endif
