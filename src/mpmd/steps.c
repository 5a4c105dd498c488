/* Pipelines; steps.h has them. */
#include "mpmd/steps.h"

void step_with(steps *s, const char *name, const pass_option *options, size_t n) {
  s->ok = s->ok && pass_run_named(s->m, s->args->tables, name, options, n);
}

void step(steps *s, const char *name) { step_with(s, name, NULL, 0); }

void step_given(steps *s, const char *name, const char *from, const char *to) {
  pass_option o = {str_of(to), pass_option_get(s->args, str_of(from), (str){0})};
  step_with(s, name, &o, o.value.len ? 1 : 0);
}

void step_flag(steps *s, const char *name, const char *option, bool on) {
  step_with(s, name, &(pass_option){str_of(option), on ? STR("true") : STR("false")}, 1);
}
