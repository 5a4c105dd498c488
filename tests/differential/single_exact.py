"""What elementwise functions are in NumPy's long double, for single.py: where both oracles'
formulas overflow, underflow or cancel, only wider numbers tell who is right."""

import math

import numpy as np


def expm1(z):
    """e^z - 1, of real and complex numbers."""
    if z.dtype.kind != "c":
        return np.expm1(z)
    x, y = z.real, z.imag
    half = np.sin(y / 2)
    return np.expm1(x) * np.cos(y) - 2 * half * half + 1j * np.exp(x) * np.sin(y)


def log1p(z):
    """log(1 + z), of real and complex numbers."""
    if z.dtype.kind != "c":
        return np.log1p(z)
    x, y = z.real, z.imag
    return np.log1p(x * (2 + x) + y * y) / 2 + 1j * np.arctan2(y, 1 + x)


def polygamma(n, x):
    """Of an integer n from 1 to 20 and x from -10,000 on: the recurrence up to 30, and from there
    the asymptotic series (DLMF 5.15.5, 5.15.8). Elsewhere NaN: not known."""
    bernoulli = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6]
    value = np.full(x.shape, np.nan, x.dtype)
    for at in np.ndindex(x.shape):
        order, y = n[at], x[at]
        if order not in range(1, 21) or not y > -10000 or (y <= 0 and y == np.floor(y)):
            continue
        order = int(order)
        factorial, total = np.longdouble(math.factorial(order)), np.longdouble(0)
        while y < 30:
            total += factorial / y ** (order + 1)
            y += 1
        total += factorial / order / y ** order + factorial / 2 / y ** (order + 1)
        for k, b in enumerate(bernoulli, 1):
            ratio = math.factorial(2 * k + order - 1) / math.factorial(2 * k)
            total += np.longdouble(b) * ratio / y ** (2 * k + order)
        value[at] = total if order % 2 else -total
    return value


def cbrt(z):
    """Cube roots, of complex numbers the principal ones."""
    return np.cbrt(z) if z.dtype.kind != "c" else np.exp(np.log(z) / np.longdouble(3))


FUNCTIONS = {
    "abs": np.abs,
    "cbrt": cbrt,
    "cosh": np.cosh,
    "cosine": np.cos,
    "divide": lambda x, y: x * np.conj(y) / (y * np.conj(y)).real,
    "exponential": np.exp,
    "exponential_minus_one": expm1,
    "log": np.log,
    "log_plus_one": log1p,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "multiply": np.multiply,
    "polygamma": polygamma,
    "power": np.power,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sine": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}


def exact(case, got):
    """The results in long double, rounded; and where those are finite and known."""
    function = FUNCTIONS.get(case.op.partition(".")[2].removeprefix("broadcast_"))
    args = [v for _, v in case.args]
    if not function or any(v.dtype.kind not in "fc" for v in args + got):
        return got, [np.zeros(v.shape, bool) for v in got]
    wide = np.clongdouble if any(v.dtype.kind == "c" for v in args) else np.longdouble
    with np.errstate(all="ignore"):
        value = function(*(v.astype(wide) for v in args))
        return [value.astype(v.dtype) for v in got], [np.isfinite(value)] * len(got)
