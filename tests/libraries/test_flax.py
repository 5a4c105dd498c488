"""Flax (nnx and linen) with Optax."""
import flax.linen as linen
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from flax.training import train_state
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


def digits(n=32, seed=0):
    """Blurred bars of ten kinds, as images."""
    random = np.random.default_rng(seed)
    label = random.integers(0, 10, n)
    rows = np.arange(16)[None, :, None]
    image = np.exp(-((rows - 1.5 * label[:, None, None] - 1) ** 2) / 4) * np.ones((1, 1, 16))
    image = image + 0.1 * random.normal(size=image.shape)
    return image[..., None].astype(np.float32), label.astype(np.int32)


class Classifier(nnx.Module):
    """An image classifier with batch norm, as in Flax's first guide."""

    def __init__(self, rngs):
        self.conv1 = nnx.Conv(1, 8, kernel_size=(3, 3), use_bias=False, rngs=rngs)
        self.norm1 = nnx.BatchNorm(8, rngs=rngs)
        self.conv2 = nnx.Conv(8, 16, kernel_size=(3, 3), use_bias=False, rngs=rngs)
        self.norm2 = nnx.BatchNorm(16, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)
        self.out = nnx.Linear(256, 10, rngs=rngs)

    def __call__(self, x):
        x = nnx.avg_pool(nnx.relu(self.norm1(self.conv1(x))), (2, 2), strides=(2, 2))
        x = nnx.max_pool(nnx.relu(self.norm2(self.conv2(x))), (2, 2), strides=(2, 2))
        return self.out(self.dropout(x.reshape(x.shape[0], -1)))


def train_classifier():
    model = Classifier(nnx.Rngs(0))
    schedule = optax.warmup_cosine_decay_schedule(0.0, 0.01, 4, 20)
    optimizer = nnx.Optimizer(model, optax.adamw(schedule, weight_decay=1e-3), wrt=nnx.Param)
    metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))

    def loss_fn(model, image, label):
        logits = model(image)
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, label).mean()
        return loss, logits

    @nnx.jit
    def step(model, optimizer, metrics, image, label):
        (loss, logits), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, image, label)
        metrics.update(loss=loss, logits=logits, labels=label)
        optimizer.update(model, grads)
        return loss

    losses = [step(model, optimizer, metrics, *digits(seed=i)) for i in range(12)]
    model.eval()
    image, label = digits(64, seed=99)
    logits = nnx.jit(lambda model, x: model(x))(model, image)
    return jnp.stack(losses), metrics.compute(), logits, model.norm1.mean[...], model.norm2.var[...]


def test_image_classifier(agree):
    losses, *_ = agree(train_classifier, rtol=5e-3, atol=5e-3)
    assert losses[-1] < 0.7 * losses[0]


class Block(nnx.Module):
    def __init__(self, width, heads, rngs):
        self.norm1 = nnx.LayerNorm(width, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(heads, width, decode=False, rngs=rngs)
        self.norm2 = nnx.LayerNorm(width, rngs=rngs)
        self.up = nnx.Linear(width, 4 * width, rngs=rngs)
        self.down = nnx.Linear(4 * width, width, rngs=rngs)

    def __call__(self, x, mask):
        x = x + self.attention(self.norm1(x), mask=mask)
        return x + self.down(nnx.gelu(self.up(self.norm2(x))))


class Gpt(nnx.Module):
    def __init__(self, vocabulary, length, width, heads, depth, rngs):
        self.token = nnx.Embed(vocabulary, width, rngs=rngs)
        self.position = nnx.Embed(length, width, rngs=rngs)
        self.blocks = nnx.List([Block(width, heads, rngs) for _ in range(depth)])
        self.norm = nnx.LayerNorm(width, rngs=rngs)

    def __call__(self, ids):
        mask = nnx.make_causal_mask(ids)
        x = self.token(ids) + self.position(jnp.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x, mask)
        return self.token.attend(self.norm(x))


TEXT = "the quick brown fox jumps over the lazy dog and the cat sat on the mat. " * 8
LETTERS = sorted(set(TEXT))


def batches(n, size=8, length=24):
    ids = np.array([LETTERS.index(c) for c in TEXT], np.int32)
    random = np.random.default_rng(1)
    for _ in range(n):
        at = random.integers(0, len(ids) - length - 1, size)
        yield np.stack([ids[i:i + length + 1] for i in at])


def gpt_loss(model, ids):
    logits = model(ids[:, :-1])
    return optax.softmax_cross_entropy_with_integer_labels(logits, ids[:, 1:]).mean()


def train_gpt(mesh=None):
    model = Gpt(len(LETTERS), 24, 32, 4, 2, nnx.Rngs(0))
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(3e-3))
    optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)
    if mesh:
        for part in (model, optimizer):
            state = nnx.state(part)
            nnx.update(part, jax.device_put(state, NamedSharding(mesh, P())))

    @nnx.jit
    def step(model, optimizer, ids):
        loss, grads = nnx.value_and_grad(gpt_loss)(model, ids)
        optimizer.update(model, grads)
        return loss

    losses = []
    for ids in batches(12):
        if mesh:
            ids = jax.device_put(ids, NamedSharding(mesh, P("data")))
        losses.append(step(model, optimizer, ids))

    @nnx.jit
    def extend(model, ids, n):
        top = jnp.argmax(model(ids)[0, n - 1])
        return ids.at[0, n].set(top)

    ids = jnp.zeros((1, 24), jnp.int32).at[0, :4].set(ids[0, :4])
    for n in range(4, 12):
        ids = extend(model, ids, n)
    return jnp.stack(losses), model(ids)


def test_gpt(agree):
    losses, _ = agree(train_gpt, rtol=1e-3, atol=2e-3)
    assert losses[-1] < 0.8 * losses[0]


def test_gpt_over_eight_devices():
    sharded, alone = (
        train_gpt(Mesh(np.array(jax.devices(platform)), ("data",)))[0]
        for platform in ("terrazzo", "cpu"))
    np.testing.assert_allclose(np.asarray(sharded), np.asarray(alone), rtol=1e-3)


class Denoiser(linen.Module):
    """A small U-Net with group norm, told the time."""
    width: int = 16

    @linen.compact
    def __call__(self, x, t):
        freq = jnp.exp(-jnp.arange(8) * jnp.log(1e3) / 8)
        wave = jnp.concatenate([jnp.sin(t[:, None] * freq), jnp.cos(t[:, None] * freq)], -1)
        time = linen.Dense(self.width)(linen.swish(linen.Dense(self.width)(wave)))
        h = linen.Conv(self.width, (3, 3))(x)
        skip = h = linen.swish(linen.GroupNorm(4)(h)) + time[:, None, None]
        h = linen.Conv(2 * self.width, (3, 3), strides=(2, 2))(h)
        h = linen.swish(linen.GroupNorm(4)(h))
        h = linen.ConvTranspose(self.width, (4, 4), strides=(2, 2))(h)
        return linen.Conv(1, (3, 3))(jnp.concatenate([h, skip], -1))


def train_diffusion():
    betas = jnp.linspace(1e-4, 0.05, 20)
    kept = jnp.cumprod(1 - betas)
    model = Denoiser()
    variables = model.init(jax.random.key(0), jnp.zeros((1, 16, 16, 1)), jnp.zeros(1))
    state = train_state.TrainState.create(
        apply_fn=model.apply, params=variables["params"], tx=optax.adam(2e-3))

    @jax.jit
    def step(state, average, x, key):
        k1, k2 = jax.random.split(key)
        t = jax.random.randint(k1, (x.shape[0],), 0, 20)
        noise = jax.random.normal(k2, x.shape)
        a = kept[t][:, None, None, None]

        def loss_fn(params):
            guess = state.apply_fn({"params": params}, jnp.sqrt(a) * x + jnp.sqrt(1 - a) * noise, t)
            return jnp.mean((guess - noise) ** 2)

        loss, grads = jax.value_and_grad(loss_fn)(state.params)
        state = state.apply_gradients(grads=grads)
        return state, optax.incremental_update(state.params, average, 0.1), loss

    average, losses = state.params, []
    for i in range(6):
        key = jax.random.fold_in(jax.random.key(1), i)
        state, average, loss = step(state, average, digits(8, i)[0], key)
        losses.append(loss)

    @jax.jit
    def sample(params, key):
        def back(x, t):
            noise = jax.random.normal(jax.random.fold_in(key, t), x.shape)
            e = model.apply({"params": params}, x, jnp.full(x.shape[0], t))
            x = (x - betas[t] / jnp.sqrt(1 - kept[t]) * e) / jnp.sqrt(1 - betas[t])
            return x + jnp.where(t > 0, jnp.sqrt(betas[t]), 0) * noise, None

        x = jax.random.normal(key, (2, 16, 16, 1))
        return jax.lax.scan(back, x, jnp.arange(20)[::-1])[0]

    return jnp.stack(losses), sample(average, jax.random.key(2))


def test_diffusion(agree):
    losses, _ = agree(train_diffusion, rtol=5e-3, atol=5e-3)
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("name", [
    "sgd", "lamb", "adafactor", "lion", "rmsprop", "adabelief", "muon"])
def test_optimizers(agree, name):
    make = optax.contrib.muon if name == "muon" else getattr(optax, name)

    def train():
        tx = optax.MultiSteps(make(1e-2), 2)
        params = {"w": jax.random.normal(jax.random.key(0), (8, 4)), "b": jnp.zeros(4)}
        x = jax.random.normal(jax.random.key(1), (16, 8))

        @jax.jit
        def step(params, state):
            grads = jax.grad(lambda p: jnp.mean((jnp.tanh(x @ p["w"] + p["b"]) - 1) ** 2))(params)
            updates, state = tx.update(grads, state, params)
            return optax.apply_updates(params, updates), state

        state = tx.init(params)
        for _ in range(6):
            params, state = step(params, state)
        return params

    agree(train, rtol=1e-3, atol=1e-4)
