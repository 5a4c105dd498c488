"""Arrays as JAX users lay them out and hand them over: layouts, memories, bytes shared with NumPy
and others."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.layout import Format, Layout
from jax.sharding import NamedSharding, PartitionSpec as P, SingleDeviceSharding


def aligned(n, dtype=np.float32, shift=0):
    raw = np.zeros(n * np.dtype(dtype).itemsize + 128, np.uint8)
    start = -raw.ctypes.data % 64 + shift
    return raw[start:start + n * np.dtype(dtype).itemsize].view(dtype)


@pytest.mark.parametrize('shape', [(4, 6), (2, 3, 4), (1, 5), (0, 3)])
def test_device_put_keeps_layout_and_values(devices, shape):
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    order = tuple(range(len(shape)))[::-1]
    a = jax.device_put(x, Format(Layout(order), SingleDeviceSharding(devices[0])))
    assert a.format.layout.major_to_minor == order
    np.testing.assert_array_equal(a, x)
    np.testing.assert_array_equal(a + 1, x + 1)
    b = jax.device_put(a, devices[1])
    np.testing.assert_array_equal(b, x)


def test_layouts_of_programs(devices):
    mesh = jax.sharding.Mesh(np.array(devices[:4]).reshape(2, 2), ('x', 'y'))
    s = NamedSharding(mesh, P('x', 'y'))
    x = np.arange(16 * 128, dtype=np.float32).reshape(16, 128)
    columns = Format(Layout((1, 0)), s)

    @jax.jit
    def f(a, b):
        return a @ b.T, a * 2 + b

    a, b = jax.device_put(x, columns), jax.device_put(x, s)
    for p, q in ((a, b), (b, a), (a, a)):
        product, total = f(p, q)
        np.testing.assert_allclose(product, x @ x.T, rtol=1e-6)
        np.testing.assert_array_equal(total, x * 3)
    out = jax.jit(lambda v: v * 2, out_shardings=columns)(b)
    assert out.format.layout.major_to_minor == (1, 0)
    np.testing.assert_array_equal(out, x * 2)
    auto = jax.jit(lambda v: v.T, out_shardings=Format(Layout.AUTO)).lower(b).compile()
    assert auto.output_formats.layout.major_to_minor == (1, 0)
    np.testing.assert_array_equal(auto(b), x.T)


def test_results_are_written_as_they_are_to_lie(devices):
    """Of arrays in that order, which are read once; an order among others costs a transpose."""
    one = SingleDeviceSharding(devices[0])
    order = Format(Layout((2, 0, 1)), one)
    x, y, z = np.random.default_rng(0).normal(size=(3, 8, 16, 32)).astype(np.float32)

    def step(x, y, z):
        y = jnp.where(y > 0, 0.5 * y, y) + jnp.arange(32.) * z
        return jnp.clip(x, -1, 1) * y, y, x.sum()

    want = jax.jit(step)(x, y, z)
    for of_z in (order, Format(Layout((0, 1, 2)), one)):
        placed = [jax.device_put(v, f) for v, f in ((x, order), (y, order), (z, of_z))]
        compiled = jax.jit(step, in_shardings=(order, order, of_z),
                           out_shardings=(order, order, None)).lower(*placed).compile()
        for got, wanted in zip(compiled(*placed), want):
            np.testing.assert_allclose(got, wanted, rtol=1e-6)
        assert compiled.memory_analysis().temp_size_in_bytes < x.nbytes
        assert compiled.cost_analysis()["bytes accessed"] < 7 * x.nbytes


def test_donation_keeps_layout(devices):
    one = SingleDeviceSharding(devices[0])
    columns = Format(Layout((1, 0)), one)
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    a = jax.device_put(x, columns)
    out = jax.jit(lambda v: v + 1, out_shardings=Format(Layout((0, 1)), one), donate_argnums=0)(a)
    np.testing.assert_array_equal(out, x + 1)


def test_aligned_arrays_are_shared_with_numpy(devices):
    x = aligned(1024)
    a = jax.device_put(x, devices[0])
    assert a.unsafe_buffer_pointer() == x.ctypes.data
    assert jax.device_put(aligned(1024, shift=4), devices[0]).sum() == 0
    assert jnp.array(x, device=devices[0]).unsafe_buffer_pointer() != x.ctypes.data
    donated = jax.jit(lambda v: v + 1, donate_argnums=0)(a)
    assert donated[0] == 1 and x[0] == 0


@pytest.mark.parametrize('order', 'CF')
def test_large_arrays(devices, order):
    x = np.random.default_rng(0).normal(size=(1024, 513)).astype(np.float32, order=order)
    a = jax.device_put(x, devices[1])
    total = jax.jit(lambda v: v * 2)(a)
    np.testing.assert_array_equal(total, x * 2)
    np.testing.assert_array_equal(jax.device_put(a, devices[0]), x)


@pytest.mark.parametrize('dtype', ['float32', 'int8', 'bool', 'complex64', 'bfloat16'])
@pytest.mark.parametrize('shape', [(), (5,), (3, 4), (0, 2)])
def test_dlpack(devices, dtype, shape):
    x = np.arange(np.prod(shape)).reshape(shape).astype(jnp.dtype(dtype))
    a = jax.device_put(x, devices[0])
    back = jax.dlpack.from_dlpack(a, device=devices[0])
    assert back.dtype == a.dtype and next(iter(back.devices())) == devices[0]
    np.testing.assert_array_equal(back, x)
    if dtype != 'bfloat16':
        seen = np.from_dlpack(a)
        np.testing.assert_array_equal(seen, x)
        taken = jnp.from_dlpack(x, device=devices[1])
        assert next(iter(taken.devices())) == devices[1]
        np.testing.assert_array_equal(taken, x)


def test_dlpack_shares_and_holds_the_memory(devices):
    a = jax.device_put(np.arange(6, dtype=np.float32), devices[0]) + 1
    seen = np.from_dlpack(a)
    assert seen.ctypes.data == a.unsafe_buffer_pointer()
    a.delete()
    np.testing.assert_array_equal(seen, np.arange(6) + 1)
    raw = aligned(64)
    raw[:] = 3
    b = jax.dlpack.from_dlpack(raw, device=devices[0])
    assert b.unsafe_buffer_pointer() == raw.ctypes.data and b.sum() == 192
    with pytest.raises(ValueError, match='copy=False'):
        jax.dlpack.from_dlpack(aligned(64, shift=4), device=devices[0], copy=False)
    c = jax.dlpack.from_dlpack(raw, device=devices[0], copy=True)
    assert c.unsafe_buffer_pointer() != raw.ctypes.data
    from terrazzo_jax import exchange
    before = len(exchange.held)
    capsule = b.__dlpack__()
    assert len(exchange.held) == before + 1
    del capsule
    assert len(exchange.held) == before


def test_host_memories_are_not_the_devices(devices):
    before = devices[3].memory_stats()['bytes_in_use']
    s = SingleDeviceSharding(devices[3], memory_kind='pinned_host')
    a = jax.device_put(np.ones(1 << 16, np.float32), s)
    assert a.sharding.memory_kind == 'pinned_host'
    assert devices[3].memory_stats()['bytes_in_use'] == before
    b = jax.device_put(a, SingleDeviceSharding(devices[3]))
    b.block_until_ready()
    assert devices[3].memory_stats()['bytes_in_use'] == before + (1 << 18)


def test_placement_inside_jit(devices):
    host = SingleDeviceSharding(devices[0], memory_kind='pinned_host')
    x = jax.device_put(np.arange(8, dtype=np.float32), devices[0])
    out = jax.jit(lambda v: jax.device_put(v * 2, host))(x)
    assert out.sharding.memory_kind == 'pinned_host'
    np.testing.assert_array_equal(out, np.arange(8) * 2)
    back = jax.jit(lambda v: jax.device_put(v, SingleDeviceSharding(devices[0])) + 1)(out)
    assert back.sharding.memory_kind == 'device'
    np.testing.assert_array_equal(back, np.arange(8) * 2 + 1)
    stats = jax.jit(lambda v: v * 2, out_shardings=host).lower(x).compile().memory_analysis()
    assert stats.host_output_size_in_bytes == 32 and stats.output_size_in_bytes == 0


def test_a_server_hands_arrays_out():
    """jax.experimental.transfer, which may read raw buffers."""
    transfer = pytest.importorskip("jax.experimental.transfer")
    d = jax.devices()
    server = transfer.start_transfer_server(d[0].client, "[::]:0", ["127.0.0.1:0"],
                                            use_raw_buffers=True)
    x = jnp.arange(1000.)
    server.await_pull(1, [x])
    there = jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=SingleDeviceSharding(d[-1]))
    y, = server.connect(server.address()).pull(1, [there])
    np.testing.assert_array_equal(x, y)
    assert y.devices() == {d[-1]}


def test_results_are_free_once_they_are_dropped(devices):
    f = jax.jit(lambda v: v + 1)
    x = jax.device_put(np.zeros(1 << 20, np.float32), devices[0])
    seen = set()
    for _ in range(20):
        y = f(x).block_until_ready()
        seen.add(y.unsafe_buffer_pointer())
        del y
    assert len(seen) == 1
