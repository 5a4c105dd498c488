"""pip install from the source tree, into a virtual environment that has nothing but JAX."""
import os
import subprocess
import sys
import sysconfig

import pytest
from support import ROOT

PROGRAM = """
import jax, jax.numpy as jnp, terrazzo_jax, terrazzo_layout
devices = jax.devices("terrazzo")
print(len(devices), devices[0].platform, float(jax.jit(jnp.sum)(jnp.ones((4, 4)))))
print(terrazzo_jax.library_path())
print(terrazzo_layout.convert("P('x', None)", "xla", source="pspec", mesh="x=2,y=4"))
"""


def run(*command, **environment):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=850, env=os.environ | environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def installed(tmp_path, *options):
    """A Python with the package; JAX is borrowed from the one that runs the tests."""
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index",
        "--no-deps", *options, ROOT)
    site = next((tmp_path / "venv").glob("lib/python*/site-packages"))
    (site / "borrowed.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return python, site


def use(python, site):
    told = run(python, "-c", PROGRAM, TERRAZZO_NUM_DEVICES="8", PYTHONPATH="", TERRAZZO_PLUGIN="",
               TERRAZZO_LIBRARY="", JAX_PLATFORMS="terrazzo").split("\n")
    assert told[0] == "8 terrazzo 16.0"
    assert told[1] == str(site / "terrazzo_jax" / "pjrt_plugin_terrazzo.so")
    assert told[2] == "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"


def test_pip_install(tmp_path):
    """With the library that the tests have."""
    lib = os.environ.get("TERRAZZO_BUILD", str(ROOT / "build")) + "/lib"
    use(*installed(tmp_path, "--config-settings", f"lib={lib}"))


@pytest.mark.slow
def test_pip_install_compiles(tmp_path):
    use(*installed(tmp_path))
