/* Between vm_legalize.c, which says what numbers mean, and vm.c, which says where they lie: code as
 * calls of kernels on virtual registers. */
#ifndef EXEC_VM_LEGALIZE_H
#define EXEC_VM_LEGALIZE_H

#include "exec/vm.h"

/* Virtual registers: inputs, then outputs; constants and temporaries are in these ranges until
 * they are numbered for good. */
enum { CONST_BASE = 1u << 28, TEMP_BASE = 1u << 29 };

typedef struct vm_calls {
  arena *a, *kept; /* kept: what the unit has of it */
  const vm_kernels *k;
  const vm_spec *spec;
  bool parts;         /* c128 are two values of f64 each, until they are stored */
  lower_fault *fault; /* the first instruction that has no kernel */
  VEC(vm_call) calls;
  VEC(const void *) consts;
  VEC(vm_iota_use) iotas;
  VEC(u8) width; /* of temporary i: bytes an element */
  vm_output *outputs;
} vm_calls;

/* Lays down the calls of the spec's code in order: the values that its outputs need, each in a
 * register of its own as kernels take it, rounded or wrapped into its type; the outputs as they
 * are to be stored. The caller has set what precedes `calls`, the rest is zero. */
void vm_legalize(vm_calls *l);

/* The register of one more constant, of n bytes up to 16; and of one more call's result. */
u32 vm_add_const(vm_calls *l, const void *data, size_t n);
u32 vm_add_call(vm_calls *l, vm_what is, u32 width, bool scalar, u32 a, u32 b);

static inline u32 vm_width_of(dtype t) { return vm_rtype_size(vm_rtype_of(t)); }

#endif
