"""Products in loops, which are made outside of them where rows come one after the other."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

SPECS = {"whole": (P(), P(), P()), "batch": (P(None, "x"), P(), P()),
         "width": (P(None, None, "y"), P("y", None), P(None, "y")),
         "both": (P(None, "x", "y"), P(None, "y"), P("y")),
         "length": (P("x"), P(), P())}


def layer(scan):
    """Reads rows, forwards or backwards, and its own state; xs also go round the weights."""
    def f(weights, xs, reverse):
        def step(h, x):
            h = jnp.tanh(x @ weights["in"] + h @ weights["own"] + weights["bias"])
            return h, (h @ weights["in"].T) * x
        h = jnp.ones((xs.shape[1], weights["own"].shape[0]), xs.dtype)
        return scan(step, h, xs, reverse)
    return f


def unrolled(step, h, xs, reverse):
    out = [None] * len(xs)
    for i in reversed(range(len(xs))) if reverse else range(len(xs)):
        h, out[i] = step(h, xs[i])
    return h, jnp.stack(out)


def loss(scan):
    def f(weights, xs, reverse):
        h, out = layer(scan)(weights, xs, reverse)
        return jnp.sum(h * h) + jnp.sum(jnp.sin(out))
    return f


@pytest.mark.parametrize("reverse", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("spec", SPECS)
def test_recurrent_layer(devices, spec, reverse):
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2,
                         devices=devices)
    random = np.random.default_rng(5)
    make = lambda *shape: random.normal(size=shape).astype(np.float32) / 4
    weights = {"in": make(6, 16), "own": make(16, 16), "bias": make(16)}
    xs = make(12, 8, 6)
    looped = loss(lambda step, h, xs, reverse: lax.scan(step, h, xs, reverse=reverse))
    wanted = jax.value_and_grad(loss(unrolled), (0, 1))(weights, xs, reverse)
    at = [NamedSharding(mesh, s) for s in SPECS[spec]]
    placed = weights | {"in": jax.device_put(weights["in"], at[1]),
                        "own": jax.device_put(weights["own"], at[2])}
    step = jax.jit(jax.value_and_grad(looped, (0, 1)), static_argnums=2)
    got = step(placed, jax.device_put(xs, at[0]), reverse)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5), got, wanted)
