/* Inside compile only: composites, named computations and the like become plain ops. */
#ifndef COMPILE_FLATTEN_H
#define COMPILE_FLATTEN_H

#include "ir/op.h"

typedef struct flatten_options {
  bool manual;    /* manual computations too: on one device a body's values are the whole ones */
  bool shardings; /* ops that only speak of shardings go: constraints, groups, edges, barriers */
} flatten_options;

/* In all functions: the bodies of named computations take their place, composites are replaced
 * by their decompositions, custom calls that only pass a value on vanish. Calls are inlined
 * before (pass `inline`). With `shardings`, operands of reductions and scatters are converted to
 * the type that their bodies combine. false: reported. */
bool flatten_module(ir_module *m, arena *scratch, const flatten_options *options);

/* diagonal.c: before o, a reduce, whose result is replaced; false: it is no sum of a diagonal. */
bool flatten_diagonal(ir_module *m, arena *scratch, op *o);

/* Whether o, a reduce of one value, is a sum from 0 on in that value's type. */
bool flatten_is_sum(const op *o);

/* padded.c: o, an add, is one of parts with zeros around them, or, a reduce, the sum of such; it is
 * no longer used. false: it is not such. */
bool flatten_padded(ir_module *m, arena *scratch, op *o);
bool flatten_parts(ir_module *m, arena *scratch, op *o);

/* stretch.c: o, a broadcast of a reshape, is no longer used; false: it is not such. */
bool flatten_stretch(ir_module *m, arena *scratch, op *o);

/* grouped.c: o, a dot_general of a vector, has one of what a reshape put together; false: it is not
 * such. */
bool flatten_grouped(ir_module *m, arena *scratch, op *o);

/* empty.c: values without elements are constants. */
void empty_values(ir_module *m, arena *scratch);

/* On the module as it was read, before anything moves: interpreter.print remembers what its operand
 * is called. */
void flatten_name_prints(ir_module *m);
#define PRINTED_NAME STR("terrazzo.printed_name")

/* Of a row: is it put away here, by what it stands for or by nothing? */
bool flatten_knows(op_id id);

/* flatten_calls.c: checks and what speaks to the host, as custom calls. */
bool flatten_is_call(op_id id); /* those that flatten_into_call knows */
void flatten_into_call(ir_module *m, arena *scratch,
                       op *o); /* before o, whose results are replaced */
bool flatten_check_eq(ir_module *m, arena *scratch, op *o); /* false: o is no such call */

#endif
