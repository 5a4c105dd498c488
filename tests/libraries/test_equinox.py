"""Equinox: a vision transformer. Diffrax: a stiff equation."""
import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from test_flax import digits


class Patches(eqx.Module):
    conv: eqx.nn.Conv2d

    def __init__(self, width, key):
        self.conv = eqx.nn.Conv2d(1, width, 4, stride=4, key=key)

    def __call__(self, image):
        return self.conv(image).reshape(self.conv.out_channels, -1).T


class Attention(eqx.Module):
    norm1: eqx.nn.LayerNorm
    attention: eqx.nn.MultiheadAttention
    norm2: eqx.nn.LayerNorm
    mlp: eqx.nn.MLP
    dropout: eqx.nn.Dropout

    def __init__(self, width, heads, key):
        k1, k2 = jax.random.split(key)
        self.norm1 = eqx.nn.LayerNorm(width)
        self.attention = eqx.nn.MultiheadAttention(heads, width, key=k1)
        self.norm2 = eqx.nn.LayerNorm(width)
        self.mlp = eqx.nn.MLP(width, width, 2 * width, 1, activation=jax.nn.gelu, key=k2)
        self.dropout = eqx.nn.Dropout(0.1)

    def __call__(self, x, key):
        h = jax.vmap(self.norm1)(x)
        x = x + self.attention(h, h, h)
        h = jax.vmap(self.mlp)(jax.vmap(self.norm2)(x))
        return x + self.dropout(h, key=key, inference=key is None)


class Vit(eqx.Module):
    patches: Patches
    first: jax.Array
    position: jax.Array
    blocks: list
    norm: eqx.nn.LayerNorm
    head: eqx.nn.Linear

    def __init__(self, width, heads, depth, key):
        keys = jax.random.split(key, depth + 4)
        self.patches = Patches(width, keys[0])
        self.first = 0.02 * jax.random.normal(keys[1], (1, width))
        self.position = 0.02 * jax.random.normal(keys[2], (17, width))
        self.blocks = [Attention(width, heads, k) for k in keys[4:]]
        self.norm = eqx.nn.LayerNorm(width)
        self.head = eqx.nn.Linear(width, 10, key=keys[3])

    def __call__(self, image, key=None):
        x = jnp.concatenate([self.first, self.patches(image)]) + self.position
        for i, block in enumerate(self.blocks):
            x = block(x, None if key is None else jax.random.fold_in(key, i))
        return self.head(self.norm(x[0]))


def train_vit(place=None):
    model = Vit(32, 4, 2, jax.random.key(0))
    tx = optax.adamw(2e-3)
    state = tx.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_value_and_grad
    def loss_fn(model, images, labels, keys):
        logits = jax.vmap(model)(images, keys)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    @eqx.filter_jit(donate="all-except-first")
    def step(batch, model, state):
        if place:
            batch = eqx.filter_shard(batch, place)
        loss, grads = loss_fn(model, *batch)
        updates, state = tx.update(grads, state, eqx.filter(model, eqx.is_inexact_array))
        return eqx.apply_updates(model, updates), state, loss

    losses = []
    for i in range(10):
        images, labels = digits(32, i)
        keys = jax.random.split(jax.random.fold_in(jax.random.key(1), i), 32)
        batch = jnp.asarray(images).transpose(0, 3, 1, 2), jnp.asarray(labels), keys
        if place and i == 0:
            model, state = eqx.filter_shard((model, state), NamedSharding(place.mesh, P()))
        model, state, loss = step(batch, model, state)
        losses.append(loss)
    model = eqx.nn.inference_mode(model)
    logits = jax.vmap(model)(jnp.asarray(digits(8, 99)[0]).transpose(0, 3, 1, 2))
    return jnp.stack(losses), logits


def test_vit(agree):
    losses, _ = agree(train_vit, rtol=2e-3, atol=5e-3)
    assert losses[-1] < losses[0]


def test_vit_over_eight_devices():
    results = []
    for platform in ("terrazzo", "cpu"):
        devices = jax.devices(platform)
        with jax.default_device(devices[0]):
            mesh = Mesh(np.array(devices), ("batch",))
            results.append(np.asarray(train_vit(NamedSharding(mesh, P("batch")))[0]))
        jax.clear_caches()
    np.testing.assert_allclose(*results, rtol=2e-3)


def robertson():
    """Three reactions whose rates are nine orders of magnitude apart, by an implicit method."""
    def rates(t, y, k):
        f0 = -k[0] * y[0] + k[2] * y[1] * y[2]
        f1 = k[0] * y[0] - k[1] * y[1] ** 2 - k[2] * y[1] * y[2]
        return jnp.stack([f0, f1, k[1] * y[1] ** 2])

    @jax.jit
    def solve(k):
        times = jnp.array([0.0, 1e-4, 1e-2, 1.0, 100.0])
        return diffrax.diffeqsolve(
            diffrax.ODETerm(rates), diffrax.Kvaerno5(), 0, 100, dt0=2e-4, y0=jnp.array([1.0, 0, 0]),
            args=k, saveat=diffrax.SaveAt(ts=times), max_steps=4096,
            stepsize_controller=diffrax.PIDController(rtol=1e-8, atol=1e-8))

    solution = solve(jnp.array([0.04, 3e7, 1e4]))
    return solution.ys, solution.stats["num_steps"]


def test_stiff_equation(agree):
    with jax.enable_x64(True):
        ys, steps = agree(robertson, rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(ys.sum(1), 1, rtol=1e-6)
    assert 20 < steps < 1000


def neural_equation():
    """A field that is learnt through the solver, by its adjoint."""
    class Field(eqx.Module):
        mlp: eqx.nn.MLP

        def __call__(self, t, y, args):
            return self.mlp(y)

    times = jnp.linspace(0, 2, 11)
    field = Field(eqx.nn.MLP(2, 2, 16, 1, activation=jnp.tanh, key=jax.random.key(0)))
    want = jnp.stack([jnp.cos(times), jnp.sin(times)], 1)

    def predict(field):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(field), diffrax.Tsit5(), 0, 2, dt0=0.1, y0=want[0],
            saveat=diffrax.SaveAt(ts=times),
            stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-5)).ys

    tx = optax.adam(0.02)
    state = tx.init(eqx.filter(field, eqx.is_inexact_array))

    @eqx.filter_jit
    def step(field, state):
        loss, grads = eqx.filter_value_and_grad(
            lambda f: jnp.mean((predict(f) - want) ** 2))(field)
        updates, state = tx.update(grads, state)
        return eqx.apply_updates(field, updates), state, loss

    losses = []
    for _ in range(6):
        field, state, loss = step(field, state)
        losses.append(loss)
    return jnp.stack(losses)


def test_neural_equation(agree):
    losses = agree(neural_equation, rtol=2e-3)
    assert losses[-1] < losses[0]
