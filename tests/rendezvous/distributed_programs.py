"""One process of a job, as test_distributed.py starts it: PROGRAM ADDRESS RANK SIZE."""
import os
import socket
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback, multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


def mesh_of(devices, shape=(-1,), names=("x",)):
    return Mesh(np.array(devices).reshape(shape), names)


def spread(mesh, spec, values):
    """A global array of which each process brings its own shards."""
    sharding = NamedSharding(mesh, spec)
    return jax.make_array_from_callback(values.shape, sharding, lambda index: values[index])


def check(array, values):
    for shard in array.addressable_shards:
        np.testing.assert_array_equal(np.asarray(shard.data), values[shard.index])


def devices():
    assert jax.process_count() == SIZE and jax.process_index() == RANK
    local = jax.local_devices()
    assert jax.device_count() == SIZE * len(local)
    assert [d.id for d in jax.devices()] == list(range(SIZE * len(local)))
    assert all(d.process_index == RANK for d in local)
    assert [d.id for d in local] == list(range(RANK * len(local), (RANK + 1) * len(local)))
    assert jax.make_mesh((SIZE, len(local)), ("x", "y")).size == jax.device_count()
    np.testing.assert_array_equal(jnp.arange(3.0) + 1, [1, 2, 3])


def sums():
    mesh = mesh_of(jax.devices())
    whole = jax.make_array_from_process_local_data(
        NamedSharding(mesh, P("x")), np.full((len(jax.local_devices()), 5), RANK + 1, np.float32))
    assert not whole.is_fully_addressable
    add = jax.jit(jax.shard_map(lambda a: jax.lax.psum(a, "x"), mesh=mesh, in_specs=P("x"),
                                out_specs=P()))
    total = sum((r + 1) * len(jax.local_devices()) for r in range(SIZE))
    for _ in range(20):
        np.testing.assert_array_equal(np.asarray(add(whole)), np.full((1, 5), total, np.float32))
    gathered = multihost_utils.process_allgather(np.array([RANK, 7.0]))
    np.testing.assert_array_equal(gathered, [[r, 7.0] for r in range(SIZE)])


def orders():
    """Positions of a process need not be in a row, and programs may leave processes out."""
    n = jax.device_count()
    values = np.arange(n * 12, dtype=np.float32).reshape(n, 12)
    for order in (jax.devices(), jax.devices()[::-1],
                  list(np.array(jax.devices()).reshape(SIZE, -1).T.flat)):
        mesh = mesh_of(order, (2, -1), ("x", "y"))
        a = spread(mesh, P("y", "x"), values)
        check(a, values)
        double = jax.jit(lambda a: (a * 2, a.sum(0), a.sum(), a.T),
                         out_shardings=(NamedSharding(mesh, P("x", "y")),
                                        NamedSharding(mesh, P("y")), NamedSharding(mesh, P()),
                                        NamedSharding(mesh, P("x"))))
        for got, want in zip(double(a), (values * 2, values.sum(0), values.sum(), values.T)):
            check(got, want)
        roll = jax.jit(jax.shard_map(
            lambda a: (jax.lax.ppermute(a, "y", [(i, (i + 1) % (n // 2)) for i in range(n // 2)]),
                       a * 0 + jax.lax.axis_index("y")),
            mesh=mesh, in_specs=P("y", "x"), out_specs=P("y", "x")))
        rolled, index = roll(a)
        check(rolled, np.roll(values, 2, 0))
        check(index, np.arange(n, dtype=np.float32)[:, None] // 2 + values * 0)
    if RANK < 2:
        pair = mesh_of([d for d in jax.devices() if d.process_index < 2])
        b = spread(pair, P("x"), values[:len(pair.devices)])
        np.testing.assert_array_equal(np.asarray(jnp.sum(b)), values[:len(pair.devices)].sum())
    first = NamedSharding(mesh_of(jax.local_devices(process_index=0)), P())
    made = jax.jit(lambda: jnp.arange(4.0), out_shardings=first)()  # nothing to do in the others
    assert len(made.addressable_shards) == (len(jax.local_devices()) if RANK == 0 else 0)
    alone = jax.device_put(values, NamedSharding(mesh_of(jax.local_devices(), (-1,)), P("x")))
    np.testing.assert_array_equal(np.asarray(alone + 1), values + 1)


def transfers():
    """device_put from one process's devices to another's."""
    n = len(jax.local_devices())
    values = np.arange(n * 6, dtype=np.float32).reshape(n, 6)
    here, there = (NamedSharding(mesh_of(jax.local_devices(process_index=r)), P("x"))
                   for r in (0, SIZE - 1))
    x = jax.make_array_from_callback(values.shape, here, lambda index: values[index],
                                     dtype=np.float32)
    y = jax.device_put(x, there)
    check(y, values)
    assert len(y.addressable_shards) == (n if RANK == SIZE - 1 else 0)
    z = jax.device_put(y, here)
    check(z, values)


def over_jax_sockets():
    """The same by JAX's own sockets, a port for each process."""
    jax.config.update("jax_force_dcn_cross_host_transfers", True)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    jax.config.update("jax_cross_host_transfer_socket_address", f"127.0.0.1:{port}")
    transfers()


def errors():
    """A program that fails in one process fails in all."""
    mesh = mesh_of(jax.devices())

    def body(a):
        def fail(a):
            if RANK == 0:
                raise ValueError("of the first")
            return a
        return jax.lax.psum(jax.pure_callback(fail, a, a), "x")

    a = spread(mesh, P("x"), np.ones((jax.device_count(), 3), np.float32))
    try:
        jax.block_until_ready(jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("x"),
                                                    out_specs=P()))(a))
    except Exception as error:
        assert "of the first" in str(error), error
    else:
        raise AssertionError("no error")


def callbacks():
    """The whole array goes to a function of the first process; JAX calls it with XLA's cpu as the
    default, which the others have no reason to start."""
    seen = []

    def times_five(x):
        seen.append(np.asarray(x))
        return x * np.int32(5)

    sharding = NamedSharding(mesh_of(jax.devices()), P("x"))
    values = np.arange(jax.device_count() * 3, dtype=np.int32).reshape(-1, 3)
    called = jax.jit(lambda x: io_callback(times_five, x, x), out_shardings=sharding)
    check(called(spread(sharding.mesh, P("x"), values)), values * 5)
    jax.effects_barrier()
    np.testing.assert_array_equal(seen, [values] * (RANK == 0))


def programs():
    for program in devices, sums, orders, transfers, callbacks, errors:
        program()


def endless():
    mesh = mesh_of(jax.devices())
    a = spread(mesh, P("x"), np.ones((jax.device_count(), 3), np.float32))
    step = jax.jit(jax.shard_map(lambda a: jax.lax.psum(a, "x") * 0 + a, mesh=mesh,
                                 in_specs=P("x"), out_specs=P("x")))
    jax.block_until_ready(step(a))
    print("begun", flush=True)
    try:
        while True:
            a = jax.block_until_ready(step(a))
    except Exception as error:
        print(str(error).replace("\n", " "), flush=True)
    os._exit(1)  # JAX would wait for the dead one


if __name__ == "__main__":
    program, address, RANK, SIZE = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    jax.config.update("jax_platforms", "terrazzo")
    jax.distributed.initialize(address, num_processes=SIZE, process_id=RANK)
    globals()[program]()
    jax.distributed.shutdown()
    print("done", flush=True)
