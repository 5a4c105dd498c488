"""Text in and out, compared with MLIR's own parser and printer (jaxlib's bindings).

    python tests/differential/text.py [--bin PROGRAM] [--forms custom,generic,debuginfo] FILE...

Every FILE is read by both and printed in each form; the texts must be identical. What MLIR
refuses must be refused here too. Prints a line for each difference, and a count."""

import argparse
import subprocess
import sys

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import stablehlo

FORMS = {
    "custom": ({}, []),
    "generic": ({"print_generic_op_form": True}, ["-mlir-print-op-generic"]),
    "debuginfo": ({"enable_debug_info": True}, ["-mlir-print-debuginfo"]),
    "local": ({"enable_debug_info": True, "use_local_scope": True},
              ["-mlir-print-debuginfo", "-mlir-print-local-scope"]),
}


stablehlo.register_stablehlo_passes()


def make_context(unregistered=False):
    """With the quant dialect, which nothing but this pass loads."""
    context = jax_mlir.make_ir_context()
    context.allow_unregistered_dialects = unregistered
    with context:
        empty = ir.Module.parse("module {}")
        passmanager.PassManager.parse("builtin.module(vhlo-legalize-to-stablehlo)").run(
            empty.operation)
    return context


def theirs(path, forms, unregistered):
    """Text by form, or None where MLIR reports an error."""
    context = make_context(unregistered)
    with context:
        try:
            with open(path, "rb") as f:
                data = f.read()
            if data.startswith(b"ML\xefR") and b"StableHLO_v" in data[:64]:
                module = stablehlo.deserialize_portable_artifact(context, data)
            else:
                module = ir.Module.parseFile(path)
        except Exception as e:
            return None, str(e)
        # Only in local scope does get_asm leave out the last newline; mlir-opt prints it.
        return {f: module.operation.get_asm(**FORMS[f][0]).rstrip("\n") + "\n" for f in forms}, None


def ours(binary, path, form, unregistered):
    flags = FORMS[form][1] + (["-allow-unregistered-dialect"] if unregistered else [])
    run = subprocess.run(binary + [path] + flags, capture_output=True)
    return run.stdout.decode() if run.returncode == 0 else None, run.stderr.decode()


def reason(why):
    lines = [line for line in why.splitlines() if line.startswith("error:")]
    return (lines or why.splitlines())[0]


def first_difference(a, b):
    for k, (x, y) in enumerate(zip(a.splitlines(), b.splitlines())):
        if x != y:
            at = next((i for i, (c, d) in enumerate(zip(x, y)) if c != d), min(len(x), len(y)))
            lo = max(0, at - 40)
            return f"line {k + 1}\n  MLIR: {x[lo:at + 60]}\n  ours: {y[lo:at + 60]}"
    return "one is longer"


def compare(binary, path, forms, unregistered):
    want, why = theirs(path, forms, unregistered)
    problems = []
    if want is None:
        got, _ = ours(binary, path, forms[0], unregistered)
        return [] if got is None else [f"{path}: accepted, but MLIR says: {reason(why)}"]
    for form in forms:
        got, error = ours(binary, path, form, unregistered)
        if got is None:
            problems.append(f"{path} ({form}): {(error.splitlines() or ['no output'])[0]}")
        elif got != want[form]:
            problems.append(f"{path} ({form}): {first_difference(want[form], got)}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/bin/terrazzo opt")
    parser.add_argument("--forms", default="custom,generic,debuginfo,local")
    parser.add_argument("--unregistered", action="store_true")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    failed = 0
    for path in args.files:
        problems = compare(args.bin.split(), path, args.forms.split(","), args.unregistered)
        failed += bool(problems)
        print(*problems, sep="\n", end="\n" if problems else "", flush=True)
    passed = len(args.files) - failed
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
