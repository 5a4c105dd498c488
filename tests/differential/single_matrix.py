"""Random transforms, factors and triangular systems, for single.py. Only XLA:CPU has them; elements
agree by the size of the largest one, which is what rounding depends on."""

import numpy as np

from single_values import COMPLEX, DTYPES, Case, is_complex, tensor

LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 25, 31, 32, 37, 64, 100, 101, 128,
           210]
KINDS = ["FFT", "IFFT", "RFFT", "IRFFT"]
SOLVED = ["f32", "f64", *COMPLEX, "f32", "f64", "f16", "bf16"]


def fft(d, turn):
    kind, wide = KINDS[turn % 4], turn // 4 % 2
    count = d.pick(1, 1, 1, 2, 2, 3)
    while True:
        d.again()
        length = [d.pick(*LENGTHS) for _ in range(count)]
        lines = d.dims(0, 2, 20)
        if np.prod(length) * np.prod(lines) <= 20000:
            break
    full, half = lines + length, lines + length[:-1] + [length[-1] // 2 + 1]
    number, real = ("complex<f64>", "f64") if wide else ("complex<f32>", "f32")
    t, shape = {"RFFT": (real, full), "IRFFT": (number, half)}.get(kind, (number, full))
    out, to = {"RFFT": (number, half), "IRFFT": (real, full)}.get(kind, (number, full))
    x = d.values(t, shape, d.pick("small", "unit"))
    body = (f"%0 = stablehlo.fft %a0, type = {kind}, length = {length} : "
            f"({tensor(t, shape)}) -> {tensor(out, to)}")
    return Case("stablehlo.fft", [(t, x)], body, ["%0"], [(out, to)], ("largest", 40),
                {"transform"}, interpreter=False, constants=(0,))


def batch_and_order(d):
    order = d.pick(1, 2, 3, 5, 8, 20, 40, 70)
    return d.dims(0, 2, 3) if order <= 8 else [], order


def cholesky(d, turn):
    t = SOLVED[turn % len(SOLVED)]
    batch, n = batch_and_order(d)
    x = d.values(t, [*batch, n, n], "unit").astype(np.complex128 if is_complex(t) else np.float64)
    x = x @ x.conj().swapaxes(-1, -2) / n + np.eye(n)
    features = {"factor"}
    if d.chance(0.1) and x.size:
        features.add("not positive definite")
        i = d.int(0, n - 1)
        x[..., i, i] = d.pick(-1, -0.5, np.nan)  # where a pivot is 0 XLA leaves some numbers
    lower = d.chance(0.5)
    body = f"%0 = stablehlo.cholesky %a0, lower = {str(lower).lower()} : {tensor(t, x.shape)}"
    return Case("stablehlo.cholesky", [(t, x.astype(DTYPES[t]))], body, ["%0"],
                [(t, list(x.shape))], ("largest", 8 + 4 * n), features, interpreter=False,
                constants=(0,))


def triangular_solve(d, turn):
    t = SOLVED[turn % len(SOLVED)]
    batch, n = batch_and_order(d)
    left, lower, unit = (d.chance(0.5) for _ in range(3))
    how = d.pick("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
    columns = d.pick(1, 2, 7, 33)
    kind = np.complex128 if is_complex(t) else np.float64
    a = (d.values(t, [*batch, n, n], "unit").astype(kind) / n + 2 * np.eye(n)).astype(DTYPES[t])
    shape = [*batch, n, columns] if left else [*batch, columns, n]
    b = d.values(t, shape, d.pick("small", "unit"))
    flags = ", ".join(f"{name} = {str(value).lower()}" for name, value in
                      {"left_side": left, "lower": lower, "unit_diagonal": unit}.items())
    body = (f'%0 = "stablehlo.triangular_solve"(%a0, %a1) <{{{flags}, '
            f"transpose_a = #stablehlo<transpose {how}>}}> : "
            f"({tensor(t, a.shape)}, {tensor(t, shape)}) -> {tensor(t, shape)}")
    return Case("stablehlo.triangular_solve", [(t, a), (t, b)], body, ["%0"], [(t, shape)],
                ("largest", 16 + 4 * n), {"solve"}, interpreter=False, constants=(0, 1))


def names():
    return {"stablehlo.fft", "stablehlo.cholesky", "stablehlo.triangular_solve"}
