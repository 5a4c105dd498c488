/* Shapes that a program leaves open, settled by those of its arguments. */
#ifndef PASS_REFINE_H
#define PASS_REFINE_H

#include "dialect/expand.h"

/* Does any value of the module have a dimension of unknown size? */
bool refine_wanted(ir_module *m);
/* @main's arguments take these sizes, "2x3" ("" for a scalar) one each, where their types leave
 * them open. false: reported. */
bool refine_arguments(ir_module *m, op *main, const char *const *shapes, size_t n);
/* Calls are inlined. In the order of the program, numbers that follow from constants and from sizes
 * that are known become constants, and types follow from those of the operands. Assertions about
 * shapes that hold are erased. false: one does not, or some shape is not known in the end;
 * reported.
 */
bool refine_shapes(ir_module *m, arena *scratch, op *main);

/* refine_eval.c: the elements of o's one result, integers, from those of its operands; false: they
 * do not follow. */
bool refine_eval(expander *e, const op *o, i64s *out);

#endif
