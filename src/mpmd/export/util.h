/* Inside export only: what its passes ask of functions, meshes and places in memory. */
#ifndef MPMD_EXPORT_UTIL_H
#define MPMD_EXPORT_UTIL_H

#include "mpmd/util.h"

#define MPMD_LAYOUT STR("mhlo.layout_mode")           /* of arguments and results */
#define MPMD_ALIASING STR("tf.aliasing_output")       /* i32: the result that takes its memory */
#define MPMD_DONOR STR("jax.buffer_donor")            /* true: some result may */
#define MPMD_RESERVED_BYTES STR("reserved_hbm_bytes") /* what others have while it runs */

/* Functions with a topology that have a body. */
void mpmd_with_bodies(arena *a, const ir_module *m, op_list *out);
/* Of one of these; NULL: it ends otherwise. */
op *mpmd_func_return(const op *func);
/* Named so for the processors of the hosts of the mesh before the slash. */
bool mpmd_is_cpu_mesh(str mesh);
/* Nothing here is of a later transpose than 0: fragments, or calls of them. */
bool mpmd_all_forward(op_list list);
/* Is argument or result i said to be in the memory of the host? */
bool mpmd_on_host(const op *o, str list, size_t i);
/* Of arg_attrs or res_attrs those that `drop` does not say, of n. */
const attr *mpmd_kept(ir_module *m, const attr *list, const bool *drop, size_t n);
/* The dictionaries of an op's arguments or results (of a function too), while they change: many are
 * many, and each list of them is an attribute. */
typedef struct value_dicts {
  op *o;
  str list;
  const attr **dicts; /* n, empty ones where there was none */
  size_t n;
} value_dicts;
void dicts_open(ir_module *m, arena *a, op *o, str list, size_t n, value_dicts *out);
void dicts_put(ir_module *m, value_dicts *d, size_t i, str name, const attr *a); /* NULL: removes */
void dicts_close(ir_module *m, const value_dicts *d);                            /* sets them */
/* As messages have an attribute that may be missing. */
const char *mpmd_show(arena *a, const attr *x);

#endif
