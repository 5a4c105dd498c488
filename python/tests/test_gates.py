"""What JAX decides by a platform's name: open for ours (terrazzo_jax/gates.py)."""
import functools
import importlib
import os
import subprocess
import sys
import types
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax
from jax._src.interpreters import mlir
from jax.extend.core import Primitive
from jax.sharding import NamedSharding, PartitionSpec as P
from terrazzo_jax import gates


@pytest.fixture(autouse=True)
def started(devices):
    """Gates are opened when the platform is registered."""


def test_no_gate_is_missing():
    assert all(why for _, _, why in gates.GATES)
    assert gates.open_all() == []


def test_a_gate_that_is_not_there():
    assert not gates.open_gate("jax._src.xla_bridge:_no_such_list", gates.add)
    assert not gates.open_gate("jax._src.no_such_module:names", gates.widen)


def test_widening_reaches_inner_functions_and_takes_what_was_imported():
    def outer(platform):
        def inner():
            return platform in {"cpu", "tpu"} or platform in ["cuda", "cpu"]
        return inner(), platform in ("tpu", "rocm")

    module = type("module", (), {"outer": staticmethod(outer)})
    assert outer("terrazzo") == (False, False)
    gates.widen(module, "outer")
    assert outer("terrazzo") == (True, False) and outer("cpu") == (True, False)
    assert outer("metal") == (False, False)


def test_gates_of_modules_that_are_imported_later(tmp_path, monkeypatch):
    path = tmp_path / "comes_later.py"
    path.write_text("def choose(platform):\n    return platform in ('gpu', 'tpu')\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert [f for f in sys.meta_path if isinstance(f, gates.OnImport)]
    row = ("comes_later:choose", functools.partial(gates.widen, beside="tpu"), "a test")
    monkeypatch.setattr(gates, "LATER", (row,))
    comes_later = importlib.import_module("comes_later")
    monkeypatch.delitem(sys.modules, "comes_later")
    assert [comes_later.choose(name) for name in ("terrazzo", "tpu", "metal")] == [1, 1, 0]


def test_collectives_that_are_awaited_apart_are_done_where_they_start(devices):
    """JAX 0.12 has them; here is what its module has."""
    def lower(ctx, *args, is_async):
        return ctx.avals_out, args, is_async

    start, done = Primitive("twice_start"), Primitive("twice_done")
    module = types.SimpleNamespace(twice_start_p=start, twice_done_p=done, lowering=None)
    mlir.register_lowering(start, functools.partial(lower, is_async=True))
    mlir.register_lowering(done, functools.partial(lower, is_async=True))
    gates.start_at_once(module, "lowering")
    rules = mlir._platform_specific_lowerings["terrazzo"]
    ctx = types.SimpleNamespace(avals_out=[types.SimpleNamespace(inner_aval="inner")])
    ctx.replace = lambda **fields: types.SimpleNamespace(**fields)
    assert rules[start].rule(ctx, 1) == (["inner"], (1,), False)
    assert rules[done].rule(ctx, 1) == (1,)
    with pytest.raises(AttributeError):
        gates.start_at_once(module, "of_later_versions")
    if not hasattr(lax, "psum_scatter_start"):
        return
    mesh = jax.sharding.Mesh(devices, ("x",))
    f = jax.shard_map(
        lambda v: lax.psum_scatter_start(v, "x", scatter_dimension=1, tiled=True).done(),
        mesh=mesh, in_specs=P("x", None), out_specs=P(None, "x"))
    x = np.arange(128, dtype=np.float32).reshape(8, 16)
    assert np.array_equal(jax.jit(f)(x), x.sum(0, keepdims=True))


def test_lowerings_are_those_of_cpu_also_when_they_come_later():
    mine = mlir._platform_specific_lowerings["terrazzo"]
    primitive = Primitive("named_for_cpu")
    primitive.def_abstract_eval(lambda x: x)
    assert primitive not in mine
    mlir.register_lowering(primitive, lambda ctx, x: [x], platform="cpu")
    assert primitive in mine
    np.testing.assert_array_equal(jax.jit(primitive.bind)(jnp.arange(3)), np.arange(3))
    own = mlir.lower_fun(lambda x: x + 1, multiple_results=False)
    mlir.register_lowering(primitive, own, platform="terrazzo")
    jax.clear_caches()
    np.testing.assert_array_equal(jax.jit(primitive.bind)(jnp.arange(3)), np.arange(3) + 1)


@pytest.mark.parametrize("rules, want", [
    (dict(cpu=0, tpu=1), 0), (dict(tpu=1, default=2), 2), (dict(cpu=0, tpu=1, default=2), 0),
    (dict(cpu=0, terrazzo=3, tpu=1), 3), (dict(tpu=1, terrazzo=3), 3)])
def test_platform_dependent(rules, want):
    def run(x):
        branches = {name: lambda x, k=k: x * 0 + k for name, k in rules.items()}
        return lax.platform_dependent(x, **branches)

    assert int(run(jnp.int32(7))) == want
    assert int(jax.jit(run)(jnp.int32(7))) == want
    x = jnp.arange(3.0)
    slope = jax.grad(lambda x: lax.platform_dependent(x, cpu=jnp.sum, tpu=jnp.max))(x)
    np.testing.assert_array_equal(slope, np.ones(3))


def test_scan_passes_arrays_of_numpy_through():
    _, passed = lax.scan(lambda c, x: (c + x, x), 0., np.arange(3.0))
    assert {device.platform for device in passed.devices()} == {"terrazzo"}
    np.testing.assert_array_equal(passed, np.arange(3.0))


def test_platform_dependent_without_a_branch():
    with pytest.raises(NotImplementedError, match="not found for platform terrazzo"):
        lax.platform_dependent(jnp.int32(1), tpu=lambda x: x, cuda=lambda x: x + 1)


@pytest.mark.parametrize("platforms", [["cpu"], ["tpu", "cpu"], ["cpu", "terrazzo"]])
def test_exported_for_cpu(platforms):
    def function(x):
        return lax.platform_dependent(x, tpu=lambda x: x - 1, default=jnp.cos, cpu=jnp.sin)

    x = np.arange(4, dtype=np.float32)
    blob = export.export(jax.jit(function), platforms=platforms)(x).serialize()
    again = export.deserialize(blob)
    np.testing.assert_allclose(again.call(x), np.sin(x), rtol=1e-6)


def test_exported_for_others():
    blob = export.export(jax.jit(jnp.sin), platforms=["tpu"])(np.ones(3)).serialize()
    with pytest.raises(ValueError, match="exported for platforms.*tpu"):
        export.deserialize(blob).call(np.ones(3))


def test_default_device_by_name(devices):
    with jax.default_device("terrazzo"):
        assert jnp.ones(3).devices() == {devices[0]}


ASKS_FOR_CPU = """
import jax, jax.experimental, jax.numpy as jnp, numpy as np
x = jax.device_put(np.arange(4.), jax.devices("cpu")[1])
assert x.devices() == {jax.local_devices(backend="cpu")[1]} == {jax.devices()[1]}
with jax.default_device("cpu"):
    print(jax.jit(jnp.sum, backend="cpu")(np.arange(4)), jnp.ones(2).device)
double = lambda a: jnp.asarray(a) * 2
for callback in jax.pure_callback, jax.experimental.io_callback:
    twice = jax.jit(lambda a: callback(double, a, a))(np.arange(4.))
    assert (twice == np.arange(4.) * 2).all() and twice.devices() == {jax.devices()[0]}
jax.config.update("jax_platform_name", "cpu")
assert (jnp.arange(4) == np.arange(4)).all()
try:
    jax.devices("tpu")
except RuntimeError as error:
    print("tpu" in str(error))
"""


def test_cpu_where_it_is_left_out(devices):
    """Programs keep what is small, or comes first, on cpu's devices; XLA's where it is there."""
    environment = os.environ | {"JAX_PLATFORMS": "terrazzo", "TERRAZZO_NUM_DEVICES": "2"}
    done = subprocess.run([sys.executable, "-c", ASKS_FOR_CPU], capture_output=True, text=True,
                          timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["6", str(devices[0]), "True"]
    assert jax.devices("cpu")[0].platform == "cpu" and devices[0].platform == "terrazzo"


def test_cost_of_what_is_lowered():
    x = np.ones((8, 4), np.float32)
    cost = jax.jit(lambda x: x @ x.T).lower(x).cost_analysis()
    assert cost["flops"] == 2 * 8 * 8 * 4
    on_cpu = jax.device_put(x, jax.devices("cpu")[0])
    assert jax.jit(lambda x: x @ x.T).lower(on_cpu).cost_analysis()["flops"] == cost["flops"]


def test_as_array_without_a_copy():
    x = jnp.asarray(memoryview(b"abcd"), copy=False)
    np.testing.assert_array_equal(x, np.frombuffer(b"abcd", np.uint8))


PROGRAM = """
import sys, jax, jax.numpy as jnp, numpy as np
from jax._src import monitoring
from jax.sharding import NamedSharding, PartitionSpec as P
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
hits = []
monitoring.register_event_listener(lambda event, **_: hits.append(event.endswith("cache_hits")))
mesh = jax.make_mesh((4, 2), ("x", "y"))
x = jax.device_put(np.ones((8, 8), np.float32), NamedSharding(mesh, P("x", "y")))
hits.clear()
step = jax.jit(lambda x: jnp.tanh(x + x.sum()), donate_argnums=0)
print(np.asarray(step(x)).tobytes().hex(), x.is_deleted(), sum(hits))
"""


def test_persistent_cache(tmp_path):
    """A second process takes the first one's program from the cache; donation is kept with it."""
    environment = os.environ | {"JAX_PLATFORMS": "terrazzo", "TERRAZZO_NUM_DEVICES": "8"}
    lines = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", PROGRAM, tmp_path], capture_output=True,
                              text=True, timeout=120, env=environment)
        lines.append(done.stdout.split())
        assert done.returncode == 0, done.stderr
    assert lines[0] == [lines[1][0], "True", "0"] and lines[1][1:] == ["True", "1"]
    assert any("-cache" in file.name for file in tmp_path.iterdir())


def test_no_warnings():
    done = subprocess.run([sys.executable, "-W", "error", "-c", "import jax; jax.devices()"],
                          capture_output=True, text=True, timeout=120,
                          env=os.environ | {"JAX_PLATFORMS": "terrazzo"})
    assert done.returncode == 0 and "experimental" not in done.stderr, done.stderr


def test_debug_nans():
    with jax.debug_nans(True), pytest.raises(FloatingPointError, match="invalid value"):
        jax.jit(lambda x: jnp.log(x))(-1.0)
    with jax.debug_infs(True), pytest.raises(FloatingPointError, match="invalid value"):
        jnp.ones(3) / 0.0


def test_donation_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jax.jit(lambda x: x + 1, donate_argnums=0)(jnp.ones(3)).block_until_ready()


def test_placement_inside_of_jit(mesh):
    kinds = {kind: NamedSharding(mesh, P("x"), memory_kind=kind)
             for kind in ("device", "pinned_host")}

    @jax.jit
    def step(x):
        away = jax.device_put(x * 2, kinds["pinned_host"])
        return away, jnp.tanh(jax.device_put(away, kinds["device"])) + 1

    x = jax.device_put(np.arange(8, dtype=np.float32), kinds["device"])
    assert step.lower(x).as_text().count("annotate_device_placement") > 2
    away, back = step(x)
    assert away.sharding.memory_kind == "pinned_host" and back.sharding.memory_kind == "device"
    np.testing.assert_array_equal(away, 2 * np.arange(8))
    np.testing.assert_allclose(back, np.tanh(2 * np.arange(8)) + 1, rtol=1e-6)
