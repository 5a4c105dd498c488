"""The corpus through the tool: shardings as Shardy's, outputs as XLA's."""
import os
import subprocess
import sys

import numpy as np
import pytest

from compare import difference, sharding_differences
from programs import HERE, NAMES, array, facts
from support import terrazzo

# Whose shapes depend on the mesh: a manual computation is written for one.
MANUAL = ("smap_collectives",)


@pytest.mark.parametrize("name", NAMES)
def test_propagates_as_shardy(name):
    done = terrazzo("opt", "-sdy-aggressive-propagate", HERE / name / "imported.mlir")
    assert done.returncode == 0, done.stderr
    want = (HERE / name / "propagated.aggressive.mlir").read_text()
    assert not sharding_differences(done.stdout, want)


def run(name, folder, *options, form="global.mlir", **environment):
    meta = facts(name)
    arguments = ["run", HERE / name / form, *options]
    for entry in meta["inputs"]:
        arguments += ["--input", HERE / name / entry["file"]]
    done = terrazzo(*arguments, "--output", folder, env=os.environ | environment)
    assert done.returncode == 0, done.stderr
    for entry in meta["outputs"]:
        got = np.load(folder / entry["file"])
        problem = difference(entry, array(name, entry["file"]), got)
        assert problem is None, f"{entry['file']}: {problem}"


@pytest.mark.parametrize("form", ["global.mlir", "global.mlirbc"])
@pytest.mark.parametrize("name", NAMES)
def test_runs_on_eight_devices(name, form, tmp_path):
    run(name, tmp_path, "--devices", 8, form=form)


def smaller(mesh, devices):
    """The mesh's axes with sizes that multiply to `devices`: the longest ones shrink first."""
    sizes = dict(mesh)
    while np.prod(list(sizes.values())) > devices:
        longest = max(sizes, key=sizes.get)
        sizes[longest] //= 2
    return ",".join(f"{axis}={size}" for axis, size in sizes.items())


@pytest.mark.parametrize("devices", [1, 2, 4])
@pytest.mark.parametrize("name", [name for name in NAMES if name not in MANUAL])
def test_same_outputs_on_another_mesh(name, devices, tmp_path):
    mesh = smaller(facts(name)["mesh"], devices)
    run(name, tmp_path, "--devices", devices, "--mesh", f"mesh={mesh}")


@pytest.mark.parametrize("name", MANUAL)
def test_mesh_of_a_manual_computation_stays(name, tmp_path):
    done = terrazzo("run", HERE / name / "global.mlir", "--mesh", "mesh=x=2,y=2", "--devices", 4,
                    "--input", HERE / name / "in_0.npy", "--output", tmp_path)
    assert done.returncode != 0
    assert "error:" in done.stderr and "mesh" in done.stderr


@pytest.mark.parametrize("name", ["mlp_dp", "xf_train_adam", "attn_heads", "scan_fsdp"])
def test_without_onednn(name, tmp_path):
    """The portable matrix product is as good."""
    run(name, tmp_path, "--devices", 8, TERRAZZO_ONEDNN="0")


@pytest.mark.parametrize("kernels", ["base", "v3", "v4"])
@pytest.mark.parametrize("name", ["elementwise_zoo", "xf_train_adam", "attn_heads"])
def test_with_the_kernels_of_other_processors(name, kernels, tmp_path):
    """What this processor does not have is the next best that it has."""
    run(name, tmp_path, "--devices", 8, TERRAZZO_ONEDNN="0", TERRAZZO_KERNELS=kernels)


@pytest.mark.parametrize("name", ["xf_train_adam", "smap_collectives"])
def test_same_bits_on_any_number_of_threads(name, tmp_path):
    for threads in (1, 2, 5):
        run(name, tmp_path / str(threads), "--devices", 8, "--threads", threads)
    for entry in facts(name)["outputs"]:
        bits = [(tmp_path / str(threads) / entry["file"]).read_bytes() for threads in (1, 2, 5)]
        assert bits[0] == bits[1] == bits[2], entry["file"]


@pytest.mark.native
def test_same_bits_with_any_workers():
    done = subprocess.run([sys.executable, HERE / "bits.py", "--runs", "4"], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stdout + done.stderr
