"""A value oracle for threads: eight of them read, donate, move and replace the same arrays.

    python python/tests/test_threads.py [EXECUTIONS]    1,000,000 by default

Every element of an array is one number, which stands beside it. Whoever comes too late is told that
the array was deleted or donated; every value that is read is what went in makes of it.
"""
import itertools
import random
import sys
import threading

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

THREADS, SLOTS, SIZE, MOST = 8, 4, 64, 100_000


class Oracle:
    def __init__(self, executions):
        devices = jax.devices("terrazzo")
        mesh = jax.make_mesh((len(devices),), ("x",), devices=devices)
        self.places = [*devices[:2], NamedSharding(mesh, P("x")), NamedSharding(mesh, P())]
        self.left, self.lock = executions, threading.Lock()
        self.late, self.wrong = itertools.count(), []
        step = lambda x: x + 1
        total = lambda x: x + jnp.sum(x) / SIZE
        self.calls = [(jax.jit(f, donate_argnums=donated), g)
                      for f, g in ((step, lambda v: v + 1), (total, lambda v: v + v))
                      for donated in ((), 0)]
        self.slots = [[self.fresh(place, 1) for _ in range(SLOTS)] for place in self.places]

    def fresh(self, place, value):
        return jax.device_put(np.full(SIZE, value, np.float32), place), value

    def attempt(self, array, function):
        """What the function makes of the array; None: too late. JAX says that in many ways."""
        try:
            return function(array)
        except Exception as e:
            # of an array of several shards some may be gone before it says that it is
            if array.is_deleted() or "deleted" in str(e):
                next(self.late)
            else:
                self.wrong.append(repr(e))

    def check(self, array, value, what):
        got = self.attempt(array, np.asarray)
        if got is not None and not (got == value).all():
            self.wrong.append(f"{what}: {got} is not {value}")

    def step(self, choose):
        """True for an execution that was let in."""
        place = choose.randrange(len(self.places))
        slots, at = self.slots[place], choose.randrange(SLOTS)
        array, value = slots[at]  # one read: they are put there together
        what = choose.randrange(10)
        if value > MOST or what == 0:
            slots[at] = self.fresh(self.places[place], choose.randrange(100))
            return False
        if what == 1:
            self.check(array, value, "read")
            return False
        if what == 2:
            to = choose.choice(self.places)
            moved = self.attempt(array, lambda x: jax.device_put(x, to))
            if moved is not None and moved is not array:
                self.check(moved, value, "moved")
            return False
        # of the buffer itself, donated or not
        view = self.attempt(array, np.asarray) if what == 3 else None
        call, result = self.calls[choose.randrange(len(self.calls))]
        y = self.attempt(array, call)
        if y is not None and choose.random() < 0.5:
            slots[at] = y, result(value)
        if y is not None and choose.random() < 0.3:
            self.check(y, result(value), "result")
        if view is not None and not (view == value).all():
            self.wrong.append(f"view: {view} is not {value}")
        return y is not None

    def work(self, seed):
        choose = random.Random(seed)
        while self.left > 0:
            if self.step(choose):
                with self.lock:
                    self.left -= 1


def run(executions):
    oracle = Oracle(executions)
    threads = [threading.Thread(target=oracle.work, args=(seed,)) for seed in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for row in oracle.slots:
        for array, value in row:
            oracle.check(array, value, "last")
    print(f"{executions - oracle.left} executions by {THREADS} threads, {len(oracle.wrong)} wrong; "
          f"{next(oracle.late)} came too late")
    return oracle.wrong


def test_threads_share_read_and_donate():
    assert run(2000)[:10] == []


if __name__ == "__main__":
    found = run(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
    print("\n".join(found[:10]))
    sys.exit(bool(found))
