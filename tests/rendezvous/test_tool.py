"""Rendezvous through the tool, with every core, pinned to one, and on the plain executor."""
import pathlib
import subprocess
import time

import numpy as np
import pytest

from support import BIN

HERE = pathlib.Path(__file__).resolve().parent
ROWS = np.repeat(np.array([[1], [2], [3], [9]], np.int32), 2, axis=1)
VALUE = np.arange(32, dtype=np.float32).reshape(8, 4)
CORES = pytest.mark.parametrize(
    "pin", [(), ("taskset", "-c", "0"), ("env", "TERRAZZO_EXECUTOR=plain")],
    ids=["all-cores", "one-core", "plain"])


def run(pin, folder, module, arrays, *options):
    """Exit status, error text and seconds."""
    files = []
    for number, array in enumerate(arrays):
        files.append(folder / f"in_{number}.npy")
        np.save(files[-1], array)
    start = time.monotonic()
    done = subprocess.run(
        [*pin, BIN / "terrazzo", "run", module, "--input", *files, "--output", folder, *options],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    assert done.returncode >= 0, f"died of signal {-done.returncode}\n{done.stderr}"
    return done.returncode, done.stderr, time.monotonic() - start


def looped(turns):
    """What loops.mlir computes, in numpy: halves are exact."""
    pieces = VALUE.reshape(4, 2, 2, 2).copy()  # row, line, column, element
    for row in range(4):
        for _ in range(turns[row, 0]):
            pieces[row] += 0.5 * pieces[row].sum(1, keepdims=True)
    return pieces.reshape(8, 4)


@CORES
def test_rows_may_differ(pin, tmp_path):
    code, errors, _ = run(pin, tmp_path, HERE / "loops.mlir", [ROWS, VALUE], "--devices", "8")
    assert code == 0, errors
    assert np.array_equal(np.load(tmp_path / "out_0.npy"), looped(ROWS))
    assert np.array_equal(np.load(tmp_path / "out_1.npy"), ROWS)


@CORES
def test_one_device_leaves_early(pin, tmp_path):
    turns = ROWS.copy()
    turns[2, 1] = 2  # device 5; device 4 goes on
    code, errors, seconds = run(pin, tmp_path, HERE / "loops.mlir", [turns, VALUE], "--devices",
                                "8")
    assert code == 1
    assert "device 4" in errors and "all_reduce" in errors, errors
    assert seconds < 2, seconds  # the process and all; the launch itself has a second


@CORES
def test_outside_of_all_groups_is_zero(pin, tmp_path):
    value = np.arange(16, dtype=np.float32).reshape(4, 4)
    code, errors, _ = run(pin, tmp_path, HERE / "outside.mlir", [value.reshape(16)])
    assert code == 0, errors
    want = np.zeros_like(value)
    want[[1, 3]] = (value[2] + 1) ** 4
    assert np.array_equal(np.load(tmp_path / "out_0.npy"), want.reshape(16))


@CORES
def test_a_thousand_devices_on_two_threads(pin, tmp_path):
    devices, hidden = 1024, 2048
    text = (HERE / "wide.mlir.in").read_text()
    module = tmp_path / "wide.mlir"
    module.write_text(text.replace("DEVICES", str(devices)).replace("HIDDEN", str(hidden)))
    random = np.random.default_rng(0)
    w1, b1, w2, b2, x = (random.standard_normal(shape).astype(np.float32) for shape in
                         ((16, hidden), (hidden,), (hidden, 16), (16,), (4, 16)))
    code, errors, _ = run(pin, tmp_path, module, [w1, b1, w2, b2, x], "--devices", str(devices),
                          "--threads", "2")
    assert code == 0, errors
    wide = [a.astype(np.float64) for a in (w1, b1, w2, b2, x)]
    want = np.maximum(wide[4] @ wide[0] + wide[1], 0) @ wide[2] + wide[3]
    assert np.allclose(np.load(tmp_path / "out_0.npy"), want, rtol=1e-5, atol=1e-3)
