/* What a partitioned program sends, collective by collective.
 *
 * Costs are those of a ring: of n devices in a group, where b bytes are the whole,
 *   all_reduce                               2 (n - 1) / n b
 *   all_gather, reduce_scatter, all_to_all     (n - 1) / n b   (all_to_all: what a device holds)
 *   collective_permute, collective_broadcast             b     (0: nobody sends to another)
 * leave a device. What a loop runs counts once a trip. */
#ifndef PARTITION_WIRE_H
#define PARTITION_WIRE_H

#include "ir/op.h"

typedef struct wire_use {
  const op *op;
  u32 group; /* devices; of a permute, 2 */
  str axes;  /* of the module's mesh, as Shardy writes them; the groups' sizes if they fit none */
  u64 bytes; /* that a device sends each time, on average of those that do */
  u64 trips; /* how often it runs, where the loops around it say so */
  bool unknown;  /* they do not: a trip of such a loop counts as one */
  bool asked;    /* the program has it; else partitioning made it */
  double beside; /* multiplications of products between its operands and its first use */
} wire_use;

typedef VEC(wire_use) wire_uses;

/* Before partitioning: marks the collectives that the program has. */
void wire_mark_asked(ir_module *m);
/* Of collectives that become others. */
bool wire_is_asked(const op *o);
void wire_set_asked(ir_module *m, op *o);
/* After it, in the order of the program; both ways of a conditional. In the arena. */
wire_uses wire_list(arena *a, ir_module *m);
/* A collective takes as long as so many bytes do before its first byte is through, on accelerators
 * of these years. */
enum { WIRE_BYTES_A_CALL = 16 << 10 };
/* What a step of the program costs a device: bytes sent and products, weighed against each other as
 * today's accelerators do. For comparing, in no unit. */
double wire_cost(arena *a, ir_module *m);
/* Seconds that a step of it computes. A product takes as long as its operations do at `flops` a
 * second or its operands and result at `bandwidth` bytes a second, other ops as long as the bytes
 * that they read and write; what is elementwise is computed where its only user is. */
double wire_seconds(const ir_module *m, double flops, double bandwidth);

#endif
