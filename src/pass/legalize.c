/* Passes that write ops as others: dialect/expand.h says how. */
#include "dialect/expand.h"
#include "pass/passes.h"

bool pass_chlo_legalize(ir_module *m, arena *scratch, const pass_args *args) {
  return expand_all(m, scratch, pass_root(m, args), expand_chlo, NULL);
}

bool pass_legalize_deprecated(ir_module *m, arena *scratch, const pass_args *args) {
  bool strict = pass_option_flag(args, STR("fail-on-unused"), true);
  return expand_all(m, scratch, pass_root(m, args), expand_deprecated, &strict);
}

bool pass_composite_to_call(ir_module *m, arena *scratch, const pass_args *args) {
  str except = pass_option_get(args, STR("except"), STR(""));
  return expand_all(m, scratch, pass_root(m, args), expand_composite, &except);
}

static bool expand_complex(rewriter *r, op *o) {
  expander e = expander_before(rewriter_module(r), rewriter_scratch(r), o);
  op *before = o->prev;
  value *out;
  if (!expand_complex_math(&e, o, &out)) return false;
  op *first = before ? before->next : o->parent->first;
  for (op *i = first; i != o; i = i->next) rewrite_inserted(r, i);
  rewrite_replace(r, o, &out);
  return true;
}

bool pass_complex_math(ir_module *m, arena *scratch, const pass_args *args) {
  static const rewrite_pattern patterns[] = {
      {OP_log_plus_one, 1, expand_complex, "Log1pOp_ComplexMathExpander", NULL},
      {OP_sqrt, 1, expand_complex, "SqrtOp_ComplexElementType_ComplexMathExpander", NULL},
      {OP_log, 1, expand_complex, "LogOp_ComplexMathExpander", NULL},
      {OP_exponential, 1, expand_complex, "ExpOp_ComplexMathExpander", NULL},
      {0},
  };
  rewrite_functions(m, scratch, args, patterns);
  return true;
}
