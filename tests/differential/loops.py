"""Random programs of loops within loops over values of a few to some ten thousand elements:
Terrazzo against XLA:CPU, bit by bit.

    JAX_PLATFORMS=terrazzo,cpu JAX_ENABLE_X64=1 python tests/differential/loops.py FIRST LAST

A seed is a program of statements on a pool of values: arithmetic, reductions, moves, gathers and
scatters, products, solves, and loops and branches whose bodies are such statements again. What a
loop carries may swap places, stay as it is, be there twice, or be sliced and updated at the round's
place. Arguments may be donated, results may be arguments, or one value twice. Numbers are whole
and small, so that nothing is rounded and results are equal, whatever the order of sums.
At the end it prints how often each statement, type and feature was drawn, and what never was; it
exits with 1 if anything is wrong."""

import collections
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

DRAWN = collections.Counter()
STATEMENTS = {}
TYPES = ["float32"] * 6 + ["int32"] * 3 + ["uint8"] * 3 + [
    "int8", "int16", "uint16", "uint32", "float64", "int64", "uint64", "bfloat16", "float16"]
FEATURES = ["donated", "an argument as result", "a result twice", "loop in loop", "branch in loop",
            "swapped", "carried twice", "carried as it is", "wide slices"]
DEEPEST, MOST = 3, 60000  # loops in one another; elements of a value


def statement(function):
    STATEMENTS[function.__name__] = function
    return function


def is_float(v):
    return jnp.issubdtype(v.dtype, jnp.floating)


def settled(v):
    """Small whole numbers of the same type, which sums and products of some keep exact."""
    if v.dtype == bool:
        return v.astype(jnp.int32)
    if is_float(v):
        return v - 8 * jnp.floor(v * 0.125 + 0.5)
    return v & 7 if jnp.issubdtype(v.dtype, jnp.unsignedinteger) else (v & 7) - 4


def shaped(v, like):
    """Elements of v as a value of the other's shape and type."""
    v = v.astype(like.dtype)
    if v.shape == like.shape:
        return v
    if v.ndim < like.ndim and v.shape == like.shape[like.ndim - v.ndim:]:
        return jnp.broadcast_to(v, like.shape)
    flat = v.reshape(-1)
    times = -(-like.size // max(flat.size, 1))
    return (jnp.tile(flat, times) if times > 1 else flat)[:like.size].reshape(like.shape)


class Body:
    """Draws statements; every trace of it draws the same."""

    def __init__(self, seed, depth=0, turn=None, around=()):
        self.r, self.depth, self.turn = np.random.default_rng(seed), depth, turn
        self.around = around  # what a loop has of outside

    def below(self, n):
        return int(self.r.integers(n))

    def chance(self, p):
        return self.r.random() < p

    def one_of(self, these):
        return these[self.below(len(these))]

    def seed(self):
        return self.below(1 << 40)

    def pick(self, pool, rank=0):
        """A value, rather of the last ones, of so many dims at least."""
        some = [v for v in pool[-6:] if v.ndim >= rank and v.size] or [
            v for v in pool if v.ndim >= rank and v.size]
        if some:
            return self.one_of(some)
        v = self.pick(pool)
        return v.reshape((1,) * (rank - v.ndim) + v.shape)

    def place(self, size):
        """An index: the round's, one that values have, or a known one."""
        way = self.below(3)
        if self.turn is None or way == 0:
            return jnp.int32(self.below(size))
        return self.turn % size if way == 1 else size - 1 - self.turn % size

    def statements(self, pool, n):
        names = sorted(STATEMENTS)
        loops = ["loop", "scan", "until", "branch"]
        pool = list(pool)
        for _ in range(n):
            name = self.one_of(loops if self.chance(0.3) else names)
            if self.depth and self.chance(0.16):
                name = self.one_of(["layers", "across"])
            if name in loops and self.depth >= DEEPEST:
                continue
            DRAWN[name] += 1
            out = STATEMENTS[name](self, pool)
            for v in out if isinstance(out, (list, tuple)) else [out]:
                if v.size > MOST:
                    v = v.reshape(-1)[:MOST]
                pool.append(settled(v))
        return pool


# ---- loops ----


def carried(b, pool):
    """Values that a loop has as its state."""
    values = [b.pick(pool) for _ in range(1 + b.below(4))]
    if b.chance(0.2):
        values.append(values[0])
        DRAWN["carried twice"] += 1
    return values


def following(b, values, pool):
    """What each is in the next round."""
    out = []
    for v in values:
        way = b.below(8)
        same = [k for k in values if k.shape == v.shape and k.dtype == v.dtype]
        if way == 0:
            DRAWN["carried as it is"] += 1
            out.append(v)
        elif way == 1 and len(same) > 1:
            DRAWN["swapped"] += 1
            out.append(b.one_of(same))
        elif way == 2 and v.ndim:
            part = shaped(b.pick(pool), v[:1])
            out.append(lax.dynamic_update_slice_in_dim(v, part, b.place(v.shape[0]), 0))
        elif way == 3 and v.ndim > 1:
            part = shaped(b.pick(pool), v[:, :1])
            out.append(lax.dynamic_update_slice_in_dim(v, part, b.place(v.shape[1]), 1))
        elif way == 4:
            out.append(settled(v + shaped(b.pick(pool), v)))
        else:
            out.append(shaped(b.pick(pool), v))
    return out


def inner(b, seed, values, around, turn):
    """One round: the values after it, and all that there was."""
    if b.depth:
        DRAWN["loop in loop"] += 1
    body = Body(seed, b.depth + 1, turn.astype(jnp.int32), around)
    pool = body.statements([*around, *values], 1 + body.below(5))
    return following(body, values, pool), pool[len(around):]


@statement
def loop(b, pool):
    values, seed, n = carried(b, pool), b.seed(), 1 + b.below(5)
    around = [b.pick(pool) for _ in range(3)]
    return lax.fori_loop(0, n, lambda i, c: inner(b, seed, c, around, i)[0], values)


@statement
def until(b, pool):
    values, seed, n = carried(b, pool), b.seed(), 1 + b.below(6)
    around = [b.pick(pool) for _ in range(3)]
    which, word = b.below(len(values)), b.below(5)
    return lax.while_loop(
        lambda c: (c[0] < n) & (c[1][which].reshape(-1)[0].astype(jnp.int32) != word),
        lambda c: (c[0] + 1, inner(b, seed, c[1], around, c[0])[0]), (jnp.int32(0), values))[1]


@statement
def scan(b, pool):
    values, seed = carried(b, pool), b.seed()
    xs = [b.pick(pool, 1)]
    xs += [v for v in pool if v.ndim and v.shape[0] == xs[0].shape[0]][:b.below(3)]
    if xs[0].shape[0] > 8:
        xs = [v[:8] for v in xs]
    around, n = [b.pick(pool) for _ in range(2)], xs[0].shape[0]

    def one(c, x):
        turn, values = c
        after, made = inner(b, seed, values, [*around, *x], turn)
        ys = [shaped(made[-1], x[0]), made[len(made) // 2]]
        return (turn + 1, after), ys

    (_, values), ys = lax.scan(one, (jnp.int32(0), values), xs, reverse=b.chance(0.3),
                               unroll=2 if n % 2 == 0 and b.chance(0.2) else 1)
    return values + ys


@statement
def branch(b, pool):
    values, seeds = carried(b, pool), [b.seed() for _ in range(1 + b.below(3))]
    if b.depth:
        DRAWN["branch in loop"] += 1
    around, v = [b.pick(pool) for _ in range(2)], b.pick(pool)
    which = b.turn if b.turn is not None else v.reshape(-1)[0].astype(jnp.int32)

    def arm(seed):
        def run(values):
            body = Body(seed, b.depth + 1, b.turn, around)
            return following(body, values, body.statements([*around, *values], 1 + body.below(3)))
        return run
    return lax.switch(which % len(seeds), [arm(s) for s in seeds], values)


# ---- arithmetic ----


@statement
def arithmetic(b, pool):
    x = b.pick(pool)
    y = shaped(b.pick(pool), x)
    return b.one_of([lambda: x + y, lambda: x - y, lambda: x * y, lambda: jnp.maximum(x, y),
                     lambda: jnp.minimum(x, y), lambda: jnp.where(x < y, x, y * 3),
                     lambda: jnp.where((x == y) | (x > 1), x, y), lambda: lax.clamp(
                         x.dtype.type(1), x, x.dtype.type(3))])()


@statement
def unary(b, pool):
    x = b.pick(pool)
    if is_float(x):
        return b.one_of([jnp.abs, jnp.negative, jnp.floor, jnp.sign, jnp.square, jnp.round,
                         lambda v: v * 0.5, lambda v: jnp.where(v > 0, v, 0)])(x)
    return b.one_of([lax.population_count, lax.clz, jnp.invert, jnp.sign, jnp.abs,
                     lambda v: v << 2, lambda v: v >> 1, lambda v: v ^ 5])(x)


@statement
def quotient(b, pool):
    x, n = b.pick(pool), b.one_of([1, 2, 3, 5, 7, 10])
    if is_float(x):
        return jnp.floor(x * 4 / 2)
    y = x.dtype.type(n) if b.chance(0.6) else jnp.maximum(shaped(b.pick(pool), x), 1)
    return b.one_of([jnp.floor_divide, jnp.remainder, lax.div, lax.rem])(
        x * x.dtype.type(9), jnp.broadcast_to(y, x.shape))


@statement
def converted(b, pool):
    return b.pick(pool).astype(b.one_of(TYPES))


@statement
def bits(b, pool):
    x = b.pick(pool, 1)
    if x.dtype == jnp.uint8 and x.shape[-1] % 4 == 0:
        x = lax.bitcast_convert_type(x.reshape(*x.shape[:-1], -1, 4), jnp.uint32)
        return x >> 8 ^ x
    if is_float(x):
        x = x.astype(jnp.int32)
    return jnp.packbits(x > 1) if b.chance(0.3) else jnp.unpackbits(x.astype(jnp.uint8))


# ---- reductions ----


def some_axes(b, v):
    return tuple(sorted(b.r.permutation(v.ndim)[:1 + b.below(v.ndim)].tolist()))


@statement
def reduction(b, pool):
    x = b.pick(pool, 1)
    axes, keep = some_axes(b, x), b.chance(0.5)
    f = b.one_of([jnp.sum, jnp.max, jnp.min, jnp.any, jnp.all])
    r = f(x > 1 if f in (jnp.any, jnp.all) else x, axis=axes, keepdims=keep)
    return settled(r.astype(x.dtype)) * x if keep else r.astype(x.dtype)


@statement
def places(b, pool):
    x = b.pick(pool, 1)
    return b.one_of([jnp.argmax, jnp.argmin])(x, axis=b.below(x.ndim)).astype(jnp.int32)


@statement
def computed_sum(b, pool):
    x = b.pick(pool, 1)
    y = shaped(b.pick(pool), x)
    return jnp.sum(jnp.where(x > y, x * y, y), axis=b.below(x.ndim)).astype(x.dtype)


@statement
def cumulative(b, pool):
    x = b.pick(pool, 1)
    if x.dtype in (jnp.bfloat16, jnp.float16):
        x = x.astype(jnp.float32)
    f = b.one_of([lax.cummax, lax.cummin, lax.cumsum])
    return f(x, axis=b.below(x.ndim), reverse=b.chance(0.4))


@statement
def windows(b, pool):
    x = b.pick(pool, 1)
    if x.dtype in (jnp.bfloat16, jnp.float16):
        x = x.astype(jnp.float32)
    size = [1 + b.below(min(n, 3)) for n in x.shape]
    step = [1 + b.below(2) for _ in x.shape]
    start, f = b.one_of([(0, lax.add), (-4, lax.max), (7, lax.min)])
    if start < 0 and jnp.issubdtype(x.dtype, jnp.unsignedinteger):
        start = 0
    return lax.reduce_window(x, x.dtype.type(start), f, size, step,
                             b.one_of(["SAME", "VALID"]))


@statement
def sorted_values(b, pool):
    x = b.pick(pool, 1)
    axis = b.below(x.ndim)
    if is_float(x):
        x = x.astype(jnp.int32)
    way = b.below(3)
    if way == 0:
        return jnp.sort(x, axis=axis)
    if way == 1:
        return jnp.argsort(x, axis=axis).astype(jnp.int32)
    return list(lax.top_k(x, 1 + b.below(x.shape[-1])))


# ---- moves ----


@statement
def turned(b, pool):
    x = b.pick(pool, 2)
    return jnp.transpose(x, b.r.permutation(x.ndim).tolist())


@statement
def flipped(b, pool):
    x = b.pick(pool, 1)
    axis = b.below(x.ndim)
    return jnp.flip(x, axis) if b.chance(0.6) else jnp.roll(x, b.below(x.shape[axis]), axis)


@statement
def reshaped(b, pool):
    x = b.pick(pool, 1)
    n = b.one_of([k for k in (1, 2, 3, 4, 5, 8, 16) if x.size % k == 0])
    return x.reshape(n, -1) if b.chance(0.5) else x.reshape(-1, n)


@statement
def strided(b, pool):
    x = b.pick(pool, 1)
    axis = b.below(x.ndim)
    first = b.below(min(x.shape[axis], 3))
    return lax.slice_in_dim(x, first, x.shape[axis], b.one_of([1, 2, 3, 4]), axis)


@statement
def joined(b, pool):
    x = b.pick(pool, 1)
    parts = [x, *(shaped(b.pick(pool), x) for _ in range(1 + b.below(3)))]
    if b.chance(0.5):
        return jnp.concatenate(parts, b.below(x.ndim))
    return jnp.stack([v + 1 if b.chance(0.3) else v for v in parts],
                     b.below(x.ndim + 1)).reshape(*x.shape[:-1], -1)


@statement
def rotated(b, pool):
    x = b.pick(pool, 1)
    x = x[..., :x.shape[-1] // 2 * 2] if x.shape[-1] > 1 else jnp.concatenate([x, x], -1)
    if b.chance(0.5):
        first, second = jnp.split(x, 2, -1)
        return jnp.concatenate([-second, first], -1)
    return jnp.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)


@statement
def padded(b, pool):
    x = b.pick(pool, 1)
    wide = [(b.below(3) - 1 if n > 2 else 1, b.below(3), b.below(2)) for n in x.shape]
    return lax.pad(x, x.dtype.type(b.below(3)), wide)


@statement
def across(b, pool):
    """Columns, rather of what stays the same in a loop."""
    x = b.one_of([v for v in b.around if v.ndim > 1 and v.size] or [b.pick(pool, 2)])
    x = x.reshape(-1, x.shape[-1])[:32, :64]
    y = shaped(b.pick(pool), x[:, 0])
    return b.one_of([lambda: jnp.max(x + y[:, None], 0), lambda: jnp.min(x * y[:, None], 0),
                     lambda: x.T * 2 + y, lambda: x[:, b.below(x.shape[1])] + y,
                     lambda: jnp.max(x.T * y, 1), lambda: jnp.diagonal(x) * 3])()


@statement
def repeated(b, pool):
    x = b.pick(pool, 1)
    axis, n = b.below(x.ndim), 2 + b.below(2)
    if x.size * n > MOST:
        return jnp.expand_dims(x, axis)
    return jnp.repeat(x, n, axis) if b.chance(0.5) else jnp.concatenate([x] * n, axis)


@statement
def diagonal(b, pool):
    x = b.pick(pool, 2)
    if b.chance(0.5):
        return jnp.diagonal(x, axis1=x.ndim - 2, axis2=x.ndim - 1)
    return b.one_of([jnp.triu, jnp.tril])(x, b.below(3) - 1)


# ---- by index ----


@statement
def sliced(b, pool):
    x = b.pick(pool, 1)
    sizes = [n if k and b.chance(0.6) else 1 + b.below(n) for k, n in enumerate(x.shape)]
    return lax.dynamic_slice(x, [b.place(n) for n in x.shape], sizes)


@statement
def updated(b, pool):
    x = b.pick(pool, 1)
    sizes = [n if b.chance(0.5) else 1 + b.below(n) for n in x.shape]
    part = shaped(b.pick(pool), jax.ShapeDtypeStruct(sizes, x.dtype))
    new = lax.dynamic_update_slice(x, part, [b.place(n) for n in x.shape])
    return [new, x + new] if b.chance(0.5) else new


@statement
def updated_inside(b, pool):
    x = b.pick(pool, 1)
    if min(x.shape) < 3:
        return x
    at = tuple(slice(1, -1) for _ in x.shape)
    y = shaped(b.pick(pool), x[at])
    return b.one_of([x.at[at].add, x.at[at].set, x.at[at].max])(y)


@statement
def layers(b, pool):
    """A slice so large that it is not copied, of what is written before it is used."""
    wide = [v for v in pool if v.ndim == 3 and v.nbytes // v.shape[0] >= 16 << 10]
    kind = b.one_of([k for k in TYPES if jnp.dtype(k).itemsize > 1])
    x = b.one_of(wide) if wide and b.chance(0.7) else shaped(
        b.pick(pool), jax.ShapeDtypeStruct((2 + b.below(3), 64, 128), kind))
    DRAWN["wide slices"] += 1
    one = lax.dynamic_index_in_dim(x, b.place(x.shape[0]), 0, keepdims=False)
    out = [one[:, :8] * 2, jnp.max(one, b.below(2)), one[b.place(one.shape[0])]]
    if one.dtype == jnp.float32:
        out.append(shaped(b.pick(pool), one[:3]) @ one.T)
    if b.chance(0.4):
        part = settled(shaped(b.pick(pool), x[0]))
        x = lax.dynamic_update_index_in_dim(x, part, b.place(x.shape[0]), 0)
    return [x, *out[b.below(len(out)):]]


def numbers(b, n, size, like):
    """Indices: known ones, or of values; all in range."""
    if b.chance(0.4):
        return jnp.asarray(b.r.integers(0, n, size), jnp.int32)
    return shaped(b.pick(like), jax.ShapeDtypeStruct((size,), jnp.int32)) % n


@statement
def taken(b, pool):
    x = b.pick(pool, 1)
    axis = b.below(x.ndim)
    n = x.shape[axis]
    order = b.r.permutation(n) if b.chance(0.3) else numbers(b, n, 1 + b.below(2 * n), pool)
    if x.size // n * len(order) > MOST:
        order = order[:n]
    return jnp.take(x, order, axis, mode="clip")


@statement
def taken_by_several(b, pool):
    x, n = b.pick(pool, 2), 1 + b.below(40)
    i, j = (numbers(b, x.shape[d], n, pool) for d in (0, 1))
    return x[i, j] if b.chance(0.7) else x[i[:, None], j[None, :]][:, :3]


@statement
def taken_along(b, pool):
    x = b.pick(pool, 1)
    axis = b.below(x.ndim)
    i = shaped(b.pick(pool), jax.ShapeDtypeStruct(x.shape, jnp.int32)) % x.shape[axis]
    return jnp.take_along_axis(x, i, axis)


@statement
def scattered(b, pool):
    x = b.pick(pool, 1)
    n = x.shape[0]
    if b.chance(0.5):  # each place once
        order = b.r.permutation(n)[:1 + b.below(n)]
        return x.at[order].set(shaped(b.pick(pool), x[order]), unique_indices=b.chance(0.5))
    at = numbers(b, n, 1 + b.below(n), pool)
    y = shaped(b.pick(pool), x[at])
    return b.one_of([x.at[at].add, x.at[at].max, x.at[at].min])(y)


@statement
def segments(b, pool):
    x = b.pick(pool, 1)
    at = numbers(b, 5, x.shape[0], pool)
    return jax.ops.segment_max(x, at, 6, mode="clip").clip(0, 7) if b.chance(0.5) else (
        jax.ops.segment_sum(x, at, 6))


# ---- products ----


@statement
def product(b, pool):
    x = b.pick(pool, 1)
    kind = x.dtype if x.dtype in (jnp.float32, jnp.float64, jnp.int32) else jnp.float32
    x = x.reshape(-1, x.shape[-1])[:64].astype(kind)
    n = b.one_of([1, 1, 2, 3, 4, 7, 8, 16, 33])
    if b.chance(0.3):
        w = shaped(b.pick(pool), jax.ShapeDtypeStruct((n, x.shape[1]), kind)).T
    else:
        w = shaped(b.pick(pool), jax.ShapeDtypeStruct((x.shape[1], n), kind))
    return x @ w if n > 1 or b.chance(0.5) else x @ w[:, 0]


@statement
def batched_product(b, pool):
    x = b.pick(pool, 3)
    x = x.reshape(-1, *x.shape[-2:])[:8, :32].astype(jnp.float32)
    y = shaped(b.pick(pool), jax.ShapeDtypeStruct(
        (x.shape[0], x.shape[2], b.one_of([1, 3, 8])), jnp.float32))
    return jnp.einsum(b.one_of(["bij,bjk->bik", "bij,bjk->ikb", "bij,bjk->bk"]), x, y)


@statement
def convolution(b, pool):
    x = b.pick(pool, 3)
    x = x.reshape(-1, *x.shape[-3:])[:1, :8, :, :12].astype(jnp.float32)
    w = shaped(b.pick(pool), jax.ShapeDtypeStruct(
        (min(2, x.shape[1]), min(3, x.shape[2]), x.shape[3], b.one_of([1, 3, 8])), jnp.float32))
    return lax.conv_general_dilated(x, w, (1, 1 + b.below(2)), b.one_of(["SAME", "VALID"]),
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"))[0]


@statement
def solution(b, pool):
    """By what has ones in the diagonal, and numbers in one corner: nothing is rounded."""
    n, k = b.one_of([2, 3, 8, 17, 40, 100]), b.one_of([1, 2, 3, 5, 20])
    kind, many = b.one_of([jnp.float32, jnp.float64]), () if b.chance(0.6) else (1 + b.below(4),)
    corner = shaped(b.pick(pool), jax.ShapeDtypeStruct((*many, n - n // 2, n // 2), kind))
    a = jnp.broadcast_to(jnp.eye(n, dtype=kind), (*many, n, n))
    a = a.at[..., n // 2:, :n // 2].set(jnp.clip(corner, -1, 1))
    y = shaped(b.pick(pool), jax.ShapeDtypeStruct((*many, n, k), kind))
    way = b.below(4)
    if way == 0:
        return jnp.linalg.solve(a, y)
    if way == 1:
        return jnp.linalg.cholesky(a @ a.mT)
    if way == 2:
        return lax.linalg.triangular_solve(a, y.mT, left_side=False, lower=True,
                                           transpose_a=b.chance(0.5))
    upper = b.chance(0.5)
    return lax.linalg.triangular_solve(a.mT if upper else a, y, left_side=True, lower=not upper,
                                       transpose_a=b.chance(0.5), unit_diagonal=b.chance(0.3))


# ---- whole programs ----


class Program:
    def __init__(self, seed):
        self.r, self.seed = np.random.default_rng(seed), seed
        rows = int(self.r.choice([2, 3, 4, 6]))
        n, m = int(self.r.choice([3, 4, 8, 17, 32, 64])), int(self.r.choice([3, 4, 8, 16, 33, 96]))
        self.shapes = [(rows, n, m), (n, m), (m,), (rows, m), (), (n, n), (m, 3)]
        if self.r.random() < 0.4:
            self.shapes[0] = (rows, 64, 128)
        self.types = [str(self.r.choice(TYPES)) for _ in range(3)]
        self.donated = tuple(i for i in range(len(self.shapes)) if self.r.random() < 0.4)

    def arguments(self):
        r = np.random.default_rng(self.seed + 1)
        made = []
        for i, shape in enumerate(self.shapes):
            kind = jnp.dtype(self.types[i % 3])
            low = 0 if jnp.issubdtype(kind, jnp.unsignedinteger) else -3
            made.append(r.integers(low, 5, shape).astype(kind))
        return made

    def function(self, *arguments):
        b = Body(self.seed + 2)
        pool = b.statements(arguments, 2 + b.below(6))
        out = [b.pick(pool[len(arguments):] or pool) for _ in range(1 + b.below(4))]
        if b.chance(0.3):
            out.append(b.one_of(arguments))
            DRAWN["an argument as result"] += 1
        if b.chance(0.2):
            out.append(out[0])
            DRAWN["a result twice"] += 1
        return [*out, pool[-1]]

    def run(self, platform):
        device = jax.devices(platform)[0]
        values = [jax.device_put(v, device) for v in self.arguments()]
        f = jax.jit(self.function, donate_argnums=self.donated)
        first = jax.device_get(f(*values))
        kept = [(i, np.asarray(v)) for i, v in enumerate(values) if i not in self.donated]
        again = jax.device_get(f(*(jax.device_put(v, device) for v in self.arguments())))
        return first, again, kept


def differs(a, b):
    return [i for i, (x, y) in enumerate(zip(a, b, strict=True))
            if x.dtype != y.dtype or not np.array_equal(x, y)]


def check(seed):
    """What is wrong, or None."""
    program = Program(seed)
    DRAWN["donated"] += bool(program.donated)
    DRAWN.update(program.types)
    with np.errstate(all="ignore"):
        try:
            first, again, kept = program.run("terrazzo")
        except jax.errors.JaxRuntimeError as error:
            return f"refused: {error}"
        theirs, _, _ = program.run("cpu")
    if bad := differs(first, theirs):
        return f"results {bad} of {[v.shape for v in theirs]} differ"
    if bad := differs(first, again):
        return f"results {bad} are others when run again"
    if [i for i, v in kept if not np.array_equal(v, program.arguments()[i])]:
        return "an argument is not what it was"
    return None


def main(first, last):
    wrong = 0
    for seed in range(first, last):
        problem = check(seed)
        if problem:
            wrong += 1
            print(f"seed {seed}: {problem}", flush=True)
    print("drawn: " + ", ".join(f"{name} {n}" for name, n in sorted(DRAWN.items())))
    never = sorted({*STATEMENTS, *FEATURES, *TYPES} - {k for k, n in DRAWN.items() if n})
    print(f"never drawn: {', '.join(never)}" if never else "all were drawn")
    print(f"{last - first - wrong} right, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
