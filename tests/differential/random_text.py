"""Random modules, printed by Terrazzo and by MLIR (jaxlib's bindings) in four forms.

    python tests/differential/random_text.py [--bin PROGRAM] [--seed N] [--count N] [--keep FOLDER]

Modules have ops of every dialect with random types, constants, attributes and locations, in random
spelling. What both read must print alike, byte for byte; what one refuses the other refuses too
(--lenient leaves that out). Differing modules are kept."""

import argparse
import os
import subprocess
import sys
import tempfile

from jaxlib.mlir import ir

import text
from random_ops import Generator


def compare(context, binary, source, path, lenient):
    with open(path, "w") as f:
        f.write(source)
    with context:
        try:
            module = ir.Module.parseFile(path)
            want = {
                f: module.operation.get_asm(**text.FORMS[f][0]).rstrip("\n") + "\n"
                for f in text.FORMS
            }
        except Exception as e:
            want, why = None, str(e)
    if want is None:
        got, _ = text.ours(binary, path, "custom", True)
        if got is None or lenient:
            return "refused", []
        return "differs", [f"accepted, but MLIR says: {why.splitlines()[-1]}"]
    for form in text.FORMS:
        got, error = text.ours(binary, path, form, True)
        if got is None:
            return "differs", [f"({form}) refused: {(error.splitlines() or ['?'])[0]}"]
        if got != want[form]:
            return "differs", [f"({form}) {text.first_difference(want[form], got)}"]
    with open(path, "w") as f:
        f.write(want["custom"])
    got, error = text.ours(binary, path, "custom", True)
    if got != want["custom"]:
        why = (
            (error.splitlines() or ["?"])[0]
            if got is None
            else text.first_difference(want["custom"], got)
        )
        return "differs", [f"(MLIR's own text) {why}"]
    return "same", []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/bin/terrazzo opt")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--keep", default=None)
    parser.add_argument("--lenient", action="store_true")
    args = parser.parse_args()
    folder = args.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    counts = {"same": 0, "refused": 0, "differs": 0}
    for i in range(args.count):
        context = text.make_context(True)  # a fresh one, or keys of resources would be renamed
        context.emit_error_diagnostics = True
        seed = args.seed + i
        path = os.path.join(folder, f"random_{seed}.mlir")
        what, problems = compare(
            context, args.bin.split(), Generator(seed).module(), path, args.lenient
        )
        counts[what] += 1
        if what != "differs":
            os.remove(path)
        for p in problems:
            print(f"{path}: {p}", flush=True)
    print(f"{counts['refused']} modules are refused by both")
    print(f"{counts['same'] + counts['refused']} passed, {counts['differs']} failed, 0 skipped")
    sys.exit(counts["differs"] != 0)


if __name__ == "__main__":
    main()
