"""Runs many programs over and over in one process and compares every result with its first, bit for
bit; the first ones with XLA:CPU's.

    python python/tests/stress.py --runs 20000 --devices 8 --busy 4 --poison 1

Programs are those of stress_programs.py and, with --corpus DIR, the folders there. They run in
random order from several threads, some with fresh arguments, some with donated ones, some compiled
anew. --busy N keeps N processes busy meanwhile. --poison fills memory with rubbish before it is
used (TERRAZZO_POISON), --workers says how many threads the client has. Ends with a line of what
was done; the exit status is 1 if anything differed.
"""
import argparse
import collections
import fnmatch
import hashlib
import json
import os
import pathlib
import random
import subprocess
import sys
import threading
import time
import traceback
import warnings


def options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20000)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--workers", type=int, help="threads of the client (default: processors)")
    parser.add_argument("--threads", type=int, default=4, help="threads that launch programs")
    parser.add_argument("--busy", type=int, default=0, help="processes that keep processors busy")
    parser.add_argument("--poison", type=int, default=0, help="0: no; else a seed of patterns")
    parser.add_argument("--programs", default="*", help="which ones, by pattern")
    parser.add_argument("--most", type=int, help="so many programs, taken at random")
    parser.add_argument("--corpus", type=pathlib.Path, help="folders with global.mlirbc, meta.json")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--digest", action="store_true",
                        help="print a digest of all first results, and do not ask XLA")
    return parser.parse_args()


OPTIONS = options()
os.environ["JAX_PLATFORMS"] = "terrazzo,cpu"
os.environ["TERRAZZO_NUM_DEVICES"] = str(max(OPTIONS.devices, 8 if OPTIONS.corpus else 1))
if OPTIONS.poison:
    os.environ["TERRAZZO_POISON"] = str(OPTIONS.poison)
if OPTIONS.workers:
    os.environ["TERRAZZO_NUM_THREADS"] = str(OPTIONS.workers)

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

import stress_programs

warnings.filterwarnings("ignore", "Some donated buffers were not usable")


# ---- programs: call(how) gives a list of arrays of JAX

def spread(array, mesh):
    """A sharding that splits what can be split: the mesh's axes in turn, over even dimensions."""
    spec, axes = [], list(mesh.shape.items())
    for size in np.shape(array):
        taken = []
        while axes and size % axes[0][1] == 0 and size > 1:
            size //= axes[0][1]
            taken.append(axes.pop(0)[0])
        spec.append(tuple(taken) or None)
    return NamedSharding(mesh, P(*spec))


class Traced:
    """A function of stress_programs.py."""

    def __init__(self, name, function, arguments):
        self.name, self.function, self.host = name, function, arguments
        if OPTIONS.devices >= 8:
            mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 2, 2), ("a", "b", "c"))
            self.shardings = jax.tree.map(lambda a: spread(a, mesh), arguments)
        else:
            here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
            self.shardings = jax.tree.map(lambda a: here, arguments)
        self.placed = self.place()
        self.jitted = jax.jit(function)
        self.donating = jax.jit(function, donate_argnums=tuple(range(len(arguments))))

    def place(self):
        return jax.tree.map(jax.device_put, self.host, self.shardings)

    def call(self, how):
        if how == "fresh":
            return jax.tree.leaves(self.jitted(*self.place()))
        if how == "donated":
            return jax.tree.leaves(self.donating(*self.place()))
        if how == "compiled":
            function = self.function
            return jax.tree.leaves(jax.jit(lambda *a: function(*a))(*self.placed))
        return jax.tree.leaves(self.jitted(*self.placed))

    def expected(self):
        there = jax.device_put(self.host, jax.devices("cpu")[0])
        with jax.default_matmul_precision("highest"):
            return [np.asarray(x) for x in jax.tree.leaves(jax.jit(self.function)(*there))]

    def wrong(self, results):
        for k, (have, want) in enumerate(zip(results, self.expected(), strict=True)):
            problem = far(have, want)
            if problem:
                return f"result {k}: {problem}"
        return None


class Recorded:
    """A folder of the corpus: what JAX sent, arguments and results."""

    def __init__(self, folder):
        from jax._src.lib import xla_client
        self.name, self.folder = "corpus." + folder.name, folder
        self.facts = json.loads((folder / "meta.json").read_text())
        mesh = self.facts["mesh"]
        devices = [jax.devices()[i] for i in self.facts["device_ids"]]
        self.mesh = Mesh(np.array(devices).reshape(tuple(mesh.values())), tuple(mesh))
        self.host = [self.load(e) for e in self.facts["inputs"]]
        self.shardings = [NamedSharding(self.mesh, eval(e["spec"], {"P": P, "PartitionSpec": P}))
                          for e in self.facts["inputs"]]
        self.client, self.list = devices[0].client, xla_client.DeviceList(tuple(devices))
        self.options = xla_client.CompileOptions()
        self.options.num_partitions, self.options.num_replicas = len(devices), 1
        build = self.options.executable_build_options
        build.num_partitions, build.num_replicas = len(devices), 1
        build.device_assignment = xla_client.DeviceAssignment.create(
            np.array([[d.id for d in devices]]))
        self.loaded = self.compile()
        self.placed = self.place()

    def load(self, entry):
        array = np.load(self.folder / entry["file"])
        return array.view(jax.numpy.bfloat16) if entry["dtype"] == "bfloat16" else array

    def compile(self):
        return self.client.compile_and_load((self.folder / "global.mlirbc").read_bytes(), self.list,
                                            self.options)

    def place(self):
        return [jax.device_put(a, s) for a, s in zip(self.host, self.shardings)]

    def call(self, how):
        fresh = how != "plain" or self.facts["donated"]
        loaded = self.compile() if how == "compiled" else self.loaded
        shards = loaded.execute_sharded(self.place() if fresh else self.placed)
        return [x for one in shards.disassemble_into_single_device_arrays() for x in one]

    def wrong(self, results):
        at = 0
        for entry in self.facts["outputs"]:
            want = self.load(entry)
            for ranges in entry["shards"].values():
                problem = far(results[at], want[tuple(slice(*r) for r in ranges)], entry)
                if problem:
                    return f"{entry['file']}: {problem}"
                at += 1
        return None


def far(have, want, entry=None):
    """None, or how `have` is not close to `want`."""
    if have.shape != want.shape or have.dtype != want.dtype:
        return f"{have.dtype}{have.shape}, expected {want.dtype}{want.shape}"
    if have.size == 0 or have.dtype.kind in "biu":
        count = int((have != want).sum())
        return f"{count} elements differ" if count else None
    wide = np.complex128 if have.dtype.kind == "c" else np.float64
    small = have.dtype.itemsize == 2
    a, b = have.astype(wide), want.astype(wide)
    with np.errstate(all="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        finite = np.abs(b[np.isfinite(b)])
        scale = float(finite.max()) if finite.size else 0.0
        allowed = (5e-2 if small else 2e-3) * (scale + 1e-6)
        if entry:
            allowed = np.maximum(entry["rtol"] * np.abs(b) + entry.get("atol_cond", entry["atol"]),
                                 1e-4 * scale)
        wrong = ~(same | (np.abs(a - b) <= allowed))
    if not wrong.any():
        return None
    at = np.unravel_index(np.argmax(wrong), wrong.shape)
    return f"{int(wrong.sum())} of {have.size} elements, first {have[at]}, expected {want[at]}"


def collect():
    found = [(entry[0], lambda e=entry: Traced(*e)) for entry in stress_programs.each()]
    if OPTIONS.corpus:
        found += [("corpus." + meta.parent.name, lambda d=meta.parent: Recorded(d))
                  for meta in sorted(OPTIONS.corpus.glob("*/meta.json"))]
    found = [entry for entry in found if fnmatch.fnmatch(entry[0], OPTIONS.programs)]
    if OPTIONS.most and len(found) > OPTIONS.most:
        found = random.Random(OPTIONS.seed).sample(found, OPTIONS.most)
    programs, refused = [], []
    for name, make in found:
        try:
            program = make()
            program.call("plain")
            programs.append(program)
        except Exception as error:
            if "UNIMPLEMENTED" not in str(error):
                raise
            refused.append(name)
    return programs, refused


# ---- runs

BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: sum(range(100000))"


class Tally:
    def __init__(self):
        self.lock, self.left, self.problems = threading.Lock(), OPTIONS.runs, []
        self.done = collections.Counter()

    def take(self):
        with self.lock:
            self.left -= 1
            return self.left >= 0

    def problem(self, text):
        with self.lock:
            self.problems.append(text)
            print("DIFFERS " + text, flush=True)


def bits(array):
    return np.ascontiguousarray(array).tobytes()


HOW = ["plain"] * 40 + ["fresh"] * 12 + ["donated"] * 6 + ["compiled"]


def check(tally, program, first, how, results):
    for k, array in enumerate(results):
        have = np.asarray(array)
        if bits(have) != bits(first[k]):
            now, before = (np.frombuffer(bits(x), np.uint8) for x in (have, first[k]))
            where = np.nonzero(now != before)[0]
            tally.problem(f"{program.name} ({how}) result {k} {have.dtype}{have.shape}: "
                          f"{len(where)} bytes from {where[0]} on: {have.ravel()[:4]}, "
                          f"before {first[k].ravel()[:4]}")
    with tally.lock:
        tally.done[how] += 1


def launch(tally, programs, firsts, seed):
    """Several programs at a time are under way, and read in any order."""
    pick, pending = random.Random(seed), []
    try:
        while tally.take():
            program, how = pick.choice(programs), pick.choice(HOW)
            pending.append((program, how, program.call(how)))
            if len(pending) > pick.randrange(12):
                program, how, results = pending.pop(pick.randrange(len(pending)))
                check(tally, program, firsts[program.name], how, results)
        for program, how, results in pending:
            check(tally, program, firsts[program.name], how, results)
    except Exception:
        tally.problem("a thread ended: " + traceback.format_exc())


def main():
    crowd = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(OPTIONS.busy)]
    begin = time.monotonic()
    programs, refused = collect()
    tally, firsts, digest = Tally(), {}, hashlib.sha256()
    for program in programs:
        firsts[program.name] = [np.array(x) for x in program.call("plain")]
        for array in firsts[program.name]:
            digest.update(bits(array))
        problem = None if OPTIONS.digest else program.wrong(firsts[program.name])
        if problem:
            tally.problem(f"{program.name} from XLA: {problem}")
    prepared = time.monotonic()
    print(f"{len(programs)} programs ({len(refused)} not implemented: {' '.join(refused)}), "
          f"{prepared - begin:.0f} s", flush=True)
    if OPTIONS.digest:
        print("digest", digest.hexdigest())
    seeds = [OPTIONS.seed * 1000 + i for i in range(OPTIONS.threads)]
    threads = [threading.Thread(target=launch, args=(tally, programs, firsts, seed))
               for seed in seeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for process in crowd:
        process.terminate()
    kinds = ", ".join(f"{count} {how}" for how, count in tally.done.items())
    print(f"{sum(tally.done.values())} runs ({kinds}) of {len(programs)} programs in "
          f"{time.monotonic() - prepared:.0f} s, {len(tally.problems)} differ")
    return 1 if tally.problems else 0


if __name__ == "__main__":
    sys.exit(main())
