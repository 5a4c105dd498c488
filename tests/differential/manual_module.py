"""Random manual computations with every collective, and what they compute: text that depends on
the seed only, and a simulation of every device in numpy.

A value is seen as it is where it stands: inside a manual computation local along the manual axes,
whole along the free ones. Its array has one row for each place along the manual axes in effect.
`vary` are the axes along which these rows may differ; `limit` bounds the numbers, so that they are
whole numbers which the element type has."""
import collections
import contextlib
import functools
import math
import random
import sys
from typing import NamedTuple

import numpy as np

from manual_ops import Ops
from manual_values import EXACT, Value, execute, signature

SIZES = [[2], [3], [4], [5], [6], [7], [8], [9], [10], [11], [12], [2, 2], [2, 3], [3, 2], [2, 4],
         [4, 2], [3, 3], [2, 5], [2, 6], [6, 2], [3, 4], [4, 3], [2, 2, 2], [2, 2, 3], [3, 2, 2],
         [2, 3, 2], [1, 4], [4, 1, 2]]


class Level(NamedTuple):
    axes: tuple  # the manual axes in effect, outermost first
    count: int   # places along them


class Maker(Ops):
    def __init__(self, seed):
        self.r = r = random.Random(seed)
        self.seed, self.count, self.channel, self.depth = seed, 0, 0, 0
        self.ops, self.features = collections.Counter(), collections.Counter()
        sizes = r.choice(SIZES)
        self.mesh = dict(zip(r.choice(["abc", "xyz", "cab"]), sizes))
        self.devices = math.prod(sizes)
        ids = list(range(self.devices))
        self.shuffled = r.random() < 0.3
        if self.shuffled:
            r.shuffle(ids)
            self.features["shuffled devices"] += 1
        self.ids = np.array(ids).reshape(sizes)
        self.features[f"{self.devices} devices"] += 1
        self.level, self.values, self.lines, self.program = Level((), 1), [], [], []
        self.functions, self.arguments = [], []
        self.together = None  # axes along which devices take turns together; None: all do
        self.element = r.choice(list(EXACT))
        self.build(r.randint(3, 12))

    # ---- names, places, shardings ----

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def size(self, axes):
        return math.prod(self.mesh[a] for a in axes)

    def free(self):
        return [a for a in self.mesh if a not in self.level.axes]

    def device_table(self):
        """Device ids: a row for each place along the manual axes, a column for each of the rest."""
        names = list(self.mesh)
        order = [names.index(a) for a in (*self.level.axes, *self.free())]
        return self.ids.transpose(order).reshape(self.level.count, -1)

    def pieces(self, axes):
        """Free axes, or parts of them, in any order."""
        out = []
        for a in axes:
            n = self.mesh[a]
            cut = self.r.choice([k for k in range(2, n) if n % k == 0] or [0])
            if cut and self.r.random() < 0.25:
                self.features["sub-axes"] += 1
                parts = [(f'"{a}":(1){cut}', cut), (f'"{a}":({cut}){n // cut}', n // cut)]
                out.append(self.r.choice(parts))
            else:
                out.append((f'"{a}"', n))
        self.r.shuffle(out)
        return out

    def sharding(self, shape, dims=None, unused=(), free=None, even=True):
        """Text; `dims` are the manual axes of each dimension, which `shape` is local along."""
        r, left = self.r, list(shape)
        texts = [[f'"{a}"' for a in d] for d in dims or [[] for _ in shape]]
        rest = []
        for text, n in self.pieces(self.free() if free is None else free):
            fits = [d for d, k in enumerate(left) if k % n == 0 or not even and r.random() < 0.2]
            if fits and r.random() < 0.55:
                d = r.choice(fits)
                texts[d].append(text)
                left[d] = max(left[d] // n, 1)
                if self.level.axes or dims:
                    self.features["free axes"] += 1
            else:
                rest.append(text.split(":")[0])
        listed = [a for a in self.mesh if a in unused or f'"{a}"' in rest and r.random() < 0.5]
        listed = [f'"{a}"' for a in listed if not any(f'"{a}"' in t for d in texts for t in d)]
        text = ", ".join("{" + ", ".join(t + ["?"] * (r.random() < 0.3)) + "}" for t in texts)
        more = f", replicated={{{', '.join(listed)}}}" if listed and r.random() < 0.3 else ""
        return f"<@mesh, [{text}]{more}>"

    # ---- scopes ----

    @contextlib.contextmanager
    def scope(self, values, level=None):
        """Steps go to a list of lines and instructions of their own."""
        saved = self.values, self.lines, self.program, self.level
        self.values, self.lines, self.program = list(values), [], []
        self.level = level or self.level
        self.depth += 1
        yield self.lines, self.program
        self.depth -= 1
        self.values, self.lines, self.program, self.level = saved

    def emit(self, text, inputs, results, function):
        """results: (shape, element, vary, limit) each; function: arrays to arrays."""
        names = [self.name()] if len(results) == 1 else None
        head = names[0] if names else self.name()
        names = names or [f"{head}#{i}" for i in range(len(results))]
        self.lines.append(f"{head}{f':{len(results)}' if len(results) > 1 else ''} = {text}")
        out = [Value(n, *r[:3], min(r[3], 1 << 60)) for n, r in zip(names, results)]
        self.program.append((function, [v.name for v in inputs], [v.name for v in out]))
        self.values += out
        return out

    def parameter(self, v, **changes):
        return v._replace(name=self.name(), **changes)

    def everywhere(self):
        return frozenset(self.level.axes)

    # ---- manual computations ----

    def do_manual(self):
        r, free = self.r, self.free()
        if not free or self.depth > 4:
            return
        axes = tuple(a for a in free if r.random() < 0.7) or (r.choice(free),)
        operands = [self.pick() for _ in range(r.randint(1, 3))]
        inner = Level(self.level.axes + axes, self.level.count * self.size(axes))
        rest = [a for a in free if a not in axes]
        cuts, arguments, given = [], [], []
        for v in operands:
            dims, left = [[] for _ in v.shape], list(v.shape)
            for a in r.sample(axes, len(axes)):
                fits = [d for d, n in enumerate(left) if n % self.mesh[a] == 0]
                if fits and r.random() < 0.8:
                    d = r.choice(fits)
                    dims[d].append(a)
                    left[d] //= self.mesh[a]
            used = frozenset(a for d in dims for a in d)
            given.append(self.sharding(left, dims, [a for a in axes if a not in used], rest))
            arguments.append(self.parameter(v, shape=tuple(left), vary=v.vary | used))
            cuts.append(dims)
        with self.scope(arguments, inner) as (lines, program):
            self.steps(r.randint(1, 9))
            results = [self.leaving(axes) for _ in range(r.randint(1, 3))]
            outs = [self.joined(v, axes, rest) for v in results]
        self.features[f"manual at depth {len(self.level.axes) and 2 or 1}"] += 1
        self.features["manual with free axes"] += bool(rest)
        heads = ", ".join(f"{a.name}: {a.type}" for a in arguments)
        shapes = [tuple(n * self.size(d) for n, d in zip(v.shape, dims))
                  for v, (dims, _) in zip(results, outs)]
        enter = functools.partial(split, self.mesh, axes)
        leave = functools.partial(join, self.mesh, axes)

        def run(arrays):
            env = {a.name: enter(x, dims) for a, x, dims in zip(arguments, arrays, cuts)}
            execute(program, env)
            return [leave(env[v.name], dims, self.size(axes))
                    for v, (dims, _) in zip(results, outs)]
        self.emit(
            f"sdy.manual_computation({', '.join(v.name for v in operands)}) "
            f"in_shardings=[{', '.join(given)}] out_shardings=[{', '.join(t for _, t in outs)}] "
            f"manual_axes={{{', '.join(f'{chr(34)}{a}{chr(34)}' for a in self.order(axes))}}} "
            f"({heads}) {{\n" + "\n".join(lines) +
            f"\nsdy.return {', '.join(v.name for v in results)} : "
            f"{', '.join(v.type for v in results)}\n}} : {signature(operands, results, shapes)}",
            operands, [(s, v.element, v.vary - set(axes), v.limit)
                       for s, v in zip(shapes, results)], run)

    def order(self, axes):
        """As JAX sorts manual axes, or as the mesh has them: any will do."""
        return self.r.sample(axes, len(axes))

    def leaving(self, axes):
        """A value whose differences along the axes can be put side by side."""
        v = self.pick()
        if not v.shape and v.vary & set(axes):
            v = self.broadcast(v, (1,))
        return v

    def joined(self, v, axes, rest):
        """For each dimension the axes that its pieces lie along, and the sharding's text."""
        dims, shape = [[] for _ in v.shape], list(v.shape)
        for a in self.r.sample(axes, len(axes)):
            big = math.prod(shape) * self.mesh[a] > 4096
            if v.shape and (a in v.vary or self.r.random() < 0.3 and not big):
                d = self.r.randrange(len(dims))
                dims[d].append(a)
                shape[d] *= self.mesh[a]
        used = {a for d in dims for a in d}
        return dims, self.sharding(v.shape, dims, [a for a in axes if a not in used], rest)

    # ---- the module ----

    def argument(self, shape, element, limit):
        v = Value(self.name(), shape, element, frozenset(), limit)
        self.arguments.append(v)
        self.values.append(v)
        return v

    def shape(self):
        def one():
            n = math.prod(self.mesh[a] for a in self.mesh if self.r.random() < 0.5)
            return n * self.r.choice([1, 1, 2, 2, 3, 4])
        return tuple(one() for _ in range(self.r.choice([1, 1, 2, 2, 3])))

    def build(self, steps):
        r = self.r
        for _ in range(r.randint(1, 3)):
            shape = self.shape()
            while math.prod(shape) > 2048:
                shape = self.shape()
            element = self.element if r.random() < 0.8 else r.choice(list(EXACT))
            self.features[element] += 1
            self.argument(shape, element, 3)
        given = len(self.values)
        for k in range(steps):
            self.do_manual() if k == 0 or r.random() < 0.25 else self.step()
        made = self.values[given:] or self.values
        self.results = made[-3:] + [r.choice(made)]

    def text(self):
        def said(v, often):
            s = self.sharding(v.shape) if self.r.random() < often else None
            if s and other and self.r.random() < 0.3:
                self.features["another mesh"] += 1
                s = s.replace("@mesh", "@other")
            return f"{v.type}{f' {{sdy.sharding = #sdy.sharding{s}}}' if s else ''}"
        axes = ", ".join(f'"{a}"={n}' for a, n in self.mesh.items())
        order = self.r.sample(range(self.devices), self.devices)
        order = f", device_ids={order}" if self.r.random() < 0.5 else ""
        other = f"sdy.mesh @other = <[{axes}]{order}>" if self.r.random() < 0.15 else ""
        arguments = ", ".join(f"{v.name}: {said(v, 0.6)}" for v in self.arguments)
        results = ", ".join(said(v, 0.4) for v in self.results)
        names = ", ".join(v.name for v in self.results)
        types = ", ".join(v.type for v in self.results)
        ids = f", device_ids={list(map(int, self.ids.flat))}" if self.shuffled else ""
        return "\n".join([
            f"module attributes {{mhlo.num_partitions = {self.devices} : i32, "
            "mhlo.num_replicas = 1 : i32} {", f"sdy.mesh @mesh = <[{axes}]{ids}>", other,
            f"func.func public @main({arguments}) -> ({results}) {{", *self.lines,
            f"return {names} : {types}", "}", *self.functions, "}", ""])

    def inputs(self):
        """Arrays, and in which element types."""
        g = np.random.default_rng(self.seed)
        out = []
        for v in self.arguments:
            low = 0 if v.element.startswith("ui") or v.element == "i1" else -3
            out.append(g.integers(low, 2 if v.element == "i1" else 4, v.shape)
                       .astype(EXACT[v.element].dtype))
        return out

    def expected(self, inputs):
        env = {v.name: a[None] for v, a in zip(self.arguments, inputs)}
        execute(self.program, env)
        return [env[v.name][0] for v in self.results]


# ---- simulation ----

def places(mesh, axes):
    return list(np.ndindex(*(mesh[a] for a in axes)))


def window(mesh, axes, place, dims, local):
    """Where the piece at a place lies in the whole."""
    at = dict(zip(axes, place))
    out = []
    for names, n in zip(dims, local):
        k = 0
        for a in names:
            k = k * mesh[a] + at[a]
        out.append(slice(k * n, (k + 1) * n))
    return tuple(out)


def split(mesh, axes, x, dims):
    local = [n // math.prod(mesh[a] for a in d) for n, d in zip(x.shape[1:], dims)]
    return np.stack([row[window(mesh, axes, place, dims, local)]
                     for row in x for place in places(mesh, axes)])


def join(mesh, axes, x, dims, count):
    local = x.shape[1:]
    shape = [n * math.prod(mesh[a] for a in d) for n, d in zip(local, dims)]
    out = np.zeros([len(x) // count, *shape], x.dtype)
    seen = np.zeros(out.shape, bool)
    for k, piece in enumerate(x):
        place = places(mesh, axes)[k % count]
        at = (k // count, *window(mesh, axes, place, dims, local))
        same = np.where(seen[at], out[at] == piece, True)
        assert same.all(), "devices disagree"
        out[at], seen[at] = piece, True
    return out


if __name__ == "__main__":
    print(Maker(int(sys.argv[1])).text())
