"""Eager jnp, jax.random, grad and vmap, beside NumPy or XLA's CPU."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest

A = np.random.default_rng(1).normal(size=(4, 6)).astype(np.float32)
B = np.random.default_rng(2).normal(size=(4, 6)).astype(np.float32) + 3
I = np.random.default_rng(3).integers(-9, 9, (4, 6)).astype(np.int32)
J = np.random.default_rng(4).integers(1, 9, (4, 6)).astype(np.int32)

EAGER = {
    "add": lambda m, a, b, i, j: a + b,
    "arithmetic": lambda m, a, b, i, j: (a - b) * a / b + 2,
    "integers": lambda m, a, b, i, j: (i * j - i) // j + i % j,
    "bits": lambda m, a, b, i, j: (i & j) | (i ^ 5) + (i << 2) + (i >> 1),
    "negative": lambda m, a, b, i, j: -a + m.abs(a) + m.sign(a),
    "power": lambda m, a, b, i, j: b ** 2 + m.power(b, a),
    "integer_power": lambda m, a, b, i, j: m.power(i, 3),
    "math": lambda m, a, b, i, j: m.exp(a) + m.log(b) + m.sqrt(b) + m.tanh(a) + m.sin(a) + m.cos(b),
    "round": lambda m, a, b, i, j: m.floor(a) + m.ceil(b) + m.round(a * 3),
    "maximum": lambda m, a, b, i, j: m.maximum(a, b) + m.minimum(a, 0) + m.clip(a, -1, 1),
    "less": lambda m, a, b, i, j: (a < b - 3) & (i >= j) | (i == 2) | ~(a != a),
    "where": lambda m, a, b, i, j: m.where(a > 0, a, b),
    "sum": lambda m, a, b, i, j: a.sum() + a.sum(axis=0),
    "mean": lambda m, a, b, i, j: a.mean(axis=1, keepdims=True) + b.std(),
    "max": lambda m, a, b, i, j: a.max(axis=0) + b.min(),
    "prod": lambda m, a, b, i, j: b.prod(axis=1),
    "any": lambda m, a, b, i, j: (a > 2).any(axis=0) | (a > -3).all(axis=0),
    "argmax": lambda m, a, b, i, j: a.argmax(axis=1) + b.argmin(),
    "cumsum": lambda m, a, b, i, j: m.cumsum(a, axis=1),
    "dot": lambda m, a, b, i, j: a @ b.T,
    "dot_integers": lambda m, a, b, i, j: i @ j.T,
    "einsum": lambda m, a, b, i, j: m.einsum("ij,kj->ki", a, b),
    "einsum_permuted": lambda m, a, b, i, j: m.einsum(
        "mabc,nbac->mn", a.reshape(2, 3, 2, 2), b.reshape(2, 2, 3, 2)),
    "outer": lambda m, a, b, i, j: m.outer(a[0], b[:, 1]),
    "reshape": lambda m, a, b, i, j: a.reshape(3, 8) + b.ravel().reshape(3, 8),
    "transpose": lambda m, a, b, i, j: a.T.reshape(2, 3, 4).transpose(2, 0, 1),
    "concatenate": lambda m, a, b, i, j: m.concatenate([a, b], axis=1),
    "stack": lambda m, a, b, i, j: m.stack([a, b, a], axis=1),
    "broadcast": lambda m, a, b, i, j: m.broadcast_to(a[:, None], (4, 2, 6)),
    "pad": lambda m, a, b, i, j: m.pad(a, ((1, 2), (0, 3))),
    "slice": lambda m, a, b, i, j: a[1:3, ::2] + b[2:, 1::2],
    "reverse": lambda m, a, b, i, j: a[::-1, ::-2],
    "index": lambda m, a, b, i, j: a[2] + a[1, 3],
    "take": lambda m, a, b, i, j: a[m.array([3, 0, 0, 2])],
    "take_along": lambda m, a, b, i, j: m.take_along_axis(a, j % 6, axis=1),
    "mask": lambda m, a, b, i, j: m.where(i > 0, i, -1)[::2],
    "sort": lambda m, a, b, i, j: m.sort(a, axis=1),
    "iota": lambda m, a, b, i, j: m.arange(6) + a,
    "linspace": lambda m, a, b, i, j: m.linspace(0, 1, 7),
    "tril": lambda m, a, b, i, j: m.tril(a) + m.eye(4, 6),
    "astype": lambda m, a, b, i, j: (a * 3).astype("int32") + i.astype("float32"),
    "bools": lambda m, a, b, i, j: i.astype(bool).astype("int8"),
}


@pytest.mark.parametrize("name", EAGER)
def test_eager(name):
    want = EAGER[name](np, A, B, I, J)
    got = EAGER[name](jnp, *map(jnp.asarray, (A, B, I, J)))
    assert np.asarray(got).dtype.kind == np.asarray(want).dtype.kind
    np.testing.assert_allclose(np.asarray(got), want, rtol=2e-5, atol=2e-5)


def test_power_of_the_overview():
    assert int(jax.jit(lambda x: jnp.power(x, jnp.int32(2)))(1)) == 1
    assert int(jax.jit(lambda x: jnp.power(x, jnp.int32(2)))(-7)) == 49


def test_update_at_index():
    got = jnp.asarray(A).at[1:3, 2].set(9.0).at[0].add(1.0)
    want = A.copy()
    want[1:3, 2] = 9
    want[0] += 1
    np.testing.assert_allclose(np.asarray(got), want)


def on_both(function, *arguments):
    """The same under Terrazzo and XLA's CPU."""
    got = jax.tree.map(np.asarray, jax.jit(function)(*arguments))
    with jax.default_device(jax.devices("cpu")[0]):
        want = jax.tree.map(np.asarray, jax.jit(function)(*arguments))
    return got, want


@pytest.mark.parametrize("function", [
    lambda: jax.random.bits(jax.random.key(7), (33,)),
    lambda: jax.random.randint(jax.random.key(7), (33,), -5, 17),
    lambda: jax.random.permutation(jax.random.key(7), 33),
    lambda: jax.random.split(jax.random.PRNGKey(3), 5),
    lambda: jax.random.bernoulli(jax.random.key(1), 0.3, (64,)),
], ids=["bits", "randint", "permutation", "split", "bernoulli"])
def test_random_bits(function):
    got, want = on_both(function)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("function", [
    lambda: jax.random.uniform(jax.random.key(7), (1000,)),
    lambda: jax.random.normal(jax.random.key(7), (1000,)),
    lambda: jax.random.truncated_normal(jax.random.key(7), -1, 1, (100,)),
    lambda: jax.random.exponential(jax.random.key(7), (100,)),
], ids=["uniform", "normal", "truncated", "exponential"])
def test_random_values(function):
    got, want = on_both(function)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_random_eager():
    key = jax.random.key(0)
    assert jax.random.uniform(key, (5,)).shape == (5,)
    assert abs(float(jax.random.normal(key, (10000,)).mean())) < 0.05


def loss(w, x):
    return jnp.mean(jnp.square(jax.nn.gelu(x @ w["a"]) @ w["b"] - 1))


def test_grad():
    w = {"a": A, "b": B.T.copy()}
    got, want = on_both(jax.value_and_grad(loss), w, A[:3, :4])
    jax.tree.map(lambda g, w: np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-5), got, want)


def test_vmap():
    got, want = on_both(jax.vmap(jax.grad(lambda x, y: jnp.sum(jnp.sin(x) * y) ** 2)), A, B)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_loops():
    def body(carry, x):
        carry = jnp.tanh(carry @ x)
        return carry, carry.sum()

    xs = np.stack([A[:, :4]] * 5)
    got, want = on_both(lambda c, xs: jax.lax.scan(body, c, xs), B[:, :4], xs)
    jax.tree.map(lambda g, w: np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-5), got, want)
    got, want = on_both(lambda n: jax.lax.while_loop(
        lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 2), (0, 1)), 11)
    assert got == want
    got, want = on_both(lambda i, x: jax.lax.switch(i, [jnp.sin, jnp.cos, jnp.exp], x), 2, A)
    np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("name", [
    "erf", "erfc", "erf_inv", "lgamma", "digamma", "sinh", "cosh", "asinh", "acosh", "atanh",
    "cbrt", "expm1", "log1p", "tan", "logistic", "rsqrt"])
def test_special_functions(name):
    function = getattr(jax.lax, name)
    x = np.linspace(0.05, 0.95, 37, dtype=np.float32) + (1 if name == "acosh" else 0)
    got, want = on_both(function, x)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, jnp.bfloat16])
def test_denormals_are_flushed(dtype):
    """As on XLA's CPU: zeros of their sign to arithmetic, themselves where only bits move."""
    tiny = jnp.finfo(dtype).smallest_subnormal
    x = np.array([tiny, -tiny, 5 * tiny, -5 * tiny, 0, -0.0, 1, -1], dtype)
    pairs = np.repeat(x, 8), np.tile(x, 8)
    functions = [jnp.minimum, jnp.maximum, jnp.add, lambda a, b: jnp.sign(a), lambda a, b: a < b,
                 lambda a, b: jnp.log1p(a), lambda a, b: -a, lambda a, b: jnp.abs(a)]
    ours, cpu = jax.devices("terrazzo")[0], jax.devices("cpu")[0]
    for function in functions:
        got, want = (np.asarray(jax.jit(function)(*jax.device_put(pairs, d))) for d in (ours, cpu))
        assert got.tobytes() == want.tobytes()
    # with flushing a denormal is 0 to frexp: itself times 2^0
    mantissa, exponent = jax.jit(jnp.frexp)(jax.device_put(x[:4].astype(np.float32), ours))
    assert np.asarray(exponent).tolist() == [0] * 4
    assert np.asarray(mantissa).tolist() == x[:4].astype(np.float32).tolist()
