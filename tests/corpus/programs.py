"""The corpus programs as JAX functions: what each folder's global.mlir was lowered from.

PROGRAMS[name] is a function, an example of its arguments' structure (leaves: numbers of the
in_K.npy files, in flattening order), the arguments that are donated, and the shardings of the
results where the program fixes them. test_jax.py checks that they lower to global.mlir.
"""
import functools
import json
import pathlib
from typing import Any, Callable, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.sharding import PartitionSpec as P

HERE = pathlib.Path(__file__).resolve().parent


class Program(NamedTuple):
    function: Callable
    arguments: Any
    donated: tuple = ()
    results: Any = None


def constrain(x, *spec):
    return lax.with_sharding_constraint(x, P(*spec))


# Multi-layer perceptrons: a list of (weights, bias), gelu between the layers.

def perceptron(layers, x):
    for weights, bias in layers[:-1]:
        x = jax.nn.gelu(x @ weights + bias)
    weights, bias = layers[-1]
    return x @ weights + bias


def squared_error(layers, x, y):
    return jnp.mean((perceptron(layers, x) - y) ** 2)


def mlp_dp(layers, x, y):
    return jax.value_and_grad(squared_error)(layers, x, y)


def mlp_tp(w1, b1, w2, b2, x):
    return jax.nn.relu(x @ w1 + b1) @ w2 + b2


def mlp_2d(w1, w2, x):
    hidden = constrain(jnp.tanh(x @ w1), "x", "y")
    return hidden @ w2


def mlp_fsdp(layers, x, y):
    loss, grads = jax.value_and_grad(squared_error)(layers, x, y)
    return loss, jax.tree.map(lambda p, g: constrain(p - .1 * g, "x"), layers, grads)


# A transformer block: heads and the inner layer over `model`, the batch over `data`.

def normalise(x, gain):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(jnp.square(x - mean).mean(-1, keepdims=True) + 1e-5) * gain


def attention(q, k, v):  # [batch, position, head, feature]
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    seen = jnp.tril(jnp.ones((q.shape[1], k.shape[1]), bool))
    scores = jnp.where(seen, scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v)


def block(p, x):
    y = normalise(x, p["g1"])
    q, k, v = (jnp.einsum("bsd,dhk->bshk", y, p[name]) for name in ("wq", "wk", "wv"))
    x = x + jnp.einsum("bshk,hkd->bsd", attention(q, k, v), p["wo"])
    y = normalise(x, p["g2"])
    return x + jax.nn.gelu(y @ p["w1"]) @ p["w2"]


OPTIMISER = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-2))
WEIGHTS = ("g1", "g2", "w1", "w2", "wk", "wo", "wq", "wv")  # as a dict flattens


def xf_train_adam(p, state, x, y):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((block(p, x) - y) ** 2))(p)
    updates, state = OPTIMISER.update(grads, state, p)
    return loss, optax.apply_updates(p, updates), state


def attn_heads(q, k, v):
    return jax.value_and_grad(lambda qkv: jnp.sum(jnp.sin(attention(*qkv))))((q, k, v))


# Collectives by hand, a scan over stacked layers, reshapes, elementwise functions.

def collectives(a):  # [4, 4] a device
    place = lax.axis_index("x") * 2 + lax.axis_index("y")
    return (lax.psum(a, "x"), lax.psum(a, ("x", "y")), lax.pmax(a, "y"),
            lax.psum_scatter(a, "x", scatter_dimension=0, tiled=True),
            lax.psum_scatter(a, "x", scatter_dimension=1),
            lax.all_gather(a, "y", axis=1, tiled=True), lax.all_gather(a, "x"),
            lax.all_to_all(a, "x", 1, 0, tiled=True),
            lax.ppermute(a, "x", [(0, 2), (2, 1), (1, 0)]), a + place, lax.pmean(a, "y"))


def smap_collectives(a):
    both = P("x", "y")
    results = (P(None, "y"), P(), P("x"), both, P(("x", "y")), both, P(None, "x", "y"), both, both,
               both, P("x", None))
    return jax.shard_map(collectives, in_specs=(both,), out_specs=results, check_vma=False)(a)


def scan_loss(weights, biases, x):
    def layer(x, wb):
        return constrain(jnp.tanh(x @ wb[0] + wb[1]), "x"), x.mean()
    y, means = lax.scan(layer, x, (weights, biases))
    return jnp.sum(y ** 2), means


scan_fsdp = jax.value_and_grad(scan_loss, argnums=(0, 1), has_aux=True)


def reshape_merge(x, y):
    merged = x.reshape(8, 8)
    return (merged, y.reshape(4, 2, 8), jnp.transpose(x, (2, 0, 1)).reshape(4, 16),
            jnp.swapaxes(merged @ y, 0, 1).reshape(2, 4, 8), lax.squeeze(x[:, :1], (1,)),
            jnp.expand_dims(y, 1).reshape(8, 1, 2, 4))


def replicated_outs(a, b):
    product = a @ b
    return product, product + 1, product.sum(0), jnp.exp(a)


def elementwise_zoo(a, b):
    positive = jnp.abs(a) + .1
    results = [f(a) for f in (
        jnp.sin, jnp.cos, jnp.tan, jnp.exp, jnp.expm1, jnp.tanh, lax.logistic, jnp.floor, jnp.ceil,
        jnp.round, jnp.sign, jnp.cbrt, lax.round, jnp.isfinite, lax.erf, jnp.arctan, jnp.sinh)]
    results += [f(positive) for f in (jnp.log, jnp.log1p, jnp.sqrt, lax.rsqrt, lax.lgamma,
                                      lax.digamma, jnp.arccosh)]
    results.append(lax.erf_inv(a * .2))
    results += [f(a, b) for f in (
        jnp.add, jnp.subtract, jnp.multiply, jnp.maximum, jnp.minimum, jnp.arctan2, jnp.equal,
        jnp.less_equal, jnp.nextafter)]
    results += [positive ** b, a / (jnp.abs(b) + 1), lax.rem(a, positive), jnp.clip(a, -1, b),
                jnp.where(a > b, a, b), lax.broadcasted_iota(jnp.float32, (8, 8), 0) + a,
                a.astype(jnp.int32), lax.integer_pow(a, 3)]
    return jnp.stack([x.astype(jnp.float32) for x in results])


def optimiser_state():
    """The structure of OPTIMISER's state over the weights, as numbers of input files."""
    weights = dict.fromkeys(WEIGHTS, np.zeros(1, np.float32))
    _, tree = jax.tree.flatten(OPTIMISER.init(weights))
    return jax.tree.unflatten(tree, range(8, 8 + tree.num_leaves))


@functools.cache
def programs():
    layers = [(0, 1), (2, 3)]
    weights = dict(zip(WEIGHTS, range(8)))
    return {
        "mlp_dp": Program(mlp_dp, (layers, 4, 5)),
        "mlp_tp": Program(mlp_tp, (0, 1, 2, 3, 4)),
        "mlp_2d": Program(mlp_2d, (0, 1, 2), results=P("x", "y")),
        "mlp_fsdp": Program(mlp_fsdp, (layers, 4, 5), donated=(0,)),
        "xf_block_fwd": Program(block, (weights, 8)),
        "xf_train_adam": Program(xf_train_adam, (weights, optimiser_state(), 25, 26),
                                 donated=(0, 1)),
        "attn_heads": Program(attn_heads, (0, 1, 2)),
        "smap_collectives": Program(smap_collectives, (0,)),
        "scan_fsdp": Program(scan_fsdp, (0, 1, 2)),
        "reshape_merge": Program(reshape_merge, (0, 1)),
        "replicated_outs": Program(replicated_outs, (0, 1),
                                   results=(P(), P("y"), P("x"), P("y", "x"))),
        "elementwise_zoo": Program(elementwise_zoo, (0, 1)),
    }


NAMES = ("mlp_dp", "mlp_tp", "mlp_2d", "mlp_fsdp", "xf_block_fwd", "xf_train_adam", "attn_heads",
         "smap_collectives", "scan_fsdp", "reshape_merge", "replicated_outs", "elementwise_zoo")


@functools.cache
def facts(name):
    """meta.json: the mesh, the inputs and outputs, their shards and tolerances."""
    return json.loads((HERE / name / "meta.json").read_text())


def array(name, file):
    return np.load(HERE / name / file)


def partition_spec(text):
    """The PartitionSpec that meta.json spells, such as P(('x', 'y'), None)."""
    return eval(text, {"P": P})  # pylint: disable=eval-used  (our own file)
