/* Shapes that a program leaves open, settled by those of its arguments. */
#ifndef PASS_REFINE_H
#define PASS_REFINE_H

#include "dialect/expand.h"

/* Does any value of the module have a dimension of unknown size, or is there an op of shape, tensor
 * or arith? */
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

/* Ops of shape, tensor and arith that go here. */
#define REFINE_OPS(X)                                                                              \
  X(shape_of)                                                                                      \
  X(const_shape)                                                                                   \
  X(cstr_broadcastable) X(shape_broadcast) X(assuming) X(tensor_dim) X(from_elements)              \
      X(tensor_extract) X(tensor_cast) X(addi) X(subi) X(muli) X(divsi) X(maxsi) X(cmpi)           \
          X(arith_select)
bool refine_knows(op_id id);

/* The integers of a constant, be it a tensor or a scalar; false: it is none. */
bool refine_known(expander *e, const value *v, i64s *out);
/* refine_index.c: ops of shape and tensor, and arith's of whole numbers, as refine_eval. */
bool refine_index(expander *e, const op *o, i64s *out);
/* Of shapes that may be broadcast together; false: they may not, or are not known. */
bool refine_broadcast(expander *e, const op *o, i64s *out);

/* refine_eval.c: the elements of o's one result, integers, from those of its operands; false: they
 * do not follow. */
bool refine_eval(expander *e, const op *o, i64s *out);

/* The same of an elementwise op on one number each. */
bool refine_number(const op *o, const i64 *in, i64 *out);

/* refine_call.c: what a custom call becomes whose sizes are operands that are known; o: it stays,
 * perhaps without operands that say the shapes of its results. */
op *refine_call(expander *e, op *o);

#endif
