"""Random ops of every dialect, in generic form, as a module that MLIR accepts."""

from random_regions import Regions
from random_values import FLOATS, INTS, Values


class Generator(Values, Regions):
    # ---- ops ----

    def new(self, n=1):
        self.next += 1
        name = self.pick(f"v{self.next}", f"{1000 + self.next}", f"_s{self.next}")
        return f"%{name}", [f"%{name}"] if n == 1 else [f"%{name}#{i}" for i in range(n)]

    def put(self, line):
        self.lines.append("    " + line)

    def value(self, t):
        """A value of the type: an argument, a constant, an unregistered op."""
        name, _ = self.new()
        self.put(f'{name} = "foo.src"() : () -> ({t}){self.loc()}')
        return name

    def emit(self, op, operands, types, results, props="", regions="", discard=True):
        values = [self.value(t) for t in types] if operands is None else operands
        left = ""
        if results:
            name, _ = self.new(len(results))
            left = f"{name}{':%d' % len(results) if len(results) > 1 else ''} = "
        props = f" <{{{props}}}>" if props else ""
        out = (
            results[0]
            if len(results) == 1 and self.chance(0.5) and "->" not in results[0]
            else f"({', '.join(results)})"
        )
        self.put(
            f"{left}\"{op}\"({', '.join(values)}){props}{regions}"
            f"{self.discardable() if discard else ''} : ({', '.join(types)}) -> {out}{self.loc()}"
        )

    def unary(self):
        kinds = {
            "any": ["negate", "abs", "sign"],
            "fp": [
                "cbrt",
                "cosine",
                "exponential",
                "tanh",
                "log",
                "exponential_minus_one",
                "log_plus_one",
                "logistic",
                "rsqrt",
                "sine",
                "sqrt",
                "tan",
            ],
            "real": ["ceil", "floor", "round_nearest_afz", "round_nearest_even"],
            "int": ["count_leading_zeros", "not", "popcnt"],
        }
        kind = self.pick(*kinds)
        elem = {
            "any": self.pick("f32", "i32", "i8", "bf16"),
            "fp": self.pick("f32", "complex<f64>", "f16"),
            "real": self.pick("f32", "bf16", "f64"),
            "int": self.pick("i8", "ui16", "i64"),
        }[kind]
        t = self.tensor(elem)
        accuracy = ""
        if kind == "fp" and self.chance(0.3):
            accuracy = self.pick(
                "result_accuracy = #stablehlo.result_accuracy<mode ="
                " #stablehlo.result_accuracy_mode<DEFAULT>>",
                "result_accuracy = #stablehlo.result_accuracy<mode ="
                " #stablehlo.result_accuracy_mode<HIGHEST>>",
                "result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, ulps = 10, mode = "
                "#stablehlo.result_accuracy_mode<TOLERANCE>>",
            )
        self.emit("stablehlo." + self.pick(*kinds[kind]), None, [t], [t], accuracy)

    def chlo_unary(self):
        name = self.pick(
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atanh",
            "bessel_i1e",
            "cosh",
            "digamma",
            "erf",
            "erf_inv",
            "erfc",
            "lgamma",
            "sinh",
            "square",
            "tan",
            "conj",
            "is_inf",
            "is_neg_inf",
            "is_pos_inf",
        )
        dims = self.dims()
        t = self.tensor(self.pick("f32", "f64", "bf16"), dims)
        out = self.tensor("i1", dims) if name.startswith("is_") else t
        if "#" not in t + out:
            self.emit("chlo." + name, None, [t], [out])

    def binary(self):
        name = self.pick(
            "add",
            "atan2",
            "divide",
            "maximum",
            "minimum",
            "multiply",
            "power",
            "remainder",
            "subtract",
            "and",
            "or",
            "xor",
            "shift_left",
            "shift_right_arithmetic",
            "shift_right_logical",
        )
        elem = (
            "i1"
            if name in ("and", "or", "xor") and self.chance(0.5)
            else (
                self.pick("i32", "ui8", "i64")
                if name[:2] in ("an", "or", "xo", "sh")
                else (
                    self.pick("f32", "bf16", "complex<f32>")
                    if name in ("atan2", "power")
                    else self.pick("f32", "i32", "f64", "f8E5M2")
                )
            )
        )
        t = self.tensor(elem)
        self.emit("stablehlo." + name, None, [t, t], [t])

    def chlo_binary(self):
        name = self.pick(
            "next_after",
            "zeta",
            "polygamma",
            "broadcast_add",
            "broadcast_power",
            "broadcast_multiply",
            "broadcast_subtract",
            "broadcast_divide",
        )
        t = self.tensor(self.pick("f32", "f64"), self.dims(dynamic=False))
        props = "broadcast_dimensions = array<i64>" if name[0] == "b" and self.chance(0.2) else ""
        if props:
            t = "tensor<f32>"
        self.emit("chlo." + name, None, [t, t], [t], props)

    def constant(self):
        value, t = self.dense(self.element())
        name = self.pick("stablehlo", "stablehlo", "stablehlo", "sdy")
        self.emit(name + ".constant", [], [], [t], f"value = {value}")

    def compare(self):
        dims = self.dims(dynamic=False)
        elem = self.pick("f32", "i32", "ui8", "i1")
        kind = {"f": "FLOAT", "i": "SIGNED", "u": "UNSIGNED"}[elem[0]]
        kind = "UNSIGNED" if elem == "i1" else kind
        props = (
            f"comparison_direction = #stablehlo<comparison_direction {self.pick('EQ', 'NE', 'GE')}>"
        )
        if self.chance(0.7):
            props += f", compare_type = #stablehlo<comparison_type {kind}>"
        t = self.tensor(elem, dims)
        self.emit("stablehlo.compare", None, [t, t], [self.tensor("i1", dims)], props)

    def select(self):
        dims = self.dims(dynamic=False)
        t = self.tensor(self.element(), dims)
        pred = self.tensor("i1", self.pick(dims, []))
        self.emit("stablehlo.select", None, [pred, t, t], [t])

    def clamp(self):
        dims = self.dims(dynamic=False)
        elem = self.pick("f32", "i32")
        t = self.tensor(elem, dims)
        low, high = self.tensor(elem, self.pick(dims, [])), self.tensor(elem, self.pick(dims, []))
        self.emit("stablehlo.clamp", None, [low, t, high], [t])

    def convert(self):
        dims = self.dims(dynamic=False)
        plain = lambda: self.pick(*FLOATS, *INTS, "i1", "complex<f32>")
        self.emit(
            "stablehlo.convert", None, [self.tensor(plain(), dims)], [self.tensor(plain(), dims)]
        )

    def complex(self):
        dims = self.dims(dynamic=False)
        part = self.pick("f32", "f64")
        p, c = self.tensor(part, dims), self.tensor(f"complex<{part}>", dims)
        if self.chance(0.5):
            self.emit("stablehlo.complex", None, [p, p], [c])
        else:
            self.emit("stablehlo." + self.pick("real", "imag"), None, [c], [p])

    def shape(self):
        dims = [self.r.randint(1, 4) for _ in range(self.r.randint(1, 4))]
        rank, elem = len(dims), self.element()
        t = self.tensor(elem, dims)
        array = lambda v: f"array<i64{': ' if v else ''}{', '.join(map(str, v))}>"
        which = self.pick(
            "transpose",
            "reverse",
            "reshape",
            "broadcast_in_dim",
            "iota",
            "concatenate",
            "slice",
            "dynamic_slice",
            "dynamic_update_slice",
            "pad",
            "get_dimension_size",
            "sort",
            "bitcast_convert",
            "top_k",
            "reduce_precision",
        )
        if which == "transpose":
            perm = self.r.sample(range(rank), rank)
            self.emit(
                "stablehlo.transpose",
                None,
                [t],
                [self.tensor(elem, [dims[i] for i in perm])],
                f"permutation = {array(perm)}",
            )
        elif which == "reverse":
            some = sorted(self.r.sample(range(rank), self.r.randint(0, rank)))
            self.emit("stablehlo.reverse", None, [t], [t], f"dimensions = {array(some)}")
        elif which == "reshape":
            self.emit("stablehlo.reshape", None, [t], [self.tensor(elem, dims[::-1] + [1])])
        elif which == "broadcast_in_dim":
            self.emit(
                "stablehlo.broadcast_in_dim",
                None,
                [t],
                [self.tensor(elem, [3] + dims)],
                f"broadcast_dimensions = {array(range(1, rank + 1))}",
            )
        elif which == "iota":
            t = self.tensor(self.pick("f32", "i32", "ui8", "complex<f32>"), dims)
            self.emit(
                "stablehlo.iota", [], [], [t], f"iota_dimension = {self.r.randrange(rank)} : i64"
            )
        elif which == "concatenate":
            d = self.r.randrange(rank)
            n = self.r.randint(1, 3)
            out = [n * s if i == d else s for i, s in enumerate(dims)]
            self.emit(
                "stablehlo.concatenate",
                None,
                [t] * n,
                [self.tensor(elem, out)],
                f"dimension = {d} : i64",
            )
        elif which == "slice":
            low = [self.r.randint(0, d - 1) for d in dims]
            high = [self.r.randint(a + 1, d) for a, d in zip(low, dims)]
            step = [self.pick(1, 1, 2, 3) for _ in dims]
            out = [(b - a + s - 1) // s for a, b, s in zip(low, high, step)]
            self.emit(
                "stablehlo.slice",
                None,
                [t],
                [self.tensor(elem, out)],
                f"start_indices = {array(low)}, limit_indices = {array(high)}, strides ="
                f" {array(step)}",
            )
        elif which == "dynamic_slice":
            index = self.tensor(self.pick("i32", "i64", "ui8"), [])
            sizes = [self.r.randint(1, d) for d in dims]
            self.emit(
                "stablehlo.dynamic_slice",
                None,
                [t] + [index] * rank,
                [self.tensor(elem, sizes)],
                f"slice_sizes = {array(sizes)}",
            )
        elif which == "dynamic_update_slice":
            index = self.tensor("i32", [])
            self.emit("stablehlo.dynamic_update_slice", None, [t, t] + [index] * rank, [t])
        elif which == "pad":
            low, high, inner = ([self.r.randint(0, 2) for _ in dims] for _ in range(3))
            out = [d + a + b + max(d - 1, 0) * c for d, a, b, c in zip(dims, low, high, inner)]
            self.emit(
                "stablehlo.pad",
                None,
                [t, self.tensor(elem, [])],
                [self.tensor(elem, out)],
                f"edge_padding_low = {array(low)}, edge_padding_high = {array(high)}, "
                f"interior_padding = {array(inner)}",
            )
        elif which == "get_dimension_size":
            self.emit(
                "stablehlo.get_dimension_size",
                None,
                [t],
                ["tensor<i32>"],
                f"dimension = {self.r.randrange(rank)} : i64",
            )
        elif which == "sort":
            n = self.r.randint(1, 2)
            args = ", ".join(f"%s{self.next}_{i}: tensor<{elem}>{self.loc()}" for i in range(2 * n))
            body = (
                f' ({{\n    ^bb0({args}):\n      %t = "foo.less"() : () -> tensor<i1>\n'
                f'      "stablehlo.return"(%t) : (tensor<i1>) -> (){self.loc()}\n    }})'
            )
            props = (
                f"dimension = {self.r.randint(-rank, rank - 1)} : i64, is_stable ="
                f" {self.pick('true', 'false')}"
            )
            self.emit("stablehlo.sort", None, [t] * n, [t] * n, props, body)
        elif which == "bitcast_convert":
            self.emit(
                "stablehlo.bitcast_convert",
                None,
                [self.tensor("f32", dims)],
                [self.tensor("i32", dims)],
            )
        elif which == "reduce_precision":
            t = self.tensor("f32", dims)
            self.emit(
                "stablehlo.reduce_precision",
                None,
                [t],
                [t],
                f"exponent_bits = {self.r.randint(1, 9)} : i32, mantissa_bits ="
                f" {self.r.randint(0, 30)} : i32",
            )
        else:
            out = dims[:-1] + [1]
            self.emit(
                "chlo.top_k",
                None,
                [t],
                [self.tensor(elem, out), self.tensor("i32", out)],
                "k = 1 : i64",
            )

    def precision(self):
        if self.chance(0.5):
            return ""
        kinds = [
            f"#stablehlo<precision {self.pick('DEFAULT', 'HIGH', 'HIGHEST')}>" for _ in range(2)
        ]
        return f", precision_config = [{', '.join(kinds)}]"

    def dot(self):
        b, m, k, n = (self.r.randint(1, 4) for _ in range(4))
        elem = self.pick("f32", "bf16", "i32")
        if self.chance(0.5):
            self.emit(
                "stablehlo.dot_general",
                None,
                [self.tensor(elem, [m, k]), self.tensor(elem, [k, n])],
                [self.tensor(elem, [m, n])],
                "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_"
                f"dimensions = [1], rhs_contracting_dimensions = [0]>{self.precision()}",
            )
        else:
            algorithm = ""
            if self.chance(0.3) and elem == "f32":
                algorithm = (
                    ", algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32,"
                    " rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1,"
                    " rhs_component_count = 1, num_primitive_operations = 1,"
                    " allow_imprecise_accumulation = false>"
                )
            self.emit(
                "stablehlo.dot_general",
                None,
                [self.tensor(elem, [b, m, k]), self.tensor(elem, [b, n, k])],
                [self.tensor(elem, [b, m, n])],
                "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0],"
                " rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2],"
                " rhs_contracting_dimensions = [2]>" + (algorithm or self.precision()),
            )

    def convolution(self):
        stride = self.pick(
            "", ", window_strides = array<i64: 1, 1>", ", window_strides = array<i64: 2, 3>"
        )
        out = [1, 8, 8, 4] if "2, 3" not in stride else [1, 4, 3, 4]
        more = self.pick(
            "",
            ", rhs_dilation = array<i64: 1, 1>",
            ", lhs_dilation = array<i64: 1, 1>",
            ", window_reversal = array<i1: false, true>",
            ", padding = dense<1> : tensor<2x2xi64>",
        )
        out = [1, 10, 10, 4] if "padding" in more and out[1] == 8 else out
        out = [1, 5, 4, 4] if "padding" in more and out[1] == 4 else out
        self.emit(
            "stablehlo.convolution",
            None,
            ["tensor<1x8x8x3xf32>", "tensor<1x1x3x4xf32>"],
            [self.tensor("f32", out)],
            "batch_group_count = 1 : i64, feature_group_count = 1 : i64, "
            "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>"
            + stride
            + more
            + self.precision(),
        )

    def reducer(self, elem, n=1, op=None):
        op = op or self.pick("add", "maximum", "multiply")
        t = f"tensor<{elem}>"
        names = [f"%r{self.next}_{i}" for i in range(2 * n)]
        args = ", ".join(f"{a}: {t}{self.loc()}" for a in names)
        body = "".join(
            f'      %y{i} = "stablehlo.{op}"({names[i]}, {names[i + n]}) : ({t}, {t}) -> {t}'
            f"{self.loc()}\n"
            for i in range(n)
        )
        values = ", ".join(f"%y{i}" for i in range(n))
        return (
            f' ({{\n    ^bb0({args}):\n{body}      "stablehlo.return"({values}) : '
            f"({', '.join([t] * n)}) -> (){self.loc()}\n    }})"
        )

    def reduce(self):
        elem, n = self.pick("f32", "i32"), self.pick(1, 1, 2)
        kind = self.pick(
            "reduce", "reduce", "reduce_window", "all_reduce", "select_and_scatter", "map"
        )
        if kind == "reduce":
            dims = sorted(self.r.sample(range(3), self.r.randint(1, 3)))
            out = [d for i, d in enumerate([2, 3, 4]) if i not in dims]
            self.emit(
                "stablehlo.reduce",
                None,
                [f"tensor<2x3x4x{elem}>"] * n + [f"tensor<{elem}>"] * n,
                [self.tensor(elem, out)] * n,
                f"dimensions = array<i64: {', '.join(map(str, dims))}>",
                self.reducer(elem, n),
            )
        elif kind == "reduce_window":
            extra = self.pick(
                "", ", window_strides = array<i64: 1, 1>", ", window_dilations = array<i64: 1, 1>"
            )
            self.emit(
                "stablehlo.reduce_window",
                None,
                [f"tensor<4x4x{elem}>", f"tensor<{elem}>"],
                [f"tensor<3x4x{elem}>"],
                "window_dimensions = array<i64: 2, 1>" + extra,
                self.reducer(elem),
            )
        elif kind == "all_reduce":
            extra = self.pick(
                "",
                ", use_global_device_ids",
                ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>",
            )
            if "use" in extra:
                extra += ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
            t = self.tensor(elem, [2, 3])
            self.emit(
                "stablehlo.all_reduce",
                None,
                [t],
                [t],
                "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>" + extra,
                self.reducer(elem),
            )
        elif kind == "map":
            t = self.tensor(elem, [2, 3])
            self.emit(
                "stablehlo.map",
                None,
                [t, t],
                [t],
                "dimensions = array<i64: 0, 1>",
                self.reducer(elem),
            )

    def gather(self):
        extra = self.pick("", ", indices_are_sorted = true", ", indices_are_sorted = false")
        self.emit(
            "stablehlo.gather",
            None,
            ["tensor<3x4x2xi32>", "tensor<2x3x2xi64>"],
            ["tensor<2x3x2x2xi32>"],
            "dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims ="
            " [0], start_index_map = [1, 0], index_vector_dim = 2>, slice_sizes = array<i64: 1,"
            " 2, 2>" + extra,
        )

    def misc(self):
        t = self.tensor()
        which = self.pick(
            "custom_call",
            "optimization_barrier",
            "after_all",
            "tuple",
            "rng",
            "token",
            "fft",
            "cholesky",
            "partition",
            "composite",
            "collective",
            "infeed",
            "cast",
        )
        if which == "custom_call":
            props = f'call_target_name = "f{self.string()[1:]}'
            props += self.pick("", ", has_side_effect = true", ", has_side_effect = false")
            props += self.pick(
                "",
                f", backend_config = {self.string()}",
                ", api_version = 4 : i32, backend_config = {a = 1, b = [2 : i32]}",
                ", api_version = 2 : i32",
            )
            self.emit(
                "stablehlo.custom_call",
                None,
                [self.tensor() for _ in range(self.r.randint(0, 2))],
                [self.tensor() for _ in range(self.r.randint(0, 2))],
                props,
            )
        elif which == "optimization_barrier":
            types = [self.tensor() for _ in range(self.r.randint(0, 3))]
            self.emit("stablehlo.optimization_barrier", None, types, types)
        elif which in ("after_all", "token"):
            tokens = ["!stablehlo.token"] * self.r.randint(0, 3)
            self.emit("stablehlo.after_all", None, tokens, ["!stablehlo.token"])
        elif which == "tuple":
            self.emit("stablehlo.tuple", None, [t, t], [f"tuple<{t}, {t}>"])
            self.emit("stablehlo.get_tuple_element", None, [f"tuple<{t}>"], [t], "index = 0 : i32")
        elif which == "rng":
            state = "tensor<2xui64>"
            self.emit(
                "stablehlo.rng_bit_generator",
                None,
                [state],
                [state, "tensor<4xui32>"],
                "rng_algorithm = #stablehlo<rng_algorithm"
                f" {self.pick('DEFAULT', 'THREE_FRY', 'PHILOX')}>",
            )
        elif which == "fft":
            self.emit(
                "stablehlo.fft",
                None,
                ["tensor<4xcomplex<f32>>"],
                ["tensor<4xcomplex<f32>>"],
                "fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type"
                f" {self.pick('FFT', 'IFFT')}>",
            )
        elif which == "cholesky":
            self.emit(
                "stablehlo.cholesky",
                None,
                ["tensor<3x3xf32>"],
                ["tensor<3x3xf32>"],
                self.pick("", "lower = true", "lower = false"),
            )
        elif which == "partition":
            self.emit(
                "stablehlo." + self.pick("partition_id", "replica_id"), [], [], ["tensor<ui32>"]
            )
        elif which == "composite":
            self.symbols += 1
            self.extra.append(
                f"  func.func private @d{self.symbols}(%x: {t}) -> {t} {{\n    return %x :"
                f" {t}\n  }}"
            )
            self.emit(
                "stablehlo.composite",
                None,
                [t],
                [t],
                'name = "foo.c", decomposition = '
                f"@d{self.symbols}, version = "
                f"{self.r.randint(0, 2)} : i32"
                + self.pick("", ', composite_attributes = {a = 1, b = "x"}'),
            )
        elif which == "collective":
            self.emit(
                "stablehlo.collective_permute",
                None,
                [t],
                [t],
                "source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>"
                + self.pick(
                    "", ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>"
                ),
            )
        elif which == "cast":
            self.emit("builtin.unrealized_conversion_cast", None, [self.type(1)], [self.type(1)])

    def module(self):
        makers = [
            self.unary,
            self.chlo_unary,
            self.binary,
            self.chlo_binary,
            self.constant,
            self.constant,
            self.compare,
            self.select,
            self.clamp,
            self.convert,
            self.complex,
            self.shape,
            self.shape,
            self.shape,
            self.dot,
            self.convolution,
            self.reduce,
            self.gather,
            self.control,
            self.misc,
            self.misc,
            self.foreign,
            self.foreign,
            self.other,
            self.other,
            self.sharded,
        ]
        out = []
        for f in range(self.r.randint(1, 3)):
            self.lines = []
            for _ in range(self.r.randint(1, 8)):
                self.pick(*makers)()
            arg = (
                lambda i: f"%a{i}: {self.type(1)}"
                + (
                    " " + self.dictionary(2, 1).replace("a =", "foo.a =")
                    if self.chance(0.0)
                    else ""
                )
                + self.loc()
            )
            args = [arg(i) for i in range(self.r.randint(0, 3))]
            visibility = self.pick("", "private ", "public ")
            attributes = self.discardable()
            attributes = " attributes" + attributes if attributes else ""
            out.append(
                f"  func.func {visibility}@f{f}({', '.join(args)}){attributes} {{\n"
                + "\n".join(self.lines)
                + f"\n    return{self.loc()}\n  }}{self.loc()}"
            )
        out += self.extra
        if self.mesh:
            out.insert(0, f'  sdy.mesh @sm = <["x"=2, "y"=4, "z"=2]>{self.loc()}')
        head = self.pick("module", "module @m", "module attributes {foo.x = " + self.attr() + "}")
        return f"{head} {{\n" + "\n".join(out) + f"\n}}{self.loc()}\n"
