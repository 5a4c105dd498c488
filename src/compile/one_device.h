/* Inside compile only: custom calls that one device makes. */
#ifndef COMPILE_ONE_DEVICE_H
#define COMPILE_ONE_DEVICE_H

#include "ir/op.h"

/* On a custom_call: the partition that makes it; its results go from there to the others. */
#define CALL_DEVICE STR("terrazzo.device")

/* Before propagation: a call whose sharding is a maximal mesh, as JAX has it of callbacks in
 * programs for several devices, gets CALL_DEVICE instead. So everything else sees values that all
 * devices have. */
void calls_on_one_device(ir_module *m, arena *scratch);

#endif
