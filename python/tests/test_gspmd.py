"""JAX without Shardy: shardings as texts over devices, manual computations as custom calls."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

A = np.random.default_rng(0).normal(size=(8, 12)).astype(np.float32)
ROWS = A.reshape(4, 2, 12).sum(0)


@pytest.fixture
def mesh(devices):
    with _without_shardy():
        yield Mesh(np.array(devices).reshape(4, 2), ("x", "y"))


def _without_shardy():
    from jax._src import config

    return config.use_shardy_partitioner(False)


def manual(mesh, f, inputs, results, **options):
    return jax.shard_map(f, mesh=mesh, in_specs=inputs, out_specs=results, **options)


def place(mesh, *spec):
    return jax.device_put(A, NamedSharding(mesh, P(*spec)))


def check(f, x, want):
    got = jax.jit(f)(x)
    assert isinstance(got.sharding, NamedSharding)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-4, atol=1e-4)


def test_constraints(mesh):
    spec = NamedSharding(mesh, P(P.UNCONSTRAINED, "y"))
    x = place(mesh, "x", "y")
    check(lambda x: lax.with_sharding_constraint(jnp.sin(x), spec), x, np.sin(A))


def test_devices_in_another_order(mesh, devices):
    other = Mesh(np.array(devices)[[0, 2, 4, 6, 1, 3, 5, 7]].reshape(2, 4), ("u", "v"))
    check(lambda x: jnp.tanh(x) @ x.T, place(other, "u", "v"), np.tanh(A) @ A.T)


def test_manual_computations(mesh):
    x = place(mesh, "x", "y")
    check(manual(mesh, lambda b: lax.psum(b, "y"), P("x", "y"), P("x")), x, A[:, :6] + A[:, 6:])
    check(jax.grad(manual(mesh, lambda b: lax.psum((b**3).sum(), ("x", "y")), P("x", "y"), P())),
          x, 3 * A**2)
    index = manual(mesh, lambda: lax.axis_index("x") * jnp.ones((2,)), (), P("x"))
    check(lambda x: x * index()[:, None], x, A * np.repeat(np.arange(4), 2)[:, None])
    check(manual(mesh, lambda b: lax.psum(b, "x"), P("x"), P(), axis_names={"x"}), x, ROWS)


def test_manual_computation_in_a_loop(mesh):
    ring = [(i, (i + 1) % 4) for i in range(4)]
    turn = manual(mesh, lambda b: lax.ppermute(b, "x", ring), P("x", "y"), P("x", "y"))
    check(lambda x: lax.scan(lambda c, _: (turn(c), None), x, None, length=3)[0],
          place(mesh, "x", "y"), np.roll(A, 6, axis=0))
