"""What elementwise functions are in NumPy's long double, and of formats of 8 bits and fewer in 200
bits, for single.py and rows.py: where both oracles' formulas overflow, underflow or cancel, only
wider numbers tell who is right."""

import math

import ml_dtypes
import mpmath
import numpy as np

import accuracy
from single_values import BITS, is_float


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


BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6]


def polygamma(n, x):
    """Of an integer n from 1 to 20 and x from -10,000 on: the recurrence up to 30, and from there
    the asymptotic series (DLMF 5.15.5, 5.15.8). Elsewhere NaN: not known."""
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
        for k, b in enumerate(BERNOULLI, 1):
            ratio = math.factorial(2 * k + order - 1) / math.factorial(2 * k)
            total += np.longdouble(b) * ratio / y ** (2 * k + order)
        value[at] = total if order % 2 else -total
    return value


def zeta(x, q):
    """Of x above 1 and q above 0: the first terms, and Euler's and Maclaurin's formula for all
    others. Elsewhere NaN: not known."""
    value = np.where((x > 1) & (q > 0), q ** -x, np.nan)
    for k in range(1, 30):
        value += (q + k) ** -x
    y = q + 30
    value += y ** -x * (y / (x - 1) + np.longdouble(0.5))
    rising = x  # x (x + 1) ..., of 2k - 1 numbers
    for k, b in enumerate(BERNOULLI, 1):
        value += b / math.factorial(2 * k) * rising * y ** (-x - 2 * k + 1)
        rising = rising * (x + 2 * k - 1) * (x + 2 * k)
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
    "zeta": zeta,
}


def in_200_bits(function, x):
    """Of one number; None: not known, as at a pole."""
    if math.isnan(x):
        return math.nan
    try:
        value = function(mpmath.mpf(x))
        return float(value) if mpmath.im(value) == 0 else math.nan
    except (ValueError, ZeroDivisionError, OverflowError, mpmath.libmp.NoConvergence):
        return None


def next_after(x, y, every):
    """The neighbour of x towards y among the numbers of a format, in order."""
    if math.isnan(x) or math.isnan(y) or x == y:
        return x if math.isnan(x) else y
    return every[np.searchsorted(every, x) + (1 if y > x else -1)]


INFINITE = {"is_inf": np.isinf, "is_pos_inf": np.isposinf, "is_neg_inf": np.isneginf}


def exact_small(case, got):
    """Of a format of 8 bits and fewer, from any one type to any other."""
    op, (t, first) = case.op.replace(".broadcast_", "."), case.args[0]
    name, args = op.partition(".")[2], [v.astype(np.float64).reshape(-1) for _, v in case.args]
    if name in INFINITE:
        values = INFINITE[name](args[0])
    elif name == "next_after":
        every = np.arange(2 ** BITS[t], dtype=np.uint8).view(first.dtype).astype(np.float64)
        every = np.unique(every[~np.isnan(every)])
        values = [next_after(x, y, every) for x, y in zip(*args)]
    elif op in accuracy.EXACT and len(args) == 1:
        values = [in_200_bits(accuracy.EXACT[op][0], x) for x in args[0]]
    else:
        values = [None] * args[0].size
    known = np.array([v is not None for v in values]).reshape(first.shape)
    values = np.array([math.nan if v is None else v for v in values]).reshape(first.shape)
    with np.errstate(all="ignore"):
        return [values.astype(v.dtype) for v in got], [known] * len(got)


def exact(case, got):
    """The results in long double, rounded; and where those are finite and known."""
    function = FUNCTIONS.get(case.op.partition(".")[2].removeprefix("broadcast_"))
    args = [v for _, v in case.args]
    if args and all(is_float(t) and BITS[t] <= 8 and v.shape == got[0].shape
                    for t, v in case.args):
        return exact_small(case, got)
    kinds = [v.dtype.kind if v.dtype != ml_dtypes.bfloat16 else "f" for v in args + got]
    if not function or set(kinds) - {"f", "c"}:
        return got, [np.zeros(v.shape, bool) for v in got]
    wide = np.clongdouble if "c" in kinds else np.longdouble
    with np.errstate(all="ignore"):
        value = function(*(v.astype(wide) for v in args))
        near = [value.astype(np.float64 if v.dtype.kind == "V" else v.dtype) for v in got]
        return [n.astype(v.dtype) for n, v in zip(near, got)], [np.isfinite(value)] * len(got)
