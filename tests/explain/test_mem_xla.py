"""Memory beside what XLA says of the same program, where buffers are the same: the pieces of
arguments, of results, and of what results take over. Temporaries are another compiler's.

    python tests/explain/test_mem_xla.py    a table, with temporaries (TERRAZZO_CORPUS=DIR)
"""
import json

import jax
import pytest
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib.mlir import ir

from support import CORPUS, terrazzo

PROGRAMS = sorted(CORPUS.glob("*/global.mlir"))


def xla_memory(path, devices=8):
    """XLA's statistics of a device, and how many results there are."""
    options = xla_client.CompileOptions()
    options.num_partitions = devices
    build = options.executable_build_options
    build.num_partitions, build.use_spmd_partitioning = devices, True
    build.use_shardy_partitioner = True
    cpus = jax.devices("cpu")[:devices]
    with mlir.make_ir_context():
        code = mlir.module_to_bytecode(ir.Module.parse(path.read_text()))
    made = cpus[0].client.compile_and_load(code, xla_client.DeviceList(tuple(cpus)), options)
    return made.get_compiled_memory_stats(), len(made.get_output_layouts())


def rows_of(path):
    """What is compared: ours, XLA's, which has a table of pointers for several results besides."""
    done = terrazzo("mem", path, "--json")
    assert done.returncode == 0, done.stderr
    ours, (xla, results) = json.loads(done.stdout), xla_memory(path)
    table = 8 * results if results > 1 else 0
    return {"arguments": (ours["arguments"], xla.argument_size_in_bytes),
            "results": (ours["results"] + ours["donated"], xla.output_size_in_bytes - table),
            "donated": (ours["donated"], xla.alias_size_in_bytes),
            "temporaries": (ours["workspace"], xla.temp_size_in_bytes)}


@pytest.fixture(scope="module", autouse=True)
def fixture_devices():
    jax.config.update("jax_num_cpu_devices", 8)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.parent.name)
def test_same_buffers(path):
    for what, (ours, xla) in rows_of(path).items():
        assert ours == xla or what == "temporaries", (what, ours, xla)


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    for program in PROGRAMS:
        print(f"{program.parent.name:24}",
              *(f"{what} {a} {b} " for what, (a, b) in rows_of(program).items()), flush=True)
