/* The rows of vhlo.def: how an op of VHLO and an op of ours say the same. */
#ifndef BYTECODE_VHLO_H
#define BYTECODE_VHLO_H

#include "bytecode/writer.h"

/* What an attribute holds when ours is absent; see vhlo.def. */
typedef enum wire_default {
  KEEP,
  ZERO,
  MINUS1,
  FALSE,
  EMPTY,
  BLANK,
  ONES,
  ZEROS,
  CASE0,
  CASE1,
  CASES0,
  LAYOUTS,
  ACCURACY
} wire_default;

typedef struct wire_prop {
  const char *name;
  wire_default otherwise;
} wire_prop;

typedef struct vhlo_row {
  const char *name;
  u32 min, max; /* versions of StableHLO that have it */
  const char *target;
  wire_prop props[MAX_PROPS];
} vhlo_row;

extern const vhlo_row vhlo_rows[];
extern const size_t vhlo_num_rows;

/* Where a property of a row goes in an op of `info`. */
prop vhlo_place(const op_info *info, const char *name);
/* Does the attribute say no more than its absence, in the newest row that has it? */
bool vhlo_is_default(const char *op_name, const char *prop_name, const attr *a);

#endif
