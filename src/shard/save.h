/* Modules saved on the way, for those who debug: sdy-save-module, and dumps of the passes and
 * pipelines that have a folder for them among their options. */
#ifndef SHARD_SAVE_H
#define SHARD_SAVE_H

#include "pass/pass.h"

pass_fn pass_save_module;

/* Writes the module to DIRECTORY/NN.NAME.mlir, by pass_tables.save; where that fails a warning says
 * so. */
void save_numbered(ir_module *m, const pass_args *args, str directory, int index, const char *name);

#endif
