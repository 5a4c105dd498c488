"""Whole steps of models as people write them, over a mesh of data by model: what bench.py measures
beside the transformer of examples/train_lm. Forward, gradient and update where the model trains."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

MODELS = {}


def model(name):
    """A maker of (function, arguments), given `place(shape, *spec, kind=...)`, which makes an array
    on the mesh, and `keep(x, *spec)`, which constrains one."""
    def add(function):
        MODELS[name] = function
        return function
    return add


def build(name, mesh):
    random = np.random.default_rng(0)

    def place(shape, *spec, kind=np.float32, most=0):
        if most:
            values = random.integers(0, most, shape, dtype=np.int32)
        else:
            scale = shape[-2] ** -0.5 if len(shape) > 1 else 1
            values = (random.standard_normal(shape, dtype=np.float32) * scale).astype(kind)
        return jax.device_put(values, NamedSharding(mesh, P(*spec)))

    keep = lambda x, *spec: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec)))
    return MODELS[name](place, keep)


# ---- parts ----


def descend(loss):
    """A step of gradient descent on the first argument."""
    def step(weights, *rest):
        value, gradient = jax.value_and_grad(loss)(weights, *rest)
        return value, jax.tree.map(lambda w, g: w - (0.01 * g).astype(w.dtype), weights, gradient)
    return step


def norm(x):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def attend(x, weights, heads, causal):
    split = lambda y: y.reshape(*y.shape[:2], heads, -1)
    q, k, v = (split(x @ weights[n]) for n in "qkv")
    scores = jnp.einsum("bthd,bshd->bhts", q, k) * q.shape[-1] ** -0.5
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    mixed = jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores), v)
    return mixed.reshape(x.shape) @ weights["o"]


def block(x, weights, heads, causal=True):
    x = x + attend(norm(x), weights, heads, causal)
    return x + jax.nn.gelu(norm(x) @ weights["in"]) @ weights["out"]


def block_weights(place, width):
    column, row = (None, "model"), ("model", None)
    square, wide = (width, width), (width, 4 * width)
    return {"q": place(square, *column), "k": place(square, *column), "v": place(square, *column),
            "o": place(square, *row), "in": place(wide, *column), "out": place(wide[::-1], *row)}


def cross_entropy(logits, labels):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1)
    return -jnp.mean(chosen)


def convolve(x, kernel, stride=1):
    return lax.conv_general_dilated(x, kernel, (stride, stride), "SAME",
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"))


# ---- models ----


def gpt(width, batch, length):
    def make(place, keep):
        layers = [block_weights(place, width) for _ in range(4)]
        weights = dict(layers=layers, words=place((8192, width), "model", None))

        def loss(weights, words, labels):
            x = weights["words"][words]
            for layer in weights["layers"]:
                x = block(keep(x, "data"), layer, width // 64)
            return cross_entropy(norm(x) @ weights["words"].T, labels)

        tokens = [place((batch, length), "data", kind=np.int32, most=8192) for _ in range(2)]
        return descend(loss), (weights, *tokens)
    return make


MODELS["GPT, 4 layers of 256"] = gpt(256, 8, 128)
MODELS["GPT, 4 layers of 512"] = gpt(512, 8, 128)


@model("MLP bf16, 4 layers of 1024")
def mlp(place, _):
    weights = [place((1024, 1024), *spec, kind=jnp.bfloat16)
               for spec in [(None, "model"), ("model", None)] * 2]

    def loss(weights, x, y):
        for i, w in enumerate(weights):
            x = x @ w if i == 3 else jax.nn.gelu(x @ w)
        return jnp.mean((x - y).astype(np.float32) ** 2)

    return descend(loss), (weights, *(place((512, 1024), "data", kind=jnp.bfloat16)
                                      for _ in range(2)))


@model("convolutional net")
def convolutional(place, _):
    features = (3, 32, 64, 128)
    weights = dict(kernels=[place((3, 3, a, b)) for a, b in zip(features, features[1:])],
                   last=place((128, 100), None, "model"))

    def loss(weights, x, labels):
        for kernel in weights["kernels"]:
            x = convolve(x, kernel)
            x = jax.nn.relu((x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5))
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return cross_entropy(x.mean((1, 2)) @ weights["last"], labels)

    return descend(loss), (weights, place((16, 64, 64, 3), "data"),
                           place((16,), "data", kind=np.int32, most=100))


@model("mixture of 8 experts")
def mixture(place, keep):
    width, experts, batch, length = 256, 8, 8, 128
    capacity = 2 * length // experts
    weights = dict(gate=place((width, experts)), first=place((experts, width, 1024), "data"),
                   second=place((experts, 1024, width), "data"))

    def loss(weights, x):
        gates = jax.nn.softmax(x @ weights["gate"])
        chosen = jax.nn.one_hot(jnp.argmax(gates, -1), experts)
        place_in = jnp.max(jnp.cumsum(chosen, 1) * chosen - 1, -1).astype(np.int32)
        to = jax.nn.one_hot(place_in, capacity)[:, :, None, :] * chosen[..., None]
        sent = keep(jnp.einsum("btec,btd->ebcd", to, x), "data")
        inner = jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", sent, weights["first"]))
        back = keep(jnp.einsum("ebcf,efd->ebcd", inner, weights["second"]), "data")
        out = jnp.einsum("ebcd,btec->btd", back, to * gates.max(-1)[..., None, None])
        return jnp.mean((keep(out, "data") - x) ** 2)

    return descend(loss), (weights, place((batch, length, width), "data"))


@model("decoding with a KV cache of 2048")
def decoding(place, _):
    width, heads, batch, length = 512, 8, 8, 2048
    layers = [block_weights(place, width) for _ in range(2)]
    cache = [place((2, batch, length, heads, width // heads), None, "data", None, "model")
             for _ in layers]

    def step(layers, cache, x, position):
        kept = []
        for weights, old in zip(layers, cache):
            h = norm(x)
            q, k, v = ((h @ weights[n]).reshape(batch, 1, heads, -1) for n in "qkv")
            new = lax.dynamic_update_slice(old, jnp.stack([k, v]), (0, 0, position, 0, 0))
            scores = jnp.einsum("bthd,bshd->bhts", q, new[0]) / 8
            scores = jnp.where(jnp.arange(length) <= position, scores, -1e9)
            mixed = jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores), new[1])
            x = x + mixed.reshape(x.shape) @ weights["o"]
            x = x + jax.nn.gelu(norm(x) @ weights["in"]) @ weights["out"]
            kept.append(new)
        return x, kept

    return step, (layers, cache, place((batch, 1, width), "data"), jnp.int32(1500))


@model("LSTM of 256, 64 steps")
def lstm(place, _):
    width, length = 256, 64
    weights = dict(x=place((width, 4 * width)), h=place((width, 4 * width)))

    def loss(weights, x):
        def cell(state, row):
            h, c = state
            i, f, g, o = jnp.split(row @ weights["x"] + h @ weights["h"], 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros_like(x[0])
        return jnp.mean(lax.scan(cell, (zero, zero), x)[1] ** 2)

    return descend(loss), (weights, place((length, 32, width), None, "data"))


@model("heat stencil 2048, 10 steps")
def stencil(place, _):
    def step(u):
        around = lambda u: sum(jnp.roll(u, by, axis) for axis in (0, 1) for by in (1, -1))
        return lax.fori_loop(0, 10, lambda _, u: u + 0.1 * (around(u) - 4 * u), u)

    return step, (place((2048, 2048), "data", "model"),)


@model("random noise 2048")
def noise(place, keep):
    def step(key, x):
        random = keep(jax.random.normal(key, x.shape), "data", "model")
        return jnp.where(keep(jax.random.bernoulli(key, 0.9, x.shape), "data", "model"),
                         x + 0.1 * random, 0)

    return step, (jax.random.key(3), place((2048, 2048), "data", "model"))


@model("vision transformer, 4 layers of 256")
def vision(place, keep):
    width, size = 256, 8
    layers = [block_weights(place, width) for _ in range(4)]
    weights = dict(layers=layers, patch=place((size * size * 3, width)),
                   places=place((64, width)), last=place((width, 100), None, "model"))

    def loss(weights, images, labels):
        b, h, w, c = images.shape
        x = images.reshape(b, h // size, size, w // size, size, c).transpose(0, 1, 3, 2, 4, 5)
        x = x.reshape(b, -1, size * size * c) @ weights["patch"] + weights["places"]
        for layer in weights["layers"]:
            x = block(keep(x, "data"), layer, 4, causal=False)
        return cross_entropy(norm(x).mean(1) @ weights["last"], labels)

    return descend(loss), (weights, place((16, 64, 64, 3), "data"),
                           place((16,), "data", kind=np.int32, most=100))


@model("U-Net")
def unet(place, _):
    shapes = dict(a=(3, 32), b=(32, 64), c=(64, 64), d=(64 + 64, 32), e=(32 + 32, 32), f=(32, 3))
    weights = {n: place((3, 3, *s)) for n, s in shapes.items()}

    def loss(weights, x, wanted):
        go = lambda x, name, stride=1: jax.nn.silu(convolve(x, weights[name], stride))
        up = lambda x: jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
        first = go(x, "a")
        second = go(first, "b", 2)
        third = go(second, "c", 2)
        back = go(jnp.concatenate([up(third), second], -1), "d")
        back = go(jnp.concatenate([up(back), first], -1), "e")
        return jnp.mean((convolve(back, weights["f"]) - wanted) ** 2)

    return descend(loss), (weights, *(place((8, 64, 64, 3), "data") for _ in range(2)))


@model("state space model, 256 steps")
def states(place, _):
    width, inner, length = 128, 16, 256
    weights = dict(decay=place((width, inner), "model"), b=place((width, inner)),
                   c=place((width, inner)), skip=place((width,), "model"))

    def loss(weights, x):
        b, c = x @ weights["b"], x @ weights["c"]
        decay = jnp.exp(-jax.nn.softplus(weights["decay"]))
        drive = x[..., None] * b[:, :, None, :]
        join = lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1])
        _, h = lax.associative_scan(join, (jnp.broadcast_to(decay, drive.shape), drive), axis=1)
        y = jnp.einsum("btdn,btn->btd", h, c) + x * weights["skip"]
        return jnp.mean(jax.nn.silu(y) ** 2)

    return descend(loss), (weights, place((8, length, width), "data"))


@model("Adafactor on 4 matrices of 1024")
def adafactor(place, _):
    shape, specs = (1024, 1024), [(None, "model"), ("model", None)] * 2
    weights = [place(shape, *spec) for spec in specs]
    rows = [place(shape[:1], spec[0]) ** 2 for spec in specs]
    columns = [place(shape[1:], spec[1]) ** 2 for spec in specs]

    def update(w, row, column, g):
        square = g * g + 1e-30
        row = 0.99 * row + 0.01 * square.mean(1)
        column = 0.99 * column + 0.01 * square.mean(0)
        step = g * lax.rsqrt(row / row.mean())[:, None] * lax.rsqrt(column)[None, :]
        step = step / jnp.maximum(1, jnp.sqrt(jnp.mean(step * step)))
        return w - 0.01 * jnp.maximum(1e-3, jnp.sqrt(jnp.mean(w * w))) * step, row, column

    return (lambda *trees: jax.tree.map(update, *trees),
            (weights, rows, columns, [place(shape, *spec) for spec in specs]))
