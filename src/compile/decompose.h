/* Inside compile only: ops that programs have no step for become ops that have one. */
#ifndef COMPILE_DECOMPOSE_H
#define COMPILE_DECOMPOSE_H

#include "ir/op.h"

/* In all functions. Not `last`: before propagation, those that Shardy has no rule for, so that
 * shardings go through what they are made of. `last`: all of them, with shapes of shards; calls
 * are inlined. false: reported. */
bool decompose_module(ir_module *m, arena *scratch, bool last);

/* Custom calls that take functions of the module and become ops here: before calls are inlined,
 * since what nothing calls is erased then. */
bool decompose_calls(ir_module *m, arena *scratch);

/* Of a row: does it become other ops here? */
bool decompose_knows(op_id id);

#endif
