"""The corpus through JAX on the plugin: values, and the shardings that come back."""
import os
import re

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding

from compare import difference
from programs import HERE, NAMES, array, facts, partition_spec, programs

os.environ["TERRAZZO_NUM_DEVICES"] = "8"  # read when JAX first asks for devices
jax.config.update("jax_num_cpu_devices", 8)


def mesh_on(platform, name):
    sizes = facts(name)["mesh"]
    devices = np.array(jax.devices(platform)[:8]).reshape(tuple(sizes.values()))
    return Mesh(devices, tuple(sizes), axis_types=(jax.sharding.AxisType.Auto,) * len(sizes))


def under(mesh):
    """jax.set_mesh, also of JAX before 0.7.1."""
    return (getattr(jax, "set_mesh", None) or jax.sharding.use_mesh)(mesh)


def jitted(name, mesh):
    """The function under jit, and the inputs' shardings in the structure of its arguments."""
    program = programs()[name]
    options = dict(keep_unused=True, donate_argnums=program.donated)
    if program.results is not None:
        options["out_shardings"] = jax.tree.map(
            lambda spec: NamedSharding(mesh, spec), program.results,
            is_leaf=lambda x: isinstance(x, jax.sharding.PartitionSpec))
    specs = [NamedSharding(mesh, partition_spec(entry["spec"])) for entry in facts(name)["inputs"]]
    inputs = [array(name, entry["file"]) for entry in facts(name)["inputs"]]
    pick = lambda values: jax.tree.map(lambda k: values[k], program.arguments)
    return jax.jit(program.function, **options), pick(inputs), pick(specs)


@pytest.mark.parametrize("name", NAMES)
def test_is_the_recorded_program(name):
    mesh = mesh_on("cpu", name)
    with under(mesh):
        function, inputs, shardings = jitted(name, mesh)
        shapes = jax.tree.map(
            lambda a, s: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=s), inputs, shardings)
        module = function.lower(*shapes).compiler_ir("stablehlo")
        text = module.operation.get_asm(enable_debug_info=False, large_elements_limit=None)
    want = (HERE / name / "global.mlir").read_text()
    unnamed = lambda t: re.sub(r"^module @\w+", "module", t)
    assert unnamed(text).strip() == unnamed(want).strip()


def index_ranges(sharding, shape):
    table = sharding.devices_indices_map(shape)
    first = min(device.id for device in table)
    return {str(device.id - first): [[i.start or 0, n if i.stop is None else i.stop]
                                     for i, n in zip(index, shape)]
            for device, index in table.items()}


@pytest.mark.native
@pytest.mark.parametrize("name", NAMES)
def test_runs_on_the_plugin(name):
    mesh = mesh_on("terrazzo", name)
    with under(mesh):
        function, inputs, shardings = jitted(name, mesh)
        placed = jax.tree.map(jax.device_put, inputs, shardings)
        results = jax.tree.leaves(jax.block_until_ready(function(*placed)))
    outputs = facts(name)["outputs"]
    assert len(results) == len(outputs)
    for entry, result in zip(outputs, results):
        problem = difference(entry, array(name, entry["file"]), result)
        assert problem is None, f"{entry['file']}: {problem}"
        assert index_ranges(result.sharding, result.shape) == entry["shards"], entry["file"]
        for shard in result.addressable_shards:  # every replica holds the same bits
            assert np.array_equal(np.asarray(shard.data), np.asarray(result)[shard.index],
                                  equal_nan=result.dtype.kind in "fc")
