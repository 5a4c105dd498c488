"""What JAX asks of a plugin: devices, moving arrays, memories, donation, export, errors."""
import json
import os
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from jax.experimental import serialize_executable
from jax.sharding import NamedSharding, PartitionSpec as P


def run_python(program, **environment):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          timeout=120, env=os.environ | environment)


def test_devices(devices):
    assert [d.id for d in devices] == list(range(8))
    assert devices[0].platform == "terrazzo"
    assert devices[0].device_kind == "terrazzo-cpu"
    assert [m.kind for m in devices[3].addressable_memories()] == [
        "device", "pinned_host", "unpinned_host"]
    assert jax.default_backend() == "terrazzo"
    assert "bytes_in_use" in devices[0].memory_stats()


@pytest.mark.parametrize("environment, count", [
    ({"TERRAZZO_NUM_DEVICES": "3"}, "3"),
    ({"TERRAZZO_NUM_DEVICES": "", "XLA_FLAGS": "--xla_force_host_platform_device_count=5"}, "5"),
    ({"TERRAZZO_NUM_DEVICES": ""}, "1")])
def test_device_count(environment, count):
    done = run_python("import jax; print(jax.device_count('terrazzo'))", **environment)
    assert done.stdout.strip() == count, done.stderr


@pytest.mark.parametrize("bad", ["0", "-2", "many", "70000"])
def test_bad_device_count(bad):
    done = run_python("import jax; jax.devices()", TERRAZZO_NUM_DEVICES=bad)
    assert done.returncode == 1
    assert f"'{bad}' devices: expected a number from 1 to 65536" in done.stderr


def test_bad_thread_count():
    done = run_python("import jax; jax.devices()", TERRAZZO_NUM_THREADS="none")
    assert done.returncode == 1
    assert "TERRAZZO_NUM_THREADS: 'none' threads: expected a number from 1 to 65536" in done.stderr


def test_call_log():
    done = run_python("import jax, jax.numpy as jnp\n"
                      "print(jax.jit(lambda x: jnp.power(x, jnp.int32(2)))(1))", TERRAZZO_LOG="1")
    assert done.stdout.strip() == "1"
    for line in (r"PJRT_Plugin_Attributes\(\) ", r"PJRT_Client_Create\(\) \d+ devices ",
                 r"PJRT_Client_BufferFromHostBuffer\(client 0x\w+\) s32\[\] -> buffer 0x",
                 r"PJRT_Client_Compile\(client 0x\w+\) jit__lambda \d+ bytes for 1 devices -> ",
                 r"PJRT_LoadedExecutable_Execute\(executable 0x\w+\) jit__lambda: 1 arguments, ",
                 r"PJRT_Event_IsReady\(event 0x\w+\) [\d.]+ us"):
        assert re.search("^" + line, done.stderr, re.M), line


def test_call_log_in_a_file(tmp_path):
    path = tmp_path / "calls"
    done = run_python("import jax\njax.devices()", TERRAZZO_LOG=f"1:{path}")
    assert done.returncode == 0 and "PJRT_" not in done.stderr, done.stderr
    assert re.search(r"^PJRT_Client_Create\(\) ", path.read_text(), re.M)


def test_call_log_with_arguments(tmp_path):
    path = tmp_path / "calls"
    done = run_python("import jax, numpy as np\n"
                      "x = jax.device_put(np.ones((2, 3), np.float32))\n"
                      "print(x.sum())", TERRAZZO_LOG=f"2:{path}")
    assert done.returncode == 0 and "PJRT_" not in done.stderr, done.stderr
    text = path.read_text()
    put = r"^PJRT_Client_BufferFromHostBuffer\(.*, dims=\[2,3\], num_dims=2, "
    assert re.search(put, text, re.M)
    assert re.search(r"^PJRT_Device_GetDescription\(.*, device_description=0x\w+} ", text, re.M)


def test_log_says_what_replicates():
    """Once, with the place in the user's program."""
    done = run_python(
        "import jax, jax.numpy as jnp, numpy as np\n"
        "mesh = jax.sharding.Mesh(jax.devices(), 'x')\n"
        "s = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec('x'))\n"
        "x = jax.device_put(np.arange(8, dtype=np.float32), s)\n"
        "for k in (1, 2): jax.jit(lambda x: jax.lax.sort(x) * k)(x)\n",
        TERRAZZO_LOG="1", TERRAZZO_NUM_DEVICES="4")
    said = [line for line in done.stderr.splitlines() if "remark:" in line]
    assert len(said) == 1 and "'stablehlo.sort' op needs dimension 0" in said[0], said
    assert said[0].startswith("<string>:5:"), said


def test_call_log_nowhere():
    done = run_python("import jax; jax.devices()", TERRAZZO_LOG="/no/such/file")
    assert "TERRAZZO_LOG=/no/such/file: No such file or directory" in done.stderr


def test_dump(tmp_path):
    done = run_python(
        "import jax, jax.numpy as jnp\n"
        "print(jax.jit(lambda x: jnp.sum(x * 2))(jnp.ones(8)))",
        TERRAZZO_DUMP=str(tmp_path / "stages"))
    assert done.stdout.strip() == "16.0", done.stderr
    (folder,) = [f for f in (tmp_path / "stages").iterdir() if f.name.endswith("jit__lambda")]
    names = sorted(f.name for f in folder.iterdir())
    assert names[0] == "000-parse.mlir" and names[-1].endswith("-program.txt"), names
    assert "stablehlo.multiply" in (folder / names[0]).read_text()
    assert "program: 1 x 1 devices" in (folder / names[-1]).read_text()


def test_dump_of_one_program(tmp_path):
    """XLA's option for that: our stages, and HLO as XLA writes it, text if nothing is said."""
    def total(x):
        return jnp.sum(x * 3)

    for more, files in (({}, {"txt"}), ({"xla_dump_hlo_as_proto": True}, {"pb"}),
                        ({"xla_dump_hlo_as_proto": True, "xla_dump_hlo_as_text": "true"},
                         {"txt", "pb"})):
        here = tmp_path / f"here{len(more)}"
        options = {"xla_dump_to": str(here), **more}
        assert float(jax.jit(total, compiler_options=options)(np.ones(8, np.float32))) == 24
        written = list(here.glob("module_*.jit_total.terrazzo_after_optimizations.*"))
        assert {file.name.split(".")[-1] for file in written} == files
        assert all("multiply" in f.read_text() for f in written if f.suffix == ".txt")
    folder = here / "0000-jit_total"
    assert {"parse.mlir", "program.txt"} <= {file.name[4:] for file in folder.iterdir()}
    nowhere = jax.jit(lambda x: x + 3, compiler_options={"xla_dump_to": "/no/such/folder"})
    with pytest.raises(jax.errors.JaxRuntimeError, match="^INVALID_ARGUMENT: /no/such/folder: No"):
        nowhere(np.ones(3))


def test_dump_nowhere():
    done = run_python("import jax; jax.numpy.ones(3) + 1", TERRAZZO_DUMP="/no/such/folder")
    assert "TERRAZZO_DUMP=/no/such/folder: No such file or directory" in done.stderr


def test_trace(tmp_path):
    path = tmp_path / "trace.json"
    done = run_python(
        "import jax, jax.numpy as jnp, numpy as np\n"
        "mesh = jax.sharding.Mesh(jax.devices(), 'x')\n"
        "s = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec('x'))\n"
        "def total(x): return jnp.sum(x * 2)\n"
        "print(jax.jit(total)(jax.device_put(np.ones(8, np.float32), s)))",
        TERRAZZO_TRACE=str(path), TERRAZZO_NUM_DEVICES="4")
    assert done.stdout.strip() == "16.0", done.stderr
    events = [e for e in json.loads(path.read_text()) if e["ph"] == "X"]
    assert {e["cat"] for e in events} == {"stage", "program", "step", "collective", "wait"}
    programs = [e for e in events if e["cat"] == "program" and e["name"] == "jit_total"]
    assert sorted(e["tid"] for e in programs) == [0, 1, 2, 3]
    for e in events:
        inside = [p["ts"] <= e["ts"] and e["ts"] + e["dur"] <= p["ts"] + p["dur"] + 1
                  for p in events if p["cat"] == "program" and p["tid"] == e["tid"]]
        assert e["cat"] not in ("step", "collective") or any(inside)


@pytest.mark.parametrize("dtype", [
    "bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32", "bfloat16",
    "complex64", "int4", "uint4", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz"])
def test_round_trip(devices, dtype):
    host = np.arange(24).reshape(2, 3, 4).astype(jnp.dtype(dtype))
    there = jax.device_put(host, devices[5])
    assert there.devices() == {devices[5]}
    np.testing.assert_array_equal(np.asarray(there), host)
    np.testing.assert_array_equal(np.asarray(jax.device_put(host.T, devices[1])), host.T)


def test_empty_and_scalar(devices):
    assert np.asarray(jax.device_put(np.zeros((0, 3), np.float32), devices[2])).shape == (0, 3)
    assert float(jax.device_put(np.float32(2.5), devices[2])) == 2.5


def test_device_put_between_shardings(mesh):
    host = np.arange(64, dtype=np.float32).reshape(8, 8)
    array = jax.device_put(host, NamedSharding(mesh, P("x", "y")))
    for spec in (P("y"), P(None, ("x", "y")), P(), P(("y", "x"))):
        array = jax.device_put(array, NamedSharding(mesh, spec))
        np.testing.assert_array_equal(np.asarray(array), host)
        for shard in array.addressable_shards:
            np.testing.assert_array_equal(np.asarray(shard.data), host[shard.index])


def test_memory_kinds(devices):
    host = np.arange(6, dtype=np.float32)
    place = jax.sharding.SingleDeviceSharding(devices[1], memory_kind="pinned_host")
    array = jax.device_put(jax.device_put(host, devices[1]), place)
    assert array.sharding.memory_kind == "pinned_host"
    np.testing.assert_array_equal(np.asarray(array), host)


def test_copies_between_devices_and_deletion(devices):
    array = jax.device_put(jnp.arange(5.0), devices[3])
    other = jax.device_put(array, devices[7])
    array.delete()
    assert array.is_deleted()
    with pytest.raises(RuntimeError, match="deleted"):
        np.asarray(array)
    np.testing.assert_array_equal(np.asarray(other), np.arange(5.0))


def test_donation():
    step = jax.jit(lambda x, y: (x + y, y * 2), donate_argnums=0)
    x, y = jnp.arange(6.0), jnp.ones(6)
    before = x.unsafe_buffer_pointer()
    z, w = step(x, y)
    assert x.is_deleted() and not y.is_deleted()
    assert z.unsafe_buffer_pointer() == before
    np.testing.assert_array_equal(np.asarray(z), np.arange(6.0) + 1)
    np.testing.assert_array_equal(np.asarray(w), np.full(6, 2.0))


def test_donation_of_what_is_used_twice():
    x = jnp.arange(6.0)
    with pytest.raises(jax.errors.JaxRuntimeError, match="is donated and also argument 1"):
        jax.jit(lambda a, b: a * 2 + b[::-1], donate_argnums=0)(x, x)
    np.testing.assert_array_equal(np.asarray(x), np.arange(6.0))


def test_donation_sharded(mesh):
    place = NamedSharding(mesh, P("x", "y"))
    x = jax.device_put(np.ones((8, 8), np.float32), place)
    step = jax.jit(lambda x: x * 2 + 1, donate_argnums=0, out_shardings=place)
    for _ in range(5):
        old, x = x, step(x)
        assert old.is_deleted()
    np.testing.assert_array_equal(np.asarray(x), np.full((8, 8), 63.0))


def test_wrong_donation_warning_free_reuse():
    """A donated array whose copy to the host is still wanted keeps its value."""
    x = jnp.arange(1000.0) + 0
    copy = np.asarray(x)
    y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    np.testing.assert_array_equal(copy, np.arange(1000.0))
    np.testing.assert_array_equal(np.asarray(y), np.arange(1000.0) + 1)


def test_export_round_trip(mesh):
    place = NamedSharding(mesh, P("x", "y"))
    function = jax.jit(lambda x: jnp.sin(x) @ x.T, in_shardings=place)
    x = np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32)
    blob = export.export(function)(jax.ShapeDtypeStruct(x.shape, x.dtype)).serialize()
    again = export.deserialize(blob)
    assert again.platforms == ("terrazzo",) and again.nr_devices == 8
    got = jax.jit(again.call, in_shardings=place)(jax.device_put(x, place))
    np.testing.assert_allclose(np.asarray(got), np.sin(x) @ x.T, rtol=1e-5, atol=1e-5)


def test_ahead_of_time():
    compiled = jax.jit(lambda x, y: jnp.tanh(x) + y).lower(jnp.ones((4, 4)), 2.0).compile()
    assert compiled.memory_analysis().argument_size_in_bytes == 68
    assert compiled.cost_analysis()["bytes accessed"] > 0
    assert "tanh" in compiled.as_text()
    np.testing.assert_allclose(np.asarray(compiled(jnp.ones((4, 4)), 2.0)), np.tanh(1) + 2,
                               rtol=1e-6)


def test_serialized_executable(mesh):
    place = NamedSharding(mesh, P("x"))
    x = jax.device_put(np.arange(8, dtype=np.float32), place)
    compiled = jax.jit(lambda x: x * 2).lower(x).compile()
    again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))
    np.testing.assert_array_equal(np.asarray(again(x)), np.arange(8) * 2)


def test_unknown_operation_is_named():
    with pytest.raises(jax.errors.JaxRuntimeError, match="no_such_target.*handler"):
        jax.jit(jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct((2,), np.float32)))(
            jnp.ones(2))


def test_compiler_options():
    function = jax.jit(lambda x: x + 1).lower(1.0)
    assert float(function.compile(compiler_options={"xla_embed_ir_in_executable": True})(1.0)) == 2
    with pytest.raises(jax.errors.JaxRuntimeError, match="No such compile option: 'speed'"):
        function.compile(compiler_options={"speed": 11})


def test_many_launches_in_flight():
    step = jax.jit(lambda x: x + 1)
    x = jnp.zeros(16)
    for _ in range(1000):
        x = step(x)
    np.testing.assert_array_equal(np.asarray(x), np.full(16, 1000.0))


def test_ctrl_c_ends_waiting():
    """The step goes on, and the device is busy with it, but the prompt is back."""
    done = run_python("""
import os, signal, threading, time, jax, jax.numpy as jnp
signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts us may ignore it
long = jax.jit(lambda x: jax.lax.fori_loop(0, 10**9, lambda i, v: jnp.sin(v), x))
step, x = long.lower(jnp.ones(1000)).compile(), jnp.ones(1000)
at = []
def press():
    at.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.5, press).start()
try:
    step(x).block_until_ready()
except KeyboardInterrupt:
    print(time.monotonic() - at[0] < 30, flush=True)
os._exit(0)
""", JAX_PLATFORMS="terrazzo")
    assert done.stdout == "True\n", done.stderr


def test_a_forked_child_ends():
    """Its parent's arrays and clients are destroyed there too, and neither waits for threads."""
    done = run_python("""
import os, signal, sys, jax, jax.numpy as jnp
x = jnp.arange(10.0) * 2
x.block_until_ready()
child = os.fork()
if child == 0:
    signal.alarm(60)
    sys.exit(0)
print(os.waitpid(child, 0)[1], float(x.sum()))
""", JAX_PLATFORMS="terrazzo")
    assert done.stdout.split() == ["0", "90.0"], done.stderr


def test_compile_for_a_topology(mesh):
    from jax.experimental import topologies
    from jax.experimental.serialize_executable import deserialize_and_load, serialize

    away = topologies.get_topology_desc(platform="terrazzo", topology_name="4x2")
    assert len(away.devices) == 8
    place = NamedSharding(topologies.make_mesh(away, (4, 2), ("x", "y")), P("x", "y"))
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=place)
    compiled = jax.jit(lambda x: x @ x.T).lower(shape).compile()
    assert compiled.cost_analysis()["flops"] >= 2 * 8**3 / 8
    here = deserialize_and_load(*serialize(compiled))
    got = here(jax.device_put(x, NamedSharding(mesh, P("x", "y"))))
    np.testing.assert_allclose(np.asarray(got), x @ x.T)


def test_profiler(mesh, tmp_path):
    x = jax.device_put(np.ones((64, 64), np.float32), NamedSharding(mesh, P("x")))
    f = jax.jit(lambda x: jnp.tanh(x @ np.ones((64, 64), np.float32)).sum())
    f(x).block_until_ready()
    with jax.profiler.trace(tmp_path):
        f(x).block_until_ready()
    (trace,) = tmp_path.glob("**/*.xplane.pb")
    trace = trace.read_bytes()
    for name in ("terrazzo:7", "XLA Modules", "Collectives", "dot_general",
                 "jit(<lambda>)/dot_general", "test_plugin.py:"):
        assert name.encode() in trace, name


def test_compiled_text_has_names_and_lines(mesh):
    def named(x):
        with jax.named_scope("layer1"):
            return jnp.tanh(x)

    x = jax.device_put(np.ones((8, 8), np.float32), NamedSharding(mesh, P("x", "y")))
    text = jax.jit(named).lower(x).compile().as_text()
    assert 'op_name="jit(named)/layer1/tanh"' in text
    assert 'source_file="-"' not in text


def test_tokens_are_no_arrays():
    token = jax.lax.create_token()
    with pytest.raises(RuntimeError, match="Cannot convert a token-shape buffer"):
        token._buf._value
    f = jax.jit(lambda x, t: (x + 1, t))
    for _ in range(2):
        x, token = f(jnp.ones(3), token)
        token.block_until_ready()
    np.testing.assert_array_equal(x, np.full(3, 2))
