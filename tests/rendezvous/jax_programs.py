"""Rendezvous through JAX on the plugin, one case a process: jax_programs.py CASE. test_jax.py runs
them with all cores and pinned to one. Each prints `ok` when what it found is right."""
import os
import sys
import threading
import time

os.environ["TERRAZZO_NUM_DEVICES"] = "8"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

jax.config.update("jax_num_cpu_devices", 8)

BOTH = P("row", "column")


def mesh_on(platform):
    devices = np.array(jax.devices(platform)[:8]).reshape(4, 2)
    return Mesh(devices, ("row", "column"), axis_types=(AxisType.Auto,) * 2)


def loop(turns, value):
    """As many turns as the device's own number says, half the row's sum added in each."""
    def turn(state):
        count, value = state
        return count + 1, value + 0.5 * lax.psum(value, "column")
    count, value = lax.while_loop(lambda state: state[0] < turns[0, 0], turn,
                                  (jnp.zeros((), jnp.int32), value))
    return value, count.reshape(1, 1)


def looping(mesh):
    return jax.jit(jax.shard_map(loop, mesh=mesh, in_specs=(BOTH, BOTH), out_specs=(BOTH, BOTH),
                                 check_vma=False))


def placed(mesh, *arrays):
    return [jax.device_put(a, NamedSharding(mesh, BOTH)) for a in arrays]


VALUE = np.arange(32, dtype=np.float32).reshape(8, 4)
ROWS = np.repeat(np.array([[1], [2], [3], [9]], np.int32), 2, axis=1)


def case_rows_differ():
    """Trip counts 1, 2, 3, 9 by row: what XLA gives."""
    results = []
    for platform in ("terrazzo", "cpu"):
        mesh = mesh_on(platform)
        results.append(jax.tree.map(np.asarray, looping(mesh)(*placed(mesh, ROWS, VALUE))))
    for ours, theirs in zip(*results):
        assert np.array_equal(ours, theirs), (ours, theirs)


def case_one_leaves():
    """Device 5 leaves early: an error within a second that names who waits where; the devices
    work on afterwards."""
    mesh = mesh_on("terrazzo")
    function = looping(mesh)
    turns = ROWS.copy()
    turns[2, 1] = 2
    jax.block_until_ready(function(*placed(mesh, ROWS, VALUE)))  # compiled, and warm
    arguments = placed(mesh, turns, VALUE)
    start = time.monotonic()
    try:
        jax.block_until_ready(function(*arguments))
    except Exception as error:  # pylint: disable=broad-except  (JAX decides which)
        seconds, text = time.monotonic() - start, str(error)
    else:
        raise AssertionError("no error")
    assert seconds < 1.0, seconds
    assert "device 4" in text and "all_reduce" in text, text
    good = function(*placed(mesh, ROWS, VALUE))
    assert np.array_equal(np.asarray(good[1]), ROWS)


def case_two_threads():
    """Two Python threads run two programs a thousand times each."""
    mesh = mesh_on("terrazzo")
    rows = jax.jit(jax.shard_map(lambda a: lax.psum(a, "row") * 0.25, mesh=mesh, in_specs=BOTH,
                                 out_specs=BOTH, check_vma=False))
    columns = jax.jit(jax.shard_map(lambda a: lax.psum(a, "column") * 0.5, mesh=mesh,
                                    in_specs=BOTH, out_specs=BOTH, check_vma=False))
    pieces = VALUE.reshape(4, 2, 2, 2)  # row, line, column, element
    over_rows = np.broadcast_to(pieces.mean(0, keepdims=True), pieces.shape).reshape(8, 4)
    over_columns = np.broadcast_to(pieces.mean(2, keepdims=True), pieces.shape).reshape(8, 4)
    wrong = []

    def work(function, want):
        (start,) = placed(mesh, VALUE)
        for _ in range(1000):
            value = function(start)
        for _ in range(10):
            value = function(value)
        if not np.allclose(np.asarray(value), want):
            wrong.append(np.asarray(value))

    threads = [threading.Thread(target=work, args=case)
               for case in ((rows, over_rows), (columns, over_columns))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(240)
        assert not thread.is_alive(), "a thread hangs"
    assert not wrong, wrong


if __name__ == "__main__":
    globals()["case_" + sys.argv[1]]()
    print("ok")
