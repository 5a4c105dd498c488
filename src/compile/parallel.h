/* Inside compile only: programs of several functions, and what they say to each other and to the
 * host. */
#ifndef COMPILE_PARALLEL_H
#define COMPILE_PARALLEL_H

#include "compile/module.h"
#include "dialect/expand.h"

/* interpreter.run_parallel in @main: one program over the whole grid, of which every device runs
 * @main, and in the place of the op its own function; what each gives, all have then. What @main
 * says to the host, the first device says. *grid: how many devices that takes; 0: there is no such
 * op, and nothing is changed. *fed: infeeds find what they ask for in a channel. false: reported.
 */
bool parallel_expand(ir_module *m, arena *scratch, op *main, module_devices *grid, bool *fed);

/* infeed, outfeed, send and recv become custom calls: of channels between devices where the module
 * has both ends of one, else of the host. `fed`: infeeds have their other end. */
void channels_expand(ir_module *m, arena *scratch, bool fed);

/* Of a row: does it become other ops here? */
bool parallel_knows(op_id id);

/* The number of the channel of infeeds; others are what the program says. */
#define CHANNEL_INFEED INT64_MIN
/* Makes the call that hands tensors to a channel. */
op *channels_send(expander *e, i64 channel, value *const *in, size_t n);

#endif
