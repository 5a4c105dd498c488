"""Random types, attributes and locations as MLIR text, for random_ops.py."""

import random

FLOATS = [
    "f32",
    "f64",
    "f16",
    "bf16",
    "f8E4M3FN",
    "f8E5M2",
    "f8E4M3",
    "f8E3M4",
    "f8E4M3FNUZ",
    "f8E5M2FNUZ",
    "f8E4M3B11FNUZ",
    "f4E2M1FN",
    "f6E2M3FN",
    "f6E3M2FN",
    "f8E8M0FNU",
]
WIDTH = {"f32": 32, "f64": 64, "f16": 16, "bf16": 16, "f4E2M1FN": 4, "f6E2M3FN": 6, "f6E3M2FN": 6}
INTS = ["i2", "i4", "i8", "i16", "i32", "i64", "ui2", "ui4", "ui8", "ui16", "ui32", "ui64"]


class Values:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.next = 0
        self.lines = []
        self.symbols = 0
        self.extra = []
        self.mesh = False

    # ---- pieces ----

    def pick(self, *choices):
        return self.r.choice(choices)

    def some(self, most, f):
        return [f() for _ in range(self.r.randint(0, most))]

    def chance(self, p):
        return self.r.random() < p

    def word(self):
        return self.pick("a", "b", "x.y", "foo", "bar_1", "A", "_z", "k$")

    def string(self):
        chars = ["a", "Z", " ", '\\"', "\\\\", "\\0A", "\\00", "\\FF", "%", "#", "é", "/", "{"]
        return '"' + "".join(self.some(6, lambda: self.pick(*chars))) + '"'

    def integer(self, width=32, signed=True):
        low = -(1 << (width - 1)) if signed else 0
        high = (1 << (width - 1)) - 1 if signed else (1 << width) - 1
        return self.pick(
            low, high, 0, self.r.randint(low, high), max(low, min(high, self.r.randint(-9, 9)))
        )

    def float(self, kind="f64"):
        width = WIDTH.get(kind, 8)
        if self.chance(0.2):
            return f"0x{self.r.getrandbits(width):X}"
        value = self.pick(
            0.0,
            1.0,
            0.1,
            1.5,
            1e-3,
            123456.789,
            3e38,
            1e-45,
            7e22,
            1 / 3,
            self.r.uniform(-10, 10),
            self.r.lognormvariate(0, 20),
        )
        text = self.pick(f"{value:e}", f"{value:.17e}", f"{value:.6e}")
        return self.pick("", "-") + text.lstrip("-") if kind != "f8E8M0FNU" else text.lstrip("-")

    def number(self, elem):
        if elem.startswith("complex"):
            part = elem[8:-1]
            return f"({self.number(part)}, {self.number(part)})"
        if elem == "i1":
            return self.pick("true", "false")
        if elem == "index":
            return str(self.integer(64))
        if elem[0] in "iu" or elem.startswith("si"):
            signed = not elem.startswith("ui")
            return str(self.integer(int(elem.lstrip("uis")), signed))
        return self.float(elem)

    # ---- types ----

    def element(self, quant=False):
        if quant and self.chance(0.1):
            return self.quant()
        return self.pick(*FLOATS[:4], *FLOATS, *INTS, "i1", "i1", "complex<f32>", "complex<f64>")

    def quant(self, axis=False):
        storage = self.pick("i8", "i4", "i16", "i32", "u8", "i8<-100:100>")
        express = self.pick("f32", "f32", "f16", "bf16")
        scale = self.pick("0.5", "1.0", "0.25", "3.5e-03", "0.0117")
        zero = self.pick("", ":3", ":1")
        return f"!quant.uniform<{storage}:{express}, {scale}{zero}>"

    def dims(self, rank=None, dynamic=True):
        rank = self.r.randint(0, 4) if rank is None else rank
        return [self.pick(1, 2, 3, 4, 5, 0, "?" if dynamic else 7) for _ in range(rank)]

    def tensor(self, elem=None, dims=None):
        dims = self.dims() if dims is None else dims
        elem = elem or self.element(True)
        encoding = ""
        if "?" in dims and self.chance(0.2):
            bounds = [self.pick("?", 5) if d == "?" else "?" for d in dims]
            if any(b != "?" for b in bounds):
                encoding = f", #stablehlo.bounds<{', '.join(map(str, bounds))}>"
        return "tensor<" + "".join(f"{d}x" for d in dims) + elem + encoding + ">"

    def type(self, depth=2):
        kind = self.r.randint(0, 9 if depth else 5)
        if kind <= 3:
            return self.tensor()
        if kind == 4:
            return self.pick(
                "i32", "index", "f32", "none", "i1", "si7", "ui3", "f64", "tf32", "i128"
            )
        if kind == 5:
            return self.pick(
                "!stablehlo.token",
                "vector<4x2xf32>",
                "tensor<*xf32>",
                "!foo.t<1, x>",
                "vector<[4]xi8>",
                "memref<2x?xf32>",
                "!foo.bare",
                "!quant.any<i8:f32>",
            )
        if kind == 6:
            return "tuple<" + ", ".join(self.some(3, lambda: self.type(depth - 1))) + ">"
        if kind == 7:
            results = ", ".join(self.some(2, lambda: self.type(depth - 1)))
            return f"({', '.join(self.some(2, lambda: self.type(depth - 1)))}) -> ({results})"
        return self.tensor()

    # ---- attributes ----

    def dense(self, elem=None, dims=None):
        elem = elem or self.pick(self.element(), "index")
        dims = self.dims(self.r.randint(0, 3), False) if dims is None else dims
        t = self.tensor(elem, dims)
        count = 1
        for d in dims:
            count *= d
        if count == 0:
            body = ""
        elif self.chance(0.4) or not dims:
            body = self.number(elem)
        else:
            body = self.nested(elem, dims)
        return f"dense<{body}> : {t}", t

    def nested(self, elem, dims):
        if not dims:
            return self.number(elem)
        return "[" + ", ".join(self.nested(elem, dims[1:]) for _ in range(dims[0])) + "]"

    def list(self, most=3):
        return "[" + ", ".join(str(self.integer(8)) for _ in range(self.r.randint(0, most))) + "]"

    def attr(self, depth=2):
        leaf = [
            lambda: str(self.integer(32)),
            lambda: f"{self.integer(64)} : i64",
            lambda: f"{self.integer(8)} : i8",
            lambda: f"{self.integer(16, False)} : ui16",
            lambda: f"{self.integer(7)} : si7",
            lambda: f"{self.integer(64)} : index",
            lambda: self.float() if self.chance(0.5) else self.float("f32") + " : f32",
            lambda: f"{self.float('bf16')} : bf16",
            lambda: self.string(),
            lambda: "unit",
            lambda: self.pick("true", "false"),
            lambda: self.type(1),
            lambda: self.pick("@a", '@"x y"', "@a::@b", '@a::@"\\22"::@c'),
            lambda: self.dense()[0],
            lambda: self.dense()[0],
            lambda: f"array<i64: {self.integer(64)}, {self.integer(8)}>",
            lambda: self.pick(
                "array<i1: true, false>",
                "array<i32>",
                "array<i8: -1>",
                "array<f32: 1.5, 0x7FC00000>",
                "array<f64: 1.0>",
            ),
            lambda: f"dense_resource<{self.word()}> : {self.tensor(dims=[2, 3])}",
            lambda: self.pick("#foo.bar", "#foo.bar<1, [2]>", '#foo<"a b">', "#other<x<y>>"),
            lambda: self.pick(
                "#stablehlo<comparison_direction EQ>",
                "#stablehlo<precision HIGH>",
                "#stablehlo<fft_type IRFFT>",
                "#stablehlo<transpose ADJOINT>",
                "#stablehlo<rng_algorithm PHILOX>",
                "#stablehlo.dot<>",
                "#stablehlo<comparison_type TOTALORDER>",
                "#chlo<precision HIGHEST>",
                "#chlo<comparison_direction GE>",
                "#stablehlo.bounds<?, 3>",
            ),
            lambda: f"#stablehlo.channel_handle<handle = {self.integer(8)}, type = 1>",
            lambda: (
                f"#stablehlo.gather<offset_dims = {self.list()}, start_index_map = "
                f"{self.list()}, index_vector_dim = {self.r.randint(0, 3)}>"
            ),
            lambda: (
                f"#stablehlo.scatter<update_window_dims = {self.list()}, "
                f"inserted_window_dims = {self.list()}>"
            ),
            lambda: (
                f"#stablehlo.output_operand_alias<output_tuple_indices = {self.list()}, "
                f"operand_index = 1, operand_tuple_indices = {self.list()}>"
            ),
            lambda: f"#sdy.sharding<@{self.pick('m', 'mesh')}, [{self.dim_shardings()}]>",
            lambda: f'#sdy.mesh<["x"={self.r.randint(1, 4)}, "y"=2]>',
            lambda: "#sdy.op_sharding_rule<([i, j], [j, k])->([i, k]) {i=8, j=2, k=4}>",
            lambda: (
                "#stablehlo.result_accuracy<atol = 1.0, rtol = 0.1, ulps = 2, mode = "
                "#stablehlo.result_accuracy_mode<TOLERANCE>>"
            ),
        ]
        if depth and self.chance(0.3):
            if self.chance(0.5):
                return "[" + ", ".join(self.some(3, lambda: self.attr(depth - 1))) + "]"
            return self.dictionary(3, depth - 1)
        return self.pick(*leaf)()

    def dim_shardings(self):
        axis = lambda: self.pick('"x"', '"y"', '"x":(1)2', '"y":(2)2')
        dim = (
            lambda: "{"
            + ", ".join(self.some(2, axis) + self.some(1, lambda: "?"))
            + "}"
            + self.pick("", "", "p1")
        )
        return ", ".join(self.some(3, dim))

    def dictionary(self, most, depth=2):
        names = self.r.sample(
            ["a", "b", "c.d", '"x y"', "zz", "_q", '"1"', "sdy.x", "mhlo.k"],
            self.r.randint(0, most),
        )
        entry = lambda n: n if self.chance(0.15) else f"{n} = {self.attr(depth)}"
        return "{" + ", ".join(entry(n) for n in names) + "}"

    def discardable(self, p=0.25):
        if not self.chance(p):
            return ""
        names = self.r.sample(
            ["foo.a", "foo.b", "jax.k", "mhlo.z", "foo.\u0061x"], self.r.randint(1, 2)
        )
        return " {" + ", ".join(f"{n} = {self.attr(1)}" for n in sorted(set(names))) + "}"

    # ---- locations ----

    def location(self, depth=3):
        kind = self.r.randint(0, 6 if depth else 2)
        file = self.pick("a.py", "b/c.py", "x y", "-", "")
        at = f'"{file}":{self.r.randint(0, 99)}:{self.r.randint(0, 99)}'
        if kind == 0:
            return self.pick(
                at,
                f"{at} to {self.r.randint(100, 120)}:{self.r.randint(0, 9)}",
                f"{at} to :{self.r.randint(100, 109)}",
            )
        if kind == 1:
            return "unknown"
        if kind == 2:
            return self.string()
        inner = lambda: self.location(depth - 1)
        if kind == 3:
            return f"{self.string()}({inner()})"
        if kind == 4:
            return f"callsite({inner()} at {inner()})"
        meta = f"<{self.attr(0)}>" if self.chance(0.3) else ""
        return f"fused{meta}[{', '.join([inner()] + self.some(2, inner))}]"

    def loc(self):
        return f" loc({self.location()})" if self.chance(0.4) else ""
