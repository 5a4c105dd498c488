"""terrazzo run without arrays of the user's, and with those that ml_dtypes writes."""
import ml_dtypes
import numpy as np
import pytest
from support import terrazzo

PROGRAM = """
sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>},
                %i: tensor<8xi32>, %p: tensor<3xi1>)
    -> (tensor<4xf32>, tensor<8xi32>, tensor<3xi1>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %i, %p : tensor<4xf32>, tensor<8xi32>, tensor<3xi1>
}
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    return path


def drawn(program, out, *options):
    done = terrazzo("run", program, "--random-input", f"--output={out}", *options)
    assert done.returncode == 0, done.stderr
    return [np.load(out / f"out_{k}.npy") for k in range(3)]


def test_random_input(program, tmp_path):
    sums, whole, truth = drawn(program, tmp_path / "a")
    assert np.abs(sums).max() < 8 and np.ptp(sums) > 0
    assert set(whole) <= set(range(8)) and len(set(whole)) > 1 and truth.dtype == bool
    for a, b in zip(drawn(program, tmp_path / "b", "--seed", 1), (sums, whole, truth)):
        np.testing.assert_array_equal(a, b)
    assert (drawn(program, tmp_path / "c", "--seed=2")[0] != sums).any()


def test_random_input_goes_alone(program):
    done = terrazzo("run", program, "--random-input", "--input", "x.npy")
    assert done.returncode == 2 and "--input or --random-input" in done.stderr


def test_dry_run_takes_no_input(program):
    done = terrazzo("run", program, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "arguments 99, results 51, workspace" in done.stdout
    assert "16 flops" in done.stdout and "all_reduce          1          16 bytes" in done.stdout


@pytest.mark.parametrize("name, mlir", [
    ("bfloat16", "bf16"), ("float8_e4m3fn", "f8E4M3FN"), ("int4", "i4"), ("float8_e5m2", "f8E5M2")])
def test_arrays_of_ml_dtypes(tmp_path, name, mlir):
    values = np.array([1, -2, 3, -4]).astype(getattr(ml_dtypes, name))
    np.save(tmp_path / "a.npy", values)
    (tmp_path / "p.mlir").write_text(
        f"func.func @main(%a: tensor<4x{mlir}>) -> tensor<4x{mlir}> {{\n"
        f"  return %a : tensor<4x{mlir}>\n}}\n")
    done = terrazzo("run", tmp_path / "p.mlir", "--input", tmp_path / "a.npy", "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "out_0.npy").view(values.dtype), values)


def test_bytes_are_no_integers(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(4, ml_dtypes.bfloat16))
    (tmp_path / "p.mlir").write_text(
        "func.func @main(%a: tensor<4xui16>) -> tensor<4xui16> {\n"
        "  return %a : tensor<4xui16>\n}\n")
    done = terrazzo("run", tmp_path / "p.mlir", "--input", tmp_path / "a.npy")
    assert done.returncode == 1 and "expected 4 of ui16, found 4 of V16" in done.stderr


def test_op_priorities(program, tmp_path):
    (tmp_path / "first").write_text("stablehlo.nothing-of-the-kind:sideways\n")
    done = terrazzo("run", program, "--dry-run", "--op-priorities", tmp_path / "first")
    assert done.returncode == 1 and "--op-priorities:1" in done.stderr
    (tmp_path / "first").write_text("stablehlo.reduce\n")
    done = terrazzo("run", program, "--dry-run", "--op-priorities", tmp_path / "first")
    assert done.returncode == 0, done.stderr
