"""terrazzo run --processes: several processes give the bits that one does, and end together."""
import os
import pathlib
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

from support import BIN, ROOT, terrazzo
from test_tool import HERE, ROWS, VALUE, looped

CORPUS = sorted(path.parent.name for path in (ROOT / "tests" / "corpus").glob("*/global.mlir"))

# Each device adds up what all have, without end.
ENDLESS = """
sdy.mesh @m = <["x"=8]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.while(%v = %a) : tensor<8xf32>
  cond {
    %true = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %true : tensor<i1>
  } do {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %n = stablehlo.subtract %v, %b : tensor<8xf32>
    stablehlo.return %n : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
"""


def results(module, folder, *options):
    done = terrazzo("run", module, "--random-input", "--output", folder, *options)
    assert done.returncode == 0, done.stderr
    return {path.name: path.read_bytes() for path in folder.glob("out_*.npy")}


@pytest.mark.parametrize("name", CORPUS)
@pytest.mark.parametrize("processes", [2, 3])
def test_same_bits(name, processes, tmp_path):
    module = ROOT / "tests" / "corpus" / name / "global.mlir"
    one = results(module, tmp_path / "one")
    assert one and results(module, tmp_path / "many", "--processes", processes) == one


@pytest.mark.skipif(not shutil.which("mpirun") or not (BIN.parent / "lib" /
                                                       "libterrazzo_mpi.so").exists(),
                    reason="there is no MPI")
@pytest.mark.parametrize("processes", [2, 3, 8])
def test_over_mpi(processes, tmp_path):
    module = ROOT / "tests" / "corpus" / "mlp_2d" / "global.mlir"
    one = results(module, tmp_path / "one")
    done = subprocess.run(["mpirun", "-n", str(processes), BIN / "terrazzo", "run", module,
                           "--random-input", "--repeat=5", "--output", tmp_path / "many"],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert {p.name: p.read_bytes() for p in (tmp_path / "many").glob("out_*.npy")} == one


@pytest.mark.parametrize("processes", [2, 3, 8])
def test_repeated_runs(processes, tmp_path):
    module = ROOT / "tests" / "corpus" / "mlp_2d" / "global.mlir"
    one = results(module, tmp_path / "one")
    assert results(module, tmp_path / "many", "--processes", processes, "--repeat", 20) == one


def rows(folder, turns, processes):
    for number, array in enumerate((turns, VALUE)):
        np.save(folder / f"in_{number}.npy", array)
    return terrazzo("run", HERE / "loops.mlir", "--devices", 8, "--processes", processes, "--input",
                    folder / "in_0.npy", folder / "in_1.npy", "--output", folder)


@pytest.mark.parametrize("processes", [2, 3, 5, 8])
def test_loops_meet(processes, tmp_path):
    done = rows(tmp_path, ROWS, processes)
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(tmp_path / "out_0.npy"), looped(ROWS))


@pytest.mark.parametrize("processes", [2, 3, 8])
def test_who_waits_for_ever_is_named(processes, tmp_path):
    turns = ROWS.copy()
    turns[2, 1] = 2  # device 5; device 4 goes on
    done = rows(tmp_path, turns, processes)
    assert done.returncode == 1
    assert "device" in done.stderr and "step" in done.stderr or "all_reduce" in done.stderr


def children(process):
    path = pathlib.Path(f"/proc/{process}/task/{process}/children")
    return [int(number) for number in path.read_text().split()]


def is_running(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")")[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("victim", [0, 1, 3])
def test_one_dies(victim, tmp_path):
    """The others end with an error that names it, and none is left."""
    (tmp_path / "endless.mlir").write_text(ENDLESS)
    first = subprocess.Popen([BIN / "terrazzo", "run", tmp_path / "endless.mlir", "--processes",
                              "4", "--random-input"], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while len(children(first.pid)) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    others = children(first.pid)
    assert len(others) == 3
    time.sleep(0.5)
    os.kill(first.pid if victim == 0 else others[victim - 1], signal.SIGKILL)
    begin = time.monotonic()
    _, errors = first.communicate(timeout=60)
    while any(map(is_running, others)) and time.monotonic() < begin + 20:
        time.sleep(0.05)
    assert time.monotonic() < begin + 10 and not any(map(is_running, others))
    assert (f"process {victim} of 4" if victim else "process 0, which started") in errors
    assert first.returncode != 0


def test_wrong_numbers(tmp_path):
    (tmp_path / "p.mlir").write_text(ENDLESS)
    done = terrazzo("run", tmp_path / "p.mlir", "--processes", 9, "--random-input")
    assert done.returncode == 1 and "found 8 devices, 9 processes" in done.stderr
    done = terrazzo("run", tmp_path / "p.mlir", "--random-input",
                    env=os.environ | {"TERRAZZO_JOB": "2/2/x"})
    assert done.returncode == 1 and "RANK/SIZE/ADDRESS" in done.stderr
    done = terrazzo("run", tmp_path / "p.mlir", "--random-input",
                    env=os.environ | {"TERRAZZO_JOB": "1/2/nothing"})
    assert done.returncode == 1 and "'nothing' is no address" in done.stderr
