"""The plugin's ways into JAX: a wheel, and PJRT_NAMES_AND_LIBRARY_PATHS without any package."""
import json
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest
import terrazzo_jax

ROOT = pathlib.Path(__file__).resolve().parents[2]

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P
devices = jax.devices()
mesh = jax.make_mesh((4, 2), ("x", "y"))
x = jax.device_put(np.arange(64, dtype=np.float32).reshape(8, 8), NamedSharding(mesh, P("x", "y")))
y = jax.jit(lambda x: jnp.tanh(x / 64).sum(0))(x)
np.testing.assert_allclose(np.asarray(y), np.tanh(np.asarray(x) / 64).sum(0), rtol=1e-5)
print(len(devices), devices[0].platform, float(jax.grad(lambda v: (v ** 2).sum())(jnp.ones(3))[0]))
"""
# As where the package is not installed.
ALONE = "import importlib.metadata as m\nm.entry_points = lambda **_: ()\n" + PROGRAM


def run(program, **environment):
    environment = os.environ | {"TERRAZZO_NUM_DEVICES": "8"} | environment
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    assert "Error" not in done.stderr and "Traceback" not in done.stderr
    return done.stdout.split()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    build = terrazzo_jax.library_path().parent.parent
    subprocess.run([sys.executable, ROOT / "tools" / "wheel", "--build", build, out], check=True)
    return next(out.glob("terrazzo_jax-*.whl"))


def test_what_a_wheel_holds(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "terrazzo_jax/pjrt_plugin_terrazzo.so" in names and "terrazzo_jax/gates.py" in names
    assert "terrazzo_layout/libterrazzo.so" in names
    assert not any(pathlib.PurePath(name).name.startswith("test_") for name in names)
    info = "terrazzo_jax-0.1.0.dist-info"
    assert f"{info}/licenses/LICENSE" in names
    assert wheel.stat().st_size < 6_000_000
    with zipfile.ZipFile(wheel) as archive:
        about = archive.read(f"{info}/METADATA").decode()
        assert f"Tag: {wheel.stem.split('-', 2)[2]}" in archive.read(f"{info}/WHEEL").decode()
    assert "Requires-Dist: jax>=0.7" in about and "# Terrazzo" in about


def test_the_tag_of_a_wheel(wheel, tmp_path):
    """It runs where the tag says: nothing of a later glibc is asked for."""
    tag = re.search(r"-py3-none-manylinux_2_(\d+)_", wheel.name)
    assert tag and int(tag.group(1)) <= 34
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    for library in tmp_path.rglob("*.so"):
        told = subprocess.run(["nm", "-D", library], check=True, capture_output=True, text=True)
        versions = map(int, re.findall(r"@GLIBC_2\.(\d+)", told.stdout))
        assert max(versions) <= int(tag.group(1))


def test_an_installed_wheel(wheel, tmp_path):
    """It brings its library: nothing of the source tree is needed."""
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check",
                    "--no-deps", "--target", tmp_path, wheel], check=True)
    where = "import terrazzo_jax; print(terrazzo_jax.library_path())\n"
    got = run(where + PROGRAM, PYTHONPATH=str(tmp_path), TERRAZZO_PLUGIN="",
              JAX_PLATFORMS="terrazzo")
    assert got == [str(tmp_path / "terrazzo_jax" / "pjrt_plugin_terrazzo.so"), "8", "terrazzo",
                   "2.0"]


def test_a_path_in_the_environment():
    paths = f"stone:{terrazzo_jax.library_path()}"
    assert run(ALONE, PJRT_NAMES_AND_LIBRARY_PATHS=paths, JAX_PLATFORMS="stone") == [
        "8", "terrazzo", "2.0"]


def test_a_description_in_the_environment(tmp_path):
    described = tmp_path / "terrazzo.json"
    described.write_text(json.dumps({"library_path": str(terrazzo_jax.library_path()),
                                     "create_options": {"num_devices": 8, "num_threads": 2}}))
    got = run(ALONE, PJRT_NAMES_AND_LIBRARY_PATHS=f"stone:{described}", JAX_PLATFORMS="stone",
              TERRAZZO_NUM_DEVICES="3")
    assert got == ["8", "terrazzo", "2.0"]


def test_beside_the_package():
    """The same library under two names: two clients, each with devices of its own."""
    program = "import jax\nprint(jax.devices('stone')[0] == jax.devices('terrazzo')[0])\n"
    paths = f"stone:{terrazzo_jax.library_path()}"
    assert run(program, PJRT_NAMES_AND_LIBRARY_PATHS=paths, JAX_PLATFORMS="stone,terrazzo") == [
        "False"]


def test_the_environment_names_the_package():
    """JAX registers what the environment names, after the package: its library, once."""
    where = "import terrazzo_jax; print(terrazzo_jax.library_path())\n"
    named = str(terrazzo_jax.library_path())
    got = run(where + PROGRAM, PJRT_NAMES_AND_LIBRARY_PATHS=f"terrazzo:{named}",
              JAX_PLATFORMS="terrazzo", TERRAZZO_PLUGIN="/nowhere")
    assert got == [named, "8", "terrazzo", "2.0"]
