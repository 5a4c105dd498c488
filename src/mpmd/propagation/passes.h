/* Inside mpmd only: the functions of the rows of mpmd_propagation_passes, and what they share. */
#ifndef MPMD_PROPAGATION_PASSES_H
#define MPMD_PROPAGATION_PASSES_H

#include "mpmd/mpmd.h"

pass_fn pass_mpmd_types_from_shardings, pass_mpmd_convert_constants, pass_mpmd_unreduced_out,
    pass_mpmd_enforce_shardings, pass_mpmd_extract_reshards, pass_mpmd_simplify_program,
    pipeline_mpmd_propagation;

/* Of fragments that take v: how they take it. A NULL changes nothing. */
void set_in_shardings(ir_module *m, const value *v, const attr *sharding);
/* Changes fragments' operands or results. A NULL changes nothing. */
void set_out_sharding(ir_module *m, op *fragment, size_t i, const attr *sharding);

#endif
