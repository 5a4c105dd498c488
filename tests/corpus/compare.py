"""Comparison of what Terrazzo computes with what the corpus holds."""
import numpy as np

import jax._src.interpreters.mlir as jax_mlir
from jaxlib.mlir import ir


def difference(output, want, got):
    """None, or why `got` is not the recorded `want` within meta.json's tolerances."""
    got = np.asarray(got)
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if output["dtype"] == "bfloat16":  # stored as raw 16-bit integers
        want, got = ((a.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
                     for a in (want, got))
    if got.dtype != want.dtype:
        return f"type {got.dtype}, expected {want.dtype}"
    if want.dtype.kind in "biu":
        wrong = want != got
    else:
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        a, b = want.astype(wide), got.astype(wide)
        allowed = output["rtol"] * np.abs(a) + output.get("atol_cond", output["atol"])
        with np.errstate(invalid="ignore"):
            close = np.abs(a - b) <= allowed
        wrong = ~(close | (a == b) | (np.isnan(a) & np.isnan(b)))
    if not wrong.any():
        return None
    where = np.unravel_index(np.argmax(wrong), wrong.shape)
    return (f"{int(wrong.sum())} of {want.size} elements differ, first at {list(map(int, where))}: "
            f"{got[where]}, expected {want[where]}")


def shardings(text):
    """Every op of a module in order: its name, its result types, its attributes that hold a
    sharding. Meshes are written out, so that their names do not matter."""
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        meshes = {ir.StringAttr(op.attributes["sym_name"]).value: str(op.attributes["mesh"])
                  for op in module.body.operations if op.operation.name == "sdy.mesh"}
        rows = []

        def spell(attribute):
            words = str(attribute)
            for name, mesh in meshes.items():
                words = words.replace(f"@{name},", f"{mesh},")
            return words

        def visit(op):
            op = op.operation
            if op.name == "sdy.mesh":
                return
            held = {item: spell(op.attributes[item]) for item in op.attributes}
            rows.append((op.name, tuple(str(result.type) for result in op.results),
                         tuple(sorted((k, v) for k, v in held.items()
                                      if "#sdy." in v or k == "sdy.sharding_rule"))))
            for region in op.regions:
                for one in region.blocks:
                    for inner in one.operations:
                        visit(inner)

        visit(module)
        return rows, sorted(meshes.values())


def sharding_differences(got, want, most=5):
    """What differs between two modules' texts, as lines; none when their shardings are the same."""
    (ours, our_meshes), (theirs, their_meshes) = shardings(got), shardings(want)
    lines = []
    if our_meshes != their_meshes:
        lines.append(f"meshes {our_meshes}, expected {their_meshes}")
    if [row[:2] for row in ours] != [row[:2] for row in theirs]:
        lines.append(f"the ops differ: {len(ours)}, expected {len(theirs)}")
    for number, (a, b) in enumerate(zip(ours, theirs)):
        if a != b and len(lines) < most:
            lines.append(f"op {number}: {a}\n   expected {b}")
    return lines
