/* Inside compile only: what a module says about devices, and changes to its meshes. */
#ifndef COMPILE_MODULE_H
#define COMPILE_MODULE_H

#include "ir/op.h"

/* "mesh=x=2,y=2": @mesh gets these axes. NULL-terminated; NULL: none. Refused where a manual
 * computation uses the mesh, as its body has the old sizes in it. `said`: what messages call the
 * overrides; NULL: "meshes". false: reported. */
bool module_override_meshes(ir_module *m, const char *said, const char *const *overrides);

typedef struct module_devices {
  u32 partitions, replicas; /* 0: not said */
} module_devices;

/* How many devices to compile for: as asked, else as the module or its meshes say. Meshes of
 * another size than that are an error. */
bool module_count_devices(ir_module *m, module_devices asked, bool meshes_count,
                          module_devices *out);

/* Custom calls that stand for an op become it. */
void module_name_calls(ir_module *m);

/* Programs over several meshes are taken apart first (mpmd_opt); reports them. */
bool module_check_one_mesh(ir_module *m);

/* Shardings in forms from before Shardy cannot be partitioned; reports them. */
bool module_check_gspmd(ir_module *m);

#endif
