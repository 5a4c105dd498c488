"""Propagation compared with real Shardy (jaxlib's bindings), text for text.

    python tests/differential/shardy.py [--modes basic,pipeline,...] FILE...
    python tests/differential/shardy.py --seeds FIRST:LAST [--jobs N] [--keep DIR]

Every module goes through the same passes in both, and the printed modules must be identical. What
Shardy refuses is left out, and so is what it dies of. Files may come from any generator; seeds are
those of modules.py, worked off by N threads with a Shardy each, and a line for every 100 says how
far the run is, so that it can go on from there. Prints each difference (and keeps its module in
DIR), and a count. The fixed set is in shardy/; what may differ is in known.md."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

import modules

IMPORT = ("sdy-import-pipeline,sdy-flatten-call-graph,symbol-dce,"
          "sdy-import-func-calls{add-data-flow-edges-on-named-computations=true},symbol-dce,"
          "sdy-apply-sharding-constraints,sdy-sharding-group-import")
MODES = {
    "rules": "func.func(sdy-populate-op-sharding-rules)",
    "imported": IMPORT,
    "basic": f"{IMPORT},sdy-basic-propagate",
    "aggressive": f"{IMPORT},sdy-aggressive-propagate",
    "op-priority": f"{IMPORT},sdy-op-priority-propagate",
    "user-priority": f"{IMPORT},sdy-user-priority-propagate",
    "conservative": f"{IMPORT},sdy-user-priority-propagate{{conservative-propagation=true}}",
    "pipeline": "sdy-propagation-pipeline",
    "dedup": "sdy-propagation-pipeline{dedup-functions-fully=true}",
    "unflatten": "sdy-flatten-call-graph,sdy-unflatten-call-graph{dedup-functions-fully=true}",
    "reshards": ("sdy-propagation-pipeline,"
                 "func.func(sdy-insert-explicit-reshards{enable-full-version=true})"),
    "inline-meshes": "sdy-inline-meshes",
    "export": "sdy-add-data-flow-edges,sdy-export-pipeline,sdy-inline-meshes",
}
# Values on one device Shardy reshards at head only.
LEFT_OUT = {"reshards": "<[], device_ids="}
SEED_MODES = "basic,aggressive,user-priority,pipeline,dedup,reshards"


def theirs(path, mode):
    """The printed module, or None where Shardy reports an error."""
    if mode in LEFT_OUT and LEFT_OUT[mode] in pathlib.Path(path).read_text():
        return None
    from jax._src.interpreters import mlir as jax_mlir
    from jaxlib.mlir import ir, passmanager
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
    return run.stdout if run.returncode == 0 else f"error: {run.returncode}: {run.stderr}"


def first_difference(want, got):
    for k, (a, b) in enumerate(zip(want.splitlines(), got.splitlines())):
        if a != b:
            return f"line {k + 1}\n  Shardy: {a.strip()}\n  ours:   {b.strip()}"
    return "one is longer"


class Shardy:
    """theirs() in a process of its own, whose children may die."""

    def __init__(self, directory):
        self.out = directory / "theirs.mlir"
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", str(self.out)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def run(self, path, mode):
        print(path, mode, file=self.process.stdin, flush=True)
        return self.out.read_text() if self.process.stdout.readline() == "done\n" else None


def serve(out):
    """Forks for each module, since a new process would first have to import all of jaxlib."""
    from jax._src.interpreters import mlir  # noqa: F401
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            text = theirs(*line.split())
            if text is not None:
                pathlib.Path(out).write_text(text)
            os._exit(text is None)
        print("refused" if os.waitpid(child, 0)[1] else "done", flush=True)


class Totals:
    def __init__(self):
        self.lock, self.same, self.different, self.refused = threading.Lock(), 0, 0, 0

    def add(self, name, want, got):
        with self.lock:
            if want is None:
                self.refused += 1
            elif want == got:
                self.same += 1
            else:
                self.different += 1
                print(f"{name}: {first_difference(want, got)}", flush=True)
        return want is None or want == got

    def __str__(self):
        return f"{self.same} passed, {self.different} failed, {self.refused} skipped"


def run_seeds(options, totals, next_seed):
    with tempfile.TemporaryDirectory() as directory:
        path, shardy = pathlib.Path(directory) / "module.mlir", Shardy(pathlib.Path(directory))
        while (seed := next_seed()) is not None:
            path.write_text(modules.make(seed))
            for mode in options.modes.split(","):
                want = shardy.run(path, mode)
                got = ours(options.bin, path, mode) if want is not None else None
                if not totals.add(f"seed {seed}, {mode}", want, got) and options.keep:
                    kept = pathlib.Path(options.keep) / f"module_{seed}.mlir"
                    kept.write_text(path.read_text())


def all_seeds(options, totals):
    first, last = map(int, options.seeds.split(":"))
    seeds, lock = iter(range(first, last)), threading.Lock()

    def next_seed():
        with lock:
            seed = next(seeds, None)
        if seed is not None and (seed - first) % 100 == 0 and seed > first:
            print(f"to seed {seed}: {totals}", flush=True)
        return seed
    threads = [threading.Thread(target=run_seeds, args=(options, totals, next_seed))
               for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("TERRAZZO_BIN", "build/bin") + "/terrazzo")
    parser.add_argument("--modes")
    parser.add_argument("--seeds", metavar="FIRST:LAST")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--serve", metavar="OUT", help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)
    totals = Totals()
    if options.seeds:
        options.modes = options.modes or SEED_MODES
        all_seeds(options, totals)
    for path in options.files:
        for mode in (options.modes or ",".join(MODES)).split(","):
            want = theirs(path, mode)
            totals.add(f"{path}, {mode}", want, want and ours(options.bin, path, mode))
    print(totals)
    return totals.different != 0


if __name__ == "__main__":
    sys.exit(main())
