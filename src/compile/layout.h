/* Inside compile only: parameters and results whose elements do not lie row-major. */
#ifndef COMPILE_LAYOUT_H
#define COMPILE_LAYOUT_H

#include "compile/compile.h"
#include "ir/op.h"

/* Reads mhlo.layout_mode of @main's arguments and results ("default", "auto", or "{0,1}": minor to
 * major), sets the tensors' minor_to_major and gives @main the shapes that lie in memory, with
 * transposes between them and what the program speaks of. The module is local and flat. A result
 * that may lie as it likes lies as it is computed: a transposed parameter stays where it is. false:
 * reported. */
bool layout_apply(ir_module *m, arena *scratch, arena *out, op *main, compile_tensor *params,
                  compile_tensor *results);

#endif
