"""Ops that sharded.py draws seldom: transforms and factors, normalizations, older forms, quantized
numbers, and what chlo has beside functions."""

import math

from sharded_module import LARGEST, SIZES, array, joined, only_sharded
from sharded_ops import is_number, is_real
from sharded_sdy import Sdy, braces
from sharded_values import ELEMENTS, Value, tensor

# Broadcast ops of chlo by what they take.
BROADCAST = {"any": ["add", "multiply", "subtract"], "real": ["maximum", "minimum"],
             "int": ["and", "or", "xor", "shift_left", "shift_right_arithmetic",
                     "shift_right_logical", "divide", "remainder", "power"],
             "pred": ["and", "or", "xor", "maximum", "minimum"],
             "float": ["divide", "remainder", "power", "atan2"], "other": ["compare", "select"],
             "wide": ["next_after", "polygamma", "zeta", "complex"]}
QUANTIZED = ["!quant.uniform<i8:f32, 5.000000e-01:1>", "!quant.uniform<u8:f32, 1.000000e+00:128>",
             "!quant.uniform<i8<-127:127>:f32, 2.500000e-01>", "!quant.uniform<i4:f32, 1.0>",
             "!quant.uniform<i16:f32, 1.250000e-01:-3>"]


# LAPACK's routines as JAX calls them: what is known of the matrices, results of m x n ones (k the
# lesser; t: their type, r: its real one, c: its complex one, i: i32), attributes to choose from.
VECTORS, UPLO = {"mode": "S"}, {"uplo": "LU"}
ROUTINES = {
    "getrf": ("", [("t", "mn"), ("i", "k"), ("i", "")], {}),
    "geqrf": ("", [("t", "mn"), ("t", "k")], {}),
    "potrf": ("definite", [("t", "mn"), ("i", "")], UPLO),
    "syevd": ("square", [("t", "mn"), ("r", "n"), ("i", "")], {"mode": "V", **UPLO}),
    "gesdd": ("", [("t", "mn"), ("r", "k"), ("t", "mk"), ("t", "kn"), ("i", "")], VECTORS),
    "gesvd": ("", [("t", "mn"), ("r", "k"), ("t", "mk"), ("t", "kn"), ("i", "")], VECTORS),
    "geev": ("square", [("r", "n"), ("r", "n"), ("c", "nn"), ("c", "nn"), ("i", "")],
             {"compute_left": "V", "compute_right": "V"}),
    "gees": ("square", [("t", "nn"), ("t", "nn"), ("r", "n"), ("r", "n"), ("i", ""), ("i", "")],
             {"mode": "V", "sort": "N"}),
    "trsm": ("solve", [("b", "")], {"side": "L", "uplo": "LU", "trans_x": "NT", "diag": "U"}),
    "orgqr": ("tall", [("t", "mn")], {})}


class Seldom(Sdy):
    WEIGHTS = {"fft": 0.3, "cholesky": 0.3, "batch_norm": 0.4, "einsum": 0.4, "unary_einsum": 0.2,
               "select_rows": 0.3, "size": 0.1, "broadcasting": 0.5, "constant_like": 0.2,
               "ragged_dot": 0.4, "chlo_scan": 0.3, "quantized": 0.4, "drawn": 0.2, "tuple": 0.1,
               "kernel": 0.05, "parts": 0.3, "lapack": 0.6, "manual_body": 1,
               "top_k_call": 0.2}

    def of(self, element, least=1):
        """A value of this type."""
        found = [v for v in self.values
                 if v.element == element and len(v.shape) >= least and v.size]
        if found and self.chance(0.7):
            return self.r.choice(found)
        shape = [max(n, 1) for n in self.shape(least, 4)]
        return self.source(shape, element)

    def keep_near(self, out):
        """Results whose last places depend on how many of them a device has: nothing is made of
        them."""
        for x in out:
            x.near = 32
        self.long += [x for x in out if self.depth == 0]

    # ---- transforms, factors ----

    def draw_fft(self):
        """As many lines as a device has are computed together."""
        r, wide = self.r, self.r.choice(["f32", "f32", "f64"])
        kind, count = r.choice(["FFT", "IFFT", "RFFT", "IRFFT"]), r.choice([1, 1, 2, 3])
        v = self.of(wide if kind == "RFFT" else f"complex<{wide}>", count)
        *batch, last = v.shape
        element = f"complex<{wide}>"
        whole = last
        if kind == "RFFT":
            last = last // 2 + 1
        elif kind == "IRFFT":
            element, last = wide, max(1, 2 * last - r.choice([2, 2, 1]))
            whole = last
        if math.prod(batch) * last <= LARGEST:
            length = [*batch[len(batch) - count + 1:], whole]
            self.keep_near(self.op("stablehlo.fft", [v], [((*batch, last), element, None)],
                                   f"fft_length = {array(length)}, fft_type = "
                                   f"#stablehlo<fft_type {kind}>"))

    def draw_cholesky(self):
        if self.closed:
            return
        n = self.r.choice([1, 2, 3, 4, 6, 8])
        shape = [*self.shape(0, 2), n, n]
        if math.prod(shape) <= LARGEST:
            v = self.argument(shape, self.r.choice(["f32", "f64", "complex<f32>"]), "definite")
            self.keep(self.op("stablehlo.cholesky", [v], [(shape, v.element, None)],
                              f"lower = {str(self.chance(0.5)).lower()}"))

    def draw_lapack(self):
        """A factorisation or a solution of each matrix of a batch, with the rule that JAX gives."""
        r, wide = self.r, self.r.choice(["s", "s", "d"])
        v, name = self.of("f32" if wide == "s" else "f64", 2), r.choice(list(ROUTINES))
        v = self.fit(v, 3)
        what, results, config = ROUTINES[name]
        if v is None or self.special:  # of what is not finite routines make what they like
            return
        *batch, m, n = v.shape
        k = min(m, n)
        if what in ("square", "solve", "definite") and m != n or what == "tall" and m < n:
            return
        operands = [v]
        if what == "solve":
            operands.append(self.source([*batch, n, r.choice([1, 2, 3])], v.element))
        elif what == "tall":
            operands.append(self.source([*batch, n], v.element))
        elif what == "definite" and not self.closed:
            operands = [self.argument(v.shape, v.element, "definite")]
        elements = {"t": v.element, "r": v.element, "i": "i32", "c": f"complex<{v.element}>"}
        sizes = {"m": m, "n": n, "k": k}
        outs = [(operands[-1].shape, v.element, None) if t == "b" else
                ((*batch, *(sizes[d] for d in dims)), elements[t], None) for t, dims in results]
        shapes = [x.shape for x in operands], [x[0] for x in outs]
        config = joined(f"{key} = {ord(r.choice(c))} : ui8" for key, c in config.items())
        self.features[f"lapack {name}"] += 1
        self.keep(self.op(
            "stablehlo.custom_call", operands, outs,
            f"api_version = 4 : i32, backend_config = {{{config}}}, "
            f'call_target_name = "lapack_{wide}{name}_ffi", '
            f"operand_layouts = [{self.layouts(shapes[0], len(batch))}], "
            f"result_layouts = [{self.layouts(shapes[1], len(batch))}]",
            rule=self.batch_rule(shapes, len(batch)) if self.chance(0.8) else ""))

    @staticmethod
    def layouts(shapes, batch):
        """Columns of matrices are contiguous."""
        orders = ([k - 2, k - 1, *range(k - 3, -1, -1)] if k == batch + 2 else
                  list(range(k - 1, -1, -1)) for k in map(len, shapes))
        return joined(f"dense<{o if o else ''}> : tensor<{len(o)}xindex>" for o in orders)

    @staticmethod
    def batch_rule(shapes, batch):
        """Dimensions in front belong together, others to nothing."""
        letters = iter("ijklmnopqrstuvwxyz")
        lead, sizes = [next(letters) for _ in range(batch)], {}

        def dims(shape):
            own = lead + [next(letters) for _ in shape[batch:]]
            sizes.update(zip(own, shape))
            return f"[{joined(own)}]"
        left, right = (joined([dims(shape) for shape in side]) for side in shapes)
        return (f"sdy.sharding_rule = #sdy.op_sharding_rule<({left})->({right}) {{"
                + joined(f"{k}={size}" for k, size in sizes.items()) + "}, custom>")

    # ---- normalizations: what is summed up is not whole ----

    def draw_batch_norm(self):
        v, r = self.some(lambda v: v.element in ("f32", "f64", "bf16", "f16"), least=1), self.r
        if v is None or self.depth or v.bound is None:
            return
        d = r.randrange(len(v.shape))
        each = [self.like(Value("", (v.shape[d],), v.element)) for _ in range(4)]
        text = f"epsilon = 1.000000e-03 : f32, feature_index = {d} : i64"
        one = ((v.shape[d],), v.element, None)
        how = r.choice(["training", "inference", "grad"])
        if how == "inference":
            self.keep(self.op("stablehlo.batch_norm_inference", [v, *each],
                              [(v.shape, v.element, None)], text))
            return
        operands = [v, *each[:2]]
        if how == "grad":
            operands = [v, *each[:2], self.op("stablehlo.abs", each[2:3], [one])[0], self.like(v)]
        if any(x.bound is None for x in operands[:1] + operands[-1:]):
            return
        out = self.op(f"stablehlo.batch_norm_{how}", operands, [(v.shape, v.element, None), one,
                                                                one], text)
        self.keep_near(out)

    # ---- older forms ----

    def draw_einsum(self):
        """Dimensions of both or one operand, kept or summed up, in any order."""
        r, a = self.r, self.some(is_number, least=1)
        if a is None:
            return
        names = iter("abcdefghijklmnop")
        sizes, left, right, out = {}, [], [], []
        for n in a.shape:
            k = next(names)
            sizes[k] = n
            left.append(k)
            how = r.choice(["batch", "contracted", "contracted", "free", "free", "alone"])
            right += [k] * (how in ("batch", "contracted"))
            out += [k] * (how in ("batch", "free"))
        for n in self.shape(0, 2):
            k = next(names)
            sizes[k] = n
            right.append(k)
            out += [k] * (r.random() < 0.9)
        r.shuffle(right)
        r.shuffle(out)
        b = Value("", [sizes[k] for k in right], a.element)
        shape = [sizes[k] for k in out]
        if max(b.size, math.prod(shape)) > LARGEST:
            return
        b, times = self.like(b), math.prod(n for k, n in sizes.items() if k not in out)
        x = self.fit(a, 2)
        y = x and self.fit(b, 2)
        bound = y and (x.bound or 0) * (y.bound or 0) * times * (2 if a.info.complex else 1)
        if y is None or (not self.wild and a.info.exact is not None and bound > a.info.exact):
            return
        text = f"{''.join(left)},{''.join(right)}->{''.join(out)}"
        self.keep(self.op("stablehlo.einsum", [x, y],
                          [(shape, a.element, None if self.wild else bound)],
                          f'einsum_config = "{text}"'))

    def draw_unary_einsum(self):
        r, v = self.r, self.some(is_number, least=1)
        if v is None:
            return
        letters = []
        for d, n in enumerate(v.shape):  # of two alike the diagonal
            same = [letters[i] for i in range(d) if v.shape[i] == n]
            letters.append(r.choice(same) if same and r.random() < 0.3 else "abcdef"[d])
        sizes = dict(zip(letters, v.shape))
        out = [k for k in sizes if r.random() < 0.7]
        r.shuffle(out)
        v, bound = self.summable(v, math.prod(n for k, n in sizes.items() if k not in out))
        if v is not None:
            self.keep(self.op("stablehlo.unary_einsum", [v],
                              [([sizes[k] for k in out], v.element, None if self.wild else bound)],
                              f'einsum_config = "{"".join(letters)}->{"".join(out)}"'))

    def draw_select_rows(self):
        """Rows by indices, of each batch its own."""
        v, r = self.some(least=1), self.r
        if v is None or self.closed:
            return
        d = r.randrange(len(v.shape))
        batch = r.randint(0, d)
        shape = [*v.shape[:batch], *self.shape(0, 2)]
        index = self.argument(shape, r.choice(["i32", "i64"]), "index", v.shape[d])
        out = [*v.shape[:d], *shape[batch:], *v.shape[d + 1:]]
        if max(index.size, math.prod(out)) <= LARGEST:
            self.keep(self.op("stablehlo.torch_index_select", [v, index],
                              [(out, v.element, v.bound)],
                              f"batch_dims = {batch} : i64, dim = {d} : i64"))

    def draw_size(self):
        v = self.some(least=1, empty=True)
        if v is None:
            return
        d = self.r.randrange(len(v.shape))
        n = self.op("stablehlo.get_dimension_size", [v], [((), "i32", v.shape[d])],
                    f"dimension = {d} : i64")[0]
        if self.chance(0.5):
            n = self.integers([v.shape[d]], ())
            self.keep(self.op("stablehlo.set_dimension_size", [v, n],
                              [(v.shape, v.element, v.bound)], f"dimension = {d} : i64"))
        else:
            self.keep([n])

    def draw_drawn(self):
        """Of what is drawn from any state, only that all devices have the same."""
        if self.depth:
            return
        element, r = self.r.choice(["f32", "bf16", "i32", "f64"]), self.r
        shape = self.shape(1, 3)
        how = r.choice(["UNIFORM", "NORMAL"]) if ELEMENTS[element].float else "UNIFORM"
        ends = [self.constant((), element, n) for n in (0, 5)]
        v = self.op("stablehlo.rng", [*ends, self.integers(shape, (len(shape),), "i64")],
                    [(shape, element, None)],
                    f"rng_distribution = #stablehlo<rng_distribution {how}>")[0]
        for x in self.witness(v):
            x.alike = True
            self.long.append(x)

    def draw_tuple(self):
        v = self.some()
        if v is None:
            return
        w, out, t, r = self.like(v), self.name(), self.name(), self.r.randrange(2)
        both = f"tuple<{v.type}, {w.type}>"
        self.lines += [
            f'{t} = "stablehlo.tuple"({v.name}, {w.name}) : ({v.type}, {w.type}) -> {both}',
            f'{out} = "stablehlo.get_tuple_element"({t}) <{{index = {r} : i32}}> : ({both}) -> '
            f"{v.type}"]
        self.counts.update(["stablehlo.tuple", "stablehlo.get_tuple_element"])
        self.keep([Value(out, v.shape, v.element, (v, w)[r].bound)])

    # ---- quantized numbers ----

    def draw_quantized(self):
        """Quantized, moved or added, and back."""
        r, v = self.r, self.of("f32")
        v = self.fit(v, 3)
        if v is None or self.wild:
            return
        t, d = r.choice(QUANTIZED), r.randrange(len(v.shape))
        if r.random() < 0.3:
            scales = joined(f"{r.choice([0.25, 0.5, 1.0])}:{r.choice([0, 1, -2])}"
                            for _ in range(v.shape[d]))
            t = f"!quant.uniform<i8:f32:{d}, {{{scales}}}>"
        x = self.op("stablehlo.uniform_quantize", [v], [(v.shape, t, v.bound)])[0]
        how = r.choice(["", "add", "multiply", "maximum", "negate", "transpose", "convert"])
        if how in ("add", "multiply", "maximum") and "{" not in t:
            w = self.fit(self.like(v), 3)
            y = self.op("stablehlo.uniform_quantize", [w], [(v.shape, t, w.bound)])[0]
            x = self.op("stablehlo." + how, [x, y], [(v.shape, t, None)])[0]
        elif how == "negate" and "{" not in t:
            x = self.op("stablehlo.negate", [x], [(v.shape, t, None)])[0]
        elif how == "convert" and "{" not in t:
            x = self.op("stablehlo.uniform_quantize", [x],
                        [(v.shape, r.choice(QUANTIZED), None)])[0]
        elif how == "transpose":
            order = r.sample(range(len(v.shape)), len(v.shape))
            t = t.replace(f"f32:{d}, {{", f"f32:{order.index(d)}, {{")
            x = self.op("stablehlo.transpose", [x], [([v.shape[k] for k in order], t, None)],
                        f"permutation = {array(order)}")[0]
        self.keep(self.op("stablehlo.uniform_dequantize", [x], [(x.shape, "f32", None)]))

    # ---- chlo ----

    def draw_broadcasting(self):
        r, v = self.r, self.some(is_number, empty=True)
        if v is None:
            return
        kind = v.info.kind
        groups = ["pred"] if kind == "pred" else ["any", "other"]
        groups += ["real"] * (v.info.float or v.info.int) + ["int"] * v.info.int
        groups += ["float"] * v.info.float + ["wide"] * 2 * (v.element in ("f32", "f64"))
        name = r.choice(BROADCAST[r.choice(groups)])
        k = r.randint(0, len(v.shape))
        small = [1 if r.random() < 0.4 else n for n in v.shape[k:]]
        shape = list(v.shape)
        for d, n in enumerate(v.shape[k:]):
            if n == 1 and r.random() < 0.4 and math.prod(shape) < LARGEST // 24:
                small[d] = shape[k + d] = r.choice(SIZES)
        w = self.like(Value("", small, v.element))
        operands, text, element = [v, w], "", v.element
        if r.random() < 0.5:
            operands.reverse()
        if name == "select":
            pred = self.source([1 if r.random() < 0.4 else n for n in shape], "i1")
            operands.insert(0, pred)
        elif r.random() < 0.5:
            text = f"broadcast_dimensions = {array(range(k, len(shape)))}"
        if name == "compare":
            way = r.choice(["EQ", "NE"] if kind == "complex" else ["EQ", "NE", "LT", "GE"])
            text += (", " if text else "") + \
                f"comparison_direction = #chlo<comparison_direction {way}>"
            element = "i1"
        elif name == "complex":
            if self.special:
                return
            element = f"complex<{element}>"
        bound = max(v.bound, w.bound) if None not in (v.bound, w.bound) and name in (
            "select", "maximum", "minimum", "complex") else None
        if name == "compare":
            bound = 1
        self.keep(self.op("chlo.broadcast_" + name, operands, [(shape, element, bound)], text))

    def draw_constant_like(self):
        v = self.some(is_real, empty=True)
        if v is None:
            return
        number = "true" if v.element == "i1" else f"1{'.0' if v.info.float else ''} : {v.element}"
        self.keep(self.op("chlo.constant_like", [v], [(v.shape, v.element, 1)],
                          f"value = {number}"))
        if v.element != "i1" and v.info.float and v.size:
            self.keep(self.op("chlo.constant", [], [(v.shape, v.element, 2)],
                              f"value = dense<2.0> : {v.type}", annotate=False))

    def draw_kernel(self):
        v = self.of("complex<f32>", 0)
        self.keep(self.op("chlo._asin_acos_kernel", [v], [(v.shape, v.element, None)]))

    def draw_top_k_call(self):
        """As older JAX has it, and as lax.approx_max_k: elsewhere than on TPUs it is exact."""
        r, v = self.r, self.some(lambda v: v.element in ("f32", "bf16", "i32"), least=1)
        if v is None or self.closed:
            return
        v, rank = self.ordered(v), len(v.shape)
        if r.random() < 0.5:
            k = r.randint(1, v.shape[-1])
            shape = [*v.shape[:-1], k]
            self.keep(self.op(
                "stablehlo.custom_call", [v], [(shape, v.element, v.bound), (shape, "i32", 9)],
                'call_target_name = "mhlo.topk"', rule="mhlo.attributes = {k = "
                f"{k} : i64, largest = {str(self.chance(0.7)).lower()}}}", both=True))
            return
        d = r.randrange(rank)
        k = r.randint(1, v.shape[d])
        shape = [k if i == d else n for i, n in enumerate(v.shape)]
        name, t, way = f"f{len(self.functions)}", tensor((), v.element), r.choice(["GT", "LT"])
        total = ", TOTALORDER" if v.info.float else ""
        self.functions.append(
            f"func.func private @{name}(%a: {t}, %b: {t}, %c: tensor<i32>, %d: tensor<i32>) -> "
            f"tensor<i1> {{\n%0 = stablehlo.compare {way}, %a, %b{total} : ({t}, {t}) -> "
            "tensor<i1>\nreturn %0 : tensor<i1>\n}")
        index = self.op("stablehlo.iota", [], [(v.shape, "i32", v.shape[d])],
                        f"iota_dimension = {d} : i64")[0]
        ends = [self.constant((), v.element, 0), self.constant((), "i32", 0)]
        self.keep(self.op(
            "stablehlo.custom_call", [v, index, *ends],
            [(shape, v.element, None), (shape, "i32", 9)],
            f'call_target_name = "ApproxTopK", called_computations = [@{name}]',
            rule="mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, "
            f"recall_target = 0.95 : f32, reduction_dim = {d} : i64, "
            f"reduction_input_size_override = -1 : i64, top_k = {k} : i64}}", both=True))

    def draw_ragged_dot(self):
        """Rows, contracted columns, or batches in groups."""
        r, element = self.r, self.r.choice(["f32", "f32", "bf16", "i32"])
        if self.closed or self.wild:
            return
        b, m, n, k, g = (r.choice([2, 3, 4, 6, 8]) for _ in range(5))
        how = r.choice(["rows", "rows", "columns", "batches"])
        batch = [b] if how != "batches" and r.random() < 0.4 else []
        shapes = {"rows": ([m, k], [g, k, n], [m, n], m),
                  "columns": ([m, k], [k, n], [g, m, n], k),
                  "batches": ([b, m, k], [b, k, n], [b, m, n], b)}[how]
        left, right, out, length = shapes
        front = len(batch)
        left = batch + left
        right = [right[0], *batch, *right[1:]] if how == "rows" else batch + right
        out = [out[0], *batch, *out[1:]] if how == "columns" else batch + out
        x, y = (self.fit(self.like(Value("", s, element)), 3) for s in (left, right))
        sizes = self.argument([*batch, g], r.choice(["i32", "i64"]), "index", length // g + 1)
        if None in (x, y) or max(map(math.prod, (left, right, out))) > LARGEST:
            return
        bound = x.bound * y.bound * k
        if x.info.exact is not None and bound > x.info.exact:
            return
        lists = {"lhs_batching_dimensions": list(range(front)),
                 "rhs_batching_dimensions": list(range(front))}
        if how == "rows":
            lists = {"lhs_batching_dimensions": list(range(front)),
                     "rhs_batching_dimensions": [1 + d for d in range(front)],
                     "lhs_contracting_dimensions": [front + 1],
                     "rhs_contracting_dimensions": [front + 1],
                     "lhs_ragged_dimensions": [front], "rhs_group_dimensions": [0]}
        elif how == "columns":
            lists |= {"lhs_contracting_dimensions": [front + 1],
                      "rhs_contracting_dimensions": [front],
                      "lhs_ragged_dimensions": [front + 1]}
        else:
            lists = {"lhs_batching_dimensions": [0], "rhs_batching_dimensions": [0],
                     "lhs_contracting_dimensions": [2], "rhs_contracting_dimensions": [1],
                     "lhs_ragged_dimensions": [0]}
        text = joined(f"{name} = {dims}" for name, dims in lists.items() if dims)
        self.keep(self.op("chlo.ragged_dot", [x, y, sizes], [(out, element, bound)],
                          f"ragged_dot_dimension_numbers = #chlo.ragged_dot<{text}>"))
        self.features[f"ragged {how}"] += 1

    def draw_chlo_scan(self):
        """A running sum or maximum, from either end."""
        r, v = self.r, self.some(is_real, least=1)
        if v is None or self.depth > 1:
            return
        d, name = r.randrange(len(v.shape)), r.choice(["add", "maximum"])
        if name == "add":
            v, bound = self.summable(v, v.shape[d] + 1)
        if v is None:
            return
        shape = [n for k, n in enumerate(v.shape) if k != d]
        first = self.fit(self.like(Value("", shape, v.element)), 3 if v.bound is None else v.bound)
        if first is None:
            return
        if name == "maximum":
            bound = None if None in (v.bound, first.bound) else max(v.bound, first.bound)
        k, t = self.name()[2:], tensor(shape, v.element)
        body = (f"{{\n^bb0(%x{k}: {t}, %y{k}: {t}):\n"
                f'%z{k} = "stablehlo.{name}"(%x{k}, %y{k}) : ({t}, {t}) -> {t}\n'
                f'"stablehlo.return"(%z{k}, %z{k}) : ({t}, {t}) -> ()\n}}')
        one = "array<i32: 1, 1>"
        self.keep(self.op(
            "chlo.scan", [v, first],
            [(v.shape, v.element, None if self.wild else bound),
             (shape, v.element, None if self.wild else bound)],
            f"dimension = {d} : i64, is_reverse = {str(self.chance(0.5)).lower()}, "
            f"operandSegmentSizes = {one}, resultSegmentSizes = {one}", body))

    # ---- sums left open ----

    def draw_parts(self):
        """A value in parts, added up again by a collective."""
        v, r = self.some(lambda v: v.info.int and v.info.bits > 4, least=1), self.r
        axes = [(a, n) for a, n in self.free_axes().items() if n > 1]
        if v is None or not axes:
            return
        a, n = r.choice(axes)
        x, y, z, rank = self.name(), self.name(), self.name(), len(v.shape)
        fits = [d for d, size in enumerate(v.shape) if size % n == 0]

        def along(d):
            return "[" + joined(f'{{"{a}"}}' if k == d else "{}" for k in range(rank)) + "]"
        d = r.choice(fits) if fits and r.random() < 0.5 else None
        kind, how = "sdy.replicated_to_unreduced", f'{{"{a}"}}'
        if d is not None:
            kind, how = "sdy.sharded_to_unreduced", along(d)
        lines = (f"{x} = sdy.reshard {v.name} <@mesh, {along(d)}> : {v.type}\n"
                 f'{y} = {kind} {how} {x} out_sharding=<@mesh, {along(None)}, '
                 f'unreduced={{"{a}"}}> : {v.type}\n')
        self.counts[kind] += 1
        d = r.choice(fits) if fits and r.random() < 0.5 else None
        kind, how = "sdy.all_reduce", f'{{"{a}"}}'
        if d is not None:
            kind, how = "sdy.reduce_scatter", along(d)
        lines += f"{z} = {kind} {how} {y} out_sharding=<@mesh, {along(d)}> : {v.type}"
        self.counts[kind] += 1
        self.lines.append(self.marked(lines, z, v))
        self.keep([Value(z, v.shape, v.element, v.bound)])

    def draw_manual_body(self):
        """Any ops, in a manual computation over axes that cut nothing."""
        r, v, axes = self.r, self.some(least=1), self.free_axes()
        if v is None or self.depth > 1 or not axes:
            return
        taken = r.sample(list(axes), r.randint(1, len(axes)))
        many, outer, k = [v] + [self.like(v)] * self.chance(0.3), self.manual, self.name()[2:]
        self.manual = outer | set(taken)
        inner = [Value(f"%m{k}_{i}", x.shape, x.element, x.bound) for i, x in enumerate(many)]
        lines, made = self.body(inner, r.randint(1, 4), closed=True)
        ends = [self.ending(lines, made, x) for x in inner] + made[-3:]
        kept = ", ".join(f'"{a}"' for a in axes if a in taken)

        def border(shape):
            """Axes that are free, and the manual ones on the whole."""
            dims = [[] for _ in shape]
            for a, n in self.free_axes().items():
                fits = [d for d, size in enumerate(shape) if size % n == 0 and not dims[d]]
                if fits and r.random() < 0.4:
                    dims[r.choice(fits)].append(f'"{a}"')
            return f"<@mesh, [{braces(dims)}], replicated={{{kept}}}>"
        out = [f"%o{k}_{i}" for i in range(len(ends))]
        head = joined(f"{p.name}: {p.type}" for p in inner)
        types, made = joined(x.type for x in many), joined(x.type for x in ends)
        self.lines += [only_sharded(
            f"{joined(out)} = sdy.manual_computation({joined(x.name for x in many)}) in_shardings=["
            f"{joined(border(x.shape) for x in many)}] out_shardings=["
            f"{joined(border(x.shape) for x in ends)}] manual_axes={{{kept}}} ({head}) {{",
            "\n".join(self.handed_on(p, x) for p, x in zip([p.name for p in inner], many))),
            *lines, only_sharded(
                f"sdy.return {joined(x.name for x in ends)} : {made}\n}} : ({types}) -> ({made})",
                "\n".join(self.handed_on(name, x) for name, x in zip(out, ends)))]
        self.manual = outer
        self.counts["sdy.manual_computation"] += 1
        self.features["ops in manual computations"] += 1
        self.keep([Value(name, x.shape, x.element, x.bound) for name, x in zip(out, ends)])

    @staticmethod
    def handed_on(name, v):
        return f'{name} = "stablehlo.optimization_barrier"({v.name}) : ({v.type}) -> {v.type}'
