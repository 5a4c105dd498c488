/* Plans of redistribute.c that see a layout as pieces with numbers, whatever its axes are. */
#ifndef MESH_REDISTRIBUTE_STEPS_H
#define MESH_REDISTRIBUTE_STEPS_H

#include "mesh/redistribute.h"

typedef VEC(redistribute_step) step_vec;

/* Cuts both layouts into the same pieces, as ranks that hold the same allow; moves the pieces; and
 * gathers the target's. A rank receives little more than its slice, whatever the matrices. false:
 * too few ranks hold the same. */
bool plan_by_pieces(arena *a, const layout *from, const layout *to, const mesh *ranks,
                    step_vec *out);

/* Moves prime factors of the number of pieces between dimensions, an all-to-all each, until the
 * dimensions have the target's; pieces move where the target wants them, and what is left over is
 * gathered. There is always such a plan; false: its sizes don't fit numbers. */
bool plan_by_primes(arena *a, const layout *from, const layout *to, const mesh *ranks,
                    step_vec *out);

#endif
