"""Orbax: checkpoints of sharded arrays, restored as they were, on another mesh, and on XLA."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


def mesh_of(platform, *shape):
    return Mesh(np.array(jax.devices(platform)).reshape(shape), ("x", "y"))


def make_state(mesh):
    params = {"w": np.arange(128, dtype=np.float32).reshape(16, 8), "b": np.ones(8, np.float32),
              "h": np.linspace(-1, 1, 16).astype(jnp.bfloat16), "ids": np.arange(8, dtype=np.int8)}
    specs = {"w": P("x", "y"), "b": P("y"), "h": P("x"), "ids": P()}
    params = {k: jax.device_put(v, NamedSharding(mesh, specs[k])) for k, v in params.items()}
    moments = jax.jit(optax.adam(1e-3).init)({"w": params["w"], "b": params["b"]})
    return {"params": params, "moments": moments, "step": 7}


def target(state, mesh, spec=None):
    def abstract(x):
        if not isinstance(x, jax.Array):
            return x
        named = isinstance(x.sharding, NamedSharding) and len(x.sharding.spec) <= x.ndim
        own = P(*x.sharding.spec) if named else P()
        place = NamedSharding(mesh, own if spec is None or x.ndim != 2 else spec)
        return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=place)

    return jax.tree.map(abstract, state)


def same(got, want):
    for g, w in zip(jax.tree.leaves(got), jax.tree.leaves(want)):
        np.testing.assert_array_equal(np.asarray(g), np.asarray(w))


@pytest.mark.parametrize("platform, shape, spec", [
    ("terrazzo", (4, 2), None), ("terrazzo", (2, 4), P("y", "x")), ("terrazzo", (8, 1), P()),
    ("cpu", (4, 2), None)])
def test_restoring(tmp_path, platform, shape, spec):
    state = make_state(mesh_of("terrazzo", 4, 2))
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "one", state)
        checkpointer.wait_until_finished()
        wanted = target(state, mesh_of(platform, *shape), spec)
        got = checkpointer.restore(tmp_path / "one", wanted)
    same(got, state)
    assert {d.platform for d in got["params"]["w"].devices()} == {platform}
    assert got["params"]["w"].sharding == wanted["params"]["w"].sharding
    doubled = jax.jit(lambda x: x * 2)(got["params"]["w"])
    np.testing.assert_array_equal(np.asarray(doubled), 2 * np.asarray(state["params"]["w"]))


def test_a_manager_while_training_goes_on(tmp_path):
    """Saving is asynchronous, and the arrays that it saves are donated meanwhile."""
    mesh = mesh_of("terrazzo", 4, 2)
    place = NamedSharding(mesh, P("x", "y"))
    step = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jax.device_put(np.zeros((64, 64), np.float32), place)
    options = ocp.CheckpointManagerOptions(max_to_keep=2, save_interval_steps=2)
    with ocp.CheckpointManager(tmp_path / "all", options=options) as manager:
        for i in range(8):
            x = step(x)
            manager.save(i, args=ocp.args.StandardSave({"x": x}))
        manager.wait_until_finished()
        assert manager.all_steps() == [4, 6] and manager.latest_step() == 6
        abstract = {"x": jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=place)}
        got = manager.restore(6, args=ocp.args.StandardRestore(abstract))
    np.testing.assert_array_equal(np.asarray(got["x"]), np.full((64, 64), 7.0))
