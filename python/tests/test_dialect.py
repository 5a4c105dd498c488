"""A dialect in TERRAZZO_DIALECTS, or in the option `dialects`: JAX calls its ops by name, they are
sharded and run."""
import os
import pathlib

from test_plugin import run_python

PROGRAM = """
import jax, numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
x = np.arange(24, dtype="f").reshape(8, 3)
def scale(x):
    return jax.ffi.ffi_call("kern.scale", jax.ShapeDtypeStruct(x.shape, x.dtype))(
        x, factor=np.float32(2.5))
y = jax.jit(lambda x: scale(x) + x)(jax.device_put(x, NamedSharding(mesh, P("x"))))
print(np.array_equal(y, 3.5 * x), *y.sharding.spec)
"""


def test_an_op_of_a_dialect():
    kernel = pathlib.Path(os.environ["TERRAZZO_BIN"]).parent / "examples" / "dialect_kernel.so"
    done = run_python(PROGRAM, TERRAZZO_DIALECTS=f"{kernel}:")
    assert done.stdout.split() == ["True", "x"], done.stderr
    done = run_python(PROGRAM, TERRAZZO_DIALECTS="/nothing.so")
    assert "cannot load dialect '/nothing.so'" in done.stderr
    done = run_python(PROGRAM, TERRAZZO_DIALECTS="")
    assert "kern.scale" in done.stderr and done.returncode


def test_an_option_of_the_client():
    kernel = pathlib.Path(os.environ["TERRAZZO_BIN"]).parent / "examples" / "dialect_kernel.so"
    program = f"""
from jax._src import xla_bridge
import os
xla_bridge.register_plugin("other", priority=1000, library_path=os.environ["TERRAZZO_PLUGIN"],
                           options={{"dialects": "{kernel}", "num_devices": 4}})
import jax
jax.config.update("jax_platforms", "other")
""" + PROGRAM
    done = run_python(program, TERRAZZO_DIALECTS="/nothing.so")
    assert done.stdout.split() == ["True", "x"], done.stderr
