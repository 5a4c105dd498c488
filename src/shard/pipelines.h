/* Inside shard only: the pipelines, rows of shard_passes. */
#ifndef SHARD_PIPELINES_H
#define SHARD_PIPELINES_H

#include "pass/pass.h"

pass_fn pipeline_import, pipeline_propagate, pipeline_export, pipeline_compile, pass_save_module;

/* Writes the module to DIRECTORY/NN.NAME.mlir; where that fails a warning says so. */
void pipeline_dump(ir_module *m, const pass_args *args, str directory, int index, const char *name);
/* The number's decimal digits, in `space`. */
str pipeline_number(char space[16], int n);

#endif
