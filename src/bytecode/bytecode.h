/* MLIR bytecode, format versions 0 to 6, into the IR and out of it.
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

#include "base/buf.h"
#include "ir/op.h"

/* The file begins with MLIR's magic number. */
bool bytecode_is(str bytes);

/* A new module, owned by the caller; NULL after an error was reported, with the offset of the
 * byte where it shows. The bytes are borrowed as long as the context lives: large constants and
 * resources point into them. Ops without a row come out unregistered, with their attributes. The
 * module is well-formed but not verified. Not bounded by anything but the size of the file: time
 * and memory are linear in it. */
ir_module *bytecode_read(ir_ctx *c, str file_name, str bytes);

typedef struct bytecode_write_options {
  /* "1.17.0": a portable artifact for that version of StableHLO: stablehlo, func and what they
   * hold in VHLO, and sdy and other dialects as they are, with casts between. Empty: no VHLO, all
   * dialects as they are. "current": the newest version there is. */
  str target;
  bool strict; /* with a target: another dialect is an error */
  int format;  /* 1 to 6: version of the encoding; 0: what the target asks for, or else 6 */
} bytecode_write_options;

enum { BYTECODE_NEWEST = 6 };
#define BYTECODE_TARGET                                                                            \
  "1.17.0" /* of StableHLO: what `terrazzo opt --emit-bytecode` writes for                         \
            */

/* Appends the module to `out`. options NULL: native. False after an error was reported: what the
 * target or the encoding has no words for is named, at the op that has it; or if `out` failed.
 * The module is as the verifier accepts it; its scratch numbers (value.num, op.num, block.num)
 * are overwritten, nothing else. Linear in the size of the module; constants are copied once,
 * into `out`, or not at all if it has a sink. Equal modules give equal bytes. */
bool bytecode_write(ir_module *m, const bytecode_write_options *options, buf *out);

/* Is there a VHLO form of the op, that of portable artifacts? */
bool bytecode_has_vhlo(op_id id);

#endif
