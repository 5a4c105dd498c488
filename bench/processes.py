#!/usr/bin/env python3
"""What several processes make of a program, beside one.

  bench/processes.py bits CORPUS   the corpus on 2 x 4 and 4 x 8 devices: are the results' bits
                                   those of one process? A mesh's first axis grows to so many.
  bench/processes.py kills         one of four is killed, --rounds times, each in turn: is there an
                                   error that names it, how long until all have ended?
  bench/processes.py sum           an all-reduce of 1 MiB a device: the best time over two processes
                                   beside one's, from terrazzo run, under mpirun and under JAX; in
                                   turns, --rounds times.
"""
import argparse
import json
import math
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "rendezvous"), str(ROOT / "tests")]

SUM = """sdy.mesh @m = <["x"=%d]>
func.func @main(%%a: tensor<%dx262144xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>})
    -> (tensor<262144xf32> {sdy.sharding = #sdy.sharding<@m, [{}]>}) {
  %%0 = stablehlo.constant dense<0.0> : tensor<f32>
  %%1 = stablehlo.reduce(%%a init: %%0) applies stablehlo.add across dimensions = [0]
      : (tensor<%dx262144xf32>, tensor<f32>) -> tensor<262144xf32>
  return %%1 : tensor<262144xf32>
}
"""
JAX_SUM = """
import time, jax, numpy as np
from jax.sharding import PartitionSpec as P, NamedSharding
jax.distributed.initialize()
n = jax.device_count()
mesh = jax.make_mesh((n,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
f = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x, "x"), mesh=mesh, in_specs=P("x"),
                          out_specs=P()))
ones = np.ones(n << 18, np.float32)
x = jax.make_array_from_callback(ones.shape, NamedSharding(mesh, P("x")), lambda i: ones[i])
best = 9
for _ in range(300):
    begin = time.perf_counter()
    f(x).block_until_ready()
    best = min(best, time.perf_counter() - begin)
if jax.process_index() == 0:
    print("best", best * 1e3)
jax.distributed.shutdown()
"""


def run(*command, **environment):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True,
                          env=os.environ | environment, timeout=600)


# ---- bits ----

def meshes(text, devices):
    """Options that make every mesh of more than one device one of so many; None: none does."""
    options = []
    for name, axes in re.findall(r"sdy\.mesh @([\w\"]+) = <\[(.*?)\]", text):
        sizes = [(a, int(n)) for a, n in re.findall(r"\"(\w+)\"=(\d+)", axes)]
        have = math.prod(n for _, n in sizes)
        if have > 1 and devices % have:
            return None
        if have > 1 and devices != have:
            (first, n), *rest = sizes
            said = [(first, n * devices // have), *rest]
            options += ["--mesh", f"{name}=" + ",".join(f"{a}={n}" for a, n in said)]
    return options


def results(options, folder, file, *more):
    inputs = [folder / e["file"] for e in json.loads((folder / "meta.json").read_text())["inputs"]]
    with tempfile.TemporaryDirectory() as out:
        done = run(options.terrazzo, "run", file, "--output", out, *more,
                   *(["--input", *inputs] if inputs else []))
        return done, {p.name: p.read_bytes() for p in pathlib.Path(out).glob("*.npy")}


def bits(options):
    for processes, each in ((2, 4), (4, 8)):
        same, differ, unfit = 0, [], []
        for folder in sorted(p.parent for p in options.corpus.glob("*/meta.json")):
            file = folder / "global.mlir"
            on = meshes(file.read_text(), processes * each)
            if on is None:
                unfit.append(folder.name)
                continue
            on += ["--devices", processes * each]
            one, wanted = results(options, folder, file, *on)
            if one.returncode:
                unfit.append(folder.name)
                continue
            many, found = results(options, folder, file, *on, "--processes", processes)
            if many.returncode or found != wanted or not wanted:
                differ.append(folder.name)
            else:
                same += 1
        print(f"{processes} x {each} devices: {same} the same bits, {len(differ)} not "
              f"({', '.join(differ)}), {len(unfit)} do not fit ({', '.join(unfit)})", flush=True)


# ---- kills ----

def kills(options):
    from test_processes import ENDLESS, children, is_running

    took, silent, left = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "endless.mlir")
        file.write_text(ENDLESS)
        for turn in range(options.rounds):
            first = subprocess.Popen([options.terrazzo, "run", file, "--processes", "4",
                                      "--random-input"], stderr=subprocess.PIPE, text=True)
            while len(children(first.pid)) < 3:
                time.sleep(.01)
            others = children(first.pid)
            time.sleep(.5)
            victim = turn % 4
            begin = time.monotonic()
            os.kill(first.pid if victim == 0 else others[victim - 1], signal.SIGKILL)
            errors = first.communicate()[1]
            while any(map(is_running, others)) and time.monotonic() < begin + 20:
                time.sleep(.005)
            took.append(time.monotonic() - begin)
            silent += (f"process {victim} of 4" if victim else "process 0") not in errors
            left += any(map(is_running, others))
    print(f"{options.rounds} kills: {silent} without an error that names the process, {left} with "
          f"processes left, {max(took) * 1e3:.0f} ms at most until all had ended")


# ---- sum ----

def told(done, what):
    assert done.returncode == 0, done.stdout + done.stderr
    return float(re.search(rf"{what} ([\d.]+)", done.stdout)[1])


def ways(options, devices, folder):
    file, script = pathlib.Path(folder, "sum.mlir"), pathlib.Path(folder, "sum.py")
    file.write_text(SUM % (devices, devices, devices))
    script.write_text(JAX_SUM)
    timed = [options.terrazzo, "run", file, "--random-input", "--time", "--repeat", "300"]
    environment = {"TERRAZZO_NUM_DEVICES": str(devices), "JAX_PLATFORMS": "terrazzo",
                   "PYTHONPATH": str(ROOT / "python"),
                   "TERRAZZO_PLUGIN": str(options.build / "lib" / "pjrt_plugin_terrazzo.so")}
    jax = lambda n: told(run(sys.executable, "-m", "terrazzo_jax.hosts", n, script, **environment),
                         "best")
    yield "terrazzo run", lambda n: told(run(*timed, "--processes", n), "run")
    if shutil.which("mpirun"):
        yield "mpirun", lambda n: told(
            run("mpirun", "-n", n, *timed, OMPI_ALLOW_RUN_AS_ROOT="1",
                OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"), "run")
    yield "JAX", jax


def sums(options):
    for devices in (2, 8):
        with tempfile.TemporaryDirectory() as folder:
            for name, once in ways(options, devices, folder):
                turns = [(once(1), once(2)) for _ in range(options.rounds)]
                one, two = map(min, zip(*turns))
                ratio = statistics.median(b / a for a, b in turns)
                print(f"{devices} devices, {name}: {one:.3f} ms in one process, {two:.3f} in two: "
                      f"{two / one:.2f} (median of turns {ratio:.2f})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    commands = parser.add_subparsers(required=True)
    for name, command, rounds in (("bits", bits, 1), ("kills", kills, 20), ("sum", sums, 5)):
        one = commands.add_parser(name)
        one.add_argument("--rounds", type=int, default=rounds)
        one.set_defaults(command=command)
        if command is bits:
            one.add_argument("corpus", type=pathlib.Path)
    options = parser.parse_args()
    options.terrazzo = options.build / "bin" / "terrazzo"
    options.command(options)


if __name__ == "__main__":
    main()
