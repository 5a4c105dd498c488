"""Programs for stress.py: small ones, of every family of ops that JAX lowers to.

each() yields (name, function, arguments): functions of arrays, arguments of NumPy. Sizes are small,
but some are large enough that workers share a step.
"""
import functools

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax

R = np.random.default_rng(3)


def normal(*shape, dtype=np.float32):
    return R.standard_normal(shape).astype(dtype)


def uniform(*shape, low=0.0, high=1.0):
    return R.uniform(low, high, shape).astype(np.float32)


def integers(*shape, low=-50, high=50, dtype=np.int32):
    return R.integers(low, high, shape).astype(dtype)


def half(*shape):
    return normal(*shape).astype(jnp.bfloat16)


def complexes(*shape):
    return (normal(*shape) + 1j * normal(*shape)).astype(np.complex64)


# ---- a quantum circuit: a state of n qubits, gates by tensordot

QUBITS = 8


def apply_gate(state, gate, wires):
    k = len(wires)
    gate = gate.reshape((2,) * (2 * k))
    state = jnp.tensordot(gate, state, axes=(tuple(range(k, 2 * k)), wires))
    return jnp.moveaxis(state, tuple(range(k)), wires)


def rotation_y(angle):
    c, s = jnp.cos(angle / 2), jnp.sin(angle / 2)
    return jnp.stack([jnp.stack([c, -s]), jnp.stack([s, c])]).astype(jnp.complex64)


def rotation_z(angle):
    e = jnp.exp(-0.5j * angle.astype(jnp.complex64))
    return jnp.diag(jnp.stack([e, jnp.conj(e)]))


def controlled_not(state, control, target):
    """The half where the control is one, with the target's axis reversed."""
    halves = jnp.moveaxis(state, (control, target), (0, 1))
    halves = jnp.stack([halves[0], halves[1, ::-1]])
    return jnp.moveaxis(halves, (0, 1), (control, target))


def circuit(angles):
    state = jnp.zeros((2,) * QUBITS, jnp.complex64).at[(0,) * QUBITS].set(1)
    for layer in angles:
        for q in range(QUBITS):
            state = apply_gate(state, rotation_y(layer[q, 0]), (q,))
            state = apply_gate(state, rotation_z(layer[q, 1]), (q,))
        for q in range(QUBITS):
            state = controlled_not(state, q, (q + 1) % QUBITS)
    probability = jnp.abs(state) ** 2
    z = probability.sum(axis=tuple(range(1, QUBITS)))
    return z[0] - z[1]


def circuit_reversed(angles):
    """Pauli-X by reversing an axis, expectation through the conjugate."""
    state = jnp.zeros((2,) * QUBITS, jnp.complex64).at[(0,) * QUBITS].set(1)
    for layer in angles:
        for q in range(QUBITS):
            c, s = jnp.cos(layer[q, 0]), jnp.sin(layer[q, 0])
            state = c * state - 1j * s * jnp.flip(state, q)
            state = apply_gate(state, rotation_z(layer[q, 1]), (q,))
    turned = functools.reduce(lambda s, q: s[(slice(None),) * q + (slice(None, None, -1),)],
                              range(2), state)
    return jnp.real(jnp.vdot(state, turned))


def two_qubit_circuit(angles):
    state = jnp.zeros(2 ** QUBITS, jnp.complex64).at[0].set(1).reshape((2,) * QUBITS)
    gate = jnp.asarray(np.kron([[1, 1], [1, -1]], [[0, 1], [1, 0]]) / np.sqrt(2), jnp.complex64)
    for layer in angles:
        for q in range(QUBITS - 1):
            u = jnp.kron(rotation_y(layer[q, 0]), rotation_z(layer[q, 1])) @ gate
            state = apply_gate(state, u, (q, q + 1))
    return jnp.sum(jnp.abs(state[0]) ** 2) - jnp.sum(jnp.abs(state[1]) ** 2)


def circuits():
    angles = uniform(2, QUBITS, 2, high=3)
    yield "circuit", circuit, (angles,)
    yield "circuit_grad", jax.value_and_grad(circuit), (angles,)
    yield "circuit_reversed_grad", jax.value_and_grad(circuit_reversed), (angles,)
    yield "circuit_two_qubit_grad", jax.value_and_grad(two_qubit_circuit), (angles,)
    yield "circuit_vmap", jax.vmap(circuit), (uniform(4, 1, QUBITS, 2, high=3),)


# ---- elementwise: each function, and its gradient

UNARY = """abs negative sign floor ceil round exp expm1 sin cos tan tanh sinh cosh arctan square
cbrt exp2 sinc nan_to_num reciprocal""".split()
POSITIVE = "log log1p log2 sqrt".split()
UNIT = "arcsin arccos arctanh arcsinh".split()
BINARY = """add subtract multiply divide maximum minimum arctan2 hypot logaddexp copysign fmod
remainder power heaviside nextafter""".split()
NN = """relu gelu silu sigmoid softplus elu selu leaky_relu celu hard_tanh log_sigmoid soft_sign
softmax log_softmax swish relu6 hard_sigmoid mish squareplus standardize""".split()
SPECIAL = "erf erfinv expit gammaln digamma i0e i1e ndtr xlogy entr logit erfc".split()


def elementwise():
    x, y, p, u = normal(7, 33), normal(7, 33), uniform(7, 33) + .5, uniform(7, 33) * .9 + .05
    for name in UNARY:
        yield f"jnp.{name}", getattr(jnp, name), (x,)
    for name in POSITIVE:
        yield f"jnp.{name}", getattr(jnp, name), (p,)
    for name in UNIT:
        yield f"jnp.{name}", getattr(jnp, name), (u,)
    for name in BINARY:
        yield f"jnp.{name}", getattr(jnp, name), (p if name == "power" else x, y)
    for name in NN:
        f = getattr(jax.nn, name)
        yield f"nn.{name}", f, (x,)
        yield f"nn.{name}.grad", jax.grad(lambda x, f=f: jnp.sum(jnp.sin(f(x)))), (x,)
    for name in SPECIAL:
        f = getattr(jsp.special, name)
        yield f"special.{name}", f, ((u, p) if name == "xlogy" else (u,))
    for kind in (jnp.bfloat16, jnp.float16):
        yield f"half_{jnp.dtype(kind)}", lambda a: (
            jnp.tanh(a) * a + 1, jnp.sum(a), a @ a.T, jnp.exp(a)), (normal(6, 50).astype(kind),)
    yield "large_elementwise", lambda a: jnp.tanh(a) * jnp.exp(-a * a) + jnp.sin(a), (
        normal(300, 1000),)
    yield "clip_where", lambda x, y: jnp.where(x > y, jnp.clip(x, -.5, .5), y * 2), (x, y)
    yield "complex_ops", lambda z, w: (
        z * w, z / w, jnp.exp(z), jnp.abs(z), jnp.angle(w), jnp.log(z), jnp.conj(z) + w.real,
        jnp.sqrt(z), jnp.tanh(w)), (complexes(5, 21), complexes(5, 21))
    yield "isnan", lambda x: (jnp.isnan(1 / (x - x)), jnp.isinf(1 / (x * 0)), jnp.isfinite(x)), (x,)


def integral():
    yield "int_ops", lambda a, b: (a // (b * b + 1), a % 7, a & b, a | b, a ^ b, a << 3, a >> 2,
                                   lax.population_count(a), lax.clz(a), jnp.sign(a)), (
        integers(5, 40), integers(5, 40))
    for kind in (np.int8, np.uint8, np.int16, np.uint16, np.uint32):
        a = integers(9, 17, low=0, high=100, dtype=kind)
        b = integers(9, 17, low=1, high=9, dtype=kind)
        yield f"int_{np.dtype(kind)}", lambda a, b: (
            a * b + a, a // b, a - b, jnp.maximum(a, b)), (a, b)


# ---- reductions, cumulative ones, sorting

def reductions():
    x, big = normal(6, 7, 40), normal(400, 700)

    def larger(a, b):
        return jnp.maximum(a[0], b[0]), jnp.where(a[0] >= b[0], a[1], b[1])

    for name in "sum prod max min mean var std argmax argmin any all ptp median".split():
        f = getattr(jnp, name)
        yield f"jnp.{name}", lambda x, f=f: (f(x), f(x, axis=1), f(x, axis=0), f(x, axis=-1)), (x,)
    yield "reduce_rows", lambda x: (x.sum(1), x.max(1), jnp.mean(x, 1)), (normal(3, 5000),)
    yield "reduce_columns", lambda x: (x.sum(0), x.max(0), (x * x).sum((0, 1))), (big,)
    yield "norms", lambda x: (jnp.linalg.norm(x), jnp.linalg.norm(x, axis=1)), (big,)
    yield "logsumexp", jax.value_and_grad(lambda x: jsp.special.logsumexp(x, 1).sum()), (
        normal(6, 90),)
    yield "reduce_int", lambda x: (x.sum(0), x.max(1), x.min(), x.prod(1)), (integers(9, 50),)
    yield "reduce_bool", lambda x: ((x > 0).any(0), (x > 0).all(1), (x > 0).sum()), (x,)
    yield "reduce_complex", lambda z: (z.sum(0), z.prod(1), z.mean()), (complexes(9, 31),)
    yield "reduce_half", lambda x: (x.sum(0), x.max(1), x.mean()), (half(33, 65),)
    yield "reduce_pair", lambda x, i: lax.reduce(
        (x, i), (np.float32(-np.inf), np.int32(0)), larger, (1,)), (normal(9, 77), integers(9, 77))
    yield "histogram", lambda x: jnp.histogram(x, 10, (-2., 2.))[0], (normal(300),)
    yield "bincount", lambda x: jnp.bincount(x, length=12), (integers(100, low=0, high=12),)
    yield "pool_sum", lambda x: lax.reduce_window(
        x, 0., lax.add, (1, 3, 3), (1, 2, 2), "SAME"), (x,)
    yield "pool_max", lambda x: lax.reduce_window(
        x, -np.inf, lax.max, (1, 2, 3), (1, 1, 2), "VALID"), (x,)


def cumulative():
    x = normal(6, 7, 40)
    for name in "cumsum cumprod".split():
        f = getattr(jnp, name)
        yield f"jnp.{name}", lambda x, f=f: (f(x, 0), f(x, 1), f(x, 2)), (x,)
    yield "cumsum_long", lambda x: jnp.cumsum(x, 1), (normal(3, 5000),)
    yield "cummax", lambda x: (lax.cummax(x, 1), lax.cummin(x, 0), lax.cumlogsumexp(x, 1)), (
        normal(9, 60),)
    yield "cumsum_grad", jax.grad(lambda x: jnp.sum(jnp.cumsum(x, 1) ** 2)), (normal(5, 40),)
    yield "cumsum_reverse", lambda x: lax.cumsum(x, 1, reverse=True), (integers(5, 40),)
    yield "associative_scan", lambda x: lax.associative_scan(jnp.multiply, 1 + x / 9, axis=1), (
        normal(4, 33),)


def sorting():
    x, few = normal(6, 7, 40), dict(low=0, high=5)
    yield "sort", lambda x: (jnp.sort(x, 0), jnp.sort(x, -1), jnp.argsort(x, 1)), (x,)
    yield "sort_large", jnp.sort, (normal(3, 3000),)
    yield "sort_grad", jax.grad(lambda x: jnp.sum(jnp.sort(x) * jnp.arange(40.))), (normal(7, 40),)
    yield "sort_descending", lambda x: jnp.sort(x, descending=True), (integers(9, 100),)
    yield "lexsort", lambda a, b: jnp.lexsort((a, b)), (integers(90, **few), integers(90))
    yield "top_k", lambda x: lax.top_k(x, 5), (normal(6, 70),)
    yield "top_k_grad", jax.grad(lambda x: jnp.sum(lax.top_k(x, 5)[0] ** 2)), (normal(6, 70),)
    yield "sort_keys", lambda a, b, c: lax.sort((a, b, c), num_keys=2), (
        integers(8, 50, **few), integers(8, 50, **few), normal(8, 50))
    yield "unique", lambda x: jnp.unique(x, size=30, fill_value=-1), (integers(60, **few),)
    yield "searchsorted", lambda a, v: jnp.searchsorted(jnp.sort(a), v), (normal(90), normal(50))
    yield "digitize", lambda x: jnp.digitize(x, jnp.linspace(-2, 2, 9)), (normal(70),)
    yield "percentile", lambda x: jnp.percentile(x, jnp.array([10., 50., 90.]), axis=1), (
        normal(4, 51),)


# ---- products

EINSUMS = {"ij,jk,kl->il": ((5, 6), (6, 7), (7, 8)), "bhqd,bhkd->bhqk": ((2, 3, 5, 4),) * 2,
           "ii->i": ((9, 9),), "ii->": ((9, 9),), "ijk,kji->j": ((4, 5, 6), (6, 5, 4)),
           "abcd,dcbe->ae": ((2, 3, 4, 5), (5, 4, 3, 6)), "i,j->ij": ((7,), (9,))}


def products():
    for m, n, k in ((1, 1, 1), (3, 5, 7), (64, 48, 96), (17, 1, 300), (130, 257, 65)):
        yield f"matmul_{m}x{n}x{k}", jnp.matmul, (normal(m, k), normal(k, n))
    yield "matmul_large", lambda a, b: a @ b, (normal(600, 300), normal(300, 500))
    yield "matmul_batched", jnp.matmul, (normal(5, 9, 11), normal(5, 11, 8))
    yield "matmul_int", jnp.matmul, (integers(9, 11), integers(11, 8))
    yield "matmul_complex", jnp.matmul, (complexes(9, 33), complexes(33, 12))
    yield "matmul_transposed", lambda a, b: a.T @ b.T, (normal(33, 40), normal(21, 33))
    yield "matmul_grad", jax.grad(lambda a, b: jnp.sum(jnp.tanh(a @ b)), (0, 1)), (
        normal(20, 30), normal(30, 10))
    for spec, shapes in EINSUMS.items():
        yield f"einsum_{spec}", functools.partial(jnp.einsum, spec), tuple(
            normal(*s) for s in shapes)
    yield "einsum_half", lambda a, b: jnp.einsum("bij,bjk->bik", a, b), (
        half(3, 9, 17), half(3, 17, 5))
    yield "tensordot", lambda a, b: jnp.tensordot(a, b, ((1, 2), (2, 0))), (
        normal(4, 5, 6), normal(6, 3, 5))
    yield "kron_outer", lambda a, b: (jnp.kron(a, b), jnp.outer(a, b), jnp.vdot(a, a)), (
        normal(4, 3), normal(2, 5))


CONVOLUTIONS = {"same": dict(window_strides=(1, 1), padding="SAME"),
                "strided": dict(window_strides=(2, 3), padding="VALID"),
                "dilated": dict(window_strides=(1, 1), padding=((2, 1), (1, 2)),
                                lhs_dilation=(2, 1), rhs_dilation=(1, 2))}


def convolutions():
    image, filters = normal(2, 3, 14, 15), normal(4, 3, 3, 3)
    for name, options in CONVOLUTIONS.items():
        f = functools.partial(lax.conv_general_dilated, **options)
        yield f"conv_{name}", f, (image, filters)
        yield f"conv_{name}_grad", jax.grad(
            lambda i, w, f=f: jnp.sum(jnp.sin(f(i, w))), (0, 1)), (image, filters)
    yield "conv_groups", lambda i, w: lax.conv_general_dilated(
        i, w, (1, 1), "SAME", feature_group_count=4), (normal(2, 8, 9, 9), normal(8, 2, 3, 3))
    yield "conv_transpose", lambda i, w: lax.conv_transpose(i, w, (2, 2), "SAME"), (
        normal(2, 7, 7, 3), normal(3, 3, 3, 4))
    yield "conv_1d", lambda a, v: (jnp.convolve(a, v), jnp.correlate(a, v, "same")), (
        normal(90), normal(9))


# ---- moving data

def movements():
    x = normal(6, 8, 10)
    yield "transposes", lambda x: (x.T, jnp.moveaxis(x, 0, 2), jnp.swapaxes(x, 0, 1)), (x,)
    yield "transpose_large", lambda x: x.T + 1, (normal(300, 400),)
    yield "reshapes", lambda x: (x.reshape(48, 10), x.T.reshape(20, 24), jnp.ravel(x)), (x,)
    yield "slices", lambda x: (x[1:5:2, ::-1], x[:, 3], x[..., -2:], x[::-2]), (x,)
    yield "rolls", lambda x: (jnp.roll(x, 3, 1), jnp.flip(x, 0), jnp.rot90(x)), (x,)
    yield "pads", lambda x: (jnp.pad(x, 1), jnp.pad(x, 2, "edge"), jnp.pad(x, 2, "reflect"),
                             jnp.pad(x, ((1, 0), (0, 2), (3, 1)), constant_values=7.)), (x,)
    yield "pad_lax", lambda x: lax.pad(x, np.float32(2), ((1, -2, 1), (-1, 3, 2), (0, 0, 1))), (x,)
    yield "concatenate", lambda x: (jnp.concatenate([x, x * 2, x[:1]], 0), jnp.stack([x, -x], 1)), (
        x,)
    yield "tile_repeat", lambda x: (jnp.tile(x, (2, 1, 3)), jnp.repeat(x, 3, 1)), (x,)
    yield "select_n", lambda x, y, z, i: lax.select_n(i, x, y, z), (
        normal(9, 9), normal(9, 9), normal(9, 9), integers(9, 9, low=0, high=3))
    yield "tri", lambda x: (jnp.tril(x), jnp.triu(x, 2), jnp.diag(x), jnp.trace(x)), (
        normal(12, 12),)
    yield "meshgrid", lambda x: jnp.stack(jnp.meshgrid(x, jnp.arange(9.))), (normal(4),)
    yield "linspace", lambda x: jnp.linspace(0, 1, 5)[:, None] + x, (normal(9),)
    yield "bitcast", lambda x: [lax.bitcast_convert_type(x, t)
                                for t in (jnp.int32, jnp.uint8, jnp.uint16)], (normal(9, 8),)
    yield "packbits", lambda x: jnp.packbits(x > 0), (normal(40),)


def indexed():
    x, row = normal(6, 8, 10), dict(low=0, high=6)
    yield "gather_take", lambda x, i: (x[i], jnp.take(x, i, 1), x[:, i, 0]), (
        x, integers(13, low=-6, high=6))
    yield "gather_nd", lambda x, i, j: x[i, :, j], (x, integers(9, **row), integers(9, **row))
    yield "take_along_axis", lambda x: jnp.take_along_axis(x, jnp.argsort(x, 1), 1), (x,)
    yield "gather_fill", lambda x, i: x.at[i].get(mode="fill", fill_value=-3), (
        x, integers(13, low=-9, high=20))
    yield "gather_grad", jax.grad(lambda x, i: jnp.sum(x[i] ** 2)), (x, integers(13, **row))
    for op in "add multiply min max".split():
        yield f"scatter_{op}", lambda x, i, v, op=op: getattr(x.at[i], op)(v), (
            normal(9, 20), integers(6, **row), normal(6, 20))
    yield "scatter_set", lambda x, i, v: x.at[i].set(v), (
        normal(9, 20), integers(1, **row), normal(1, 20))
    yield "scatter_window", lambda x, v: x.at[2:5, ::3].set(v).at[0].add(1), (
        normal(9, 20), normal(3, 7))
    yield "scatter_drop", lambda x, i: x.at[i].add(1., mode="drop"), (
        normal(9, 5), integers(30, low=-20, high=20))
    yield "segments", lambda x, i: (jax.ops.segment_sum(x, i, 7), jax.ops.segment_max(x, i, 7)), (
        normal(40, 3), integers(40, low=0, high=7))
    yield "dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i[0], i[1], 0), (2, 3, 4)), (
        x, integers(2, low=0, high=4))
    yield "dynamic_update", lambda x, i: lax.dynamic_update_slice(
        x, x[:2, :2, :2] * 9, (i[1], i[0], 1)), (x, integers(2, low=0, high=4))
    yield "dynamic_index", lambda x, i: lax.dynamic_index_in_dim(x, i, 1), (x, np.int32(5))


# ---- control flow

def scans():
    x, rows = normal(5, 9), jnp.zeros(9)

    def swap(i, c):
        return c[1], c[0] + c[1] * .1, c[0]

    def cell(w, x):
        def step(c, r):
            h = jnp.tanh(w @ jnp.concatenate([c, r]))
            return h, h * jax.nn.sigmoid(r.sum())
        return lax.scan(step, jnp.zeros(9), x)

    def nested(x):
        def inner(d, s):
            return d * .5 + s, d
        return lax.scan(lambda c, r: lax.scan(inner, c, r), jnp.float32(0), x)

    def branching(x):
        def step(c, r):
            return lax.cond(r[0] > 0, lambda c: c + r, lambda c: c * .5, c), c
        return lax.scan(step, jnp.zeros(9), x)

    def sum_of_scan(x):
        return lax.scan(lambda c, r: (jnp.tanh(c + r), c.sum()), jnp.zeros(9), x)[0].sum()

    yield "scan", lambda x: lax.scan(lambda c, r: (c * .9 + r, jnp.sin(c)), jnp.zeros(9), x), (x,)
    yield "scan_grad", jax.value_and_grad(sum_of_scan), (x,)
    yield "scan_reverse", lambda x: lax.scan(
        lambda c, r: (c + r, c * r), jnp.ones(9), x, reverse=True), (x,)
    yield "scan_nested", nested, (x,)
    yield "scan_swap", lambda x: lax.fori_loop(0, 7, swap, (x, -x, x * 2)), (x,)
    yield "scan_update", lambda x: lax.fori_loop(
        0, 5, lambda i, c: c.at[i].set(c[i - 1] + x[i]), x * 0), (x,)
    yield "scan_matmul", lambda w, x: lax.scan(
        lambda c, _: (jnp.tanh(c @ w), c[0]), x, None, 12), (normal(9, 9), x)
    yield "lstm", cell, (normal(9, 18), x)
    yield "cond_in_scan", branching, (x,)
    yield "map", lambda x: lax.map(lambda r: jnp.outer(r, r).sum(0), x), (x,)


def loops():
    x, one = normal(5, 9), np.int32(1)

    def root(a):
        return lax.while_loop(lambda c: jnp.abs(c * c - a) > 1e-3 * a, lambda c: (c + a / c) / 2, a)

    def life(i, board):
        near = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
        n = sum(jnp.roll(board.astype(jnp.int32), by, (0, 1)) for by in near)
        return (n == 3) | (board & (n == 2))

    def cholesky(x):
        a = x @ x.T + 6 * jnp.eye(6)

        def column(j, l):
            below = (a[:, j] - l @ l[j]) / jnp.sqrt(a[j, j] - l[j] @ l[j])
            return l.at[:, j].set(jnp.where(jnp.arange(6) >= j, below, 0.))
        return lax.fori_loop(0, 6, column, jnp.zeros((6, 6)))

    def oscillate(i, y):
        return y + .01 * jnp.stack([y[1], -y[0] - y[1] ** 3])

    def mandelbrot(c):
        def step(i, s):
            z, n = s
            inside = jnp.abs(z) < 4
            return jnp.where(inside, z ** 2 + c, z), n + inside
        return lax.fori_loop(0, 20, step, (c * 0, jnp.zeros(c.shape, jnp.int32)))

    yield "while", lambda x: lax.while_loop(
        lambda c: c[0].sum() < 90, lambda c: (c[0] * 1.3 + 1, c[1] + 1), (jnp.abs(x), 0)), (x,)
    yield "while_vmap", jax.vmap(
        lambda x: lax.while_loop(lambda c: c < 50, lambda c: c * 1.7 + 1, x)), (uniform(20),)
    yield "newton", jax.vmap(root), (uniform(30, low=.5, high=9),)
    yield "cond", lambda x, p: lax.cond(p > 0, lambda x: x * 2 + 1, jnp.sort, x), (x, one)
    yield "switch", lambda x, i: [lax.switch(k, [jnp.sin, jnp.cos, jnp.negative], x) for k in i], (
        x, integers(3, low=0, high=3))
    yield "cond_grad", jax.grad(
        lambda x, p: lax.cond(p > 0, lambda x: jnp.sum(x ** 3), jnp.sum, x)), (x, one)
    yield "checkpoint", jax.grad(
        lambda x: jnp.sum(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))(x))), (x,)
    yield "jacobian", jax.jacfwd(lambda x: jnp.tanh(x).sum(0) * x[0]), (x,)
    yield "hessian", jax.hessian(lambda x: jnp.sum(jnp.sin(x) ** 2 * x)), (normal(7),)
    yield "oscillator", lambda x: lax.fori_loop(0, 30, oscillate, x), (normal(2, 40),)
    yield "game_of_life", lambda x: lax.fori_loop(0, 6, life, x > .5), (uniform(20, 20),)
    yield "cholesky", cholesky, (normal(6, 6),)
    yield "mandelbrot", mandelbrot, (complexes(20, 20),)
    yield "power_iteration", lambda a, v: lax.fori_loop(
        0, 10, lambda i, v: a @ v / jnp.linalg.norm(a @ v), v), (normal(20, 20), normal(20))


# ---- random numbers

def randoms():
    key = np.array([7, 11], np.uint32)
    yield "uniform", lambda k: jax.random.uniform(k, (40, 7)), (key,)
    yield "normal", lambda k: jax.random.normal(k, (40, 7)), (key,)
    yield "split", lambda k: jax.random.split(k, 9), (key,)
    yield "randint", lambda k: jax.random.randint(k, (90,), 0, 1000), (key,)
    yield "permutation", lambda k: jax.random.permutation(k, 50), (key,)
    yield "categorical", jax.random.categorical, (key, normal(20, 9))
    yield "gamma", lambda k: jax.random.gamma(k, 2.5, (9,)), (key,)
    yield "truncated_normal", lambda k: jax.random.truncated_normal(k, -1, 1, (50,)), (key,)
    yield "bernoulli", lambda k: jax.random.bernoulli(k, .3, (60,)), (key,)
    yield "dropout", lambda k, x: jnp.where(jax.random.bernoulli(k, .5, x.shape), x, 0), (
        key, normal(20, 9))


# ---- models

def layered(params, x):
    for w, b in params:
        x = jnp.tanh(x @ w + b)
    return x


def squares(params, x, y):
    return jnp.mean((layered(params, x) - y) ** 2)


def trained(params, x, y):
    def step(i, p):
        return jax.tree.map(lambda a, g: a - .1 * g, p, jax.grad(squares)(p, x, y))
    return lax.fori_loop(0, 5, step, params)


def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[2:], bool)), scores, -1e9)
    return jnp.sum(jax.nn.softmax(scores, -1) @ jnp.swapaxes(v, 1, 2))


def normalised(x, gain):
    centred = x - x.mean(-1, keepdims=True)
    return jnp.sum(jnp.sin(centred * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * gain))


def cross_entropy(x, i):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x), i[:, None], 1))


def adam(p, g, m, v):
    m, v = .9 * m + .1 * g, .999 * v + .001 * g * g
    return p - .1 * m / (jnp.sqrt(v) + 1e-8), m, v


def k_means(x, c):
    def step(i, c):
        nearest = jnp.argmin(((x[:, None] - c) ** 2).sum(-1), 1)
        chosen = jax.nn.one_hot(nearest, 5)
        return (chosen.T @ x) / (chosen.sum(0)[:, None] + 1e-6)
    return lax.fori_loop(0, 4, step, c)


def energy(x):
    distance = jnp.sqrt(jnp.sum((x[:, None] - x) ** 2, -1) + .1)
    return jnp.sum(jnp.triu(1 / distance, 1))


def conv_net(w, v, x):
    hidden = jax.nn.relu(lax.conv_general_dilated(x, w, (1, 1), "SAME"))
    return jnp.sum(hidden.mean((2, 3)) @ v)


def models():
    layers = [(normal(12, 20), normal(20)), (normal(20, 6), normal(6))]
    x, y, head = normal(16, 12), normal(16, 6), (2, 16, 3, 8)
    knots = jnp.linspace(-2, 2, 20)
    yield "mlp_grad", jax.value_and_grad(squares), (layers, x, y)
    yield "mlp_train", trained, (layers, x, y)
    yield "mlp_vmap_grad", jax.vmap(jax.grad(squares), (None, 0, 0)), (layers, x, y)
    yield "attention", jax.value_and_grad(attention, (0, 1, 2)), (
        normal(*head), normal(*head), normal(*head))
    yield "layer_norm_grad", jax.grad(normalised, (0, 1)), (normal(9, 40), normal(40))
    yield "embedding_grad", jax.grad(lambda e, i: jnp.sum(jnp.tanh(e[i]) ** 2)), (
        normal(30, 8), integers(4, 9, low=0, high=30))
    yield "cross_entropy_grad", jax.value_and_grad(cross_entropy), (
        normal(20, 11), integers(20, low=0, high=11))
    yield "adam", adam, (normal(90), normal(90), normal(90), uniform(90))
    yield "k_means", k_means, (normal(60, 3), normal(5, 3))
    yield "rbf_kernel", lambda x, y: jnp.exp(-jnp.sum((x[:, None] - y) ** 2, -1)), (
        normal(30, 5), normal(40, 5))
    yield "n_body", jax.grad(energy), (normal(20, 3),)
    yield "interp", lambda x: jnp.interp(x, knots, jnp.sin(knots)), (normal(50),)
    yield "polyval", lambda c, x: (jnp.polyval(c, x), jnp.polyder(c)), (normal(6), normal(40))
    yield "conv_net_grad", jax.grad(conv_net, (0, 1)), (
        normal(4, 2, 3, 3), normal(4, 5), normal(3, 2, 10, 10))
    yield "gelu_mlp_half", lambda w, x: jax.nn.gelu(x @ w) @ w.T, (half(16, 64), half(8, 16))


def each():
    for family in (circuits, elementwise, integral, reductions, cumulative, sorting, products,
                   convolutions, movements, indexed, scans, loops, randoms, models):
        yield from family()
