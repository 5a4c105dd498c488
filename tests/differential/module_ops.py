"""The ops without regions of modules.py, and how they are written."""

SIZES = [1, 2, 2, 3, 4, 4, 6, 8, 8, 8, 12, 16, 16, 24]
ARITHMETIC = ["add", "add", "multiply", "subtract", "maximum", "divide", "minimum", "power",
              "atan2", "remainder"]
UNARY = ["tanh", "negate", "sine", "abs", "exponential", "cbrt", "ceil", "log_plus_one", "logistic",
         "round_nearest_even", "rsqrt", "sign", "tan", "exponential_minus_one"]
# element type, ops of two operands, ops of one
TYPED = [("i32", ["and", "or", "xor", "shift_left", "shift_right_logical"],
          ["not", "popcnt", "count_leading_zeros"]),
         ("bf16", ["add", "multiply"], ["sqrt", "floor"]),
         ("f64", ["subtract", "maximum"], ["cosine", "log"])]
# custom calls that Shardy knows, and some that it does not
POINTWISE = ["annotate_device_placement", "Cholesky", "CompactWyHelper", "InspectSharding",
             "InvertDiagBlocksLowerTriangular", "LayoutConstraint", "mhlo.erf", "MoveToDevice",
             "MoveToHost", "X64SplitHigh", "_SPMDInternalOp_RotateRight", "_SPMDInternalOp_Wrap",
             "_SPMDInternalOp_MultiPad", "xla.megascale.provide_metadata", "tpu_custom_call",
             "xla_python_cpu_callback", "xla.debug.Log", "foo"]


def tensor(shape, element="f32"):
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


def joined(items):
    return ", ".join(map(str, items))


def array(numbers):
    return f"array<i64{': ' if numbers else ''}{joined(numbers)}>"


def literal(element):
    """Of a constant."""
    if element.startswith("complex"):
        return "(1.0,0.0)"
    return {"i1": "true"}.get(element, "1.0" if "f" in element else "1")


class Value:
    def __init__(self, name, shape, element="f32"):
        self.name, self.shape, self.element = name, tuple(shape), element

    @property
    def type(self):
        return self.element if self.element[0] == "!" else tensor(self.shape, self.element)

    @property
    def place(self):
        """The shape, None of a token."""
        return None if self.element[0] == "!" else self.shape


class Ops:
    """What Maker adds to."""

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def op(self, text, operands, results, properties="", regions="", rule=""):
        """In generic form; `results` are (shape, element)."""
        name = self.name()
        many = len(results) != 1
        outs = [Value(f"{name}#{i}" if many else name, *r) for i, r in enumerate(results)]
        # Shardy dies of results with different unreduced axes
        shardings = self.shardings([o.place for o in outs], unreduced=not many)
        discardable = [t for t in [shardings, rule] if t]
        self.lines.append(
            f'{name}{f":{len(outs)}" if many else ""} = "{text}"'
            f"({joined(o.name for o in operands)}) "
            + (f"<{{{properties}}}> " if properties else "") + (f"({regions}) " if regions else "")
            + (f"{{{joined(discardable)}}} " if discardable else "")
            + f": ({joined(o.type for o in operands)}) -> ({joined(o.type for o in outs)})")
        return outs

    def reducer(self, elements, kind="add"):
        n, k = len(elements), self.name()[1:]
        arguments = [f"%{side}{k}{i}: tensor<{e}>" for side in "lr" for i, e in enumerate(elements)]
        lines = [f'%s{k}{i} = "stablehlo.{kind}"(%l{k}{i}, %r{k}{i}) : '
                 f"(tensor<{e}>, tensor<{e}>) -> tensor<{e}>" for i, e in enumerate(elements)]
        types = joined(f"tensor<{e}>" for e in elements)
        return (f"{{\n^bb0({joined(arguments)}):\n" + "\n".join(lines) + '\n"stablehlo.return"('
                + joined(f"%s{k}{i}" for i in range(n)) + f") : ({types}) -> ()\n}}")

    def comparer(self, elements):
        k = self.name()[1:]
        arguments = [f"%{s}{k}{i}: tensor<{e}>" for i, e in enumerate(elements) for s in "lr"]
        e = elements[0]
        return (f"{{\n^bb0({joined(arguments)}):\n%c{k} = \"stablehlo.compare\"(%l{k}0, %r{k}0) "
                "<{comparison_direction = #stablehlo<comparison_direction LT>}> : "
                f"(tensor<{e}>, tensor<{e}>) -> tensor<i1>\n"
                f'"stablehlo.return"(%c{k}) : (tensor<i1>) -> ()\n}}')

    def constant(self, shape, element="f32", text=None):
        return self.op("stablehlo.constant", [], [(shape, element)],
                       f"value = dense<{text or literal(element)}> : {tensor(shape, element)}")[0]

    def like(self, shape, element="f32"):
        """Some value of this type."""
        found = [v for v in self.values if v.shape == tuple(shape) and v.element == element]
        if found and self.r.random() < 0.75:
            return self.r.choice(found)
        if shape and element != "i1" and self.r.random() < 0.5:
            return self.op("stablehlo.iota", [], [(shape, element)],
                           f"iota_dimension = {self.r.randrange(len(shape))} : i64")[0]
        return self.constant(shape, element)

    def convert(self, v, element):
        return self.op("stablehlo.convert", [v], [(v.shape, element)])[0]

    def index(self):
        """A scalar, constant or not."""
        return self.r.choice([self.like, self.constant])((), "i32")

    def sample(self, items, n):
        return sorted(self.r.sample(list(items), n))

    # ---- elementwise ----

    def do_binary(self, v):
        return self.op("stablehlo." + self.r.choice(ARITHMETIC), [v, self.like(v.shape)],
                       [(v.shape,)])
    do_binary_2 = do_binary_3 = do_binary

    def do_unary(self, v):
        return self.op("stablehlo." + self.r.choice(UNARY), [v], [(v.shape,)])
    do_unary_2 = do_unary

    def do_typed(self, v):
        element, two, one = self.r.choice(TYPED)
        x = self.convert(v, element)
        if self.r.random() < 0.5:
            x, = self.op("stablehlo." + self.r.choice(one), [x], [(v.shape, element)])
        else:
            x, = self.op("stablehlo." + self.r.choice(two), [x, self.like(v.shape, element)],
                         [(v.shape, element)])
        return [x, self.convert(x, "f32")]

    def do_complex(self, v):
        x, = self.op("stablehlo.complex", [v, self.like(v.shape)], [(v.shape, "complex<f32>")])
        return [x] + self.op("stablehlo." + self.r.choice(["real", "imag", "abs"]), [x],
                             [(v.shape,)])

    def do_rare(self, v):
        text, properties = self.r.choice([
            ("stablehlo.reduce_precision", "exponent_bits = 5 : i32, mantissa_bits = 10 : i32"),
            ("chlo.erf", ""), ("chlo.square", ""), ("chlo.lgamma", "")])
        return self.op(text, [v], [(v.shape,)], properties)

    def do_select(self, v):
        if self.r.random() < 0.5:
            p, = self.op("stablehlo.compare", [v, self.like(v.shape)], [(v.shape, "i1")],
                         "comparison_direction = #stablehlo<comparison_direction GT>")
        else:
            p = self.like(self.r.choice([(), v.shape]), "i1")
        return self.op("stablehlo.select", [p, v, self.like(v.shape)], [(v.shape,)])

    def do_clamp(self, v):
        low, high = (self.like(self.r.choice([(), v.shape])) for _ in range(2))
        return self.op("stablehlo.clamp", [low, v, high], [(v.shape,)])

    # ---- parts of tensors ----

    def do_slice(self, v):
        if not v.shape:
            return None
        begin, end, stride = [0] * len(v.shape), list(v.shape), [1] * len(v.shape)
        for d in self.sample(range(len(begin)), self.r.choice([1, 1, len(begin)])):
            begin[d] = self.r.randrange(v.shape[d])
            end[d] = self.r.choice([end[d], self.r.randint(begin[d] + 1, end[d])])
            stride[d] = self.r.choice([1, 1, 2])
        out = [-(-(b - a) // s) for a, b, s in zip(begin, end, stride)]
        return self.op("stablehlo.slice", [v], [(out,)], f"start_indices = {array(begin)}, "
                       f"limit_indices = {array(end)}, strides = {array(stride)}")

    def do_pieces(self, v):
        """A concatenation of slices, of one value or of two."""
        d = next((d for d, n in enumerate(v.shape) if n % 2 == 0), None)
        if d is None:
            return None
        parts, half = [], [n // 2 if k == d else n for k, n in enumerate(v.shape)]
        for x in [v, self.r.choice([v, self.like(v.shape)])]:
            begin = [0] * len(half)
            begin[d] = self.r.choice([0, half[d]])
            parts += self.op("stablehlo.slice", [x], [(half,)], f"start_indices = {array(begin)}, "
                             f"limit_indices = {array([a + n for a, n in zip(begin, half)])}, "
                             f"strides = {array([1] * len(half))}")
        if self.r.random() < 0.3:
            parts.append(self.like(half))
        out = [n // 2 * len(parts) if k == d else n for k, n in enumerate(v.shape)]
        return parts + self.op("stablehlo.concatenate", parts, [(out,)], f"dimension = {d} : i64")

    def smaller(self, shape):
        out = list(shape)
        for d in self.sample(range(len(out)), self.r.choice([1, len(out)])):
            out[d] = self.r.choice([1, max(1, out[d] // 2), self.r.randint(1, out[d])])
        return out

    def do_dynamic_slice(self, v):
        if not v.shape:
            return None
        out = self.smaller(v.shape)
        return self.op("stablehlo.dynamic_slice", [v] + [self.index() for _ in out], [(out,)],
                       f"slice_sizes = {array(out)}")

    def do_dynamic_update(self, v):
        if not v.shape:
            return None
        update, constant = self.like(self.smaller(v.shape)), self.r.random() < 0.4
        at = [self.constant((), "i32") if constant else self.index() for _ in v.shape]
        return self.op("stablehlo.dynamic_update_slice", [v, update] + at, [(v.shape,)])

    def do_pad(self, v):
        low, high, inside = ([self.r.choice([0, 0, 1, 2, -1]) for _ in v.shape] for _ in range(3))
        inside = [max(0, n) for n in inside]
        out = [n + a + b + (n - 1) * i for n, a, b, i in zip(v.shape, low, high, inside)]
        if min(out, default=0) < 1:
            return None
        return self.op("stablehlo.pad", [v, self.like(())], [(out,)], f"edge_padding_low = "
                       f"{array(low)}, edge_padding_high = {array(high)}, interior_padding = "
                       f"{array(inside)}")

    def do_reverse(self, v):
        dims = self.sample(range(len(v.shape)), self.r.randint(0, len(v.shape)))
        return self.op("stablehlo.reverse", [v], [(v.shape,)], f"dimensions = {array(dims)}")

    def do_bitcast(self, v):
        x, = self.op("stablehlo.bitcast_convert", [v], [(v.shape + (2,), "bf16")])
        if self.r.random() < 0.5:
            return self.op("stablehlo.bitcast_convert", [x], [(v.shape,)])
        return [x, self.convert(x, "f32")]

    # ---- windows ----

    def windows(self, shape):
        """Attributes, and the shape of what they give."""
        size, stride, pad, out = [], [], [], []
        for n in shape:
            k, s = self.r.choice([(1, 1), (1, 1), (2, 2), (min(n, 3), 1), (2, 1), (1, 2)])
            k = min(k, n)
            low, high = self.r.choice([(0, 0), (0, 0), (1, 1), (k - 1, 0)])
            size.append(k), stride.append(s), pad.append([low, high])
            out.append((n + low + high - k) // s + 1)
        text = (f"window_dimensions = {array(size)}, window_strides = {array(stride)}, "
                f"padding = dense<{pad}> : tensor<{len(pad)}x2xi64>")
        return text, out

    def do_reduce_window(self, v):
        if not v.shape:
            return None
        text, out = self.windows(v.shape)
        inputs = [v] + ([self.like(v.shape)] if self.r.random() < 0.2 else [])
        zeros = [self.constant(()) for _ in inputs]
        return self.op("stablehlo.reduce_window", inputs + zeros, [(out,)] * len(inputs), text,
                       self.reducer(["f32"] * len(inputs)))

    def do_select_and_scatter(self, v):
        if not v.shape:
            return None
        text, source = self.windows(v.shape)
        operands = [v, self.like(source), self.constant(())]
        return self.op("stablehlo.select_and_scatter", operands, [(v.shape,)], text,
                       self.comparer(["f32"]) + ", " + self.reducer(["f32"]))

    # ---- linear algebra ----

    def do_simple_dot(self, v):
        if not 1 <= len(v.shape) <= 2:
            return None
        n, free = v.shape[-1], [self.r.choice(SIZES)][:self.r.choice([0, 1])]
        return self.op("stablehlo.dot", [v, self.like([n] + free)], [(v.shape[:-1] + tuple(free),)])

    def do_fft(self, v):
        if not v.shape:
            return None
        n, k = v.shape[-1], self.r.randint(1, min(3, len(v.shape)))
        length = array(v.shape[-k:])
        if self.r.random() < 0.5:
            x, = self.op("stablehlo.complex", [v, v], [(v.shape, "complex<f32>")])
            x, = self.op("stablehlo.fft", [x], [(v.shape, "complex<f32>")],
                         f"fft_length = {length}, fft_type = #stablehlo<fft_type FFT>")
        else:
            out = v.shape[:-1] + (n // 2 + 1,)
            x, = self.op("stablehlo.fft", [v], [(out, "complex<f32>")],
                         f"fft_length = {length}, fft_type = #stablehlo<fft_type RFFT>")
        return [x] + self.op("stablehlo.real", [x], [(x.shape,)])

    def square(self, v):
        return self.like(v.shape[:-2] + (v.shape[-1], v.shape[-1]))

    def do_cholesky(self, v):
        if len(v.shape) < 2:
            return None
        return self.op("stablehlo.cholesky", [x := self.square(v)], [(x.shape,)], "lower = true")

    def do_triangular_solve(self, v):
        if len(v.shape) < 2:
            return None
        left = self.r.random() < 0.5
        n = v.shape[-2] if left else v.shape[-1]
        a = self.like(v.shape[:-2] + (n, n))
        how = self.r.choice(["NO_TRANSPOSE", "TRANSPOSE"])
        return self.op("stablehlo.triangular_solve", [a, v], [(v.shape,)],
                       f"left_side = {str(left).lower()}, lower = true, unit_diagonal = false, "
                       f"transpose_a = #stablehlo<transpose {how}>")

    def do_decompose(self, v):
        """Custom calls of linear algebra."""
        n = len(v.shape)
        if n < 2:
            return None
        batch, low = v.shape[:-2], min(v.shape[-2:])
        target = self.r.choice(["Qr", "QrDecompositionBlock", "Eigh",
                                "ProductOfElementaryHouseholderReflectors"])
        operands, outs = [v], [(v.shape,), (batch + (low,),)]
        if target == "Eigh":
            operands = [x := self.square(v)]
            outs = [(x.shape,), (x.shape[:-1],)]
        elif target[0] == "P":
            operands, outs = [v, self.like(batch + (low,))], [(v.shape,)]
        return self.op("stablehlo.custom_call", operands, outs, f'call_target_name = "{target}"')

    def do_batch_norm(self, v):
        if not v.shape:
            return None
        d = self.r.randrange(len(v.shape))
        rest = [self.like([v.shape[d]]) for _ in range(4)]
        return self.op("stablehlo.batch_norm_inference", [v] + rest, [(v.shape,)],
                       f"epsilon = 1.0e-3 : f32, feature_index = {d} : i64")

    # ---- shapes ----

    def do_dot(self, v):
        r, n = self.r, len(v.shape)
        if not n:
            return None
        dims = r.sample(range(n), n)
        batch = dims[:r.choice([0, 0, 1])]
        reduced = dims[len(batch):len(batch) + r.choice([1, 1, 2])]
        free = [r.choice(SIZES) for _ in range(r.choice([0, 1, 1, 2]))]
        places = [("b", d) for d in batch] + [("c", d) for d in reduced]
        places += [("f", i) for i in range(len(free))]
        r.shuffle(places)
        w = self.like([free[i] if k == "f" else v.shape[i] for k, i in places])
        batch_w = [places.index(("b", d)) for d in batch]
        reduced_w = [places.index(("c", d)) for d in reduced]
        out = [v.shape[d] for d in batch]
        out += [v.shape[d] for d in range(n) if d not in batch + reduced]
        out += [free[i] for k, i in places if k == "f"]
        return self.op("stablehlo.dot_general", [v, w], [(out,)],
                       "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = "
                       f"{batch}, rhs_batching_dimensions = {batch_w}, "
                       f"lhs_contracting_dimensions = {reduced}, "
                       f"rhs_contracting_dimensions = {reduced_w}>")
    do_dot_2 = do_dot

    def do_reshape(self, v):
        shape = list(v.shape)
        for _ in range(self.r.choice([1, 2])):
            if len(shape) > 1 and self.r.random() < 0.5:
                i = self.r.randrange(len(shape) - 1)
                shape[i:i + 2] = [shape[i] * shape[i + 1]]
            elif shape:
                i = self.r.randrange(len(shape))
                cut = self.r.choice([k for k in range(1, shape[i] + 1) if shape[i] % k == 0])
                shape[i:i + 1] = [cut, shape[i] // cut]
        return self.op("stablehlo.reshape", [v], [(shape,)]) if len(shape) < 6 else None
    do_reshape_2 = do_reshape

    def do_transpose(self, v):
        order = self.r.sample(range(len(v.shape)), len(v.shape))
        return self.op("stablehlo.transpose", [v], [([v.shape[i] for i in order],)],
                       f"permutation = {array(order)}")

    def do_broadcast(self, v):
        shape, dims = list(v.shape), list(range(len(v.shape)))
        if len(shape) > 3:
            return None
        at = self.r.randrange(len(shape) + 1)
        shape.insert(at, self.r.choice(SIZES))
        dims = [d + (d >= at) for d in dims]
        return self.op("stablehlo.broadcast_in_dim", [v], [(shape,)],
                       f"broadcast_dimensions = {array(dims)}")

    def do_reduce(self, v):
        if not v.shape:
            return None
        dims = sorted(self.r.sample(range(len(v.shape)), self.r.choice([1, 1, len(v.shape)])))
        out = [n for d, n in enumerate(v.shape) if d not in dims]
        inputs = [v] + ([self.like(v.shape)] if self.r.random() < 0.2 else [])
        zeros = [self.constant(()) for _ in inputs]
        return self.op("stablehlo.reduce", inputs + zeros, [(out,)] * len(inputs),
                       f"dimensions = {array(dims)}", self.reducer(["f32"] * len(inputs)))

    def do_concatenate(self, v):
        if not v.shape:
            return None
        d = self.r.randrange(len(v.shape))
        parts = [v] + [self.like(v.shape) for _ in range(self.r.choice([1, 1, 2]))]
        shape = list(v.shape)
        shape[d] *= len(parts)
        return self.op("stablehlo.concatenate", parts, [(shape,)], f"dimension = {d} : i64")

    def do_sort(self, v):
        if not v.shape:
            return None
        two = [v] + ([self.like(v.shape, "i32")] if self.r.random() < 0.5 else [])
        return self.op("stablehlo.sort", two, [(x.shape, x.element) for x in two],
                       f"dimension = {self.r.randrange(len(v.shape))} : i64, is_stable = true",
                       self.comparer([x.element for x in two]))

    def do_convolution(self, v):
        r = self.r
        groups, batch_groups = r.choice([(1, 1), (1, 1), (2, 1), (4, 1), (1, 2), (1, 4)])
        channels, batch = 4 * r.choice([1, 2, 4]), 4 * r.choice([1, 2])
        x = self.like([batch, 8, 8, channels])
        out = max(groups, batch_groups) * r.choice([1, 2, 4])
        w = self.like([3, 3, channels // groups, out])
        return self.op("stablehlo.convolution", [x, w], [([batch // batch_groups, 8, 8, out],)],
                       "window_strides = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, "
                       "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->"
                       f"[b, 0, 1, f]>, feature_group_count = {groups} : i64, "
                       f"batch_group_count = {batch_groups} : i64")

    # ---- gather and scatter ----

    def gather_form(self, v):
        """The dimensions of `v` that go, batch, and are indexed; the shape of the indices with
        where its vector is; the places of the window in the result."""
        r, n = self.r, len(v.shape)
        dims = r.sample(range(n), n)
        batch = sorted(dims[:r.choice([0, 0, 1]) if n > 1 else 0])
        rest = dims[len(batch):]
        gone = sorted(rest[:r.randint(0, min(2, len(rest)))])
        mapped = r.sample(rest, r.randint(1, min(2, len(rest))))
        shape = [("n", r.choice([2, 4, 8])) for _ in range(r.choice([0, 1, 1, 2]))]
        for d in batch:
            shape.insert(r.randint(0, len(shape)), (d, v.shape[d]))
        at = r.choice([len(shape), len(shape), r.randint(0, len(shape))])
        full = [size for _, size in shape]
        places = [[k for k, _ in shape].index(d) for d in batch]
        places = [p + (p >= at) for p in places]
        if len(mapped) > 1 or at < len(shape) or r.random() < 0.7:
            full.insert(at, len(mapped))
        window = [d for d in range(n) if d not in batch + gone]
        offset = self.sample(range(len(shape) + len(window)), len(window))
        return batch, gone, mapped, full, at, places, window, offset, [s for _, s in shape]

    def mixed(self, offset, window, outer):
        """The shape with `window` at the places `offset`, `outer` at the others."""
        n, window, outer = len(window) + len(outer), iter(window), iter(outer)
        return [next(window if k in offset else outer) for k in range(n)]

    def do_gather(self, v):
        if not 1 <= len(v.shape) <= 4:
            return None
        batch, gone, mapped, full, at, places, window, offset, outer = self.gather_form(v)
        part = [self.r.choice([v.shape[d], v.shape[d], 1, max(1, v.shape[d] // 2)]) for d in window]
        sizes = dict(zip(window, part))
        slices = [sizes.get(d, 1) for d in range(len(v.shape))]
        return self.op("stablehlo.gather", [v, self.like(full, "i32")],
                       [(self.mixed(offset, part, outer),)],
                       f"dimension_numbers = #stablehlo.gather<offset_dims = {offset}, "
                       f"collapsed_slice_dims = {gone}, operand_batching_dims = {batch}, "
                       f"start_indices_batching_dims = {places}, start_index_map = {mapped}, "
                       f"index_vector_dim = {at}>, slice_sizes = {array(slices)}, "
                       "indices_are_sorted = false")

    def do_scatter(self, v):
        if not 1 <= len(v.shape) <= 4:
            return None
        batch, gone, mapped, full, at, places, window, offset, outer = self.gather_form(v)
        part = [self.r.choice([v.shape[d], v.shape[d], max(1, v.shape[d] // 2)]) for d in window]
        update = self.mixed(offset, part, outer)
        inputs = [v] + ([self.like(v.shape)] if self.r.random() < 0.2 else [])
        updates = [self.like(update) for _ in inputs]
        return self.op("stablehlo.scatter", inputs + [self.like(full, "i32")] + updates,
                       [(v.shape,)] * len(inputs),
                       "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
                       f"{offset}, inserted_window_dims = {gone}, input_batching_dims = "
                       f"{batch}, scatter_indices_batching_dims = {places}, "
                       f"scatter_dims_to_operand_dims = {mapped}, index_vector_dim = {at}>, "
                       "indices_are_sorted = false, unique_indices = false",
                       self.reducer(["f32"] * len(inputs)))

    # ---- random numbers, collectives of StableHLO, tokens ----

    def do_random(self, v):
        if self.r.random() < 0.4:
            halves = [self.like([2], "ui32"), self.like([2], "ui32")]
            state, = self.op("stablehlo.custom_call", halves, [([2], "ui64")],
                             'call_target_name = "X64Combine"')
        else:
            state = self.like([2], "ui64")
        state, bits = self.op("stablehlo.rng_bit_generator", [state],
                              [([2], "ui64"), (v.shape, "ui32")],
                              "rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>")
        return [state, bits, self.convert(bits, "f32")]

    def do_stablehlo_collective(self, v):
        kind = self.r.choice(["all_reduce", "all_gather", "all_to_all", "collective_permute",
                              "collective_broadcast", "reduce_scatter", "cross-replica-sum"])
        groups = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
        out, region = list(v.shape), ""
        if kind in ("all_gather", "all_to_all", "reduce_scatter"):
            if not out:
                return None
            d, k = (self.r.randrange(len(out)) for _ in range(2))
            if kind != "all_gather" and out[d] % 2:
                return None
            if kind == "all_gather":
                out[d], groups = out[d] * 2, f"all_gather_dim = {d} : i64, {groups}"
            elif kind == "reduce_scatter":
                out[d], groups = out[d] // 2, f"scatter_dimension = {d} : i64, {groups}"
            else:
                out[d] //= 2
                out[k] *= 2
                groups = (f"split_dimension = {d} : i64, concat_dimension = {k} : i64, "
                          f"split_count = 2 : i64, {groups}")
        if kind in ("all_reduce", "reduce_scatter"):
            region = self.reducer(["f32"])
        if kind == "collective_permute":
            groups = "source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>"
        return self.op("stablehlo." + kind, [v], [(out,)], groups, region)

    def do_token(self, v):
        token, = self.op("stablehlo.create_token", [], [((), "!stablehlo.token")])
        if self.r.random() < 0.5:
            return self.op("stablehlo.optimization_barrier", [v, token],
                           [(v.shape,), ((), token.element)])[:1]
        return self.op("stablehlo.custom_call", [token, v], [(v.shape,)],
                       'call_target_name = "xla_ffi_python_cpu_callback", has_side_effect = true')

    # ---- custom calls ----

    def do_custom_call(self, v):
        n = self.r.choice([1, 1, 2])
        return self.op("stablehlo.custom_call", [v] + [self.like(v.shape) for _ in range(n - 1)],
                       [(v.shape,)] * n, f'call_target_name = "{self.r.choice(POINTWISE)}"')

    def do_top_k(self, v):
        if not v.shape:
            return None
        k = self.r.randint(1, v.shape[-1])
        outs = [(v.shape[:-1] + (k,),), (v.shape[:-1] + (k,), "i32")]
        if self.r.random() < 0.5:
            return self.op("stablehlo.custom_call", [v], outs, 'call_target_name = "mhlo.topk"')
        rest = [self.like(v.shape, "i32"), self.like(()), self.like((), "i32")]
        target = self.r.choice(["ApproxTopK", "PartialReduce"])
        return self.op("stablehlo.custom_call", [v] + rest, outs, f'call_target_name = "{target}"')

    def do_rule(self, v):
        """A rule of its own: each dimension is one factor or a product of two, some of them the
        same in several tensors."""
        r, letters, sizes = self.r, iter("ijklmnopqrstuvwxyz"), {}

        def dims_of(shape):
            out, mine = [], set()
            for n in shape:
                known = [k for k, s in sizes.items() if s == n and k not in mine]
                if known and r.random() < 0.8:
                    parts = [r.choice(known)]
                else:
                    cut = r.choice([k for k in range(1, n + 1) if n % k == 0])
                    parts = []
                    for s in [cut, n // cut] if 1 < cut < n else [n]:
                        k = next((k for k, m in sizes.items() if m == s and k not in mine), None)
                        if k is None or r.random() < 0.4 or k in parts:
                            sizes[k := next(letters)] = s
                        parts.append(k)
                mine |= set(parts)
                out.append("".join(parts))
            return "[" + joined(out) + "]"
        operands = [v] + [r.choice([self.like(v.shape), r.choice(self.values)])
                          for _ in range(r.choice([0, 1]))]
        outs = [v.shape] + [r.choice(operands).shape for _ in range(r.choice([0, 0, 1]))]
        if sum(len(x.shape) for x in operands) + sum(map(len, outs)) > 12 or any(
                x.element != "f32" for x in operands):
            return None
        ins = [dims_of(x.shape) for x in operands]
        inside = set(sizes)
        results = [dims_of(s) for s in outs]
        used = set("".join(results))
        left, special = list(sizes), ""
        for kind in ["reduction", "need_replication", "permutation", "blocked_propagation"]:
            among = sizes if kind == "blocked_propagation" else left
            some = [k for k in among if r.random() < 0.2
                    and (kind != "reduction" or k in inside and k not in used)]
            special += f" {kind}={{{joined(some)}}}" if some else ""
            left = [k for k in left if k not in some]
        rule = (f"sdy.sharding_rule = #sdy.op_sharding_rule<({joined(ins)})->({joined(results)}) "
                f"{{{joined(f'{k}={s}' for k, s in sizes.items())}}}{special}, custom>")
        return self.op("stablehlo.custom_call", operands, [(s,) for s in outs],
                       'call_target_name = "foo"', "", rule)
    do_rule_2 = do_rule
