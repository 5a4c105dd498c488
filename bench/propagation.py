"""The propagation pipeline, Terrazzo beside Shardy (jaxlib's bindings), neither verifying between.

    python bench/propagation.py [--rounds N] FILE.mlir...     both, interleaved, on each file
    python bench/propagation.py --layers 12,96,400 ...         GPT-like chains of that many layers
    python bench/propagation.py --ops 1000,...,1000000         ours alone, for growth
    python bench/propagation.py --devices 8,...,1048576        ours alone, the mesh growing

Both work on modules parsed before the clock starts. Times are milliseconds, median and best; the
ratio is Shardy's time to ours. Memory is what the pipeline allocates on top of the module."""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
ROOT = pathlib.Path(__file__).resolve().parent.parent
PIPELINE = "sdy-propagation-pipeline"


def shardy_round(text):
    from jax._src.interpreters import mlir as jax_mlir
    from jaxlib.mlir import ir, passmanager
    context = jax_mlir.make_ir_context()
    context.attach_diagnostic_handler(lambda diagnostic: True)
    with context:
        module = ir.Module.parse(text)
        passes = passmanager.PassManager.parse(f"builtin.module({PIPELINE})")
        passes.enable_verifier(False)
        start = time.perf_counter()
        passes.run(module.operation)
        return (time.perf_counter() - start) * 1e3


class Ours:
    """bench_propagation on one file, a process that lives for all rounds as Shardy's does."""

    def __init__(self, program, path):
        self.process = subprocess.Popen([program, str(path), PIPELINE], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def round(self):
        print(file=self.process.stdin, flush=True)
        ms, memory, ops = map(float, self.process.stdout.readline().split())
        return ms, memory, ops

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def stats(times):
    return f"{statistics.median(times):9.1f} {min(times):9.1f}"


def compare(options, name, path):
    text, ours = pathlib.Path(path).read_text(), Ours(options.program, path)
    theirs_ms, ours_ms = [], []
    for _ in range(options.rounds):
        theirs_ms.append(shardy_round(text))
        ms, _, ops = ours.round()
        ours_ms.append(ms)
    ours.close()
    median = statistics.median(theirs_ms) / statistics.median(ours_ms)
    best = min(theirs_ms) / min(ours_ms)
    print(f"{name:24} {ops:9.0f} {stats(theirs_ms)} {stats(ours_ms)} {median:7.1f} {best:7.1f}",
          flush=True)


def alone(options, name, path):
    ours = Ours(options.program, path)
    rounds = [ours.round() for _ in range(options.rounds)]
    ours.close()
    ops, memory = rounds[0][2], rounds[0][1]
    times = [r[0] for r in rounds]
    print(f"{name:24} {ops:9.0f} {stats(times)} {1e3 * min(times) / ops:9.3f} {memory / ops:9.0f}",
          flush=True)


def chain(layers, devices=8):
    """Matrix products, normalizations and residuals, sharded at the ends only."""
    weights = "".join(f', %w{i}: tensor<256x256xf32> {{sdy.sharding = #sdy.sharding<@mesh, '
                      f'[{{?}}, {{"model", ?}}]>}}' for i in range(layers))
    lines = [f'sdy.mesh @mesh = <["data"={devices // 2}, "model"=2]>',
             'func.func @main(%x: tensor<2097152x256xf32> {sdy.sharding = #sdy.sharding<@mesh, '
             f'[{{"data"}}, {{}}]>}}{weights}) -> tensor<2097152x256xf32> {{']
    x, t = "%x", "tensor<2097152x256xf32>"
    for i in range(layers):
        lines += [f"  %a{i} = stablehlo.multiply {x}, {x} : {t}",
                  f"  %b{i} = stablehlo.tanh %a{i} : {t}",
                  f"  %c{i} = stablehlo.dot_general %b{i}, %w{i}, contracting_dims = [1] x [0] : "
                  f"({t}, tensor<256x256xf32>) -> {t}",
                  f"  %d{i} = stablehlo.transpose %c{i}, dims = [1, 0] : ({t}) -> "
                  "tensor<256x2097152xf32>",
                  f"  %e{i} = stablehlo.negate %d{i} : tensor<256x2097152xf32>",
                  f"  %f{i} = stablehlo.transpose %e{i}, dims = [1, 0] : "
                  f"(tensor<256x2097152xf32>) -> {t}",
                  f"  %g{i} = stablehlo.add %f{i}, {x} : {t}"]
        x = f"%g{i}"
    return "\n".join(lines + [f"  return {x} : {t}", "}"]) + "\n"


def numbers(text):
    return [int(n) for n in text.split(",")] if text else []


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--layers", default="")
    parser.add_argument("--ops", default="")
    parser.add_argument("--devices", default="")
    parser.add_argument("--program", default=str(ROOT / "build" / "bench_propagation"))
    options = parser.parse_args()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="propagation_"))

    def written(name, text):
        path = directory / f"{name}.mlir"
        path.write_text(text)
        return path

    if options.files or options.layers:
        print(f"{'program':24} {'ops':>9} {'Shardy':>9} {'best':>9} {'ours':>9} {'best':>9} "
              f"{'ratio':>7} {'best':>7}")
    for path in options.files:
        compare(options, pathlib.Path(path).stem, path)
    for n in numbers(options.layers):
        compare(options, f"chain of {n}", written(f"chain{n}", chain(n)))
    if options.ops or options.devices:
        print(f"{'program':24} {'ops':>9} {'ours':>9} {'best':>9} {'us/op':>9} {'bytes/op':>9}")
    for n in numbers(options.ops):
        alone(options, f"{n} ops", written(f"ops{n}", chain(max(1, n // 7))))
    for n in numbers(options.devices):
        alone(options, f"{n} devices", written(f"devices{n}", chain(1000, n)))


if __name__ == "__main__":
    sys.exit(main())
