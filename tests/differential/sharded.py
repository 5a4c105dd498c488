"""Random modules on many devices against the same modules on one: equal, bit by bit.

    python tests/differential/sharded.py FIRST LAST [--lib FILE] [--out FOLDER] [--only OP]

Each seed from FIRST up to LAST is a module (sharded_regions.py). A module that is wrong, refused
or ends its process is written to FOLDER. Prints how often each op and each feature was drawn, so
that what never is shows. --show SEED prints a module."""

import argparse
import collections
import ctypes
import os
import pathlib
import pickle
import re
import select
import signal
import subprocess
import sys
import time
import traceback

import numpy as np

from capi import Options, Stats, result
from sharded_regions import Maker
from sharded_values import differs

LIBRARY = pathlib.Path(os.environ.get("TERRAZZO_BIN", "build/bin")).parent / "lib/libterrazzo.so"
PATIENCE = 60  # seconds a module


class Refused(Exception):
    pass


class Terrazzo:
    """The public C API."""

    def __init__(self, library):
        self.lib = lib = ctypes.CDLL(str(library))
        for name in ("tz_compile", "tz_runtime_create", "tz_run"):
            getattr(lib, name).restype = ctypes.c_void_p
        lib.tz_error_message.restype = ctypes.c_char_p
        lib.tz_error_message.argtypes = lib.tz_error_free.argtypes = [ctypes.c_void_p]
        self.runtime = ctypes.c_void_p()
        self.check(lib.tz_runtime_create(1, ctypes.byref(self.runtime)))

    def check(self, error):
        if error:
            message = self.lib.tz_error_message(error).decode(errors="replace")
            self.lib.tz_error_free(error)
            raise Refused(message)

    def run(self, text, devices, inputs, results, choose_from=0, dump=None):
        """Fills `results`, arrays like those of the module; returns the collectives used."""
        source, program = text.encode(), ctypes.c_void_p()
        options = Options(devices=devices, choose_from=choose_from,
                          dump=ctypes.cast(dump, ctypes.c_void_p) if dump else None)
        self.check(self.lib.tz_compile(source, ctypes.c_size_t(len(source)),
                                       ctypes.byref(options), ctypes.byref(program)))
        try:
            for i, a in enumerate(results):
                size = result(self.lib, program, i).bytes
                assert size == a.nbytes, (size, a.nbytes, a.dtype)
            given = (ctypes.c_void_p * len(inputs))(*[a.ctypes.data for a in inputs])
            taken = (ctypes.c_void_p * len(results))(*[a.ctypes.data for a in results])
            self.check(self.lib.tz_run(self.runtime, program, given, taken))
            stats = Stats()
            self.lib.tz_program_stats(program, ctypes.byref(stats))
            return [c.kind.decode() for c in stats.collectives[:stats.num_collectives]]
        finally:
            self.lib.tz_program_free(program)


class Tally:
    def __init__(self):
        self.modules, self.ops, self.features, self.reasons = (
            collections.Counter() for _ in range(4))

    def add(self, other):
        for mine, theirs in zip(vars(self).values(), vars(other).values()):
            mine.update(theirs)


def make(seed, only=None, tally=None, steps=None):
    tally = tally or Tally()
    m = Maker(seed, tally.ops, tally.features)
    m.only = only
    m.build(steps or m.r.choice([1, 2, 3, 4, 6, 8, 10]))
    return m


def reason(message):
    """What is alike in messages of one kind."""
    first = next((l for l in message.splitlines() if "error" in l), message)
    first = re.sub(r"^.*?error: ", "", first)
    return re.sub(r"\d+", "N", re.sub(r"<.*>", "<>", first))[:160]


def check(seed, terrazzo, tally, only=None):
    """None, or (what is wrong, how): "wrong", "refused", or "unsharded" for the other form."""
    m = make(seed, only, tally)
    sharded, unsharded = m.texts()
    inputs = m.inputs()
    want, got = ([np.zeros(v.shape, v.info.dtype) for v in m.results] for _ in range(2))
    try:
        terrazzo.run(unsharded, 1, inputs, want)
    except Refused as e:
        return "unsharded", str(e)
    try:
        kinds = terrazzo.run(sharded, m.devices, inputs, got, choose_from=seed % 2)
    except Refused as e:
        return "refused", str(e)
    tally.features.update(f"collective {k}" for k in kinds)
    for i, (v, a, b) in enumerate(zip(m.results, want, got)):
        if m.wild or v.alike:  # nothing is known but that devices agree
            seen = i >= m.witnesses or v.alike
            a = np.broadcast_to(b[:1], b.shape).copy() if seen else b
        at = differs(a, b, v.element, v.near)
        if len(at):
            k = tuple(at[0][:len(v.shape)])
            return "wrong", (f"result {i} ({v.name} : {v.type}) in {len(at)} of {v.size} places, "
                             f"first {list(map(int, k))}: {b[k]}, not {a[k]}")
    return None


# ---- many ----

def work(seeds, pipe, options):
    """A process: sends (seed, None) before each module and (seed, outcome) after it."""
    terrazzo = Terrazzo(options.lib)

    def send(message):
        data = pickle.dumps(message)
        os.write(pipe, len(data).to_bytes(4, "little") + data)
    for seed in seeds:
        tally = Tally()
        send((seed, None))
        send((seed, (check(seed, terrazzo, tally, options.only), tally)))
    os._exit(0)


def read(pipe, n):
    data = b""
    while len(data) < n:
        if not select.select([pipe], [], [], PATIENCE)[0]:
            raise TimeoutError
        more = os.read(pipe, n - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def outcomes(seeds, options):
    """Yields (seed, outcome, tally); a module that ends its process does not end the rest."""
    seeds = list(seeds)
    while seeds:
        out, into = os.pipe()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os.close(out)
            try:
                work(seeds, into, options)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        os.close(into)
        seed, ended = None, "crash"
        try:
            while True:
                seed, answer = pickle.loads(read(out, int.from_bytes(read(out, 4), "little")))
                if answer:
                    seeds.remove(seed)
                    yield seed, *answer
                    seed = None
        except EOFError:
            pass
        except TimeoutError:
            ended = "hang"
            os.kill(child, signal.SIGKILL)
        os.close(out)
        status = os.waitpid(child, 0)[1]
        if seed is not None:
            seeds.remove(seed)
            yield seed, (ended, f"status {status}"), Tally()
        elif seeds:
            raise RuntimeError(f"no module was made, status {status}")


def write(folder, seed, only):
    """The two forms and the inputs, as `terrazzo run` takes them."""
    m = make(seed, only)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in zip(("sharded.mlir", "unsharded.mlir"), m.texts()):
        (folder / name).write_text(text)
    for i, a in enumerate(m.inputs()):
        np.save(folder / f"in_{i}.npy", a)


# Ops that are not drawn here, and why.
ELSEWHERE = {
    # around all others, or what passes make
    "builtin.module", "builtin.unrealized_conversion_cast", "func.func", "func.return",
    "sdy.constant", "sdy.data_flow_edge", "sdy.func_data_flow_edge", "sdy.mesh", "sdy.return",
    "stablehlo.return", "mpmd.return",
    # of devices: manual.py
    "stablehlo.all_gather", "stablehlo.all_reduce", "stablehlo.all_to_all",
    "stablehlo.collective_broadcast", "stablehlo.collective_permute", "stablehlo.collective_reduce",
    "stablehlo.cross-replica-sum", "stablehlo.partition_id", "stablehlo.reduce_scatter",
    "stablehlo.replica_id",
    # of the host, or in an order: tests/lit and python/tests
    "func.call_indirect", "func.constant", "interpreter.print", "interpreter.probe",
    "interpreter.run_parallel", "stablehlo.after_all", "stablehlo.async_done",
    "stablehlo.async_start", "stablehlo.create_token", "stablehlo.infeed", "stablehlo.outfeed",
    "stablehlo.recv", "stablehlo.send"}
SIZES_KNOWN = ("arith.", "check.", "shape.", "tensor.")  # families: tests/lit/dynamic, check


def never(ops):
    """The ops that run and that are not among these."""
    binary = LIBRARY.parent.parent / "bin/terrazzo"
    table = subprocess.run([binary, "ops"], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in table.splitlines()[1:]]
    return sorted(row[0] for row in rows if row[-1] in ("yes", "vanishes") and not ops[row[0]]
                  and row[0] not in ELSEWHERE and not row[0].startswith(SIZES_KNOWN))


def report(tally, seconds):
    for title, counts in (("ops", tally.ops), ("features", tally.features)):
        print(f"{title}: " + ", ".join(f"{k} {n}" for k, n in sorted(counts.items())))
    print("never drawn: " + ", ".join(never(tally.ops)))
    for text, n in tally.reasons.most_common(40):
        print(f"{n:6} {text}")
    total = sum(tally.modules.values())
    print(", ".join(f"{n} {k}" for k, n in tally.modules.most_common())
          + f"; {total / max(seconds, 1e-9):.1f} modules a second")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int, nargs="?")
    parser.add_argument("last", type=int, nargs="?")
    parser.add_argument("--lib", default=LIBRARY)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("sharded-out"))
    parser.add_argument("--only", help="every other op is this one")
    parser.add_argument("--show", type=int, metavar="SEED")
    options = parser.parse_args()
    if options.show is not None:
        print(make(options.show, options.only).texts()[0])
        return 0
    tally, begin = Tally(), time.monotonic()
    for seed, outcome, more in outcomes(range(options.first, options.last), options):
        tally.add(more)
        tally.modules[outcome[0] if outcome else "right"] += 1
        if outcome:
            tally.reasons[f"{outcome[0]}: {reason(outcome[1])}"] += outcome[0] != "wrong"
            print(f"{seed} {outcome[0]}: {outcome[1].strip()}", flush=True)
            write(options.out / f"{outcome[0]}_{seed}", seed, options.only)
    report(tally, time.monotonic() - begin)
    return any(k != "right" for k in tally.modules)


if __name__ == "__main__":
    sys.exit(main())
