/* Inside compile only: values that are no tensors of numbers make way for such. */
#ifndef COMPILE_PLAIN_H
#define COMPILE_PLAIN_H

#include "ir/op.h"

/* func.call_indirect of a function that is named becomes func.call. *left: one that is not, or
 * NULL. */
void plain_calls(ir_module *m, op **left);

/* On a custom_call: which of its operands, and behind them its results, were tokens. */
#define CALL_TOKENS STR("terrazzo.tokens")
/* On a function: which of its arguments and results are tokens in the source. */
#define VALUE_IS_TOKEN STR("terrazzo.token")

/* tokens.c */
void tokens_widen(ir_module *m, arena *scratch);

/* In all functions, their types included: tuples and futures become their parts, in order (what
 * async_start would run is run in its place), tokens become truth values. false: reported. */
bool plain_bundles(ir_module *m, arena *scratch);
/* Quantized values become their storage, and ops on them what they stand for; sizes are known. */
bool plain_quantized(ir_module *m, arena *scratch);

/* Of a row: does it go here? */
bool plain_knows(op_id id);

/* foreign.c: custom calls that have the name of an op of a foreign dialect become that op. */
void foreign_calls(ir_module *m, arena *scratch);

#endif
