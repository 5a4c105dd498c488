"""Element types, data and comparison of the modules that sharded.py draws."""

import ml_dtypes
import numpy as np


class Element:
    """exact: up to this all integers are of the type; None: sums wrap, so all are right."""

    def __init__(self, name, dtype, kind, exact=None):
        self.name, self.dtype, self.kind, self.exact = name, np.dtype(dtype), kind, exact
        self.complex = kind == "complex"
        self.float = kind == "float"
        self.int = kind in ("signed", "unsigned")
        self.bits = self.dtype.itemsize * 8 if kind != "pred" else 1
        if name[-2:] in ("i4", "i2") or name[:2] == "f4":
            self.bits = 2 if name[-1] == "2" else 4


ELEMENTS = {e.name: e for e in [
    Element("f32", np.float32, "float", 1 << 22), Element("f64", np.float64, "float", 1 << 40),
    Element("bf16", ml_dtypes.bfloat16, "float", 256), Element("f16", np.float16, "float", 2048),
    Element("f8E4M3FN", ml_dtypes.float8_e4m3fn, "float", 16),
    Element("f8E4M3", ml_dtypes.float8_e4m3, "float", 16),
    Element("f8E3M4", ml_dtypes.float8_e3m4, "float", 15),
    Element("f8E5M2", ml_dtypes.float8_e5m2, "float", 8),
    Element("f8E4M3FNUZ", ml_dtypes.float8_e4m3fnuz, "float", 16),
    Element("f8E5M2FNUZ", ml_dtypes.float8_e5m2fnuz, "float", 8),
    Element("f8E4M3B11FNUZ", ml_dtypes.float8_e4m3b11fnuz, "float", 16),
    Element("f8E8M0FNU", ml_dtypes.float8_e8m0fnu, "scale"),
    Element("f4E2M1FN", ml_dtypes.float4_e2m1fn, "float", 4),
    Element("i2", ml_dtypes.int2, "signed"), Element("ui2", ml_dtypes.uint2, "unsigned"),
    Element("i4", ml_dtypes.int4, "signed"), Element("ui4", ml_dtypes.uint4, "unsigned"),
    Element("i8", np.int8, "signed"), Element("ui8", np.uint8, "unsigned"),
    Element("i16", np.int16, "signed"), Element("ui16", np.uint16, "unsigned"),
    Element("i32", np.int32, "signed"), Element("ui32", np.uint32, "unsigned"),
    Element("i64", np.int64, "signed"), Element("ui64", np.uint64, "unsigned"),
    Element("i1", np.bool_, "pred"),
    Element("complex<f32>", np.complex64, "complex", 1 << 20),
    Element("complex<f64>", np.complex128, "complex", 1 << 40)]}
OFTEN = {"f32": 12, "i32": 6, "bf16": 4, "f16": 3, "f64": 2, "i1": 2, "complex<f32>": 2, "i4": 2,
         "ui4": 2, "i8": 2, "ui8": 2, "f8E4M3FN": 2, "f8E5M2": 2}


def tensor(shape, element):
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


def literal(element, number):
    """An integer as MLIR writes it in a constant of the type."""
    kind = ELEMENTS[element].kind
    if kind == "complex":
        return f"({float(number)}, 0.0)"
    if kind == "pred":
        return "true" if number else "false"
    return str(int(number)) if kind in ("signed", "unsigned") else f"{float(number)}"


QUANTIZED = Element("quantized", np.int8, "quantized")


class Value:
    """bound: its numbers are integers of at most this size (or NaN, infinite); None: any. near:
    units in the last place of the largest that its numbers may be apart; alike: nothing is known
    but that the first dimension repeats one."""

    def __init__(self, name, shape, element, bound=None):
        self.name, self.shape, self.bound = name, tuple(shape), bound
        self.element, self.info = element, ELEMENTS.get(element, QUANTIZED)
        self.near, self.alike = 0, False

    @property
    def type(self):
        return tensor(self.shape, self.element)

    @property
    def size(self):
        return int(np.prod(self.shape, dtype=np.int64))


def random_data(rng, v, special, wild):
    """Small integers; `wild`: any floats; `special`: also NaN, infinities, both zeros, the
    extremes."""
    e, low = v.info, -(v.bound or 0)
    if e.kind == "pred":
        return rng.random(v.shape) < 0.5
    if e.kind == "scale":
        return np.exp2(rng.integers(-3, 4, v.shape)).astype(e.dtype)
    if e.kind == "unsigned":
        low = 0
    a = rng.integers(low, (v.bound or 0) + 1, v.shape)
    if e.complex:
        return (a + 1j * rng.integers(low, v.bound + 1, v.shape)).astype(e.dtype)
    if e.float:
        a = (rng.normal(size=v.shape) if wild else a).astype(np.float32)
        for number in ([np.nan, np.inf, -np.inf, -0.0, -0.0] if special else []):
            a = np.where(rng.random(v.shape) < 0.05, np.float32(number), a)
        with np.errstate(all="ignore"):
            return a.astype(e.dtype)
    if e.bits == 2:
        a = np.clip(a, low and -2, 1 if low else 3)
    a = a.astype(e.dtype)
    if special:
        info = ml_dtypes.iinfo(e.dtype)
        for number in (info.min, info.max):
            a = np.where(rng.random(v.shape) < 0.05, np.array(number, e.dtype), a)
    return a.astype(e.dtype)


def differs(a, b, element, near=0):
    """Where two results are not the same bits, or so near; NaN is NaN."""
    e = ELEMENTS[element]
    if near:
        wide = np.complex128 if e.complex else np.float64
        x, y = a.astype(wide), b.astype(wide)
        with np.errstate(invalid="ignore"):
            most = float(ml_dtypes.finfo(a.real.dtype).eps) * near * np.abs(
                np.where(np.isfinite(x), x, 0)).max(initial=1)
            same = (np.abs(x - y) <= most) | (x == y) | ~(np.isfinite(x) | np.isfinite(y))
        return np.argwhere(np.atleast_1d(~same))
    if e.complex:
        half = np.dtype(f"f{e.dtype.itemsize // 2}")
        a, b = (np.atleast_1d(x).view(half).reshape(*x.shape, 2) for x in (a, b))
    if not (e.complex or e.float or e.kind == "scale"):
        return np.argwhere(np.atleast_1d(a != b))
    bits = np.dtype(f"u{a.dtype.itemsize}")
    with np.errstate(invalid="ignore"):
        nan = np.isnan(a) & np.isnan(b)
    same = (a.view(bits) == b.view(bits)) | nan
    return np.argwhere(np.atleast_1d(~same))
