"""jax.experimental.custom_partitioning, and what tells how arrays inside a program are sharded."""
import contextlib
import io

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import core
from jax._src.interpreters import mlir
from jax.experimental.custom_partitioning import custom_partitioning
from jax.extend.core import Primitive
from jax.sharding import NamedSharding, PartitionSpec as P


@pytest.fixture
def mesh(devices):
    auto = (jax.sharding.AxisType.Auto,) * 2
    return jax.make_mesh((4, 2), ("x", "y"), axis_types=auto, devices=devices)


def put(mesh, shape, *spec):
    values = np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)
    return jax.device_put(values, NamedSharding(mesh, P(*spec)))


def named(mesh, *spec):
    return NamedSharding(mesh, P(*spec))


def softmax(calls, rows_only=False):
    """Over the last dimension, cut as its argument is: with a maximum and a sum over devices."""

    @custom_partitioning
    def f(x):
        return jax.nn.softmax(x)

    def partition(mesh, args, result):
        spec = [*args[0].sharding.spec, None, None][:2]
        axis = None if rows_only else spec[1]
        calls.append((args[0].shape, tuple(spec), result.shape))

        def lower(x):
            over = (lambda v, f: f(v, axis)) if axis else (lambda v, f: v)
            top = over(x.max(-1, keepdims=True), jax.lax.pmax)
            e = jnp.exp(x - top)
            return e / over(e.sum(-1, keepdims=True), jax.lax.psum)

        kept = named(mesh, spec[0], axis)
        return mesh, lower, kept, (kept,)

    f.def_partition(partition, sharding_rule="i j -> i j")
    return f


@pytest.mark.parametrize("rows_only", [False, True])
@pytest.mark.parametrize("spec", [("x", "y"), ("y",), (None, "x"), (("x", "y"),), ()])
def test_a_body_with_collectives(mesh, spec, rows_only):
    calls = []
    f = softmax(calls, rows_only)
    x = put(mesh, (8, 16), *spec)
    got = jax.jit(f)(x)
    np.testing.assert_allclose(got, jax.nn.softmax(np.asarray(x)), rtol=2e-6)
    whole = (*spec, None, None)[:2]
    assert set(calls) == {((8, 16), whole, (8, 16))}
    assert got.sharding.is_equivalent_to(named(mesh, *spec), 2)


def test_among_other_collectives(mesh):
    """Channels of a body's collectives are not those of the program around it."""
    f = softmax([])

    def step(x, w):
        h = jnp.tanh(x @ w)
        h = jax.lax.with_sharding_constraint(h, named(mesh, "x", "y"))
        return (f(h) * jax.nn.softmax(h, axis=0)).sum(0), f(h.T * 2)

    x, w = put(mesh, (8, 16), "x", "y"), put(mesh, (16, 8), "y", None)
    h = np.tanh(np.asarray(x) @ np.asarray(w))
    wants = (jax.nn.softmax(h) * jax.nn.softmax(h, axis=0)).sum(0), jax.nn.softmax(h.T * 2)
    for g, e in zip(jax.jit(step)(x, w), wants):
        np.testing.assert_allclose(g, e, rtol=1e-5, atol=1e-6)


def test_in_a_loop_and_in_a_gradient(mesh):
    f = softmax([])
    g = jax.custom_vjp(f)
    g.defvjp(lambda x: (f(x), x), lambda x, d: (f(x) * d,))
    x = put(mesh, (8, 16), "x", "y")

    def loop(x, f):
        return jax.lax.scan(lambda c, _: (f(c) + c, c.sum()), x, None, length=3)

    def loss(x, f):
        return jnp.sum(f(x) ** 2)

    wants = loop(np.asarray(x), jax.nn.softmax)
    for got, want in zip(jax.jit(loop, static_argnums=1)(x, f), wants):
        np.testing.assert_allclose(got, want, rtol=1e-5)
    y = jax.nn.softmax(np.asarray(x))
    slope = jax.jit(jax.grad(loss), static_argnums=1)(x, g)
    np.testing.assert_allclose(slope, 2 * y * y, rtol=1e-5)


def test_several_results(mesh):
    @custom_partitioning
    def f(x, y):
        return {"sum": x + y, "top": x.max(1)}

    def partition(mesh, args, result):
        spec = args[0].sharding.spec[0]
        rows = named(mesh, spec, None)
        out = {"sum": rows, "top": named(mesh, spec)}
        return mesh, lambda x, y: {"sum": x + y, "top": x.max(1)}, out, (rows, rows)

    f.def_partition(partition, sharding_rule="i j, i j -> i j, i")
    x, y = put(mesh, (8, 6), "x", "y"), put(mesh, (8, 6))
    got = jax.jit(f)(x, y)
    np.testing.assert_allclose(got["sum"], np.asarray(x) + np.asarray(y), rtol=1e-6)
    np.testing.assert_array_equal(got["top"], np.asarray(x).max(1))


def test_what_a_partitioner_raises(mesh):
    @custom_partitioning
    def f(x):
        return x

    def partition(mesh, args, result):
        raise RuntimeError("there is no such kernel")

    f.def_partition(partition, sharding_rule="i j -> i j")
    for _ in range(2):
        with pytest.raises(Exception, match="there is no such kernel"):
            jax.jit(f)(put(mesh, (8, 8), "x"))


def test_inspect_array_sharding(mesh):
    seen = []

    @jax.jit
    def f(x, w):
        h = x @ w
        jax.debug.inspect_array_sharding(h, callback=seen.append)
        y = jax.lax.with_sharding_constraint(h.T, named(mesh, "y", "x"))
        jax.debug.inspect_array_sharding(y, callback=seen.append)
        return y.sum()

    x, w = put(mesh, (8, 16), "x"), put(mesh, (16, 4), None, "y")
    want = (np.asarray(x) @ np.asarray(w)).sum()
    for _ in range(2):
        np.testing.assert_allclose(f(x, w), want, rtol=1e-4)
    assert len(seen) == 2
    assert seen[0].is_equivalent_to(named(mesh, "x", "y"), 2)
    assert seen[1].is_equivalent_to(named(mesh, "y", "x"), 2)
    jax.debug.inspect_array_sharding(x, callback=seen.append)
    assert seen[2] == x.sharding


def test_inspect_where_devices_are_on_their_own(mesh):
    seen = []

    def body(x):
        jax.debug.inspect_array_sharding(x, callback=seen.append)
        return x * 2

    f = jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))
    x = put(mesh, (8, 16), "x", "y")
    np.testing.assert_array_equal(jax.jit(f)(x), 2 * np.asarray(x))
    assert len(seen) == 1


def test_what_an_inspector_raises(mesh):
    def f(x):
        def callback(sharding):
            raise RuntimeError("looked away")

        jax.debug.inspect_array_sharding(x * 2, callback=callback)
        return x

    with pytest.raises(Exception, match="looked away"):
        jax.jit(f)(put(mesh, (8, 8), "x"))


def test_visualize_array_sharding(mesh):
    out = io.StringIO()
    x = put(mesh, (8, 16), "x", "y")
    with contextlib.redirect_stdout(out):
        jax.debug.visualize_array_sharding(x)
        jax.jit(lambda x: jax.debug.visualize_array_sharding(x.T))(x)
    assert all(out.getvalue().count(f"TERRAZZO {i}") == 2 for i in range(8))


def test_batches_of_handlers(mesh):
    """As jaxlib registers LAPACK: the first dimensions, as many as the call says, are a batch."""
    p = Primitive("factor")
    p.multiple_results = True

    @p.def_abstract_eval
    def _(x):
        return core.ShapedArray(x.shape, x.dtype), core.ShapedArray(x.shape[:-1], x.dtype)

    def lower(ctx, x):
        said = {"mhlo.frontend_attributes": mlir.ir_attribute({"num_batch_dims": "1"})}
        return jax.ffi.ffi_lowering("lapack_sgeqrf_ffi", extra_attributes=said)(ctx, x)

    mlir.register_lowering(p, lower)
    over = NamedSharding(mesh, P("x"))
    x = jax.device_put(np.random.default_rng(0).normal(size=(8, 3, 4)).astype(np.float32), over)
    f = jax.jit(lambda x: p.bind(x)[0], out_shardings=over)
    assert "all-gather" not in f.lower(x).compile().as_text()
    np.testing.assert_allclose(f(x), jax.jit(lambda x: p.bind(x)[0])(np.asarray(x)), rtol=1e-5)


def test_unreduced_results_hold_their_parts(mesh):
    """In JAX's explicit mode: each device has its share of the sum until somebody asks for it."""
    a = np.arange(64, dtype=np.float32).reshape(8, 8)
    explicit = jax.sharding.Mesh(mesh.devices, mesh.axis_names,
                                 axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    with jax.set_mesh(explicit):
        x, w = jax.device_put(a, P("y", "x")), jax.device_put(a.T.copy(), P("x", None))
        parts = jax.jit(lambda x, w: jnp.einsum(
            "ij,jk->ik", x, w, out_sharding=P("y", None, unreduced={"x"})))(x, w)
        assert parts.sharding.spec.unreduced == {"x"}
        summed = jax.jit(lambda o: jax.reshard(o, P("y", None)))(parts)
    shards = {s.device: np.asarray(s.data) for s in parts.addressable_shards}
    for row, (first, last) in zip(explicit.devices, ((0, 2), (2, 4), (4, 6), (6, 8))):
        for y, device in enumerate(row):
            rows = a[4 * y:4 * y + 4, first:last]
            np.testing.assert_array_equal(shards[device], rows @ a.T[first:last])
    np.testing.assert_array_equal(summed, a @ a.T)
