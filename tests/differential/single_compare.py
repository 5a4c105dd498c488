"""Whether two arrays of results agree, by an op's rule, for single.py.

("bits",)      the same bits: data that only moved
("exact",)     the same values; NaN matches NaN, zeros have their signs
("ulps", n, m) within n units in the last place, of the absolute value if complex; m, if there,
               is a size whose last place is meant where the result is smaller
("largest", n) within n units in the last place of the largest number of the result
("sum", n)     a sum of n products, against the same module in f64 (see `sum_masks`)
("known", n)   within n units in the last place of the sum of the terms' sizes, against `Case.known`
"""

import ml_dtypes
import numpy as np

from single_values import is_complex, is_float


def is_nan(v):
    return np.isnan(v.astype(np.complex128 if v.dtype.kind == "c" else np.float64))


def raw(v):
    """The bits, as unsigned integers."""
    v = np.ascontiguousarray(v)
    if v.dtype.kind == "c":
        return v.view(np.uint32 if v.itemsize == 8 else np.uint64)
    return v.view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[v.itemsize])


def rank_of(v):
    """Floats as integers in the same order, neighbours one apart; both zeros are one."""
    bits = raw(v).astype(np.uint64)
    top = np.uint64(1 << (v.itemsize * 8 - 1))
    if ml_dtypes.finfo(v.dtype).bits < 8:
        top = np.uint64(1 << (ml_dtypes.finfo(v.dtype).bits - 1))
    half = np.uint64(1 << 63)
    negative = (bits & top) != 0
    size = bits & (top - np.uint64(1))
    if v.dtype == ml_dtypes.float8_e8m0fnu:
        return bits + half
    return np.where(negative, half - size, half + size)


def apart(a, b):
    """Units in the last place between floats, as f64."""
    a, b = rank_of(a), rank_of(b)
    return (np.maximum(a, b) - np.minimum(a, b)).astype(np.float64)


def same_floats(got, want, zeros):
    nan = is_nan(got) & is_nan(want)
    with np.errstate(invalid="ignore"):
        equal = got == want
    if zeros:
        equal &= np.signbit(got.astype(np.float64)) == np.signbit(want.astype(np.float64))
    return nan | equal


def close_complex(got, want, n):
    """Per part: within n ulps of the absolute value, or alike as floats."""
    eps = np.finfo(got.dtype).eps
    tiny = np.finfo(got.dtype).smallest_subnormal
    good = []
    with np.errstate(all="ignore"):
        size = np.hypot(want.real.astype(np.float64), want.imag.astype(np.float64))
        for f in ("real", "imag"):
            g, w = getattr(got, f), getattr(want, f)
            near = np.abs(g.astype(np.float64) - w) <= n * (eps * size + tiny)
            good.append(same_floats(g, w, False) | (near & np.isfinite(size)))
    return np.stack(good, -1)


def close_to_largest(got, want, n):
    """Beside NaNs at the same places."""
    kind = np.complex128 if got.dtype.kind == "c" else np.float64
    g, w = got.astype(kind), want.astype(kind)
    nan = np.isnan(g) & np.isnan(w)
    largest = np.abs(np.where(np.isfinite(w), w, 0)).max(initial=0)
    with np.errstate(invalid="ignore"):
        return nan | (g == w) | (np.abs(g - w) <= n * epsilon(got.real.dtype) * largest)


def agree(got, want, t, rule):
    """A mask of the elements that agree; of complex numbers, of their parts along another dim."""
    if not (is_float(t) or is_complex(t)):
        return got == want
    if rule[0] == "bits":
        same = raw(got) == raw(want)
        return same.reshape(*got.shape, 2) if is_complex(t) else same
    if rule[0] == "largest":
        return close_to_largest(got, want, rule[1])
    if is_complex(t):
        if rule[0] == "ulps":
            return close_complex(got, want, rule[1])
        return np.stack([same_floats(getattr(got, f), getattr(want, f), True)
                         for f in ("real", "imag")], -1)
    if rule[0] != "ulps":
        return same_floats(got, want, True)
    g, w = got.astype(np.float64), want.astype(np.float64)
    near = apart(got, want) <= rule[1]
    if len(rule) > 2:
        with np.errstate(all="ignore"):
            near |= np.abs(g - w) <= rule[1] * epsilon(got.dtype) * rule[2]
    return same_floats(got, want, False) | (near & np.isfinite(g) & np.isfinite(w))


def masks(gots, wants, results, rule):
    """Per result, which elements agree."""
    return [np.asarray(agree(got, want, t, rule))
            for got, want, (t, _) in zip(gots, wants, results)]


def nudge(v, way):
    """Floats next to these, finite ones; other types as they are."""
    if v.dtype.kind == "c":
        out = v.copy()
        out.real, out.imag = nudge(v.real, way), nudge(v.imag, way)
        return out
    if v.dtype.kind not in "fV":
        return v
    with np.errstate(all="ignore"):
        near = np.nextafter(v, np.full_like(v, way))
    return np.where(np.isfinite(near.astype(np.float64)), near, v)


def between(gots, variants, results, rule):
    """Per result, which elements lie between those of results for arguments an ulp away."""
    out = []
    for i, (got, (t, _)) in enumerate(zip(gots, results)):
        many = [v[i] for v in variants]
        good = []
        for f in ("real", "imag") if is_complex(t) else ("real",):
            g = getattr(got, f).astype(np.float64)
            every = np.stack([getattr(v, f).astype(np.float64) for v in many])
            with np.errstate(all="ignore"):
                low, high = np.fmin.reduce(every), np.fmax.reduce(every)
                slack = 2 * (high - low) + rule[1] * epsilon(got.real.dtype) * np.abs(every[0])
                good.append((g >= low - slack) & (g <= high + slack))
        out.append(np.stack(good, -1) if is_complex(t) else good[0])
    return out


def first_bad(mask, got, want, what):
    """The first element of a result that does not agree."""
    at = np.unravel_index(int(np.argmin(mask)), mask.shape)
    return f"{what}{[int(i) for i in at]}: {got[at]!r}, not {want[at]!r}; " \
           f"{int((~mask).sum())} of {mask.size}"


def describe(these, gots, wants):
    """The first difference of results, or None."""
    for i, (mask, got, want) in enumerate(zip(these, gots, wants)):
        mask = mask if mask.ndim == got.ndim else mask.all(-1)
        if not mask.all():
            return first_bad(mask, got, want, f"result {i}")
    return None


def epsilon(t):
    return float(ml_dtypes.finfo(np.dtype(t)).eps)


def known_problem(gots, known, results, rule):
    """What differs from sums that are known, or None."""
    for got, want, size, (t, _) in zip(gots, *known, results):
        top = float(ml_dtypes.finfo(got.dtype).max)
        bound = rule[1] * 2.0**-24 * size + 2 * epsilon(got.dtype) * np.abs(want)
        if t == "f64":
            bound = rule[1] * 2.0**-53 * size
        mask = (np.abs(got.astype(np.float64) - want) <= bound) | (size > top / 2)
        if not mask.all():
            return first_bad(np.asarray(mask), got, want, "sum")
    return None


def sum_masks(gots, exact, sizes, results, rule):
    """Sums of n terms against their values in f64, the sum of the terms' absolute values being
    `sizes`: the error of any order of additions is below n eps sum|x|, eps being that of the
    result's type or, where the op may be computed in a narrower one, `least`; and the result is
    rounded. `whole`: all terms are integers, and where their sizes are below 1 / eps nothing is
    rounded. Beyond the type's greatest number the order decides."""
    _, n, whole, least = rule
    out = []
    for got, want, size, (t, _) in zip(gots, exact, sizes, results):
        if not (is_float(t) or is_complex(t)):
            out.append(np.asarray(got == want))
            continue
        info = ml_dtypes.finfo(got.real.dtype)
        e, top = max(float(info.eps), least), float(info.max)
        small = info.tiny if info.bits >= 32 else info.smallest_subnormal  # XLA's zeros
        good = []
        with np.errstate(all="ignore"):
            s = np.abs(size).astype(np.float64)
            bound = (n + 2) * (e * s + float(small))
            bound = np.where(s <= 1 / e, 0.0, bound) if whole else bound
            for f in ("real", "imag") if is_complex(t) else ("real",):
                g, w = getattr(got, f).astype(np.float64), getattr(want, f).astype(np.float64)
                over = (s * (1 + n * e) >= top) & ~(np.abs(g) < np.abs(w) * 0.5)
                good.append((np.abs(g - w) <= bound) | (np.isnan(g) & np.isnan(w)) | (g == w)
                            | over)
        out.append(np.stack(good, -1) if is_complex(t) else good[0])
    return out
