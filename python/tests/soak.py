"""Eight threads of random programs, arrays, deletions and callbacks, for as long as one likes.

    python python/tests/soak.py [--minutes 30] [--threads 8] [--devices 8] [--seed 0]

Every value that is read is compared with NumPy's. A line a round says how many programs ran and how
much memory the process had, the median over the round: caches come and go by some percent. The exit
status is 1 if a value was wrong, or if the memory at the end is more than 1 % above what it was in
the first quarter.
"""
import argparse
import gc
import os
import random
import statistics
import sys
import threading
import time
import traceback


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


OPTIONS = options()
os.environ["JAX_PLATFORMS"] = "terrazzo"
os.environ["TERRAZZO_NUM_DEVICES"] = str(OPTIONS.devices)

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

SIZES = (8, 64, 4096, 65536)
DEVICES = jax.devices()
MESH = Mesh(np.array(DEVICES), "x")
PLACES = [*DEVICES[:2], NamedSharding(MESH, P("x")), NamedSharding(MESH, P())]


def call_back(x):
    return jax.pure_callback(lambda v: np.asarray(v) * 2, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def loop(x):
    return jax.lax.fori_loop(0, 5, lambda i, v: v + 1, x)


# of integers, so that sums are exact in whatever order
PROGRAMS = [(jax.jit(f, donate_argnums=donated), g) for f, g, donate in (
    (lambda x: x + 1, lambda x: x + 1, True),
    (lambda x: x * 3 - x.sum(), lambda x: x * 3 - x.sum(dtype=np.int32), True),
    (lambda x: jnp.sort(x)[::-1], lambda x: np.sort(x)[::-1], False),
    (loop, lambda x: x + 5, True),
    (lambda x: jnp.cumsum(x), lambda x: np.cumsum(x, dtype=np.int32), False),
    (call_back, lambda x: x * 2, False)) for donated in ((), 0) if donate or donated == ()]


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Soak:
    def __init__(self):
        self.done, self.wrong, self.lock = 0, [], threading.Lock()

    def step(self, choose):
        host = np.arange(choose.choice(SIZES), dtype=np.int32) % choose.randrange(2, 99)
        x = jax.device_put(host, choose.choice(PLACES))
        for _ in range(choose.randrange(4)):
            if choose.random() < 0.1:
                x.delete()
                return
            if choose.random() < 0.2:
                x = jax.device_put(x, choose.choice(PLACES))
            program, result = choose.choice(PROGRAMS)
            x, host = program(x), result(host)
            with self.lock:
                self.done += 1
        if choose.random() < 0.7 and not (np.asarray(x) == host).all():
            raise AssertionError(f"{np.asarray(x)} is not {host}")

    def work(self, seed, end):
        choose = random.Random(seed)
        while time.monotonic() < end and not self.wrong:
            try:
                self.step(choose)
            except Exception:
                self.wrong.append(traceback.format_exc())

    def round(self, number, seconds):
        end = time.monotonic() + seconds
        threads = [threading.Thread(target=self.work, args=(f"{OPTIONS.seed} {number} {k}", end))
                   for k in range(OPTIONS.threads)]
        for t in threads:
            t.start()
        memory = []
        for t in threads:
            while t.is_alive():
                t.join(0.5)
                memory.append(resident())
        gc.collect()
        return statistics.median(memory)


def main():
    soak, memory = Soak(), []
    for number in range(OPTIONS.rounds):
        memory.append(soak.round(number, OPTIONS.minutes * 60 / OPTIONS.rounds))
        print(f"round {number}: {soak.done} programs, {memory[-1] / 1e6:.1f} MB", flush=True)
        if soak.wrong:
            print(soak.wrong[0])
            return 1
    settled = max(memory[:max(1, OPTIONS.rounds // 4)])
    growth = max(memory[-3:]) / settled - 1
    print(f"{soak.done} programs by {OPTIONS.threads} threads, memory {growth:+.2%}")
    return int(growth > 0.01)


if __name__ == "__main__":
    sys.exit(main())
