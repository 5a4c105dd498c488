"""Propagation compared with real Shardy (jaxlib's bindings), text for text.

    python tests/differential/shardy.py [--bin PROGRAM] [--modes basic,pipeline,...] FILE...

Every FILE goes through the same passes in both, and the printed modules must be identical. What
Shardy refuses is left out. Prints each difference, and a count. Any generator of modules will
do; the fixed set is in shardy/, and what may differ is in known.md."""

import argparse
import os
import subprocess
import sys

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir, passmanager

IMPORT = ("sdy-import-pipeline,sdy-flatten-call-graph,symbol-dce,"
          "sdy-import-func-calls{add-data-flow-edges-on-named-computations=true},symbol-dce,"
          "sdy-apply-sharding-constraints,sdy-sharding-group-import")
# sdy-propagation-pipeline but for its last passes, which insert the reshards of a few ops
EXPORT = ("sdy-export-named-computations,sdy-propagate-to-func-results,sdy-unflatten-call-graph,"
          "symbol-dce,sdy-insert-func-call-reshards,func.func(sdy-constant-or-scalar-merger),"
          "func.func(sdy-sink-data-flow-edges),sdy-remove-sharding-groups,"
          "func.func(sdy-sharding-constraint-to-reshard),"
          "sdy-update-non-divisible-input-output-shardings,"
          "sdy-remove-sub-axes-in-input-output-shardings,sdy-close-shardings,"
          "func.func(sdy-drop-sharding-rules)")
MODES = {
    "rules": "func.func(sdy-populate-op-sharding-rules)",
    "imported": IMPORT,
    "basic": f"{IMPORT},sdy-basic-propagate",
    "aggressive": f"{IMPORT},sdy-aggressive-propagate",
    "op-priority": f"{IMPORT},sdy-op-priority-propagate",
    "user-priority": f"{IMPORT},sdy-user-priority-propagate",
    "pipeline": f"{IMPORT},sdy-pre-order-funcs,sdy-user-priority-propagate,{EXPORT}",
}


def theirs(path, mode):
    """The printed module, or None where Shardy reports an error."""
    context = jax_mlir.make_ir_context()
    context.attach_diagnostic_handler(lambda diagnostic: True)
    with context:
        try:
            module = ir.Module.parseFile(path)
            passes = passmanager.PassManager.parse(f"builtin.module({MODES[mode]})")
            passes.run(module.operation)
        except Exception:
            return None
        return module.operation.get_asm().rstrip("\n") + "\n"


def ours(binary, path, mode):
    """The printed module, or what went wrong."""
    run = subprocess.run([binary, "opt", path, f"--pass-pipeline={MODES[mode]}"],
                         capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else f"error: {run.stderr}"


def first_difference(want, got):
    for k, (a, b) in enumerate(zip(want.splitlines(), got.splitlines())):
        if a != b:
            return f"line {k + 1}\n  Shardy: {a.strip()}\n  ours:   {b.strip()}"
    return "one is longer"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("TERRAZZO_BIN", "build/bin") + "/terrazzo")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("files", nargs="+", metavar="FILE")
    options = parser.parse_args()
    same = different = refused = 0
    for path in options.files:
        for mode in options.modes.split(","):
            want = theirs(path, mode)
            if want is None:
                refused += 1
                continue
            got = ours(options.bin, path, mode)
            if want == got:
                same += 1
            else:
                different += 1
                print(f"{path}, {mode}: {first_difference(want, got)}", flush=True)
    print(f"{same} passed, {different} failed, {refused} skipped")
    return different != 0


if __name__ == "__main__":
    sys.exit(main())
