"""What JAX exports with symbolic dimensions runs as it is: `terrazzo run` on two sizes against
XLA:CPU on the same."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

from test_run_ops import run

key = jax.random.key


def pool(x, least, add, size, padding):
    return lax.reduce_window(x, least, add, size, (1, 2), padding)


FUNCTIONS = {
    "cumsum": lambda x: jnp.cumsum(x, 0),
    "cummax": lambda x: lax.cummax(x, 0),
    "top_k": lambda x: lax.top_k(x, 3),
    "top_k of a symbolic k": lambda x: lax.top_k(x.T, x.shape[0] - 1),
    "approx_max_k": lambda x: lax.approx_max_k(x, 3),
    "uniform, threefry": lambda x: jax.random.uniform(key(0), x.shape),
    "uniform, rbg": lambda x: jax.random.uniform(key(0, impl="rbg"), x.shape),
    "randint": lambda x: jax.random.randint(key(0), x.shape, 0, 9),
    "sort": lambda x: (jnp.sort(x, 0), jnp.argsort(x, 0)),
    "median": lambda x: jnp.median(x, 0),
    "roll": lambda x: jnp.roll(x, 1, 0),
    "pad": lambda x: (jnp.pad(x, ((1, 2), (0, 0))), jnp.pad(x, ((1, 2), (0, 0)), mode="edge")),
    "index": lambda x: (x[::-1], x[::2], x[-2:], x[jnp.array([0, 3, -1])]),
    "scatter": lambda x: (x.at[1:3].set(0.0), x.at[jnp.array([0, 1, 1])].add(1.0)),
    "convolution": lambda x: lax.conv_general_dilated(
        x[None, None], jnp.ones((2, 1, 3, 3)), (2, 1), "SAME"),
    "pools": lambda x: (pool(x, -jnp.inf, lax.max, (2, 2), "SAME"),
                        pool(x, 0.0, lax.add, (3, 3), "VALID")),
    "gradient of a pool": jax.grad(lambda x: pool(x, -jnp.inf, lax.max, (2, 2), "VALID").sum()),
    "einsum": lambda x: jnp.einsum("bi,bj->ij", x, x),
    "scan": lambda x: lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(8), x),
    "fori": lambda x: lax.fori_loop(0, x.shape[0], lambda i, c: c + x[i], jnp.zeros(8)),
    "while": lambda x: lax.while_loop(lambda c: c.sum() < 100, lambda c: c * 2, x),
    "softmax": lambda x: jax.nn.softmax(x, 0),
    "arange, eye": lambda x: (jnp.arange(x.shape[0] * 2), jnp.eye(x.shape[0])),
    "reshape": lambda x: (x.reshape(2, -1), x.reshape(x.shape[0] * 2, 4), x.ravel()),
    "tile, repeat": lambda x: (jnp.tile(x, (2, 1)), jnp.repeat(x, 2, 0)),
    "erf": jax.scipy.special.erf,
    "rfft": lambda x: jnp.fft.rfft(x, axis=1),
    "solve": lambda x: jnp.linalg.solve(jnp.eye(8) + x[:, :, None] * 0.1, x[:, :, None]),
    "svd": lambda x: jnp.linalg.svd(x[:, None, :] * jnp.ones((3, 1)), compute_uv=False),
    "attention": lambda x: jax.nn.dot_product_attention(*3 * [x[None, :, None, :]]),
    "gradient": jax.grad(lambda x: jnp.tanh(x @ x.T).sum()),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_symbolic(tmp_path, name):
    function = jax.jit(FUNCTIONS[name])
    with jax.default_device(jax.devices("cpu")[0]):
        rows = export.symbolic_shape("b, 8", constraints=["b >= 4"])
        module = export.export(function, platforms=["cpu"], disabled_checks=[
            export.DisabledSafetyCheck.custom_call("ApproxTopK")])(
                jax.ShapeDtypeStruct(rows, jnp.float32)).mlir_module()
        for n in (4, 7):
            x = np.random.default_rng(n).random((n, 8), "float32")
            want = [np.asarray(v) for v in jax.tree.leaves(function(x))]
            got = run(tmp_path, module, x)
            assert len(got) == len(want)
            for g, w in zip(got, want):
                np.testing.assert_allclose(g, w, rtol=1e-5, atol=1e-5)
