"""What docs/semantics.md says of edges, one module each, by `terrazzo run`."""
import ml_dtypes
import numpy as np
import pytest

from test_run_ops import run

NAN, INF = np.nan, np.inf
MLIR = {"int4": "i4", "int8": "i8", "int32": "i32", "int64": "i64", "uint8": "ui8",
        "uint32": "ui32", "uint64": "ui64", "bool": "i1", "float16": "f16", "bfloat16": "bf16",
        "float32": "f32", "float64": "f64"}


def unary(body, x, result, shape=None):
    """body: an op from %x to %y of TYPE in, RESULT out."""
    of = f"tensor<{len(x)}x{MLIR[x.dtype.name]}>"
    to = f"tensor<{len(x) if shape is None else shape}x{MLIR[result]}>"
    return (f"func.func @main(%x: {of}) -> {to} {{\n  %y = {body} : ({of}) -> {to}\n"
            f"  return %y : {to}\n}}\n")


@pytest.mark.parametrize("result", ["int8", "int32", "int64", "uint8", "uint32", "uint64"])
@pytest.mark.parametrize("source", ["float16", "float32", "float64"])
def test_float_to_integer(tmp_path, source, result):
    x = np.array([NAN, INF, -INF, 2.7, -2.7, -0.0, 300, -300, 60000], source)
    if source != "float16":
        x = np.concatenate([x, np.array([3e9, -3e9, 1e20, -1e20], source)])
    ends = np.iinfo(result)
    want = [0 if np.isnan(v) else ends.max if v >= ends.max else ends.min if v <= ends.min
            else int(v) for v in x.astype(np.float64)]
    got, = run(tmp_path, unary("stablehlo.convert %x", x, result), x)
    assert got.dtype == result and got.tolist() == want


def test_float_to_bool(tmp_path):
    x = np.array([NAN, INF, 0.0, -0.0, 1e-45, 0.5], np.float32)
    got, = run(tmp_path, unary("stablehlo.convert %x", x, "bool"), x)
    assert got.tolist() == [True, True, False, False, True, True]


def test_conversions_round_once(tmp_path):
    """By way of f32 the first would be a tie, and go to the even 1."""
    x = np.array([1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11, 65519.99, 65520, 2.0**-25,
                  2.0**-25 * 1.01])
    got, = run(tmp_path, unary("stablehlo.convert %x", x, "float16"), x)
    assert got.tolist() == [1 + 2.0**-10, 1, 65504, INF, 0, 2.0**-24]


def test_no_excess_precision(tmp_path):
    """1 + 2^-8 is a tie in bf16: each addition gives 1 again, though all three are one step."""
    module = """func.func @main(%x: tensor<4xbf16>, %e: tensor<4xbf16>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %e : tensor<4xbf16>
  %1 = stablehlo.add %0, %e : tensor<4xbf16>
  %2 = stablehlo.add %1, %e : tensor<4xbf16>
  %3 = stablehlo.convert %2 : (tensor<4xbf16>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
"""
    one, e = (np.full(4, v, ml_dtypes.bfloat16).view("V2") for v in (1, 2.0**-8))
    got, = run(tmp_path, module, one.view(np.uint16), e.view(np.uint16))
    assert got.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("op, want", [
    ("maximum", [NAN, NAN, 0.0, 0.0, INF, 2]), ("minimum", [NAN, NAN, -0.0, -0.0, 1, -3])])
def test_larger_and_smaller(tmp_path, op, want):
    x = np.array([NAN, 1, 0.0, -0.0, INF, 2], np.float32)
    y = np.array([1, NAN, -0.0, 0.0, 1, -3], np.float32)
    module = f"""func.func @main(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {{
  %0 = stablehlo.{op} %x, %y : tensor<6xf32>
  return %0 : tensor<6xf32>
}}
"""
    got, = run(tmp_path, module, x, y)
    want = np.array(want, np.float32)
    assert np.array_equal(got, want, equal_nan=True)
    assert np.array_equal(np.signbit(got[2:]), np.signbit(want[2:]))


def sort(direction, kind):
    return f"""func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xi32>) {{
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %0:2 = "stablehlo.sort"(%x, %i) <{{dimension = 0 : i64, is_stable = true}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare {direction}, %a, %b, {kind} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }}) : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xi32>
}}
"""


def test_sort_by_total_order(tmp_path):
    x = np.array([2, NAN, 0.0, -0.0, -INF, INF, -NAN, 0.0], np.float32)
    x[6] = np.copysign(np.float32(NAN), np.float32(-1))
    _, order = run(tmp_path, sort("LT", "TOTALORDER"), x)
    assert order.tolist() == [6, 4, 3, 2, 7, 0, 5, 1]


def test_sort_is_stable_and_has_one_zero(tmp_path):
    x = np.array([1, 0.0, -0.0, 1, -1, 0.0, -0.0, 1], np.float32)
    _, order = run(tmp_path, sort("GT", "FLOAT"), x)
    assert order.tolist() == [0, 3, 7, 1, 2, 5, 6, 4]


def test_indices_are_moved_into_range(tmp_path):
    module = """func.func @main(%x: tensor<5xi32>, %i: tensor<6xi32>) -> tensor<6xi32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    indices_are_sorted = false, slice_sizes = array<i64: 1>}>
    : (tensor<5xi32>, tensor<6xi32>) -> tensor<6xi32>
  return %0 : tensor<6xi32>
}
"""
    x = np.arange(10, 15, dtype=np.int32)
    i = np.array([-2**31, -1, 0, 4, 5, 2**31 - 1], np.int32)
    got, = run(tmp_path, module, x, i)
    assert got.tolist() == [10, 10, 10, 14, 14, 14]


def test_argmax_as_jax_makes_it(tmp_path):
    """A NaN wins, and of equals the first: JAX's body says so, elementwise comparisons do it."""
    module = """func.func @main(%x: tensor<4x4xf32>) -> tensor<4xi32> {
  %i = stablehlo.iota dim = 1 : tensor<4x4xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %low), (%i init: %zero) across dimensions = [1]
    : (tensor<4x4xf32>, tensor<4x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
    %gt = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %nan = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %first = stablehlo.or %gt, %nan : tensor<i1>
    %eq = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %lt = stablehlo.compare LT, %j, %k, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %tie = stablehlo.and %eq, %lt : tensor<i1>
    %take = stablehlo.or %first, %tie : tensor<i1>
    %v = stablehlo.select %first, %a, %b : tensor<i1>, tensor<f32>
    %n = stablehlo.select %take, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %v, %n : tensor<f32>, tensor<i32>
  }
  return %0#1 : tensor<4xi32>
}
"""
    x = np.array([[1, NAN, 3, 2], [5, 7, 7, 0], [-INF] * 4, [0.0, -0.0, 0.0, -1]], np.float32)
    got, = run(tmp_path, module, x)
    assert got.tolist() == [1, 1, 0, 0]
