"""The worst errors of functions, ours and XLA's, against their values in 200 bits.

    python tests/differential/accuracy.py [--build DIR] [--op NAME] [--type NAME] [--count N]

Errors are in units in the last place of the exact value, of complex numbers that of its absolute
value. Arguments are drawn from all binades, from around 0 and from around points where a function
is zero or turns; only normal ones whose exact results are normal count, since XLA takes the rest as
zeros. A line is marked `<<` where we are above both XLA and the limit: 1 ulp, 1.5 in f64, 2 for
lgamma, power and complex functions; then the command ends with 1."""

import argparse
import os
import pathlib
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import ml_dtypes
import mpmath
import numpy as np
from mpmath import mp

import single_run
from single_values import DTYPES, is_complex, part, tensor

HERE = pathlib.Path(__file__).resolve().parent
TYPES = ["f32", "f64", "f16", "bf16", "complex<f32>", "complex<f64>"]
REAL, BOTH = TYPES[:4], TYPES
mp.prec = 200


def real_lgamma(x):
    return mpmath.loggamma(x) if x > 0 else mpmath.re(mpmath.loggamma(x))


def expm1(z):
    """mpmath's own loses what is small of complex numbers."""
    if abs(z) < mpmath.ldexp(1, -250):
        return z + z * z / 2
    with mp.workprec(800):
        return +(mpmath.exp(z) - 1)


def log1p(z):
    if abs(z) < mpmath.ldexp(1, -250):
        return z - z * z / 2
    with mp.workprec(2500):
        return +mpmath.log(1 + z)


def bessel_i1e(x):
    return mpmath.mpf(0) if mpmath.isinf(x) else mpmath.besseli(1, x) * mpmath.exp(-abs(x))


def wide(f, prec=800):
    def g(*args):
        with mp.workprec(prec):
            return +f(*args)
    return g


# op: function, types, ranges of the arguments; None: everywhere
EXACT = {
    "stablehlo.exponential": (mpmath.exp, BOTH, None),
    "stablehlo.exponential_minus_one": (expm1, BOTH, None),
    "stablehlo.log": (wide(mpmath.log), BOTH, None),
    "stablehlo.log_plus_one": (log1p, BOTH, None),
    "stablehlo.sine": (mpmath.sin, BOTH, None),
    "stablehlo.cosine": (mpmath.cos, BOTH, None),
    "stablehlo.tan": (mpmath.tan, BOTH, None),
    "stablehlo.tanh": (wide(mpmath.tanh), BOTH, None),
    "stablehlo.logistic": (lambda x: 1 / (1 + mpmath.exp(-x)), BOTH, None),
    "stablehlo.sqrt": (wide(mpmath.sqrt), BOTH, None),
    "stablehlo.rsqrt": (wide(lambda x: 1 / mpmath.sqrt(x)), BOTH, None),
    "stablehlo.cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), REAL, None),
    "stablehlo.power": (mpmath.power, BOTH, [(0, 20), (-20, 20)]),
    "stablehlo.atan2": (mpmath.atan2, REAL, [None, None]),
    "chlo.erf": (mpmath.erf, REAL, None),
    "chlo.erfc": (mpmath.erfc, REAL, [(-6, 27)]),
    "chlo.erf_inv": (mpmath.erfinv, REAL, [(-1, 1)]),
    "chlo.lgamma": (real_lgamma, REAL, [(-30, 100)]),
    "chlo.digamma": (mpmath.digamma, REAL, [(-30, 100)]),
    "chlo.asin": (wide(mpmath.asin), BOTH, [(-1, 1)]),
    "chlo.acos": (wide(mpmath.acos), BOTH, [(-1, 1)]),
    "chlo.atan": (wide(mpmath.atan), BOTH, None),
    "chlo.sinh": (wide(mpmath.sinh), BOTH, None),
    "chlo.cosh": (mpmath.cosh, BOTH, None),
    "chlo.asinh": (wide(mpmath.asinh, 1500), BOTH, None),
    "chlo.acosh": (wide(mpmath.acosh), BOTH, None),
    "chlo.atanh": (wide(mpmath.atanh, 1500), BOTH, [(-1, 1)]),
    "chlo.bessel_i1e": (bessel_i1e, REAL, [(-100, 100)]),
    "chlo.zeta": (mpmath.zeta, REAL, [(1.1, 20), (0.1, 20)]),
    "chlo.polygamma": (mpmath.psi, REAL, [range(0, 6), (0.1, 30)]),
}
SLOW = {"chlo.zeta": 15, "chlo.polygamma": 8, "chlo.erf_inv": 8, "chlo.bessel_i1e": 3,
        "chlo.digamma": 3, "chlo.lgamma": 3}  # of the count, one part in so many
TURNS = [1.0, 2.0, 0.5, np.pi, np.pi / 2, 1.4616321449683622, 0.6931471805599453]


def limit_of(op, t):
    if is_complex(t) or op in ("chlo.lgamma", "stablehlo.power"):
        return 2.0
    return 1.5 if t == "f64" else 1.0


# ---- arguments ----


def reals(rng, t, n, where):
    """Normal numbers."""
    info, d = ml_dtypes.finfo(DTYPES[t]), DTYPES[t]
    if isinstance(where, range):
        return rng.integers(where.start, where.stop, n).astype(d)
    low, high = where or (-20, 20)
    exponents = rng.uniform(np.log2(float(info.tiny)) + 0.01, np.log2(float(info.max)) - 0.01, n)
    near = rng.choice(TURNS, n) * (1 + rng.choice([-1, 1], n) * 2.0 ** rng.uniform(-60, -2, n))
    with np.errstate(all="ignore"):
        kinds = [2.0**exponents, rng.uniform(low, high, n), near, 2.0 ** rng.uniform(-12, 7, n)]
        x = np.choose(rng.choice(4, n, p=[0.25, 0.4, 0.15, 0.2]), kinds)
        x = np.where(rng.random(n) < 0.5, x, -x).astype(d)
    wide_x = x.astype(np.float64)
    bad = (np.abs(wide_x) < float(info.tiny)) | ~np.isfinite(wide_x)
    if where:
        bad |= (wide_x < low) | (wide_x > high)
    x[bad] = rng.uniform(max(low, 0.01), high, int(bad.sum())).astype(d)
    return x


def arguments(rng, t, n, wheres):
    if not is_complex(t):
        return [reals(rng, t, n, w) for w in wheres]
    made = []
    for w in wheres:
        x = np.empty(n, DTYPES[t])
        span = w if w and not isinstance(w, range) else None
        x.real, x.imag = reals(rng, part(t), n, span), reals(rng, part(t), n, span)
        made.append(x)
    return made


# ---- errors ----


def number(v):
    if np.iscomplexobj(v):
        return mpmath.mpc(mpmath.mpf(float(v.real)), mpmath.mpf(float(v.imag)))
    return mpmath.mpf(float(v))


def exact_values(function, args):
    """Numbers, or None where the function has no finite value."""
    out = []
    for row in zip(*args):
        try:
            value = function(*map(number, row))
            real = not np.iscomplexobj(args[0])
            good = mpmath.isfinite(value) and not (real and isinstance(value, mpmath.mpc)
                                                   and mpmath.im(value) != 0)
            out.append(mpmath.re(value) if good and real else value if good else None)
        except (ValueError, ZeroDivisionError, OverflowError, mpmath.libmp.NoConvergence):
            out.append(None)
    return out


def worst(got, exact, args, t):
    """The greatest error in ulps, and its argument."""
    info = ml_dtypes.finfo(DTYPES[part(t)])
    top, tiny = mpmath.mpf(float(info.max)), mpmath.mpf(float(info.tiny))
    most, where = mpmath.mpf(0), None
    for i, value in enumerate(exact):
        if value is None or not tiny <= abs(value) < top:
            continue
        ulp = mpmath.ldexp(1, mpmath.mag(abs(value)) - 1 - int(info.nmant))
        v = got[i]
        finite = np.isfinite(complex(v)) if is_complex(t) else np.isfinite(float(v))
        error = abs(number(v) - value) / ulp if finite else mpmath.inf
        if error > most:
            most, where = error, tuple(a[i] for a in args)
    return float(most), where


def run(runner, op, t, args):
    own = tensor(t, args[0].shape)
    n = len(args)
    names, params = (", ".join(f"%a{i}{s}" for i in range(n)) for s in ("", ": " + own))
    text = (f'func.func public @main({params}) -> {own} {{\n  %0 = "{op}"({names}) : '
            f"({', '.join([own] * n)}) -> {own}\n  return %0 : {own}\n}}\n")
    return runner.run(text, args, [(t, args[0].shape)])[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(HERE.parent.parent / "build"))
    parser.add_argument("--op", default="")
    parser.add_argument("--type", default="")
    parser.add_argument("--count", type=int, default=1500, help="arguments a function and type")
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    ours, xla, bad = single_run.Terrazzo(o.build), single_run.Xla(), 0
    xla.options.env_option_overrides = []
    print(f"{'function':34}{'type':14}{'ours':>10}{'XLA':>10}  at")
    for op, (function, types, wheres) in EXACT.items():
        for t in types:
            if o.op not in op or o.type not in ("", t):
                continue
            rng = np.random.default_rng(o.seed)
            args = arguments(rng, t, max(o.count // SLOW.get(op, 1), 60), wheres or [None])
            exact = exact_values(function, args)
            mine, where = worst(run(ours, op, t, args), exact, args, t)
            try:
                theirs, _ = worst(run(xla, op, t, args), exact, args, t)
            except single_run.Refused:
                theirs = float("nan")
            over = mine > limit_of(op, t) and not mine <= theirs
            bad += over
            print(f"{op:34}{t:14}{mine:10.3g}{theirs:10.3g}  {'<< ' * over}"
                  f"{', '.join(map(str, where or ()))}", flush=True)
    print(f"{bad} above both XLA and the limit")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
