"""Transforms, factors and solves: `terrazzo run` on one device and on four, against NumPy."""
import numpy as np
import pytest

from test_run_ops import on, run

MLIR = {"float16": "f16", "float32": "f32", "float64": "f64", "complex64": "complex<f32>",
        "complex128": "complex<f64>"}


def tensor(shape, name):
    return "tensor<" + "".join(f"{n}x" for n in shape) + MLIR[name] + ">"


def numbers(random, shape, name):
    x = random.standard_normal(shape)
    if name.startswith("complex"):
        x = x + 1j * random.standard_normal(shape)
    return x.astype(name)


def roundoff(name):
    return np.finfo(name).eps


def wide(x):
    return x.astype("complex128" if np.iscomplexobj(x) else "float64")


def replace(module, **words):
    for old, new in words.items():
        module = module.replace(old, str(new).lower() if isinstance(new, bool) else str(new))
    return module


# ---- fft ----

FFT = """func.func @main(%x: XTYPE {s}) -> YTYPE {{
  %0 = stablehlo.fft %x, type = HOW, length = SIZES : (XTYPE) -> YTYPE
  return %0 : YTYPE
}}
"""
FFT_OF = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn, "IRFFT": np.fft.irfftn}


def check_fft(tmp_path, kind, wide_type, shape, dims, sharding, devices):
    random = np.random.default_rng(len(shape) + shape[-1])
    length = list(shape[len(shape) - dims:])
    half = [*shape[:-1], shape[-1] // 2 + 1]
    name = ("float64" if wide_type else "float32") if kind == "RFFT" else (
        "complex128" if wide_type else "complex64")
    x = numbers(random, half if kind == "IRFFT" else shape, name)
    axes = list(range(len(shape) - dims, len(shape)))
    # what a line of real numbers cannot have had is not looked at
    want = FFT_OF[kind](wide(x), s=length, axes=axes)
    out_name = {"RFFT": "complex128" if wide_type else "complex64",
                "IRFFT": "float64" if wide_type else "float32"}.get(kind, name)
    module = replace(FFT, XTYPE=tensor(x.shape, name), YTYPE=tensor(want.shape, out_name), HOW=kind,
                     SIZES=length)
    got, = run(tmp_path, on(devices, module, s=sharding), x, devices=devices)
    assert got.shape == want.shape and got.dtype == np.dtype(out_name)
    most = np.abs(want).max() if want.size else 0
    assert np.abs(got - want).max(initial=0) <= 8 * roundoff(name) * most


@pytest.mark.parametrize("wide_type", [False, True])
@pytest.mark.parametrize("kind", FFT_OF)
@pytest.mark.parametrize("shape,dims", [
    ([16], 1), ([1], 1), ([2], 1), ([3, 5], 1), ([2, 3, 97], 1), ([4, 30], 2), ([2, 6, 7, 9], 3),
    ([40, 64], 1), ([3, 101], 2), ([0, 8], 1), ([2, 1, 1024], 1), ([1009], 1), ([2, 3, 4], 3)])
def test_fft(tmp_path, kind, shape, dims, wide_type):
    check_fft(tmp_path, kind, wide_type, shape, dims, "", 1)


@pytest.mark.parametrize("kind", FFT_OF)
@pytest.mark.parametrize("sharding", ['[{"x"}, {"y"}, {}]', '[{}, {"x"}, {"y"}]'])
@pytest.mark.parametrize("dims", [1, 2])
def test_fft_sharded(tmp_path, kind, sharding, dims):
    check_fft(tmp_path, kind, False, [4, 6, 16], dims, sharding, 4)


# ---- cholesky ----

CHOLESKY = """func.func @main(%x: TYPE {s}) -> TYPE {{
  %0 = stablehlo.cholesky %x, lower = LOWER : TYPE
  return %0 : TYPE
}}
"""


def positive(random, shape, name):
    x = wide(numbers(random, shape, "float32" if name == "float16" else name))
    n = shape[-1]
    return (x @ x.conj().swapaxes(-1, -2) / max(n, 1) + np.eye(n)).astype(name)


@pytest.mark.parametrize("name", MLIR)
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("shape,sharding", [
    ([1, 1], ""), ([3, 3], ""), ([2, 0, 5, 5], ""), ([0, 0], ""), ([2, 3, 33, 33], ""),
    ([100, 100], ""), ([4, 6, 6], '[{"x", "y"}, {}, {}]'), ([2, 4, 4], '[{"x"}, {}, {"y"}]')])
def test_cholesky(tmp_path, name, lower, shape, sharding):
    devices = 4 if sharding else 1
    x = positive(np.random.default_rng(shape[-1]), shape, name)
    if x.shape[0] == 2 and x.ndim > 2 and x.size:
        x[-1, ..., -1, -1] = -1  # not positive definite: no number of that matrix is one
    other = np.triu(np.ones(shape, bool), 1) if lower else np.tril(np.ones(shape, bool), -1)
    given = np.where(other, np.array(77, name), x)  # is not read
    module = replace(CHOLESKY, TYPE=tensor(shape, name), LOWER=lower)
    got, = run(tmp_path, on(devices, module, s=sharding), given, devices=devices)
    assert got.dtype == x.dtype and got.shape == x.shape
    if x.shape[0] == 2 and x.ndim > 2 and x.size:
        assert np.isnan(got[-1].reshape(-1, *shape[-2:])[-1].real).all()
        got, x, other = got[:-1], x[:-1], other[:-1]
    if x.size:
        assert (got[other] == 0).all()
        back = wide(got)
        back = back @ back.conj().swapaxes(-1, -2) if lower else back.conj().swapaxes(-1, -2) @ back
        assert np.abs(back - wide(x)).max() <= 4 * roundoff(name) * np.abs(x).max()


# ---- triangular_solve ----

SOLVE = """func.func @main(%a: ATYPE {a}, %b: BTYPE {b}) -> BTYPE {{
  %0 = "stablehlo.triangular_solve"(%a, %b) <{{left_side = LEFT, lower = LOWER,
      unit_diagonal = UNIT, transpose_a = #stablehlo<transpose HOW>}}> : (ATYPE, BTYPE) -> BTYPE
  return %0 : BTYPE
}}
"""


@pytest.mark.parametrize("name", MLIR)
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("how", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
@pytest.mark.parametrize("lower,unit,rows,columns,devices", [
    (True, False, 5, 3, 1), (False, False, 5, 3, 4), (True, True, 33, 40, 1),
    (False, True, 1, 2, 4), (True, False, 0, 2, 1), (False, False, 70, 70, 1)])
def test_triangular_solve(tmp_path, name, left, how, lower, unit, rows, columns, devices):
    random = np.random.default_rng(rows)
    order = rows if left else columns
    a = wide(numbers(random, [4, order, order], name)) / max(order, 1) + 2 * np.eye(order)
    a = a.astype(name)
    b = numbers(random, [4, rows, columns], name)
    module = replace(SOLVE, ATYPE=tensor(a.shape, name), BTYPE=tensor(b.shape, name), LEFT=left,
                     LOWER=lower, UNIT=unit, HOW=how)
    got, = run(tmp_path, on(devices, module, a='[{"x"}, {}, {"y"}]', b='[{"x"}, {}, {}]'), a, b,
               devices=devices)
    used = np.tril(wide(a)) if lower else np.triu(wide(a))
    if unit:
        used[..., range(order), range(order)] = 1
    used = {"NO_TRANSPOSE": used, "TRANSPOSE": used.swapaxes(-1, -2),
            "ADJOINT": used.conj().swapaxes(-1, -2)}[how]
    back = used @ wide(got) if left else wide(got) @ used
    assert got.dtype == b.dtype and got.shape == b.shape
    assert np.abs(back - wide(b)).max(initial=0) <= 16 * roundoff(name) * np.abs(b).max(initial=1)
