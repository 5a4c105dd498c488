"""Random ops that move data, for single.py."""

import numpy as np

from single_elementwise import edge
from single_values import (COMPLEX, FLOATS, INTS, TYPES, UINTS, Case, integers, limits, tensor)

INDEX_TYPES = ["i32", "i32", "i64", "i8", "ui8", "ui32", "ui64", "i16", "i4", "ui16"]


def array(values):
    values = ", ".join(map(str, values))
    return f"array<i64{': ' if values else ''}{values}>"


def data(d, turn, dims):
    """An element type in turn, and values of it."""
    t, kind = TYPES[turn % len(TYPES)], d.kind()
    return t, d.values(t, dims, kind), edge(kind)


def simple(op, args, attrs, result, features, **more):
    """A module of one op in the generic form; all its operands may be constants."""
    names = ", ".join(f"%a{i}" for i in range(len(args)))
    types = ", ".join(tensor(t, v.shape) for t, v in args)
    attrs = f" <{{{attrs}}}>" if attrs else ""
    body = f'%0 = "stablehlo.{op}"({names}){attrs} : ({types}) -> {tensor(*result)}'
    return Case("stablehlo." + op, args, body, ["%0"], [result], ("bits",), features,
                constants=tuple(range(len(args))), **more)


def pad(d, turn):
    dims = d.dims(0, 4)
    while True:
        low, high = ([d.pick(0, 0, 1, 2, 3, -1, -2, -d.int(0, 6)) for _ in dims]
                     for _ in range(2))
        inside = [d.pick(0, 0, 1, 2, 3) for _ in dims]
        out = [n + a + b + max(n - 1, 0) * c for n, a, b, c in zip(dims, low, high, inside)]
        if all(n >= 0 for n in out) and np.prod(out) < 5000 * d.room:
            break
    t, x, features = data(d, turn, dims)
    if any(p < 0 for p in low + high):
        features.add("negative padding")
    if any(inside):
        features.add("interior padding")
    return simple("pad", [(t, x), (t, d.values(t, [], d.kind()))],
                  f"edge_padding_low = {array(low)}, edge_padding_high = {array(high)}, "
                  f"interior_padding = {array(inside)}", (t, out), features)


def slice_op(d, turn):
    dims = d.dims(0, 4)
    low = [d.int(0, n) for n in dims]
    high = [d.int(a, n) for a, n in zip(low, dims)]
    step = [d.pick(1, 1, 2, 3, 7) for _ in dims]
    out = [(b - a + s - 1) // s for a, b, s in zip(low, high, step)]
    t, x, features = data(d, turn, dims)
    if any(s > 1 for s in step):
        features.add("strides")
    return simple("slice", [(t, x)], f"start_indices = {array(low)}, limit_indices = "
                  f"{array(high)}, strides = {array(step)}", (t, out), features)


def indices(d, t, tops, features):
    """Starts in -3 .. top + 3, or anything that the type has."""
    if d.chance(0.15):
        features.add("out-of-range index")
        return [d.values(t, [], "edge") for _ in tops]
    low, high = limits(t)
    values = [min(max(d.int(-3, top + 3) if d.chance(0.5) else d.int(0, top), low), high)
              for top in tops]
    if any(v < 0 or v > top for v, top in zip(values, tops)):
        features.add("out-of-range index")
    return [integers([v], t).reshape([]) for v in values]


def dynamic_slice(d, turn):
    dims = d.dims(0, 4)
    sizes = [d.int(0 if d.chance(0.05) else min(n, 1), n) for n in dims]
    t, x, features = data(d, turn, dims)
    it = d.pick(*INDEX_TYPES)
    starts = indices(d, it, [n - s for n, s in zip(dims, sizes)], features)
    return simple("dynamic_slice", [(t, x)] + [(it, v) for v in starts],
                  f"slice_sizes = {array(sizes)}", (t, sizes), features)


def dynamic_update_slice(d, turn):
    dims = d.dims(0, 4)
    sizes = [d.int(0 if d.chance(0.05) else min(n, 1), n) for n in dims]
    t, x, features = data(d, turn, dims)
    it = d.pick(*INDEX_TYPES)
    starts = indices(d, it, [n - s for n, s in zip(dims, sizes)], features)
    update = d.values(t, sizes, d.kind())
    return simple("dynamic_update_slice", [(t, x), (t, update)] + [(it, v) for v in starts], "",
                  (t, dims), features)


def concatenate(d, turn):
    dims = d.dims(1, 4)
    axis = d.int(0, len(dims) - 1)
    shapes = [dims[:axis] + [d.size()] + dims[axis + 1:] for _ in range(d.int(1, 4))]
    t, _, features = data(d, turn, [])
    out = list(dims)
    out[axis] = sum(s[axis] for s in shapes)
    return simple("concatenate", [(t, d.values(t, s, d.kind())) for s in shapes],
                  f"dimension = {axis} : i64", (t, out), features)


def reverse(d, turn):
    dims = d.dims(0, 4)
    t, x, features = data(d, turn, dims)
    return simple("reverse", [(t, x)], f"dimensions = {array(sorted(d.some(len(dims))))}",
                  (t, dims), features)


def transpose(d, turn):
    dims = d.dims(0, 5)
    t, x, features = data(d, turn, dims)
    order = d.some(len(dims), len(dims))
    return simple("transpose", [(t, x)], f"permutation = {array(order)}",
                  (t, [dims[i] for i in order]), features)


def reshape(d, turn):
    dims = d.dims(0, 4)
    t, x, features = data(d, turn, dims)
    factors = [1] * d.int(0, 2)
    for n in dims:
        k = d.pick(*[k for k in range(1, n + 1) if n % k == 0] or [1])
        factors += [k, n // k]
    factors = d.r.sample(factors, len(factors))
    while len(factors) > 1 and d.chance(0.6):
        factors[0:2] = [factors[0] * factors[1]]
        factors = factors[1:] + factors[:1]
    return simple("reshape", [(t, x)], "", (t, factors), features)


def broadcast_in_dim(d, turn):
    out = d.dims(0, 4)
    into = d.some(len(out)) if d.chance(0.5) else sorted(d.some(len(out)))
    dims = [out[i] if d.chance(0.6) else 1 for i in into]
    t, x, features = data(d, turn, dims)
    if into != sorted(into):
        features.add("permuted broadcast")
    return simple("broadcast_in_dim", [(t, x)], f"broadcast_dimensions = {array(into)}", (t, out),
                  features)


def iota(d, turn):
    types = FLOATS[:4] + INTS + UINTS + COMPLEX + FLOATS[4:11]
    t, dims = types[turn % len(types)], d.dims(1, 4)
    return simple("iota", [], f"iota_dimension = {d.int(0, len(dims) - 1)} : i64", (t, dims),
                  set())


def constant(d, turn):
    t, x, features = data(d, turn, d.dims(0, 3))
    case = Case("stablehlo.constant", [(t, x)], "", ["%a0"], [(t, list(x.shape))], ("bits",),
                features, constants=(0,))
    return case


# ---- gather and scatter: one geometry for both ----


class Geometry:
    """Random dimension numbers: how indices pick windows out of a tensor."""

    def __init__(self, d):
        self.features = set()
        rank = d.int(1, 4)
        self.dims = [max(d.size(4), 0 if d.chance(0.05) else 1) for _ in range(rank)]
        order = d.some(rank, rank)
        batching = d.int(0, min(2, rank - 1)) if d.chance(0.35) else 0
        self.operand_batching = sorted(order[:batching])
        rest = order[batching:]
        self.map = d.r.sample(rest, d.int(0 if d.chance(0.1) else 1, len(rest)))
        self.sizes = [d.int(min(n, 1), n) if n else 0 for n in self.dims]
        collapsed = [i for i in rest if d.chance(0.5) and self.dims[i]]
        self.collapsed = sorted(collapsed)
        for i in self.operand_batching + self.collapsed:
            self.sizes[i] = min(self.dims[i], 1)
        window = [i for i in range(rank) if i not in self.operand_batching + self.collapsed]
        self.window = [self.sizes[i] for i in window]
        self.window_dims = window
        self.indices(d)

    def indices(self, d):
        """The indices' shape: batch dims, some of which go with the operand's, around a vector."""
        free = [d.size(4) for _ in range(d.int(0, 2))]
        batch = [(n, None) for n in free]
        for i in self.operand_batching:
            batch.insert(d.int(0, len(batch)), (self.dims[i], i))
        self.vector = d.int(0, len(batch))
        implicit = len(self.map) == 1 and d.chance(0.4)
        shape = [n for n, _ in batch]
        where = {i: k for k, (_, i) in enumerate(batch) if i is not None}
        if implicit:
            self.vector = len(batch)
        else:
            shape.insert(self.vector, len(self.map))
            where = {i: k + (k >= self.vector) for i, k in where.items()}
        self.index_batching = [where[i] for i in self.operand_batching]
        self.index_dims = shape
        rank = len(batch) + len(self.window)
        self.offsets = sorted(d.some(rank, len(self.window)))
        sizes, window = [n for n, _ in batch], list(self.window)
        self.out = [window.pop(0) if i in self.offsets else sizes.pop(0) for i in range(rank)]
        if self.operand_batching:
            self.features.add("batching dims")
        if implicit:
            self.features.add("implicit index vector")

    def draw(self, d, inside=False):
        """Indices, as values of an integer type."""
        t = d.pick(*INDEX_TYPES)
        low, high = limits(t)
        n = int(np.prod(self.index_dims))
        if not inside and d.chance(0.1):
            self.features.add("out-of-range index")
            return t, d.values(t, self.index_dims, "edge")
        tops = [self.dims[i] - self.sizes[i] for i in self.map]
        implicit = len(self.index_dims) == self.vector
        places = np.ndindex(*self.index_dims)
        wild = not inside and d.chance(0.5)
        values = []
        for place in places:
            top = tops[0 if implicit else place[self.vector]]
            v = d.int(-2, top + 2) if wild else d.int(0, top)
            if not 0 <= v <= top:
                self.features.add("out-of-range index")
            values.append(min(max(v, low), high))
        assert len(values) == n
        return t, integers(values, t).reshape(self.index_dims)


def gather(d, turn):
    g = Geometry(d)
    t, x, features = data(d, turn, g.dims)
    it, index = g.draw(d)
    numbers = (f"offset_dims = {g.offsets}, collapsed_slice_dims = {g.collapsed}, "
               f"operand_batching_dims = {g.operand_batching}, start_indices_batching_dims = "
               f"{g.index_batching}, start_index_map = {g.map}, index_vector_dim = {g.vector}")
    return simple("gather", [(t, x), (it, index)],
                  f"dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = "
                  f"{array(g.sizes)}, indices_are_sorted = false", (t, g.out),
                  features | g.features)


def broadcast(d, turn):
    dims, sizes = d.dims(0, 3), d.dims(0, 2)
    t, x, features = data(d, turn, dims)
    return simple("broadcast", [(t, x)], f"broadcast_sizes = {array(sizes)}",
                  (t, list(sizes) + list(dims)), features)


def map_op(d, turn):
    """The lesser of two elements where they have an order, else one of them."""
    dims = d.dims(0, 3)
    t, x, features = data(d, turn, dims)
    args = [(t, x), (t, d.values(t, dims, d.kind()))]
    one, how = tensor(t, []), "EQ" if t in COMPLEX else "LT"
    body = (f'%0 = "stablehlo.map"(%a0, %a1) <{{dimensions = {array(range(len(dims)))}}}> ({{\n'
            f"^bb0(%x: {one}, %y: {one}):\n"
            f"%p = stablehlo.compare {how}, %x, %y : ({one}, {one}) -> tensor<i1>\n"
            f"%z = stablehlo.select %p, %x, %y : tensor<i1>, {one}\n"
            f"stablehlo.return %z : {one}\n"
            f"}}) : ({tensor(t, dims)}, {tensor(t, dims)}) -> {tensor(t, dims)}")
    return Case("stablehlo.map", args, body, ["%0"], [(t, dims)], ("bits",), features,
                constants=(0, 1))


def names():
    return {"stablehlo." + op for op in (
        "broadcast", "map",
        "pad", "slice", "dynamic_slice", "dynamic_update_slice", "concatenate", "reverse",
        "transpose", "reshape", "broadcast_in_dim", "iota", "constant", "gather")}
