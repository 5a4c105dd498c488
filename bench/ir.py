"""Reading and printing one program, Terrazzo beside MLIR (jaxlib's bindings), both verifying.

    python bench/ir.py [--rounds N] FILE.mlir

FILE is best as JAX lowers it, with locations (as_text(debug_info=True)). The two sides alternate,
so that what the machine does meanwhile touches both alike. Times are milliseconds,
median and best; the ratio is MLIR's time to ours. Then arena bytes for each operand or result, for
the text without and with JAX's locations and for bytecode."""
import argparse
import io
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
ROOT = pathlib.Path(__file__).resolve().parent.parent

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir


def timed(f):
    start = time.perf_counter()
    result = f()
    return (time.perf_counter() - start) * 1e3, result


def mlir_round(text, code):
    """Milliseconds by what was done."""
    context = jax_mlir.make_ir_context()
    with context:
        parse, module = timed(lambda: ir.Module.parse(text))
        show, _ = timed(lambda: module.operation.get_asm(assume_verified=False))
        del module
        read, _ = timed(lambda: ir.Module.parse(code))
    return {"parse": parse, "print": show, "bytecode": read}


class Ours:
    """bench_ir on one file, a process that lives for all rounds as MLIR's does."""

    def __init__(self, program, path):
        self.process = subprocess.Popen([program, path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def round(self):
        print(file=self.process.stdin, flush=True)
        names = ("read", "verify", "print", "module", "context", "ops", "values")
        return dict(zip(names, map(float, self.process.stdout.readline().split()), strict=True))


def our_round(sides):
    text, code = sides["text"].round(), sides["bytecode"].round()
    return {"parse": text["read"] + text["verify"], "print": text["print"] + text["verify"],
            "bytecode": code["read"] + code["verify"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--bin", default=str(ROOT / "build" / "bench_ir"))
    parser.add_argument("file")
    args = parser.parse_args()
    with jax_mlir.make_ir_context():
        module = ir.Module.parseFile(args.file)
        text = module.operation.get_asm()
        located = module.operation.get_asm(enable_debug_info=True)
        data = io.BytesIO()
        module.operation.write_bytecode(data)
        code = data.getvalue()
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name, content in (("text", text.encode()), ("located", located.encode()),
                              ("bytecode", code)):
            files[name] = os.path.join(folder, name)
            pathlib.Path(files[name]).write_bytes(content)
        sides = {name: Ours(args.bin, path) for name, path in files.items()}
        ours, theirs = [], []
        for k in range(args.rounds + 1):
            mine, other = our_round(sides), mlir_round(text, code)
            if k:  # the first warms up
                ours.append(mine)
                theirs.append(other)
            print(f"round {k} of {args.rounds}", end="\r", file=sys.stderr, flush=True)
        print(f"{text.count(chr(10))} lines, {args.rounds} rounds, ms: median (best)")
        for what in ours[0]:
            a, b = [r[what] for r in ours], [r[what] for r in theirs]
            ratio = statistics.median(b) / statistics.median(a)
            print(f"{what:9} ours {statistics.median(a):7.1f} ({min(a):.1f})   "
                  f"MLIR {statistics.median(b):7.1f} ({min(b):.1f})   ratio {ratio:.1f} "
                  f"({min(b) / min(a):.1f})")
        for name, side in sides.items():
            got = side.round()
            bytes_each = (got["module"] + got["context"]) / got["values"]
            print(f"{name:9} {bytes_each:.0f} arena bytes an operand or result, "
                  f"{got['ops']:.0f} ops")
            side.process.stdin.close()


if __name__ == "__main__":
    main()
