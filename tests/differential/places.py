"""Random loops that read and write elements and rows at places known only at run time, inside and
outside of what they are places of, as JAX writes them, against XLA.

    JAX_PLATFORMS=terrazzo,cpu python tests/differential/places.py FIRST LAST

A seed is a loop, for or while, with an inner one now and then, of a few statements on a few arrays:
x.at[i].get, set, add, mul, min and max, of one index or two, of whatever integer type, in each
mode; under conditions; chains of indices; and comparisons whose answers are used once, twice, late,
and behind the loop. Numbers are small integers, so results must be the same. Exits with 1 if
anything is wrong."""

import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import seeds

SHAPES = [(7,), (64,), (5, 1), (9, 3), (16, 8), (6, 16), (4, 40), (3, 100), (5, 6, 2), (4, 4, 17)]
TYPES = ["float32", "int32", "float64", "int64", "uint8", "int16", "bool", "float16", "uint32"]
INDICES = ["int32", "int32", "int32", "int8", "uint8", "int16", "uint32", "int64"]
MODES = [None, None, "clip", "drop"]
EXTREMES = [-2**31, 2**31 - 1, -2**31 + 1, -1, 0, 127, -128, 255]


def small(x, dtype):
    if dtype == "bool":
        return x if x.dtype == bool else x.astype("int32") % 2 == 1
    if jnp.issubdtype(x.dtype, jnp.floating):
        x = x - 8 * jnp.floor(x / 8)
    return (x.astype("int32") % 8).astype(dtype)


class Draw:
    """A program's choices."""

    def __init__(self, seed):
        self.r = r = random.Random(seed)
        self.rounds = r.choice([1, 3, 8, 20])
        self.index = r.choice(INDICES)
        self.arrays = [(r.choice(SHAPES), r.choice(TYPES)) for _ in range(r.randint(1, 3))]
        self.whiles, self.inner = r.random() < 0.4, r.random() < 0.25
        self.outside = r.choice([0, 0.1, 0.5])

    def indices(self):
        r, most = self.r, max(s[0] for s, _ in self.arrays)
        limits = np.iinfo(self.index)

        def one():
            v = r.randrange(most)
            if r.random() < self.outside:
                v = r.choice([r.randint(-2 * most - 2, 2 * most + 2), r.choice(EXTREMES)])
            return max(min(v, limits.max), limits.min)

        return np.array([[one() for _ in range(3)] for _ in range(self.rounds)], self.index)


def index(r, at, k, s):
    """An index of the round: as it is, moved, chosen, or what is read says."""
    i = at[k % 3]
    kind = r.random()
    if kind < 0.15:
        i = i + jnp.asarray(r.choice([-1, 1, 2]), "int32").astype(i.dtype)
    elif kind < 0.25:
        i = jnp.where(at[0] < at[1], i, at[(k + 1) % 3])
    elif kind < 0.35:
        i = s["n"]
    elif kind < 0.4:
        i = jnp.clip(i, 0, 3)
    elif kind < 0.45:
        i = r.randint(-2, 3)
    return i


def read(r, x, i, j):
    mode = r.choice(MODES + ["fill"])
    extra = {"fill_value": 3} if mode in ("fill", "drop") and r.random() < 0.5 else {}
    if mode == "drop":
        mode = "fill"
    return x.at[i if j is None else (i, j)].get(mode=mode, **extra)


def write(r, x, dtype, i, j, v):
    place = x.at[i if j is None else (i, j)]
    how = r.choice(["set", "add", "mul", "min", "max", "set"])
    v = jnp.broadcast_to(small(v, dtype), x.shape[1 if j is None else 2:])
    if dtype == "bool":
        how = "set"
    return small(getattr(place, how)(v, mode=r.choice(MODES)), dtype)


def statement(d, r, s, at, k):
    a = r.randrange(len(d.arrays))
    (shape, dtype), x = d.arrays[a], s["x"][a]
    i = index(r, at, r.randrange(3), s)
    j = index(r, at, r.randrange(3), s) if len(shape) > 1 and r.random() < 0.4 else None
    kind = r.random()
    if kind < 0.3:
        v = read(r, x, i, j)
        s["v"] = small(s["v"] + v.astype("int32").sum() + k, "int32")
        if r.random() < 0.3:
            s["n"] = small(v.astype("int32").max(), "int32") - r.choice([0, 2])
    elif kind < 0.7:
        v = r.choice([lambda: s["v"], lambda: read(r, x, at[r.randrange(3)], j)])()
        new = write(r, x, dtype, i, j, v)
        s["x"][a] = jnp.where(s["v"] > 3, new, x) if r.random() < 0.2 else new
    elif kind < 0.8:
        less = s["v"] < at[0].astype("int32")
        s["v"] = jnp.where(less, s["v"] + 1, jnp.maximum(s["n"], s["v"]))
        s["b"] = less if r.random() < 0.5 else s["b"] ^ less
    elif kind < 0.9:
        s["n"] = jnp.where(s["b"], s["n"], -s["n"])
        s["f"] = jnp.where(s["f"] < s["v"].astype("float32"), s["f"] + 1, jnp.minimum(s["f"], 2.0))
    else:

        def branch(t):
            t = {**t, "x": list(t["x"])}
            t["x"][a] = write(r, t["x"][a], dtype, i, j, t["v"])
            return t

        new = lax.cond(s["b"], branch, lambda t: t, s)
        s.update(new)


def program(d, seed):

    def round_of(at, s):
        r = random.Random(seed + 1)
        s = {**s, "x": list(s["x"])}
        for k in range(r.randint(2, 7)):
            statement(d, r, s, at, k)
        if d.inner:

            def again(k, t):
                q = random.Random(seed + 2)
                t = {**t, "x": list(t["x"])}
                statement(d, q, t, jnp.roll(at, k), 0)
                return t

            s = lax.fori_loop(0, jnp.abs(s["v"]) % 3, again, s)
        return s

    def run(places, xs):
        s = {"x": list(xs), "v": jnp.int32(1), "n": jnp.int32(0), "b": jnp.bool_(False),
             "f": jnp.float32(0)}
        if d.whiles:
            go = lambda c: (c[0] < d.rounds) & (c[1]["v"] != 7)
            return lax.while_loop(go, lambda c: (c[0] + 1, round_of(places[c[0]], c[1])),
                                  (jnp.int32(0), s))
        return lax.fori_loop(0, d.rounds, lambda i, s: round_of(places[i], s), s)

    return run


def check(seed, ours, other):
    d = Draw(seed)
    r = np.random.RandomState(seed)
    args = (d.indices(), [r.randint(0, 2 if t == "bool" else 7, s).astype(t) for s, t in d.arrays])
    jitted = jax.jit(program(d, seed))
    try:
        want = jax.device_get(jitted(*jax.device_put(args, other)))
    except jax.errors.JaxRuntimeError as e:
        print(f"{seed}: XLA does not compile it: {str(e).splitlines()[0]}")
        return True
    got = jax.device_get(jitted(*jax.device_put(args, ours)))
    same = all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
               for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want)))
    if not same:
        print(f"{seed}: differs")
    return same


if __name__ == "__main__":
    seeds.main(check)
