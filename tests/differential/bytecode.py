"""Bytecode in and out, compared with MLIR's own reader and writer (jaxlib's bindings).

    python tests/differential/bytecode.py [--bin PROGRAM] [--target V] [--formats 6,...] FILE...

Of a FILE of text, with P its portable artifact and N its native bytecode, each by both writers:
  ours P and N, read by MLIR, print as what MLIR wrote and read;
  ours and theirs of P and N, read by us, print as that.
A FILE of bytecode: read by both, both print alike; with NAME.expected.mlir beside NAME.mlir.bc, as
that says. Locations are compared as well (not where MLIR cannot read the file). What MLIR refuses
to write, its verifier being against casts before a collective of sdy, we must read ourselves.
Prints a line for each difference, and a count."""

import argparse
import os
import subprocess
import sys
import tempfile

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from text import first_difference

MAGIC = b"ML\xefR"


def asm(module):
    return module.operation.get_asm(enable_debug_info=True).rstrip("\n") + "\n"


def is_portable(data):
    return data.startswith(MAGIC) and b"StableHLO_v" in data[:64]


def load(context, data):
    if is_portable(data):
        return stablehlo.deserialize_portable_artifact(context, data)
    return ir.Module.parse(data)


def native(module):
    return jax_mlir.module_to_bytecode(module)


class Ours:
    def __init__(self, binary, scratch, unregistered):
        self.binary, self.scratch = binary, scratch
        self.flags = ["-allow-unregistered-dialect"] if unregistered else []
        self.error = ""

    def run(self, data, *flags):
        """Standard output, or None; the reason is in self.error."""
        path = data
        if isinstance(data, bytes):
            path = os.path.join(self.scratch, "in.bc")
            with open(path, "wb") as f:
                f.write(data)
        out = os.path.join(self.scratch, "out")
        done = subprocess.run([*self.binary, str(path), "-o", out, *self.flags, *flags],
                              capture_output=True)
        self.error = (done.stderr.decode(errors="replace").splitlines() or ["no message"])[0]
        if done.returncode != 0:
            self.error += "" if done.returncode > 0 else f" (signal {-done.returncode})"
            return None
        with open(out, "rb") as f:
            return f.read()

    def text(self, data):
        out = self.run(data, "-mlir-print-debuginfo")
        return None if out is None else out.decode()


def check(problems, what, want, got, error):
    if got is None:
        problems.append(f"{what}: {error}")
    elif got != want:
        problems.append(f"{what}: {first_difference(want, got)}")


def make_context(unregistered):
    context = jax_mlir.make_ir_context()
    context.allow_unregistered_dialects = unregistered
    return context


def by_them(unregistered, data):
    """Text, or None and why; in a fresh context, where resources keep their names."""
    context = make_context(unregistered)
    try:
        with context:
            return asm(load(context, data)), ""
    except Exception as e:
        return None, str(e).strip().replace("\n", " | ")[:300]


def compare_artifact(ours, path, data):
    problems = []
    want, why = by_them(False, data)
    expected = path.removesuffix(".mlir.bc") + ".expected.mlir"
    if os.path.exists(expected):
        with open(expected) as f:
            out = ours.run(path)
            check(problems, f"{path} (expected)", f.read(), out and out.decode(), ours.error)
    if want is None:
        got = ours.text(path)
        if got is None:
            problems.append(f"{path}: {ours.error}; nor does MLIR read it: {why}")
    else:
        check(problems, path, want, ours.text(path), ours.error)
    return problems


def round_trip(ours, problems, path, form, flags, theirs):
    """`theirs`: what MLIR's writer made of it, or None."""
    got = ours.run(path, "--emit-bytecode", *flags)
    if theirs is None:
        if got is not None and ours.text(got) is None:  # we may write more, as sdy's collectives
            problems.append(f"{path} ({form}, written and read by us): {ours.error}")
        return
    want, why = by_them(bool(ours.flags), theirs)
    if want is None:
        return
    if got is None:
        problems.append(f"{path} ({form}): {ours.error}")
        return
    text, why = by_them(bool(ours.flags), got)
    check(problems, f"{path} ({form}, written by us, read by MLIR)", want, text, why)
    check(problems, f"{path} ({form}, written and read by us)", want, ours.text(got), ours.error)
    check(problems, f"{path} ({form}, written by MLIR, read by us)", want, ours.text(theirs),
          ours.error)


def compare_text(ours, path, target, formats):
    problems = []
    context = make_context(bool(ours.flags))
    with context:
        try:
            module = ir.Module.parseFile(path)
        except Exception:
            return None  # jaxlib's dialects are older than ours; text.py compares refusals
        bytecode = native(module)
        try:
            artifact = stablehlo.serialize_portable_artifact(module, target, True)
        except Exception:
            artifact = None
    for f in formats:
        round_trip(ours, problems, path, f"native {f}",
                   ["--target=native", f"-emit-bytecode-version={f}"], bytecode)
    round_trip(ours, problems, path, f"target {target}", [f"--target={target}"], artifact)
    return problems


def compare(ours, path, target="1.17.0", formats=(6,)):
    """Lines that say what differs; None: MLIR does not read the text."""
    with open(path, "rb") as f:
        data = f.read()
    if data.startswith(MAGIC):
        return compare_artifact(ours, path, data)
    if b"!quant." in data:
        return None  # jaxlib's bindings lack the quant dialect
    return compare_text(ours, path, target, formats)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin/terrazzo opt")
    parser.add_argument("--target", default="1.17.0")
    parser.add_argument("--formats", default="6")
    parser.add_argument("--unregistered", action="store_true")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    failed = skipped = 0
    with tempfile.TemporaryDirectory() as scratch:
        ours = Ours(args.bin.split(), scratch, args.unregistered)
        for path in args.files:
            problems = compare(ours, path, args.target, [int(f) for f in args.formats.split(",")])
            if problems is None:
                skipped += 1
                continue
            failed += bool(problems)
            print(*problems, sep="\n", end="\n" if problems else "", flush=True)
    print(f"{len(args.files) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
