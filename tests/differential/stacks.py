"""Random loops over stacks as JAX writes them, donated or kept, against XLA: rows that are read and
written at the same places, or nearly, whose memory is one where that is no difference.

    JAX_PLATFORMS=terrazzo,cpu python tests/differential/stacks.py FIRST LAST

A seed is a scan, or a loop that carries its stacks, of a few stacks of rows, small ones and such as
are worth a view, some of them within an outer loop. Numbers are small integers, so results must be
the same; what the caller keeps has to be as it was. Exits with 1 if anything is wrong."""

import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import seeds

SHAPES = [(4096,), (64, 64), (8, 512), (4100,), (128, 33), (16,)]
TYPES = ["float32", "int32", "float16"]


def narrow(x):
    return (x % 7 - 3).astype(x.dtype)


class Draw:
    """A program's choices."""

    def __init__(self, seed):
        self.r = r = random.Random(seed)
        self.rows = r.choice([1, 2, 3, 5])
        self.shape, self.dtype = r.choice(SHAPES), r.choice(TYPES)
        self.num = r.randint(1, 4)
        self.donated = [r.random() < 0.6 for _ in range(self.num)]
        self.reverse = r.random() < 0.4
        self.carried = r.random() < 0.4
        self.outer = r.choice([0, 0, 0, 1, 3])
        self.code = [(r.random(), r.randrange(self.num), r.randrange(self.num)) for _ in range(8)]
        self.outs = [r.random() for _ in range(self.num)]
        self.late = [r.random() < 0.2 for _ in range(self.num)]
        self.mixed = r.random() < 0.3


def change(d, c, rows, all_rows):
    """The rows of one turn: what is stacked in their places, and what is carried on."""
    for kind, a, b in d.code:
        if kind < 0.25:
            rows[a] = narrow(rows[a] + c)
        elif kind < 0.45:
            c = narrow(c + rows[b] * 2)
        elif kind < 0.6 and rows[a].ndim > 1:
            rows[a] = rows[a].at[1].set(narrow(c[0] + rows[b][1]))
        elif kind < 0.7:
            at = jnp.argmax(c.ravel()[:3]).astype("int32")
            rows[a] = lax.dynamic_update_slice(rows[a], narrow(rows[b] + 1)[:1],
                                               (at,) + (0,) * (rows[a].ndim - 1))
        elif kind < 0.8:
            rows[a] = rows[b]
        elif kind < 0.9:
            rows[a] = jnp.flip(rows[b], 0)
        elif all_rows is not None:
            c = narrow(c + all_rows[a][(b * 2 + 1) % d.rows])
    return c, rows


def once(d, c, stacks):
    if not d.carried:

        def turn(c, xs):
            c, ys = change(d, c, list(xs), stacks if d.mixed else None)
            return c, [y if o < 0.7 else y.sum().astype(y.dtype) if o < 0.8 else c
                       for y, o in zip(ys, d.outs)]

        return lax.scan(turn, c, stacks, reverse=d.reverse)

    def step(i, all_of):
        c, stacks = all_of[0], list(all_of[1:])
        at = d.rows - 1 - i if d.reverse else i
        c, rows = change(d, c, [s[at] for s in stacks], stacks if d.mixed else None)
        for k, o in enumerate(d.outs):
            to = at if o < 0.7 else (at + 1) % d.rows if o < 0.85 else 0
            stacks[k] = stacks[k].at[to].set(rows[k])
            if o > 0.6 and o < 0.65:
                c = narrow(c + stacks[k][d.rows - 1 - at])
        return (c, *stacks)

    out = lax.fori_loop(0, d.rows, step, (c, *stacks))
    return out[0], list(out[1:])


def program(d):

    def run(c, *stacks):
        was = stacks
        if d.outer and (d.carried or all(o < 0.7 for o in d.outs)):
            c, stacks = lax.fori_loop(0, d.outer, lambda _, x: once(d, x[0], list(x[1])),
                                      (c, list(stacks)))
        else:
            c, stacks = once(d, c, list(stacks))
        late = [s[0] for s, l in zip(was, d.late) if l]
        return c, list(stacks), late

    return run


def check(seed, ours, other):
    d = Draw(seed)
    r = np.random.RandomState(seed)
    c = r.randint(-3, 4, d.shape).astype(d.dtype)
    stacks = [r.randint(-3, 4, (d.rows, *d.shape)).astype(d.dtype) for _ in range(d.num)]
    donated = tuple(k + 1 for k in range(d.num) if d.donated[k])
    jitted = jax.jit(program(d), donate_argnums=donated)
    want = jax.device_get(jitted(*jax.device_put((c, *stacks), other)))
    args = [jnp.copy(jax.device_put(x, ours)) for x in (c, *stacks)]
    got = jax.device_get(jitted(*args))
    kept = all(np.array_equal(np.asarray(a), x) for k, (a, x) in enumerate(zip(args, (c, *stacks)))
               if k not in donated)
    same = all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want)))
    if not kept or not same:
        print(f"{seed}: {'' if kept else 'changes what is kept '}{'' if same else 'differs'}")
    return kept and same


if __name__ == "__main__":
    seeds.main(check)
