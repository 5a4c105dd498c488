/* MLIR bytecode, format versions 0 to 6, into the IR.
 *
 * VHLO, the versioned form of StableHLO that travels between releases, is a wire format here and
 * not a dialect: its operations, attributes and types become those of stablehlo, func and builtin
 * as they are read (vhlo.def), and casts between its types and the builtin ones vanish. Native
 * sdy, stablehlo, chlo, func and builtin are read too, from their rows in ir/.
 *
 * Sources: mlir/docs/BytecodeFormat.md, the dialects' bytecode definitions (builtin, sdy,
 * stablehlo, chlo, vhlo), openxla/stablehlo docs/vhlo.md. */
#ifndef BYTECODE_BYTECODE_H
#define BYTECODE_BYTECODE_H

#include "ir/op.h"

/* The file begins with MLIR's magic number. */
bool bytecode_is(str bytes);

/* A new module, owned by the caller; NULL after an error was reported, with the offset of the
 * byte where it shows. The bytes are borrowed as long as the context lives: large constants and
 * resources point into them. Ops without a row come out unregistered, with their attributes. The
 * module is well-formed but not verified. Not bounded by anything but the size of the file: time
 * and memory are linear in it. */
ir_module *bytecode_read(ir_ctx *c, str file_name, str bytes);

#endif
