/* Inside mpmd only: pipelines, which run passes by their names with options of their own. */
#ifndef MPMD_STEPS_H
#define MPMD_STEPS_H

#include "pass/pass.h"

typedef struct steps {
  ir_module *m;
  const pass_args *args; /* the pipeline's */
  bool ok;               /* false: one failed, and the others do nothing */
} steps;

void step(steps *s, const char *name);
void step_with(steps *s, const char *name, const pass_option *options, size_t n);
/* With the pipeline's option `from`, if it is given, as `to`. */
void step_given(steps *s, const char *name, const char *from, const char *to);
void step_flag(steps *s, const char *name, const char *option, bool on);

#endif
