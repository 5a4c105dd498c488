"""Random programs over large arrays, Terrazzo against XLA:CPU: what steps share rows, and are done
by strips, no small program shows.

    JAX_PLATFORMS=terrazzo,cpu python tests/differential/large.py FIRST LAST

A seed is a chain of operations over arrays of a megabyte or a few: arithmetic between arrays, rows
and columns, reductions along some dimensions and what is made of them, softmax, norms, products
with matrices, per batch too, masks by index, slices, pads, transposes, concatenations, updates in
place, casts; with gradients now and then, donated arguments, one to four results. Each result may
differ by rounding: of the largest magnitude in it, times how long sums are.
At the end it prints how often each operation was drawn, and exits with 1 if anything is wrong."""
import collections
import os
import sys

# XLA leaves roundings to bf16 out where it fuses; what cancels then differs without end.
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_allow_excess_precision=false"
import jax
import jax.numpy as jnp
from jax import lax
import numpy as np

DRAWN = collections.Counter()
OPERATIONS = {}


def operation(function):
    OPERATIONS[function.__name__] = function
    return function


class Chain:
    """A program as it is drawn: its values are functions of the arguments, run as JAX traces."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        rank = int(self.random.integers(2, 5))
        sizes = {2: [(512, 512), (1000, 300), (64, 8192), (4096, 128)],
                 3: [(8, 256, 256), (16, 100, 384), (4, 512, 200)],
                 4: [(2, 4, 256, 128), (4, 8, 128, 96), (3, 5, 64, 320)]}[rank]
        self.shape = sizes[self.random.integers(len(sizes))]
        self.type = jnp.bfloat16 if self.random.random() < 0.2 else jnp.float32
        self.steps = [(name, self.random.integers(1 << 30)) for name in self.random.choice(
            sorted(OPERATIONS), self.random.integers(3, 14))]
        self.results = int(self.random.integers(1, 5))
        self.gradient = self.random.random() < 0.25 and self.type == jnp.float32
        self.donated = self.random.random() < 0.3

    def arguments(self):
        random = np.random.default_rng(7)
        return [jnp.asarray(random.standard_normal(self.shape), self.type) for _ in range(3)]

    def values(self, *arguments):
        values = list(arguments)
        for name, seed in self.steps:
            random = np.random.default_rng(seed)
            pick = lambda: values[random.integers(max(0, len(values) - 4), len(values))]
            values.append(jnp.clip(OPERATIONS[name](pick(), pick(), random), -8, 8)
                          .astype(self.type))
        return values[-self.results:]

    def function(self, *arguments):
        if not self.gradient:
            return self.values(*arguments)
        loss = lambda *a: sum((v.astype(jnp.float32) ** 2).mean() for v in self.values(*a))
        return jax.value_and_grad(loss, argnums=(0, 1, 2))(*arguments)


@operation
def arithmetic(a, b, random):
    return [a + b, a * b, a - b, jnp.maximum(a, b), jnp.where(a > b, a, -b)][random.integers(5)]


@operation
def function(a, b, random):
    return [jnp.tanh, jax.nn.gelu, jnp.exp, lambda x: jnp.log1p(jnp.abs(x)), jnp.sin,
            jax.nn.sigmoid][random.integers(6)](a)


def some_axes(a, random):
    n = random.integers(1, a.ndim + 1)
    return tuple(sorted(int(i) for i in random.choice(a.ndim, n, replace=False)))


@operation
def reduction(a, b, random):
    f = [jnp.sum, jnp.max, jnp.mean, jnp.min][random.integers(4)]
    r = f(a, axis=some_axes(a, random), keepdims=True)
    return b - r if random.random() < 0.5 else a * r


@operation
def argument(a, b, random):  # rounded: what is all but equal has no greatest one
    axis = int(random.integers(a.ndim))
    return jnp.where(lax.broadcasted_iota(jnp.int32, a.shape, axis) ==
                     jnp.argmax(jnp.round(a * 4), axis, keepdims=True), a, b)


@operation
def softmax(a, b, random):
    return jax.nn.softmax(a, axis=int(random.integers(a.ndim)))


@operation
def norm(a, b, random):
    axis = int(random.choice([-1, -1, 0]))
    d = a - a.mean(axis, keepdims=True)
    return d * lax.rsqrt((d * d).mean(axis, keepdims=True) + 1e-2)


@operation
def product(a, b, random):
    w = jnp.sin(jnp.arange(a.shape[-1] ** 2, dtype=jnp.float32)).reshape(2 * a.shape[-1:])
    return a @ (w.astype(a.dtype) / a.shape[-1])


@operation
def attention(a, b, random):
    s = jnp.einsum("...qd,...kd->...qk", a, b) / a.shape[-1]
    weights = jax.nn.softmax(s.astype(jnp.float32)).astype(a.dtype)
    return jnp.einsum("...qk,...kd->...qd", weights, b)


@operation
def triangle(a, b, random):
    row = lax.broadcasted_iota(jnp.int32, a.shape, a.ndim - 2)
    column = lax.broadcasted_iota(jnp.int32, a.shape, a.ndim - 1)
    return jnp.where(column <= row, a, -1)


@operation
def shifted(a, b, random):
    axis = int(random.integers(a.ndim))
    n = int(random.integers(1, a.shape[axis]))
    return a + jnp.roll(b, n, axis) if random.random() < 0.5 else jnp.flip(a, axis) + b


@operation
def pieces(a, b, random):
    axis = int(random.integers(a.ndim))
    n = a.shape[axis] // 2
    first, last = lax.slice_in_dim(a, 0, n, axis=axis), lax.slice_in_dim(b, n, a.shape[axis],
                                                                        axis=axis)
    return jnp.concatenate([last, first] if random.random() < 0.5 else [first, last], axis)


@operation
def padded(a, b, random):
    axis = int(random.integers(a.ndim))
    inner = lax.slice_in_dim(a, 1, a.shape[axis], axis=axis)
    pads = [(1, 0) if d == axis else (0, 0) for d in range(a.ndim)]
    return b * jnp.pad(inner, pads, constant_values=0.5)


@operation
def turned(a, b, random):
    order = [int(i) for i in random.permutation(a.ndim)]
    return (jnp.transpose(a, order) * 2).reshape(a.shape) - b


@operation
def updated(a, b, random):
    start = [int(random.integers(0, n)) for n in a.shape]
    update = lax.slice(b, [0] * a.ndim, [max(1, n // 2) for n in a.shape])
    return lax.dynamic_update_slice(a, update, start)


@operation
def cumulative(a, b, random):
    return jnp.cumsum(a, axis=int(random.integers(a.ndim))) / 16


def differs(ours, theirs, kind):
    for k, (x, y) in enumerate(zip(jax.tree.leaves(ours), jax.tree.leaves(theirs))):
        x, y = np.asarray(x, np.float32), np.asarray(y, np.float32)
        scale = np.abs(y).max() + 1e-6
        error = np.abs(x - y) / scale
        # a comparison between values that rounding moved may choose otherwise in a few places
        far = (error > (0.1 if kind == jnp.bfloat16 else 2e-3)).mean()
        if not np.isfinite(x).all() == np.isfinite(y).all() or far > 2e-3:
            return f"result {k} of shape {x.shape}: {far:.2%} differ, by up to {error.max():.1e}"
    return None


def main(first, last):
    wrong = 0
    for seed in range(first, last):
        chain = Chain(seed)
        DRAWN.update(name for name, _ in chain.steps)
        DRAWN.update({"gradient": chain.gradient, "donated": chain.donated,
                      "bf16": chain.type == jnp.bfloat16})
        results = []
        for platform in ("terrazzo", "cpu"):
            with jax.default_device(jax.devices(platform)[0]):
                arguments = chain.arguments()
                donate = (0, 1, 2) if chain.donated else ()
                results.append(jax.device_get(
                    jax.jit(chain.function, donate_argnums=donate)(*arguments)))
        problem = differs(*results, chain.type)
        if problem:
            wrong += 1
            print(f"seed {seed}: {problem}; {chain.shape}, {[n for n, _ in chain.steps]}, "
                  f"gradient {chain.gradient}", flush=True)
    print("drawn: " + ", ".join(f"{name} {n}" for name, n in sorted(DRAWN.items())))
    never = sorted(set(OPERATIONS) - set(DRAWN))
    print(f"never drawn: {', '.join(never)}" if never else "all were drawn")
    print(f"{last - first - wrong} right, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
