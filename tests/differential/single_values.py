"""Element types, random tensors of them, and a module of one op, for single.py."""

import dataclasses
import random

import ml_dtypes
import numpy as np

DTYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E3M4": ml_dtypes.float8_e3m4,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "i1": np.bool_,
    "i2": ml_dtypes.int2,
    "i4": ml_dtypes.int4,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "ui2": ml_dtypes.uint2,
    "ui4": ml_dtypes.uint4,
    "ui8": np.uint8,
    "ui16": np.uint16,
    "ui32": np.uint32,
    "ui64": np.uint64,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
}
# Not drawn: XLA lacks them, and the interpreter makes 0 of what overflows and of whole numbers.
SIX_BITS = ["f6E2M3FN", "f6E3M2FN"]
TYPES = [t for t in DTYPES if t not in SIX_BITS]
FLOATS = [t for t in TYPES if t[0] in "fb"]
NO_NAN = ["f4E2M1FN", *SIX_BITS]
WIDE_FLOATS = FLOATS[:4]
INTS = [t for t in TYPES if t[0] == "i" and t != "i1"]
UINTS = [t for t in TYPES if t[0] == "u"]
COMPLEX = ["complex<f32>", "complex<f64>"]
NUMBERS = FLOATS + INTS + UINTS
CLASSES = {"p": ["i1"], "s": INTS, "u": UINTS, "f": FLOATS, "w": WIDE_FLOATS, "c": COMPLEX}
BITS = {t: np.dtype(d).itemsize * 8 for t, d in DTYPES.items()}
BITS |= {"i1": 1, "i2": 2, "ui2": 2, "i4": 4, "ui4": 4, "f4E2M1FN": 4, "f6E2M3FN": 6, "f6E3M2FN": 6}


def of_classes(letters):
    return [t for letter in letters for t in CLASSES[letter]]


def is_float(t):
    return t in FLOATS or t in SIX_BITS


def is_complex(t):
    return t in COMPLEX


def part(t):
    """The type of a complex number's parts; any other type itself."""
    return t[8:-1] if t in COMPLEX else t


def tensor(t, dims):
    return f"tensor<{''.join(f'{d}x' for d in dims)}{t}>"


def limits(t):
    """The least and the greatest of an integer type."""
    n = BITS[t]
    if t == "i1":
        return 0, 1
    return (0, 2**n - 1) if t[0] == "u" else (-(2 ** (n - 1)), 2 ** (n - 1) - 1)


def integers(values, t):
    """Python integers as an array of the type, modulo its width."""
    low, high = limits(t)
    wrapped = [(int(v) - low) % (high - low + 1) + low for v in values]
    wide = np.array(wrapped, dtype=np.uint64 if t == "ui64" else np.int64)
    return wide.astype(DTYPES[t])


def float_edges(t):
    info = ml_dtypes.finfo(DTYPES[t])
    tiny, sub, top = float(info.tiny), float(info.smallest_subnormal), float(info.max)
    one = [0.0, 1.0, 0.5, 2.0, 1.5, 3.0, tiny, sub, tiny - sub, 3 * sub, top, top / 2, float("inf")]
    odd = [float(info.eps), 1 + float(info.eps), 3.141592653589793, 127.5, 2147483648.0, 255.0, 0.1]
    return one + [-v for v in one] + odd + [float("nan")]


def int_edges(t):
    low, high = limits(t)
    return [low, low + 1, -1, 0, 1, 2, high // 2, high - 1, high]


class Draw:
    """Random choices of one seed."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.np = np.random.default_rng(seed)

    def chance(self, p):
        return self.r.random() < p

    def pick(self, *choices):
        return self.r.choice(choices)

    def int(self, low, high):
        return self.r.randint(low, high)

    def some(self, n, k=None):
        """k of range(n), in random order."""
        return self.r.sample(range(n), self.int(0, n) if k is None else k)

    def size(self, top=5):
        p = self.r.random()
        return 0 if p < 0.015 else 1 if p < 0.18 else self.int(2, max(top, 2))

    def dims(self, low=0, high=4, top=5, most=600):
        while True:
            dims = [self.size(top) for _ in range(self.int(low, high))]
            if dims and self.chance(0.07):
                dims[self.int(0, len(dims) - 1)] = self.pick(16, 17, 33, 64, 100, 129)
            if int(np.prod(dims)) <= most:
                return dims

    def again(self):
        """All sizes that are drawn from here on are of other tensors."""

    room = 1  # how many times as large as others a case's tensors may be

    # ---- values ----

    def kind(self):
        """Edge values in a quarter of all inputs."""
        return self.pick("edge", "small", "unit", "wide")

    def values(self, t, dims, kind):
        """An array: `small` are integers up to 4 in size, so that sums are exact."""
        n = int(np.prod(dims))
        if t in COMPLEX:
            pair = [self.values(part(t), dims, kind) for _ in range(2)]
            out = np.empty(dims, DTYPES[t])
            out.real, out.imag = pair
            return out
        flat = self.floats(t, n, kind) if is_float(t) else self.ints(t, n, kind)
        return flat.reshape(dims)

    def ints(self, t, n, kind):
        low, high = limits(t)
        if kind == "edge":
            near = int_edges(t)
            return integers([self.pick(self.int(low, high), *near, *near) for _ in range(n)], t)
        if kind in ("small", "unit"):
            low, high = max(low, -4), min(high, 4)
        return integers([self.int(low, high) for _ in range(n)], t)

    def floats(self, t, n, kind):
        d = DTYPES[t]
        if t == "f8E8M0FNU":  # powers of two and a NaN
            low, high = {"edge": (0, 255), "wide": (0, 254)}.get(kind, (126, 130))
            bits = self.np.integers(low, high, n, endpoint=True).astype(np.uint8)
            if kind == "edge" and n:
                bits[:: self.int(2, 9)] = self.pick(0, 254, 255)
            return bits.view(d)
        if kind == "edge":
            edges = np.array(float_edges(t) * 2 + list(self.np.standard_normal(12)))
            with np.errstate(all="ignore"):
                return self.np.choice(edges, n).astype(d)
        if kind == "small":
            return self.np.integers(-4, 4, n, endpoint=True).astype(np.float64).astype(d)
        if kind == "unit":
            return self.np.standard_normal(n).astype(d)
        info = ml_dtypes.finfo(d)  # wide: every binade that numbers of the type have
        exponents = self.np.uniform(np.log2(float(info.tiny)), np.log2(float(info.max)) - 0.01, n)
        with np.errstate(all="ignore"):
            return (self.np.choice([-1.0, 1.0], n) * 2.0**exponents).astype(d)

    def every(self, t):
        """All values of a type of up to 16 bits, NaNs too."""
        if t == "i1":
            return np.array([False, True])
        bits = np.arange(2 ** BITS[t])
        if not is_float(t):
            return integers(bits, t)
        return bits.astype(np.uint16 if BITS[t] == 16 else np.uint8).view(DTYPES[t])


class LargeDraw(Draw):
    """Tensors of up to half a million elements: what is cut in blocks, bands and strips."""

    def __init__(self, seed):
        super().__init__(seed)
        self.most = int(10 ** self.r.uniform(3, 5.7))
        self.room, self.longest = self.most // 500, self.pick(8, 40, 200, 1000)
        self.again()

    def again(self):
        self.left = self.most

    def size(self, top=5):
        n = min(super().size(top), self.left)
        if n > 1 and self.chance(0.7):
            n = self.int(n, max(n, min(self.left, n * self.longest)))
        self.left //= max(n, 1)
        return n

    def dims(self, low=0, high=4, top=5, most=600):
        dims = [self.size(top) for _ in range(self.int(low, high))]
        self.r.shuffle(dims)
        return dims


@dataclasses.dataclass
class Case:
    """A module `main` of one op: `body` makes the values `out` of the arguments %a0, %a1, ..."""

    op: str
    args: list  # of (type, array)
    body: str
    out: list  # names
    results: list  # of (type, dims)
    rule: tuple = ("exact",)
    features: set = dataclasses.field(default_factory=set)
    functions: str = ""  # beside main
    interpreter: bool = True  # whether the interpreter has it
    xla: bool = True  # whether XLA:CPU has it
    legalize: str = ""  # a pipeline of the oracle's before it runs
    nudge: tuple = ()  # arguments of which an ulp may matter more than the result's
    plain: "Case" = None  # with the same results, for oracles that lack the case's mixed types
    known: tuple = ()  # the rule "known": results in f64, and sums of absolute values
    constants: tuple = ()  # arguments that may be constants; () none
    folded: tuple = ()  # those that are, besides

    def text(self, constants=(), body=None):
        """The module; those arguments are constants in it."""
        params = [
            f"%a{i}: {tensor(t, v.shape)}" for i, (t, v) in enumerate(self.args)
            if i not in constants
        ]
        types = ", ".join(tensor(t, dims) for t, dims in self.results)
        lines = [f"    %a{i} = {constant(*self.args[i])}" for i in constants]
        return (
            f"{self.functions}func.func public @main({', '.join(params)}) -> ({types}) {{\n"
            + "".join(line + "\n" for line in lines)
            + "".join(f"    {line}\n" for line in (body or self.body).splitlines())
            + f"    return {', '.join(self.out)} : {types}\n}}\n"
        )

    def note(self):
        """Features that every case has: types, shapes."""
        for t, v in self.args:
            self.features |= {f"type {t}"} | shape_features(v.shape)
        for t, dims in self.results:
            self.features |= {f"type {t}"} | shape_features(dims)
        return self


def shape_features(dims):
    return ({"size 0"} if 0 in dims else set()) | ({"size 1"} if 1 in dims else set())


def dense(t, v):
    """The text of an array's constant."""
    kind = tensor(t, v.shape)
    return f'dense<{hexadecimal(v)}> : {kind}' if v.size else f"dense<> : {kind}"


def hexadecimal(v):
    return '"0x' + np.ascontiguousarray(v).tobytes().hex().upper() + '"'


def constant(t, v):
    return f"stablehlo.constant {dense(t, v)}"
