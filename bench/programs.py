"""What bench.py measures: programs by group. A program is made by a function without arguments, in
the process that runs it: the devices of JAX's default platform are its devices."""
import pathlib
import sys
import typing

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import steps

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples" / "train_lm"))


class Program(typing.NamedTuple):
    function: typing.Callable
    arguments: tuple
    donated: tuple = ()  # these arguments are the first results the next time
    options: dict = {}   # of jax.jit
    measure: str = "run"  # or "compile", "call" (until the call returns)


class Row(typing.NamedTuple):
    group: str
    make: typing.Callable
    quick: bool  # in the quick form too
    size: float = 0  # of a series: where the point is


ROWS = {}


def row(group, name, function, *shapes, quick=True, size=0, donated=(), kind=np.float32):
    def make():
        arguments = tuple(s() if callable(s) else values(s, kind, i) for i, s in enumerate(shapes))
        return Program(function, arguments, donated)

    ROWS[name] = Row(group, make, quick, size)


def values(shape, kind=np.float32, seed=0):
    random = np.random.default_rng(seed)
    if np.dtype(kind).kind in "iu":
        return jnp.asarray(random.integers(0, 100, shape).astype(kind))
    return jnp.asarray(random.standard_normal(shape, dtype=np.float32)).astype(kind)


def indices(shape, most):
    return lambda: jnp.asarray(np.random.default_rng(5).integers(0, most, shape).astype(np.int32))


# ---- small programs ----


def layer_norm(x, gain, shift):
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5) * gain + shift


def batch_norm(x, gain, shift):
    mean, spread = x.mean((0, 1, 2)), x.var((0, 1, 2))
    return (x - mean) * lax.rsqrt(spread + 1e-5) * gain + shift


def rotary(x, cosine, sine):
    """Of every second feature and the one behind it."""
    a, b = x[..., ::2], x[..., 1::2]
    return jnp.stack([a * cosine - b * sine, b * cosine + a * sine], -1).reshape(x.shape)


def rotary_of_halves(x, cosine, sine):
    low, high = jnp.split(x, 2, -1)
    return x * cosine + jnp.concatenate([-high, low], -1) * sine


def adam(weights, first, second, gradient):
    first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient ** 2
    return weights - 1e-3 * first / (jnp.sqrt(jnp.abs(second)) + 1e-8), first, second


def attention(q, k, v):
    scores = jnp.einsum("htd,hsd->hts", q, k) / 8
    causal = jnp.tril(jnp.ones(scores.shape[1:], bool))
    return jnp.einsum("hts,hsd->htd", jax.nn.softmax(jnp.where(causal, scores, -1e9)), v)


def convolution(stride=1, groups=1, order="NHWC"):
    numbers = (order, "HWIO" if order == "NHWC" else "OIHW", order)
    return lambda x, k: lax.conv_general_dilated(
        x, k, (stride, stride), "SAME", dimension_numbers=numbers, feature_group_count=groups)


def pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def lstm(start, inputs, hidden, given, shift):
    def step(state, x):
        h, c = state
        i, g, f, o = jnp.split(h @ hidden + x @ given + shift, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    return lax.scan(step, (start, start), inputs)


def state_space(start, rates, steps, given, seen, inputs):
    """As in Mamba: a state of several numbers a feature."""
    def step(h, now):
        dt, b, c, x = now
        h = jnp.exp(-(dt[:, None] * rates) ** 2) * h + (dt * x)[:, None] * b
        return h, h @ c
    return lax.scan(step, start, (steps, given, seen, inputs))


def kalman(moves, sees, seen):
    """Of four numbers, of which one is seen."""
    moves, noise = jnp.eye(4) + 0.05 * moves, 0.01 * jnp.eye(4)

    def step(state, z):
        x, p = moves @ state[0], moves @ state[1] @ moves.T + noise
        gain = p @ sees.T / (sees @ p @ sees.T + 1)
        x, p = x + gain @ (z - sees @ x), (jnp.eye(4) - gain @ sees) @ p
        return (x, p), x
    return lax.scan(step, (jnp.zeros(4), jnp.eye(4)), seen)[1]


def runge_kutta(y, steps=500, h=0.01):
    def slope(y):
        a, b, c = y
        return jnp.stack([10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c])

    def step(y, _):
        a = slope(y)
        b = slope(y + h / 2 * a)
        c = slope(y + h / 2 * b)
        y = y + h / 6 * (a + 2 * b + 2 * c + slope(y + h * c))
        return y, y
    return lax.scan(step, y, None, length=steps)[1]


def viterbi(emitted, moves, seen):
    def step(best, o):
        both = best[:, None] + moves
        return both.max(0) + emitted[:, o], both.argmax(0)
    return lax.scan(step, emitted[:, 0], seen)


def forward(likely, moves):
    def step(sofar, now):
        return jax.nn.logsumexp(sofar[:, None] + moves, axis=0) + now, None
    return lax.scan(step, jnp.zeros(16), likely)[0]


def random_walk(key):
    def step(state, _):
        key, fresh = jax.random.split(state[0])
        return (key, state[1] + jax.random.normal(fresh, (32,))), state[1]
    return lax.scan(step, (key, jnp.zeros(32)), None, length=200)[1]


def branches(x):
    return lax.fori_loop(0, 500, lambda i, x: lax.cond(
        i % 2 == 0, lambda x: x * 1.01, lambda x: x - 0.1, x), x)


def gradient_of(function, *, by=0):
    return jax.grad(lambda *a: (function(*a) ** 2).sum(), argnums=by)


M = 1 << 20
BF16 = jnp.bfloat16
row("elementwise", "gelu 1M", jax.nn.gelu, (1024, 1024))
row("elementwise", "gelu 1M bf16", jax.nn.gelu, (1024, 1024), kind=BF16)
row("elementwise", "tanh 256K", jnp.tanh, (M // 4,), quick=False)
row("elementwise", "erf 256K", lax.erf, (M // 4,), quick=False)
row("elementwise", "Adam in place 2M", adam, *[(2 * M,)] * 4, donated=(0, 1, 2))
row("elementwise", "random bits 1M", lambda k: jax.random.bits(k, (M,)), lambda: jax.random.key(7))
row("elementwise", "divide integers 1M", lambda x: x // 7 + x % 13, (M,), kind=np.int32)
row("rows", "softmax 512x1024", jax.nn.softmax, (512, 1024))
row("rows", "layer norm 512x1024", layer_norm, (512, 1024), (1024,), (1024,))
row("rows", "layer norm 32768x32", layer_norm, (32768, 32), (32,), (32,))
row("rows", "batch norm 16x32x32x64", batch_norm, (16, 32, 32, 64), (64,), (64,))
row("rows", "one-hot 131072x8", lambda i: jax.nn.one_hot(i, 8), indices(131072, 8), quick=False)
row("rows", "sum of rows 65536x16", lambda x: x.sum(1), (65536, 16), quick=False)
row("rows", "largest of rows 65536x16", lambda x: x.max(1), (65536, 16), quick=False)
row("rows", "sum of rows 1024x1024", lambda x: x.sum(1), (1024, 1024))
row("rows", "sum of columns 1024x1024", lambda x: x.sum(0), (1024, 1024), quick=False)
row("rows", "cumulative sum 1M", jnp.cumsum, (M,))
row("rows", "sort 256K", jnp.sort, (M // 4,))
row("rows", "arg max 1024x1024", lambda x: jnp.argmax(x, -1), (1024, 1024), quick=False)
row("moves", "transpose 2048", lambda x: x.T, (2048, 2048))
row("moves", "concatenate and pad 1024", lambda x: jnp.concatenate([jnp.pad(x, 1)] * 2),
    (1024, 1024))
row("moves", "gather of rows", lambda x, i: x[i], (8192, 256), indices(2048, 8192))
row("moves", "gather of rows of 16", lambda x, i: x[i], (8192, 16), indices(65536, 8192))
row("moves", "scatter-add of rows of 16", lambda x, i, u: x.at[i].add(u), (8192, 16),
    indices(65536, 8192), (65536, 16))
row("moves", "gather of columns", lambda x, i: x[:, i], (4096, 512), indices(512, 512), quick=False)
row("moves", "scatter-add of columns", lambda x, i, u: x.at[:, i].add(u), (1024, 512),
    indices(256, 512), (1024, 256), quick=False)
row("moves", "gather by two indices 256K", lambda x, i, j: x[i, j], (1024, 1024),
    indices(M // 4, 1024), indices(M // 4, 1024), quick=False)
row("moves", "transpose 1000 bf16", lambda x: x.T, (1000, 1000), quick=False, kind=BF16)
row("moves", "real transforms 512x512", jnp.fft.rfft, (512, 512), quick=False)
row("moves", "gather of scalars 1M", lambda x, i: x[i], (M,), indices(M, M))
row("moves", "scatter-add of scalars 1M", lambda x, i, u: x.at[i].add(u), (M,), indices(M, M),
    (M,), quick=False)
for n in (64, 128, 256, 512, 1024):
    row("products", f"product {n}", jnp.matmul, (n, n), (n, n), quick=n in (64, 512))
row("moves", "rotary embedding 8x256x8x64", rotary, (8, 256, 8, 64), *[(256, 1, 32)] * 2)
row("moves", "rotary embedding of halves", rotary_of_halves, (8, 256, 8, 64), *[(256, 1, 64)] * 2,
    quick=False)
row("products", "product 512 bf16", jnp.matmul, (512, 512), (512, 512), kind=BF16)
row("products", "product 512 int8", lambda a, b: lax.dot(a, b, preferred_element_type=np.int32),
    (512, 512), (512, 512), kind=np.int8)
row("products", "64 products 32", jnp.matmul, (64, 32, 32), (64, 32, 32))
row("products", "16384 products 8x8 by vector", lambda a, b: jnp.einsum("bij,bj->bi", a, b),
    (16384, 8, 8), (16384, 8))
row("products", "points 65536x4 by 4x4", jnp.matmul, (65536, 4), (4, 4))
row("products", "product 16384x64x8", jnp.matmul, (16384, 64), (64, 8), quick=False)
row("products", "matrix by vector 2048", jnp.matmul, (2048, 2048), (2048,))
row("products", "attention 8x512x64", attention, *[(8, 512, 64)] * 3)
row("products", "attention gradient 8x512x64", gradient_of(attention, by=(0, 1, 2)),
    *[(8, 512, 64)] * 3, quick=False)
IMAGES, KERNEL = (4, 56, 56, 64), (3, 3, 64, 64)
row("convolutions", "3x3, 64 features", convolution(), IMAGES, KERNEL)
row("convolutions", "3x3, gradients", gradient_of(convolution(), by=(0, 1)), IMAGES, KERNEL)
row("convolutions", "3x3, features first", convolution(order="NCHW"), (4, 64, 56, 56),
    (64, 64, 3, 3), quick=False)
row("convolutions", "1x1, 256 features", convolution(), (4, 28, 28, 256), (1, 1, 256, 256))
row("convolutions", "7x7, stride 2", convolution(2), (2, 224, 224, 3), (7, 7, 3, 64))
row("convolutions", "3x3, depthwise", convolution(groups=64), IMAGES, (3, 3, 1, 64))
row("convolutions", "pool 2x2", pool, (8, 64, 64, 64))
row("convolutions", "pool 2x2, gradient", gradient_of(pool), (8, 64, 64, 64), quick=False)
row("loops", "count to 10000", lambda n: lax.fori_loop(0, n, lambda i, c: c * 3 + i, jnp.int32(1)),
    lambda: jnp.int32(10000))
row("loops", "scan of tanh[64], 1000", lambda x: lax.scan(
    lambda c, _: (jnp.tanh(c * 1.01), None), x, None, length=1000)[0], (64,))
row("loops", "scan of products, 64", lambda h, w: lax.scan(
    lambda h, _: (jnp.tanh(h @ w), None), h, None, length=64)[0], (16, 256), (256, 256))
row("loops", "scan of an LSTM, 8x32, 100", lstm, (8, 32), (100, 8, 32), (32, 128), (32, 128),
    (128,))
row("loops", "scan of an LSTM, 32, 100", lstm, (32,), (100, 32), (32, 128), (32, 128), (128,),
    quick=False)
row("loops", "scan of a state space, 64x16, 256", state_space, (64, 16), (64, 16), (256, 64),
    (256, 16), (256, 16), (256, 64), quick=False)
row("loops", "scan with results, [8], 1000", lambda x: lax.scan(
    lambda c, x: (c * (1 + 0.01 * x),) * 2, jnp.ones(8), x)[1], (1000, 8))
row("loops", "scan of products 3x3, 1000", lambda x: lax.scan(
    lambda c, x: (c @ (jnp.eye(3) + 0.01 * x), None), jnp.eye(3), x)[0], (1000, 3, 3))
row("loops", "Kalman filter, 200", kalman, (4, 4), (1, 4), (200, 1))
row("loops", "Runge-Kutta of 3 equations, 500", runge_kutta, (3,))
row("loops", "Viterbi, 8 states, 300", viterbi, (8, 16), (8, 8), indices((300,), 16))
row("loops", "forward algorithm, 16 states, 300", forward, (300, 16), (16, 16), quick=False)
row("loops", "random walk of 32, 200", random_walk, lambda: jax.random.key(7))
row("loops", "branches over 32, 500", branches, (32,), quick=False)
for power in range(10, 27, 2):
    row("sizes: x * 2 + 1", f"2^{power} elements", lambda x: x * 2 + 1, (1 << power,), quick=False,
        size=2 ** power)

# ---- calls, collectives, whole steps ----


def over(devices, *names):
    return Mesh(np.array(jax.devices()).reshape(devices), names,
                axis_types=(AxisType.Auto,) * len(names))


def tiny(measure):
    def make():
        mesh = over((-1,), "x")
        x = jax.device_put(np.zeros(16 * mesh.size, np.float32), NamedSharding(mesh, P("x")))
        return Program(lambda x: x + 1, (x,), measure=measure)
    return make


ROWS["tiny program, until the call returns"] = Row("calls", tiny("call"), True)
ROWS["tiny program, until the result is there"] = Row("calls", tiny("run"), True)
ROWS["tiny program, compiled"] = Row("calls", tiny("compile"), True)


def collective(function, count):
    def make():
        mesh = over((-1,), "x")
        x = jax.device_put(np.random.default_rng(0).standard_normal(
            (mesh.size, count), dtype=np.float32), NamedSharding(mesh, P("x")))
        return Program(jax.shard_map(function, mesh=mesh, in_specs=P("x"), out_specs=P("x"),
                                     check_vma=False), (x,))
    return make


COLLECTIVES = {
    "all-reduce": lambda x: lax.psum(x, "x"),
    "all-gather": lambda x: lax.all_gather(x, "x", tiled=True, axis=0),
    "reduce-scatter": lambda x: lax.psum_scatter(x.reshape(-1), "x", tiled=True)[None],
    "all-to-all": lambda x: lax.all_to_all(
        x.reshape(jax.device_count(), -1), "x", 0, 0).reshape(1, -1),
    "permute": lambda x: lax.ppermute(
        x, "x", [(i, (i + 1) % jax.device_count()) for i in range(jax.device_count())]),
}
for label, count in (("64 B", 16), ("1 MiB", 1 << 18), ("64 MiB", 1 << 24)):
    for name, function in COLLECTIVES.items():
        ROWS[f"{name} {label}"] = Row("collectives", collective(
            function, count // 8 if name == "all-gather" and count > M else count),
            label != "64 MiB")


def training(size, measure="run"):
    """A step of a transformer as examples/train_lm has it: layers, width, heads, inner, length,
    batch."""
    def make():
        import train
        devices = jax.device_count()
        train.MESH = {"data": max(devices // 2, 1), "model": min(devices, 2)}
        (train.LAYERS, train.WIDTH, train.HEADS, train.INNER, train.LENGTH, train.BATCH) = size
        mesh = over(tuple(train.MESH.values()), *train.MESH)
        place = lambda spec: NamedSharding(mesh, spec)
        shardings = jax.tree.map(place, train.weight_specs(), is_leaf=lambda x: isinstance(x, P))
        weights = jax.tree.map(jax.device_put, train.initial_weights(), shardings)
        moments = train.initial_moments(weights, place)
        (window,) = train.batches(train.corpus(), 1)
        results = (shardings, (place(P()), shardings, shardings), place(P()))

        def step(weights, moments, window):
            loss, weights, moments = train.step(weights, moments, window)
            return weights, moments, loss

        return Program(step, (weights, moments, jax.device_put(window, place(P("data")))), (0, 1),
                       dict(out_shardings=results), measure)
    return make


def whole(name):
    def make():
        devices = jax.device_count()
        return Program(*steps.build(name, over((max(devices // 2, 1), min(devices, 2)), "data",
                                               "model")))
    return make


for name in steps.MODELS:
    ROWS[name] = Row("models", whole(name), False)

SIZES = {"2 layers, width 64": (2, 64, 4, 256, 64, 32),
         "8 layers, width 64": (8, 64, 4, 256, 64, 16),
         "2 layers, width 256": (2, 256, 8, 1024, 64, 16)}
for name, size in SIZES.items():
    ROWS[f"transformer step, {name}"] = Row("steps", training(size), name[0] == "2")
    ROWS[f"compiled: step, {name}"] = Row("steps", training(size, "compile"), name[0] == "2")
for layers in (1, 2, 4, 8, 16, 32):
    ROWS[f"compiled: {layers} layers"] = Row(
        "layers: compiling a step", training((layers, 64, 4, 256, 64, 16), "compile"), False,
        layers)
