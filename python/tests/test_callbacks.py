"""Python functions that programs call, and jaxlib's own handlers (terrazzo_jax/callbacks.py)."""
import threading

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy as np
import pytest
import scipy.linalg
from jax._src import callback, core, dispatch
from jax._src.interpreters import mlir
from jax.experimental import io_callback
from jax.experimental.buffer_callback import buffer_callback
from jax.extend.core import Primitive
from jax.sharding import NamedSharding, PartitionSpec as P


def same(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


@pytest.mark.parametrize("dtype", [np.bool_, jnp.int4, np.uint8, np.int32, np.float16,
                                   jnp.bfloat16, np.float32, np.complex64, jnp.float8_e4m3fn])
def test_types_and_shapes(dtype):
    for shape in ((), (0,), (3, 4), (2, 0, 5)):
        x = jnp.ones(shape, dtype)
        y = jax.jit(lambda x: jax.pure_callback(lambda a: np.asarray(a), same(x), x))(x)
        assert y.dtype == x.dtype and y.shape == shape
        np.testing.assert_array_equal(np.asarray(y), np.asarray(x))


def test_arguments_may_be_kept_and_not_written():
    kept = []

    def keep(a):
        kept.append(np.asarray(a))

    f = jax.jit(lambda x: (jax.debug.callback(keep, x), x + 1)[1])
    for i in range(3):
        f(jnp.full(5, i, jnp.float32))
    jax.effects_barrier()
    assert sorted(float(a[0]) for a in kept) == [0, 1, 2]
    assert all((a == a[0]).all() for a in kept)


def test_ordered_in_scan_while_and_cond():
    seen = []

    @jax.jit
    def f(n):
        def body(i):
            io_callback(lambda i: seen.append(int(i)), None, i, ordered=True)
            jax.lax.cond(i % 2 == 0, lambda: jax.debug.callback(
                lambda i: seen.append(-int(i)), i, ordered=True), lambda: None)
            return i + 1
        return jax.lax.while_loop(lambda i: i < n, body, 1)

    f(5)
    jax.effects_barrier()
    assert seen in ([1, 2, -2, 3, 4, -4], [1, -2, 2, 3, -4, 4])


def test_raising_fails_the_call_and_nothing_else():
    def bad(a):
        raise ValueError("the wrong day")

    f = jax.jit(lambda x: jax.pure_callback(bad, same(x), x))
    with pytest.raises(jax.errors.JaxRuntimeError, match="ValueError: the wrong day"):
        f(jnp.ones(3)).block_until_ready()
    dispatch.runtime_tokens.clear()  # what failed would be told again at the end
    np.testing.assert_array_equal(jax.jit(lambda x: x + 1)(jnp.ones(3)), 2)


def test_devices_that_wait_for_each_other_in_python(mesh):
    """All eight are in the callback at once, on two workers."""
    barrier = threading.Barrier(8, timeout=60)

    def meet(a):
        barrier.wait()
        return np.asarray(a)

    f = jax.jit(jax.shard_map(lambda x: jax.pure_callback(meet, same(x), x), mesh=mesh,
                              in_specs=P("x", "y"), out_specs=P("x", "y")))
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    np.testing.assert_array_equal(f(jax.device_put(x, NamedSharding(mesh, P("x", "y")))), x)


def test_one_device_calls_for_all(mesh):
    calls = []

    def double(a):
        calls.append(np.asarray(a))
        return 2 * np.asarray(a)

    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    on = jax.device_put(x, NamedSharding(mesh, P("x", "y")))
    f = jax.jit(lambda x: jax.pure_callback(double, same(x), x).T + 1)
    np.testing.assert_array_equal(f(on), 2 * x.T + 1)
    assert len(calls) == 1 and calls[0].shape == (8, 8)


def test_each_device_calls_with_its_shard(mesh):
    shapes = []
    x = jax.device_put(np.ones((8, 8), np.float32), NamedSharding(mesh, P("x", "y")))
    f = jax.jit(lambda x: jax.debug.callback(
        lambda a, b: shapes.append((a.shape, b.shape)), x, x + 1, partitioned=True))
    f(x)
    jax.effects_barrier()
    assert len(shapes) == 8 and set(shapes) == {((2, 4), (2, 4))}


def test_buffers_in_place():
    kept = []

    def add_one(ctx, out, x):
        kept.append(x)
        assert x.shape == (3,) and x.dtype == np.int32 and not x.writeable
        np.asarray(out)[...] = np.asarray(x) + 1

    x = jnp.arange(3, dtype=jnp.int32)
    np.testing.assert_array_equal(jax.jit(buffer_callback(add_one, same(x)))(x), [1, 2, 3])
    with pytest.raises(ValueError, match="has returned"):
        np.asarray(kept[0])


def test_nested_jax_in_a_callback():
    f = jax.jit(lambda x: jax.pure_callback(lambda a: jnp.sin(a) @ jnp.ones((4, 4)), same(x), x))
    np.testing.assert_allclose(f(jnp.ones((2, 4), jnp.float32)), 4 * np.sin(1), rtol=1e-6)


def test_callbacks_are_forgotten_with_their_programs():
    import gc
    from terrazzo_jax import callbacks

    gc.collect()
    before = len(callbacks.functions)
    f = jax.jit(lambda x: jax.pure_callback(lambda a: a, same(x), x))
    f(jnp.ones(3)).block_until_ready()
    assert len(callbacks.functions) == before + 1
    f.clear_cache()
    del f
    jax.clear_caches()
    gc.collect()
    assert len(callbacks.functions) <= before


def test_through_channels_of_the_host():
    """As JAX lowers callbacks for platforms that send and receive."""
    p, seen = Primitive("by_host"), []

    @p.def_abstract_eval
    def _(x):
        return core.ShapedArray(x.shape, x.dtype)

    def twice(x):
        seen.append(np.asarray(x))
        return (seen[-1] * 2,)

    def lower(ctx, x):
        aval = ctx.avals_in[0]
        shape = callback._aval_to_xla_shape(aval)
        return callback._emit_tpu_python_callback(
            ctx.module_context.get_backend(), ctx, twice, None, [x], [aval], [shape], [aval],
            [shape], returns_token=False)[0]

    mlir.register_lowering(p, lower)
    f = jax.jit(lambda x: p.bind(p.bind(x + 1)) + 1)
    for i in range(3):
        np.testing.assert_array_equal(f(jnp.arange(4.) + i), 4 * (np.arange(4.) + i + 1) + 1)
    assert len(seen) == 6


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_phases_are_scipys(dtype):
    rng = np.random.default_rng(0)
    a = (rng.standard_normal((6, 6)) + 1j * rng.standard_normal((6, 6))).astype(dtype)
    output = "complex" if dtype == np.complex64 else "real"
    for got, want in zip(jax.scipy.linalg.schur(a, output), scipy.linalg.schur(a, output)):
        np.testing.assert_allclose(got, want, atol=1e-4)
    for got, want in zip(jnp.linalg.eig(a), scipy.linalg.eig(a)):
        np.testing.assert_allclose(got, want, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_linear_algebra(dtype):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((3, 5, 5)).astype(dtype)
    w, v = jnp.linalg.eig(a)
    np.testing.assert_allclose(a @ v, w[:, None, :] * v, atol=1e-4)
    t, z = jax.scipy.linalg.schur(a[0])
    np.testing.assert_allclose(z @ t @ z.conj().T, a[0], atol=1e-4)
    h, q = jax.scipy.linalg.hessenberg(a[0], calc_q=True)
    np.testing.assert_allclose(q @ h @ q.conj().T, a[0], atol=1e-4)
    q, r, p = jax.scipy.linalg.qr(a[0], pivoting=True)
    np.testing.assert_allclose(q @ r, a[0][:, p], atol=1e-4)
    u, s, vh = jnp.linalg.svd(a)
    np.testing.assert_allclose((u * s[:, None, :]) @ vh, a, atol=1e-4)


def test_what_a_thread_keeps_stays():
    local, counts = threading.local(), []

    def count(a):
        local.calls = getattr(local, "calls", 0) + 1
        counts.append((threading.get_ident(), local.calls))

    f = jax.jit(lambda x: (jax.debug.callback(count, x), x + 1)[1])
    for _ in range(8):
        f(jnp.ones(5)).block_until_ready()
        jax.effects_barrier()
    assert len(counts) == 8
    for thread in {thread for thread, _ in counts}:
        calls = [calls for of, calls in counts if of == thread]
        assert calls == list(range(1, len(calls) + 1))
