/* Inside export only: names of the functions that fragments become. Source: openxla/shardy,
 * naming_utils.h. */
#ifndef MPMD_EXPORT_NAMING_H
#define MPMD_EXPORT_NAMING_H

#include "mpmd/util.h"

/* By its stage, "stage2"; else by the name that most of its origins have, with the range of their
 * numbers, "block_1:3", and "..." where there are other names; "inferred": it has none. Behind
 * that what the transposes are, "fwd", "bwd", "transpose2", unless all of the program is forward.
 */
str name_of_fragment(arena *a, const op *fragment, bool all_forward);

/* A fragment that runs a function: its name by itself, and its call counter; -1: none. */
typedef struct call_site {
  str name;
  i64 counter;
} call_site;
typedef VEC(call_site) call_sites;

/* The first one's name, and "_call3", "_calls0to3" or "_calls3from0" where the counters are those
 * of a loop. */
str name_of_sites(arena *a, const call_sites *sites);
/* At most 200 bytes of it. */
str name_cut(arena *a, str name);

#endif
