"""Random elementwise ops, conversions and chlo's functions, for single.py.

ULPS: how far a result may be from the interpreter's, which evaluates in f64 and rounds, in units in
the last place of f32 and f64 results; one unit where the result is narrower, as the value is then
rounded twice. 0: the op is exact or correctly rounded. Complex results are within as many ulps of
their absolute value."""

import functools
import itertools
import random

import numpy as np

from single_values import (BITS, COMPLEX, DTYPES, FLOATS, INTS, TYPES, UINTS, WIDE_FLOATS, Case,
                           is_complex, is_float, limits, of_classes, part, tensor)

ULPS = {
    "cbrt": 4, "cosine": 4, "exponential": 4, "exponential_minus_one": 4, "log": 4,
    "log_plus_one": 4, "logistic": 6, "rsqrt": 2, "sine": 4, "tan": 6, "tanh": 6, "atan2": 6,
    "power": 6,
}
UNARY = {
    "abs": "sfc", "cbrt": "f", "ceil": "f", "cosine": "fc", "count_leading_zeros": "su",
    "exponential": "fc", "exponential_minus_one": "fc", "floor": "f", "log": "fc",
    "log_plus_one": "fc", "logistic": "fc", "negate": "sufc", "not": "psu", "popcnt": "su",
    "round_nearest_afz": "f", "round_nearest_even": "f", "rsqrt": "fc", "sign": "sfc",
    "sine": "fc", "sqrt": "fc", "tan": "fc", "tanh": "fc", "is_finite": "f", "real": "wc",
    "imag": "wc", "optimization_barrier": "psufc",
}
BINARY = {
    "add": "psufc", "and": "psu", "atan2": "fc", "divide": "sufc", "maximum": "psuf",
    "minimum": "psuf", "multiply": "psufc", "or": "psu", "power": "sufc", "remainder": "suf",
    "shift_left": "su", "shift_right_arithmetic": "su", "shift_right_logical": "su",
    "subtract": "sufc", "xor": "psu",
}
# Whose integer results the specification gives in all cases: XLA:CPU's are not to be accepted.
DEFINED = {"abs", "add", "and", "count_leading_zeros", "maximum", "minimum", "multiply", "negate",
           "not", "or", "popcnt", "sign", "subtract", "xor"}
DIRECTIONS = ["EQ", "NE", "GE", "GT", "LE", "LT"]


def shuffled(items):
    """All of them, in an order that puts different ones together."""
    items = list(items)
    random.Random(1).shuffle(items)
    return items


ELEMENTWISE = shuffled(
    [(op, t) for op, classes in (UNARY | BINARY).items() for t in of_classes(classes)])
CONVERSIONS = shuffled(itertools.product(TYPES, TYPES))
BITCASTS = shuffled((a, b) for a, b in itertools.product(TYPES, TYPES)
                    if "i1" not in (a, b) and is_complex(a) == is_complex(b)
                    and max(BITS[a], BITS[b]) % min(BITS[a], BITS[b]) == 0)


def inputs(d, t, n, case):
    """n arguments of one shape: random, or every value (pair of values) of a small type."""
    if t not in COMPLEX and n == 1 and BITS[t] <= (16 if d.chance(0.05) else 8) and d.chance(0.3):
        case.add("every value")
        return [d.every(t)]
    if t not in COMPLEX and n == 2 and BITS[t] <= (8 if d.chance(0.05) else 4) and d.chance(0.4):
        case.add("every pair of values")
        every = d.every(t)
        return [np.repeat(every, every.size), np.tile(every, every.size)]
    dims = d.dims()
    kinds = [d.kind() for _ in range(n)]
    if d.chance(0.5):
        kinds = [kinds[0]] * n
    if "edge" in kinds:
        case.add("edge values")
    return [d.values(t, dims, kind) for kind in kinds]


def rule_of(op, t):
    if op in ("real", "imag", "optimization_barrier"):
        return ("bits",)
    if is_complex(t) and op not in ("add", "subtract", "negate"):
        return ("ulps", max(ULPS.get(op, 0), 8))
    n = ULPS.get(op, 0)
    if n and BITS[t] <= 16 and is_float(t):
        n = 1
    return ("ulps", n) if n else ("exact",)


def elementwise(d, turn):
    op, t = ELEMENTWISE[turn % len(ELEMENTWISE)]
    features = set()
    args = inputs(d, t, 1 if op in UNARY else 2, features)
    if op.startswith("shift") and d.chance(0.5):  # amounts that the width has
        args[1] = d.np.integers(0, min(BITS[t], limits(t)[1] + 1), args[1].shape).astype(DTYPES[t])
    dims = args[0].shape
    if op == "atan2" and is_complex(t):  # the oracles' formula squares
        args, features = [d.values(t, dims, "unit") for _ in args], set()
    result = "i1" if op == "is_finite" else part(t) if op in ("abs", "real", "imag") else t
    own = tensor(t, dims)
    operands = ", ".join(f"%a{i}" for i in range(len(args)))
    types = f"({', '.join([own] * len(args))}) -> {tensor(result, dims)}"
    body = f'%0 = "stablehlo.{op}"({operands}) : {types}'
    return Case("stablehlo." + op, [(t, v) for v in args], body, ["%0"], [(result, dims)],
                rule_of(op, t), features, constants=tuple(range(len(args))),
                nudge=tuple(range(len(args))) * is_complex(t),
                xla=op not in DEFINED or is_float(t) or is_complex(t))


def convert(d, turn):
    a, b = CONVERSIONS[turn % len(CONVERSIONS)]
    features = set()
    x, = inputs(d, a, 1, features)
    body = f"%0 = stablehlo.convert %a0 : ({tensor(a, x.shape)}) -> {tensor(b, x.shape)}"
    return Case("stablehlo.convert", [(a, x)], body, ["%0"], [(b, x.shape)], ("exact",), features,
                constants=(0,))


def bitcast_convert(d, turn):
    a, b = BITCASTS[turn % len(BITCASTS)]
    dims, out, ratio = d.dims(0, 3), None, 1
    if BITS[a] > BITS[b]:
        ratio = BITS[a] // BITS[b]
        out = dims + [ratio]
    elif BITS[a] < BITS[b]:
        ratio = BITS[b] // BITS[a]
        dims, out = dims + [ratio], dims
    out = dims if out is None else out
    kind = d.kind()
    body = f"%0 = stablehlo.bitcast_convert %a0 : ({tensor(a, dims)}) -> {tensor(b, out)}"
    return Case("stablehlo.bitcast_convert", [(a, d.values(a, dims, kind))], body, ["%0"],
                [(b, out)], ("bits",), {"edge values"} if kind == "edge" else set(),
                constants=(0,))


def compare(d, turn):
    t = TYPES[turn % len(TYPES)]
    direction = d.pick(*(DIRECTIONS[:2] if is_complex(t) else DIRECTIONS))
    features = set()
    x, y = inputs(d, t, 2, features)
    if d.chance(0.3):  # equal ones are rare else
        y = np.where(d.np.integers(0, 2, x.shape).astype(bool), x, y)
    order = "UNSIGNED" if t == "i1" or t[0] == "u" else "SIGNED" if t in INTS else "FLOAT"
    if is_float(t) and d.chance(0.4):
        order = "TOTALORDER"
        features.add("total order")
    order = "" if d.chance(0.3) and order != "TOTALORDER" else f", {order}"
    own = tensor(t, x.shape)
    body = f"%0 = stablehlo.compare {direction}, %a0, %a1{order} : ({own}, {own}) -> " \
           f"{tensor('i1', x.shape)}"
    return Case("stablehlo.compare", [(t, x), (t, y)], body, ["%0"], [("i1", x.shape)],
                ("exact",), features | {f"compare {direction}"}, constants=(0, 1))


def select(d, turn):
    t, dims, kind = TYPES[turn % len(TYPES)], d.dims(), d.kind()
    own, scalar = tensor(t, dims), d.chance(0.3)
    pred = d.np.integers(0, 2, [] if scalar else dims).astype(bool)
    body = f"%0 = stablehlo.select %a0, %a1, %a2 : {tensor('i1', pred.shape)}, {own}"
    return Case("stablehlo.select",
                [("i1", np.asarray(pred)), (t, d.values(t, dims, kind)),
                 (t, d.values(t, dims, kind))],
                body, ["%0"], [(t, dims)], ("bits",), edge(kind), constants=(0, 1, 2))


def edge(kind):
    return {"edge values"} if kind == "edge" else set()


def clamp(d, turn):
    types = [t for t in TYPES if not is_complex(t)]
    t, dims, kind = types[turn % len(types)], d.dims(), d.kind()
    low, high = ([] if d.chance(0.4) else dims for _ in range(2))
    args = [(t, d.values(t, list(s), kind)) for s in (low, dims, high)]
    types = ", ".join(tensor(t, v.shape) for _, v in args)
    body = f"%0 = stablehlo.clamp %a0, %a1, %a2 : ({types}) -> {tensor(t, dims)}"
    return Case("stablehlo.clamp", args, body, ["%0"], [(t, dims)], ("exact",), edge(kind),
                constants=(0, 1, 2))


def reduce_precision(d, turn):
    types = [t for t in FLOATS if t != "f8E8M0FNU"]  # without sign, which the definition has
    t = types[turn % len(types)]
    features = set()
    x, = inputs(d, t, 1, features)
    exponent, mantissa = d.int(1, d.pick(5, 8, 11, 15)), d.int(0, d.pick(3, 10, 23, 52, 60))
    own = tensor(t, x.shape)
    body = f"%0 = stablehlo.reduce_precision %a0, format = e{exponent}m{mantissa} : {own}"
    return Case("stablehlo.reduce_precision", [(t, x)], body, ["%0"], [(t, x.shape)],
                ("exact",), features, constants=(0,))


def complex_op(d, turn):
    t, dims, kind = d.pick("f32", "f64"), d.dims(), d.kind()
    own, to = tensor(t, dims), f"complex<{t}>"
    body = f"%0 = stablehlo.complex %a0, %a1 : {tensor(to, dims)}"
    assert own
    return Case("stablehlo.complex", [(t, d.values(t, dims, kind)) for _ in range(2)], body,
                ["%0"], [(to, dims)], ("bits",), edge(kind), constants=(0, 1))


# ---- chlo: jaxlib's decomposition in the interpreter ----

# op: element types; ulps of f32 and f64 results, as the formulas are no better; of what at least
CHLO = {
    "acos": ("wc", 8), "acosh": ("wc", 8), "asin": ("wc", 8), "asinh": ("wc", 8),
    "atan": ("wc", 8), "atanh": ("wc", 8), "bessel_i1e": ("w", 16), "cosh": ("wc", 8),
    "digamma": ("w", 32, 1.0), "erf": ("w", 8), "erf_inv": ("w", 16), "erfc": ("w", 16),
    "lgamma": ("w", 32, 1.0), "sinh": ("wc", 8), "square": ("wc", 1), "tan": ("wc", 8),
    "conj": ("wc", 0), "is_inf": ("w", 0), "is_neg_inf": ("w", 0), "is_pos_inf": ("w", 0),
    "next_after": ("w", 0), "polygamma": ("w", 64, 1.0), "zeta": ("w", 64), "mulhi": ("su", 0),
}
CHLO_PAIRS = ("next_after", "polygamma", "zeta", "mulhi")
CHLO_CASES = shuffled((op, t) for op, (classes, *_) in CHLO.items() for t in of_classes(classes))


def chlo_inputs(d, op, t, features):
    x = inputs(d, t, 2 if op in CHLO_PAIRS else 1, features)
    if op == "polygamma" and d.chance(0.8):
        x[0] = d.np.integers(0, 5, x[0].shape).astype(DTYPES[t])
        x[1] = np.abs(d.values(t, x[1].shape, "unit"))
        features.discard("edge values")
    if op == "zeta" and d.chance(0.8):
        x[0] = (1.5 + 3 * d.np.random(x[0].shape)).astype(DTYPES[t])
        x[1] = np.abs(d.values(t, x[1].shape, "unit"))
        features.discard("edge values")
    return x


def chlo(d, turn):
    op, t = CHLO_CASES[turn % len(CHLO_CASES)]
    features = set()
    x = chlo_inputs(d, op, t, features)
    dims = x[0].shape
    own, result = tensor(t, dims), "i1" if op.startswith("is_") else t
    operands = ", ".join(f"%a{i}" for i in range(len(x)))
    body = f'%0 = "chlo.{op}"({operands}) : ({", ".join([own] * len(x))}) -> ' \
           f"{tensor(result, dims)}"
    _, ulps, *small = CHLO[op]
    if ulps and BITS[t] <= 16:
        ulps = 1
    return Case("chlo." + op, [(t, v) for v in x], body, ["%0"], [(result, dims)],
                ("ulps", ulps, *small) if ulps else ("exact",), features,
                legalize="func.func(chlo-legalize-to-stablehlo)",
                nudge=tuple(range(len(x)))[op == "polygamma":] if ulps else (),
                constants=tuple(range(len(x))))


def top_k(d, turn):
    kinds = WIDE_FLOATS + INTS[2:] + UINTS[2:]
    t, dims = kinds[turn % len(kinds)], d.dims(1, 3)
    k, kind = d.int(0, dims[-1]), d.kind()
    out = dims[:-1] + [k]
    body = f"%0:2 = chlo.top_k(%a0, k = {k}) : {tensor(t, dims)} -> " \
           f"({tensor(t, out)}, {tensor('i32', out)})"
    return Case("chlo.top_k", [(t, d.values(t, dims, kind))], body, ["%0#0", "%0#1"],
                [(t, out), ("i32", out)], ("exact",), edge(kind),
                legalize="func.func(chlo-legalize-to-stablehlo)")


@functools.cache
def names():
    """Every op that this file draws."""
    return ({"stablehlo." + op for op in UNARY | BINARY} | {"chlo." + op for op in CHLO}
            | {"chlo.top_k"} | {"stablehlo." + f for f in (
                "convert", "bitcast_convert", "compare", "select", "clamp", "reduce_precision",
                "complex")})
