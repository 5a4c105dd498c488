"""The ops with regions that sharded.py draws, and how ops are chosen."""

import math

from sharded_module import LARGEST, SIZES, array, joined
from sharded_ops import is_number, is_real, parts
from sharded_seldom import Seldom
from sharded_values import ELEMENTS, Value, tensor

REDUCERS = ["add", "add", "add", "maximum", "minimum", "multiply"]


def scalars(elements):
    return [tensor((), e) for e in elements]


class Maker(Seldom):
    # ---- bodies of scalars ----

    def scalar_body(self, arguments, lines, ends):
        """arguments and ends: (name, element)."""
        head = joined(f"{n}: {tensor((), e)}" for n, e in arguments)
        types = joined(tensor((), e) for _, e in ends)
        end = f'"stablehlo.return"({joined(n for n, _ in ends)}) : ({types}) -> ()\n}}'
        return "\n".join([f"{{\n^bb0({head}):", *lines, end])

    def reducer(self, pairs):
        """Of (op, element) a pair; "second" is the new value."""
        k, lines, ends, arguments = self.name()[2:], [], [], []
        for side in "lr":
            arguments += [(f"%{side}{k}_{i}", e) for i, (_, e) in enumerate(pairs)]
        for i, (name, e) in enumerate(pairs):
            x, y, t = f"%l{k}_{i}", f"%r{k}_{i}", tensor((), e)
            if name == "second":
                ends.append((y, e))
                continue
            if self.chance(0.2):
                x, y = y, x
            lines.append(f'%s{k}_{i} = "stablehlo.{name}"({x}, {y}) : ({t}, {t}) -> {t}')
            ends.append((f"%s{k}_{i}", e))
        return self.scalar_body(arguments, lines, ends)

    def first_largest(self, e, index="i32"):
        """The larger, of equals the one of smaller index."""
        k, t, u = self.name()[2:], tensor((), e), tensor((), index)
        p = tensor((), "i1")

        total = ", compare_type = #stablehlo<comparison_type TOTALORDER>"  # -0 is less than 0

        def compare(out, way, a, b, u):
            order = total if u == t and ELEMENTS[e].float else ""
            return (f'%{out}{k} = "stablehlo.compare"({a}, {b}) <{{comparison_direction = '
                    f"#stablehlo<comparison_direction {way}>{order}}}> : ({u}, {u}) -> {p}")

        def choose(out, a, b, c, t):
            return f'%{out}{k} = "stablehlo.select"({a}, {b}, {c}) : ({p}, {t}, {t}) -> {t}'
        a, i, b, j = (f"%{x}{k}" for x in "aibj")
        lines = [compare("g", "GT", a, b, t), compare("e", "EQ", a, b, t),
                 compare("l", "LT", i, j, u),
                 f'%n{k} = "stablehlo.and"(%e{k}, %l{k}) : ({p}, {p}) -> {p}',
                 f'%o{k} = "stablehlo.or"(%g{k}, %n{k}) : ({p}, {p}) -> {p}',
                 choose("x", f"%g{k}", a, b, t), choose("y", f"%o{k}", i, j, u)]
        return self.scalar_body([(a, e), (i, index), (b, e), (j, index)], lines,
                                [(f"%x{k}", e), (f"%y{k}", index)])

    def reduction(self, v, n):
        """An op that makes one of n elements of v: the name, v fit for it, start, bound."""
        kind = v.info.kind
        if kind == "scale":
            return None
        names = REDUCERS[:3] + ["multiply"] if kind == "complex" else REDUCERS
        if kind == "pred":
            names = ["and", "or", "maximum", "minimum", "xor"]
        elif v.info.int:
            names = [*REDUCERS, "and", "or", "xor"]
        name = self.r.choice(names)
        start = {"add": 0, "multiply": 1, "and": 1, "or": 0, "xor": 0}.get(name)
        if start is None:
            start = self.r.choice([0, 1]) if v.info.kind in ("pred", "unsigned") else \
                self.r.choice([-1, 0, 1, "end"])
        if start == "end":
            start = self.extreme(v.element, name)
        elif name in ("add", "multiply", "and") and self.chance(0.15):
            start = 1 if name == "add" else 0 if name == "and" else 1
        bound = v.bound
        if name == "add":
            v, bound = self.summable(v, n + 1)
            bound += 1
            if self.wild:
                bound = None
        elif name == "multiply":
            v = self.fit(v, 1) if not v.info.complex else None
            bound = 1
        exact = v and not self.wild and v.info.exact
        if v is None or (exact and bound and bound > exact):
            return None
        if name in ("maximum", "minimum"):
            bound = None if isinstance(start, str) or bound is None else max(bound, abs(start))
        return name, v, self.start(v.element, start), bound

    def extreme(self, element, name):
        """The identity of a maximum or minimum, in hex; of what has no infinity a number."""
        infinities = {"f32": ("0xFF800000", "0x7F800000"), "bf16": ("0xFF80", "0x7F80"),
                      "f16": ("0xFC00", "0x7C00"), "f8E5M2": ("0xFC", "0x7C"),
                      "f64": ("0xFFF0000000000000", "0x7FF0000000000000")}
        if element in infinities:
            return infinities[element][name == "minimum"]
        if element in ("i8", "i16", "i32", "i64"):
            largest = 1 << (int(element[1:]) - 1)
            return str(largest - 1 if name == "minimum" else -largest)
        return 0

    def start(self, element, number):
        if isinstance(number, str):
            return self.op("stablehlo.constant", [], [((), element, None)],
                           f"value = dense<{number}> : {tensor((), element)}")[0]
        return self.constant((), element, number)

    # ---- reductions ----

    def draw_reduce(self):
        v = self.some(is_number, least=1, empty=True)
        if v is None:
            return
        dims = self.sample(v)
        n = math.prod(v.shape[d] for d in dims)
        shape = [k for d, k in enumerate(v.shape) if d not in dims]
        operands = [v] + [self.like(v)] * self.chance(0.15)
        if self.chance(0.1):
            operands.append(self.source(v.shape, self.r.choice(["i32", "f32"])))
        chosen = [self.reduction(x, n) for x in operands]
        if None in chosen:
            return
        self.keep(self.op("stablehlo.reduce", [c[1] for c in chosen] + [c[2] for c in chosen],
                          [(shape, c[1].element, c[3]) for c in chosen],
                          f"dimensions = {array(dims)}",
                          self.reducer([(c[0], c[1].element) for c in chosen])))

    def draw_argmax(self):
        v = self.some(is_real, least=1)
        if v is None or v.info.kind == "pred":
            return
        v = self.ordered(v)
        d = self.r.randrange(len(v.shape))
        index = self.op("stablehlo.iota", [], [(v.shape, "i32", v.shape[d])],
                        f"iota_dimension = {d} : i64")[0]
        start = self.extreme(v.element, "maximum")
        starts = [self.start(v.element, start), self.constant((), "i32", 1 << 20)]
        shape = [n for k, n in enumerate(v.shape) if k != d]
        self.keep(self.op("stablehlo.reduce", [v, index, *starts],
                          [(shape, v.element, None), (shape, "i32", 9)],
                          f"dimensions = {array([d])}", self.first_largest(v.element)))

    def draw_reduce_window(self):
        v, r = self.some(is_number, least=1), self.r
        if v is None:
            return
        rank = len(v.shape)
        window, stride, far, near = ([1] * rank for _ in range(4))
        pad = [[0, 0] for _ in range(rank)]
        for d in self.sample(v, r.choice([1, 1, min(2, rank)])):
            if r.random() < 0.4:  # all elements up to each, or from it
                window[d] = v.shape[d]
                pad[d] = r.choice([[v.shape[d] - 1, 0], [0, v.shape[d] - 1]])
                continue
            window[d], stride[d] = r.choice([1, 2, 2, 3]), r.choice([1, 1, 2, 3])
            far[d], near[d] = r.choice([1, 1, 1, 2]), r.choice([1, 1, 1, 2])
            pad[d] = [r.choice([0, 0, 1, 2, -1]), r.choice([0, 0, 1])]
        shape = []
        for d, n in enumerate(v.shape):
            room = (n - 1) * far[d] + 1 + sum(pad[d]) - ((window[d] - 1) * near[d] + 1)
            if room < 0:
                return
            shape.append(room // stride[d] + 1)
        operands = [v] + [self.like(v)] * self.chance(0.1)
        chosen = [self.reduction(x, math.prod(window)) for x in operands]
        if None in chosen or math.prod(shape) > LARGEST or any(c[0] == "xor" for c in chosen):
            return
        if not self.wild and any(isinstance(c[3], int) and c[1].info.exact is not None and
                                 c[3] + math.prod(window) > c[1].info.exact for c in chosen):
            return  # what is padded starts again
        self.keep(self.op(
            "stablehlo.reduce_window", [c[1] for c in chosen] + [c[2] for c in chosen],
            [(shape, c[1].element, c[3] and c[3] + math.prod(window)) for c in chosen],
            f"base_dilations = {array(far)}, padding = {parts(pad)}, window_dilations = "
            f"{array(near)}, window_dimensions = {array(window)}, window_strides = {array(stride)}",
            self.reducer([(c[0], c[1].element) for c in chosen])))

    def draw_select_and_scatter(self):
        """With padding of its own, or of what it selects from, as gradients of pools have it."""
        r, v = self.r, self.some(lambda v: is_real(v) and v.element != "i1", least=1)
        v = v and self.fit(v, 3)
        if v is None or self.wild:
            return
        rank = len(v.shape)
        window, stride, low, high = [1] * rank, [1] * rank, [0] * rank, [0] * rank
        for d in self.sample(v, r.choice([1, 1, min(2, rank)])):
            window[d], stride[d] = r.choice([1, 2, 2, 3, 4]), r.choice([1, 1, 2, 2, 3])
            low[d], high[d] = (r.choice([0, 0, 1, 2]) % window[d] for _ in range(2))
        padded = [n + a + b for n, a, b in zip(v.shape, low, high)]
        source = [(n - k) // s + 1 for n, k, s in zip(padded, window, stride)]
        if min(source) < 1 or math.prod(padded) > LARGEST:
            return
        own, x, bound = self.chance(0.4), v, 4 * math.prod(window)
        if not own:
            number = self.start(v.element, self.extreme(v.element, "maximum")
                                if self.chance(0.7) else 0)
            x = self.op("stablehlo.pad", [v, number], [(padded, v.element, None)],
                        f"edge_padding_high = {array(high)}, edge_padding_low = {array(low)}, "
                        f"interior_padding = {array([0] * rank)}")[0]
        y = self.fit(self.like(Value("", source, v.element)), 3)
        if y is None or (v.info.exact is not None and bound > v.info.exact):
            return
        k, t = self.name()[2:], tensor((), v.element)
        way = r.choice(["GE", "GE", "LE", "GT"])
        select = self.scalar_body(
            [(f"%a{k}", v.element), (f"%b{k}", v.element)],
            [f'%c{k} = "stablehlo.compare"(%a{k}, %b{k}) <{{comparison_direction = '
             f"#stablehlo<comparison_direction {way}>}}> : ({t}, {t}) -> {tensor((), 'i1')}"],
            [(f"%c{k}", "i1")])
        name = r.choice(["add", "add", "add", "maximum"])
        out = self.op("stablehlo.select_and_scatter", [x, y, self.constant((), v.element, 0)],
                      [(x.shape, v.element, bound)],
                      f"padding = {parts([[a, b] if own else [0, 0] for a, b in zip(low, high)])}, "
                      f"window_dimensions = {array(window)}, window_strides = {array(stride)}",
                      f"{select}, {self.reducer([(name, v.element)])}")
        if not own and self.chance(0.8):
            limits = [a + n for a, n in zip(low, v.shape)]
            out = self.op("stablehlo.slice", out, [(v.shape, v.element, bound)],
                          f"limit_indices = {array(limits)}, start_indices = {array(low)}, "
                          f"strides = {array([1] * rank)}")
        self.keep(out)

    # ---- order ----

    def draw_sort(self):
        v = self.some(is_real, least=1, empty=True)
        if v is None:
            return
        d, v = self.r.randrange(len(v.shape)), self.ordered(v)
        operands = [v]
        if self.chance(0.5):
            operands += self.op("stablehlo.iota", [], [(v.shape, "i32", v.shape[d])],
                                f"iota_dimension = {d} : i64")
        if self.chance(0.2):
            operands.append(self.source(v.shape, self.r.choice(self.elements)))
        self.keep(self.sorted(operands, d))

    def sorted(self, operands, d):
        """By the first, and maybe the second where that is equal."""
        k, lines = self.name()[2:], []
        second = len(operands) > 1 and is_real(operands[1]) and self.chance(0.3)
        if second:
            operands = [operands[0], self.ordered(operands[1]), *operands[2:]]
        arguments = [(f"%{s}{k}_{i}", x.element) for i, x in enumerate(operands) for s in "lr"]

        def compare(i, word):
            info, t = operands[i].info, tensor((), operands[i].element)
            order = ", compare_type = #stablehlo<comparison_type TOTALORDER>" if info.float else ""
            lines.append(f'%{word}{k}_{i} = "stablehlo.compare"(%l{k}_{i}, %r{k}_{i}) <{{'
                         f"comparison_direction = #stablehlo<comparison_direction {word}>{order}}}>"
                         f" : ({t}, {t}) -> tensor<i1>")
            return f"%{word}{k}_{i}"

        less = compare(0, self.r.choice(["LT", "GT"]))
        if second:
            more, t = [compare(0, "EQ"), compare(1, self.r.choice(["LT", "GT"]))], "tensor<i1>"
            lines += [f'%a{k} = "stablehlo.and"({joined(more)}) : ({t}, {t}) -> {t}',
                      f'%o{k} = "stablehlo.or"({less}, %a{k}) : ({t}, {t}) -> {t}']
            less = f"%o{k}"
        return self.op("stablehlo.sort", operands,
                       [(x.shape, x.element, x.bound) for x in operands],
                       f"dimension = {d} : i64, is_stable = true",
                       self.scalar_body(arguments, lines, [(less, "i1")]))

    def draw_long_sort(self):
        """Shards so long that they are sorted, and not gathered."""
        axes = self.pieces("mesh")[:self.r.choice([1, 1, 2])]
        if self.depth or self.closed or not axes:
            return
        n = self.r.choice([30000, 65536, 98304]) + self.r.choice([0, 0, 0, 1, -5])
        shape, d = self.r.choice([((n,), 0), ((n,), 0), ((1, n), 1), ((n, 1), 0), ((2, n, 3), 1)])
        operands = [self.argument(shape, self.r.choice([e for e in self.elements if is_real(
            Value("", shape, e, 1))] or ["i32"]))]
        if self.chance(0.3):
            operands += self.op("stablehlo.iota", [], [(shape, "i32", n)],
                                f"iota_dimension = {d} : i64")
        if self.chance(0.3):
            operands.append(self.argument(shape, self.r.choice(self.elements)))
        dims = ["{}"] * len(shape)
        dims[d] = "{" + self.written("mesh", axes) + "}"
        operands[0] = self.ordered(operands[0])
        operands = [self.along(v, dims) for v in operands]
        out = self.sorted(operands, d)
        if self.chance(0.3):
            out = [self.r.choice(out)]
        self.long += [self.along(v, dims) if self.chance(0.8) else v for v in out]
        self.features["long sorts"] += 1

    def along(self, v, dims):
        out = self.name()
        self.lines.append(self.marked(
            f"{out} = sdy.sharding_constraint {v.name} <@mesh, [{joined(dims)}]> : {v.type}",
            out, v))
        return Value(out, v.shape, v.element, v.bound)

    def draw_top_k(self):
        v = self.some(lambda v: is_real(v) and v.info.kind != "pred", least=1)
        if v is not None:
            k, v = self.r.randint(1, v.shape[-1]), self.ordered(v)
            shape = [*v.shape[:-1], k]
            self.keep(self.op("chlo.top_k", [v], [(shape, v.element, v.bound), (shape, "i32", 9)],
                              f"k = {k} : i64"))

    # ---- seldom written ----

    def draw_old_broadcast(self):
        """New dimensions in front."""
        v = self.some(empty=True)
        if v is not None and v.size <= LARGEST // 8:
            sizes = [self.r.choice([1, 2, 3, 4]) for _ in range(self.r.choice([1, 1, 2]))]
            if math.prod(sizes) * v.size <= LARGEST:
                self.keep(self.op("stablehlo.broadcast", [v],
                                  [([*sizes, *v.shape], v.element, v.bound)],
                                  f"broadcast_sizes = {array(sizes)}"))

    def draw_map(self):
        """The greater of two, by a body."""
        v = self.some(lambda v: is_real(v) and v.info.kind != "pred")
        if v is None or self.wild:
            return
        w, k, t = self.like(v), self.name()[2:], tensor((), v.element)
        bound = None if None in (v.bound, w.bound) else max(v.bound, w.bound)
        line = f'%g{k} = "stablehlo.maximum"(%l{k}, %r{k}) : ({t}, {t}) -> {t}'
        self.keep(self.op(
            "stablehlo.map", [v, w], [(v.shape, v.element, bound)],
            f"dimensions = {array(range(len(v.shape)))}",
            self.scalar_body([(f"%l{k}", v.element), (f"%r{k}", v.element)], [line],
                             [(f"%g{k}", v.element)])))

    def draw_triangular_solve(self):
        """A unit triangle of ones, so that all numbers stay whole."""
        r, element = self.r, self.r.choice(["f32", "f64"])
        n, left = r.choice([1, 2, 3]), self.chance(0.5)
        batch = self.shape(0, 2)
        other = r.choice([1, 2, 4, 6, 8])
        b = self.like(Value("", [*batch, *((n, other) if left else (other, n))], element))
        b = self.fit(b, 3)
        if b is None or self.wild or math.prod(batch) * n * n > LARGEST:
            return
        a = self.constant([*batch, n, n], element, 1)
        self.keep(self.op(
            "stablehlo.triangular_solve", [a, b], [(b.shape, element, 3 << n)],
            f"left_side = {str(left).lower()}, lower = {str(self.chance(0.5)).lower()}, "
            "transpose_a = #stablehlo<transpose "
            f"{r.choice(['NO_TRANSPOSE', 'TRANSPOSE'])}>, unit_diagonal = true"))

    # ---- scatter ----

    def draw_scatter(self):
        """With inserted, batching and window dimensions, the index vector anywhere."""
        v, r = self.some(is_number, least=1), self.r
        if v is None or self.closed:
            return
        dims = r.sample(range(len(v.shape)), len(v.shape))
        batching = sorted(dims.pop() for _ in range(r.choice([0, 0, 1, 2])) if len(dims) > 1)
        mapped = [dims.pop() for _ in range(r.choice([1, 1, 2])) if dims]
        kind = r.choice(["second", "add", "add", "maximum", "minimum"])
        if v.info.kind in ("pred", "complex"):
            kind = "second"
        sizes = [1 if d in batching else n for d, n in enumerate(v.shape)]
        inserted = []
        for d in mapped:
            sizes[d] = 1
            if kind == "second" or r.random() < 0.8:
                inserted.append(d)
            else:
                sizes[d] = r.randint(1, v.shape[d])
        for d in dims if kind != "second" else []:
            sizes[d] = v.shape[d] if r.random() < 0.8 else r.randint(1, v.shape[d])
        batch = [v.shape[d] for d in batching]
        if kind == "second":  # no place twice
            mapped, inserted = mapped[:1], inserted[:1]
            dims += [d for d in range(len(sizes)) if d not in batching + mapped + dims]
            for d in dims:
                sizes[d] = v.shape[d]
            batch.append(r.randint(1, v.shape[mapped[0]]))
        else:
            batch += self.shape(0, 2)
        vector = len(batch) if kind == "second" else r.randint(0, len(batch))
        indices = batch[:vector] + [len(mapped)] + batch[vector:]
        window = [sizes[d] for d in range(len(sizes)) if d not in batching + inserted]
        rank = len(batch) + len(window)
        places = sorted(r.sample(range(rank), len(window)))
        left, shape = iter(batch), []
        for k in range(rank):
            shape.append(window[places.index(k)] if k in places else next(left))
        if math.prod(shape) > LARGEST or math.prod(indices) > LARGEST:
            return
        limit = max(v.shape[d] - sizes[d] for d in mapped) + (kind != "second") * r.choice([1, 2])
        updates = self.like(Value("", shape, v.element))
        bound = None if None in (v.bound, updates.bound) else max(v.bound, updates.bound)
        if kind == "add":
            n = math.prod(batch[len(batching):]) + 1
            v, bound = self.summable(v, n)
            updates = v and self.summable(updates, n)[0]
            if updates is None:
                return
            bound = max(bound, (updates.bound or 0) * n) if not self.wild else None
        role = "distinct" if kind == "second" else "index"
        index = self.argument(indices, r.choice(["i32", "i32", "i64"]), role,
                              v.shape[mapped[0]] if kind == "second" else limit)
        at = [k + (k >= vector) for k in range(len(batching))]
        more = (f"input_batching_dims = {batching}, scatter_indices_batching_dims = {at}, "
                if batching else "")
        self.keep(self.op(
            "stablehlo.scatter", [v, index, updates], [(v.shape, v.element, bound)],
            "indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<"
            f"update_window_dims = {places}, inserted_window_dims = {sorted(inserted)}, {more}"
            f"scatter_dims_to_operand_dims = {mapped}, index_vector_dim = {vector}>, "
            f"unique_indices = {str(kind == 'second').lower()}",
            self.reducer([(kind, v.element)])))

    def draw_written_window(self):
        """One window at a place that the program says, seldom one that is not all inside."""
        v, r = self.some(is_number, least=1), self.r
        if v is None or self.closed:
            return
        kind = r.choice(["second", "second", "add", "add", "maximum", "minimum"])
        if v.info.kind in ("pred", "complex"):
            kind = "second"
        sizes = [r.choice([n, max(1, n - r.randint(0, 2)), r.randint(1, n)]) for n in v.shape]
        low = [r.randint(0, n - k + (r.random() < 0.05)) for n, k in zip(v.shape, sizes)]
        mapped = [d for d, at in enumerate(low) if at] or [0]
        updates = self.like(Value("", sizes, v.element))
        bound = None if None in (v.bound, updates.bound) else max(v.bound, updates.bound)
        if kind == "add":
            v, updates = self.summable(v, 2)[0], self.summable(updates, 2)[0]
            if v is None or updates is None:
                return
            bound = None if self.wild else (v.bound or 0) + (updates.bound or 0)
        index = self.integers([low[d] for d in mapped], (len(mapped),))
        self.keep(self.op(
            "stablehlo.scatter", [v, index, updates], [(v.shape, v.element, bound)],
            "indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<"
            f"update_window_dims = {list(range(len(sizes)))}, scatter_dims_to_operand_dims = "
            f"{mapped}, index_vector_dim = 0>, unique_indices = true",
            self.reducer([(kind, v.element)])))
        self.features["written windows"] += 1

    # ---- control flow ----

    def draw_while(self):
        if self.depth > 1:
            return
        carried = [v for v in (self.some(empty=True) for _ in range(self.r.choice([1, 2, 3]))) if v]
        start, out = self.constant((), "i32", 0), self.name()
        inner = [Value(f"%w{out[2:]}_{i}", v.shape, v.element, v.bound)
                 for i, v in enumerate(carried)]
        k, trips = out[2:], self.r.choice([0, 1, 2, 2, 3])
        head = joined(f"{v.name}: {v.type}" for v in inner)
        head = joined([f"%n{k}: tensor<i32>"] + [head] * bool(head))
        lines, made = self.body(inner, self.r.randint(1, 4))
        ends = [self.ending(lines, made, v) for v in inner]
        given = ""
        if self.chance(self.often * 0.5):
            text = joined(self.sharding(v.shape) for v in [start, *carried])
            given = self.marked(f" {{sdy.sharding = #sdy.sharding_per_value<[{text}]>}}")
        lines += [
            f'%o{k} = "stablehlo.constant"() <{{value = dense<1> : tensor<i32>}}> : () -> '
            "tensor<i32>",
            f'%p{k} = "stablehlo.add"(%n{k}, %o{k}) : (tensor<i32>, tensor<i32>) -> tensor<i32>']
        self.write_while(out, trips, [start, *carried], head, lines,
                         [f"%p{k}"] + [v.name for v in ends], given)
        self.keep([Value(f"{out}#{i + 1}", v.shape, v.element, v.bound)
                   for i, v in enumerate(carried)])

    def draw_scan(self):
        """As JAX's gradient of a scan: a loop keeps rows of several values, another takes them."""
        v = self.some(lambda v: v.element in ("f32", "i32", "bf16"), least=1)
        if v is None or self.depth > 0 or v.shape[0] > 6 or len(v.shape) > 3:
            return
        n, shape, r = v.shape[0], v.shape[1:], self.r
        k = r.choice([2, 3, 4])
        zeros = [self.constant(v.shape, v.element, r.choice([0, 0, 1])) for _ in range(k)]
        first = self.source(shape, v.element)
        kept = self.counted(n, [v, *zeros, first], lambda at, inner: self.keep_rows(at, inner))
        stacks = r.sample(kept[1:1 + k], r.randint(1, k))
        sums = self.counted(n, [*stacks, first],
                            lambda at, inner: self.take_rows(n, at, inner, r.random() < 0.7))
        self.features["rows kept by a loop"] += 1
        self.keep([sums[-1], *r.sample(kept[1:], r.choice([0, 0, 1]))])

    def row(self, v, at):
        zero = [self.constant((), "i32", 0) for _ in v.shape[1:]]
        one = self.op("stablehlo.dynamic_slice", [v, at, *zero],
                      [((1, *v.shape[1:]), v.element, v.bound)],
                      f"slice_sizes = {array([1, *v.shape[1:]])}")
        return self.op("stablehlo.reshape", one, [(v.shape[1:], v.element, v.bound)])[0]

    def keep_rows(self, at, inner):
        """One that costs something, and others made of it and of each other."""
        v, *stacks, last = inner
        shape, r, out = last.shape, self.r, []

        def make(name, *operands):
            return self.op("stablehlo." + name, operands, [(shape, v.element, None)])[0]
        rows = [make("add", self.row(v, at), last)]
        if v.info.float and r.random() < 0.7:
            rows[0] = make("tanh", rows[0])
        for stack in stacks:
            name = r.choice(["negate", "subtract", "multiply", "maximum", "same", "convert"])
            x, y = r.choice(rows), r.choice([*rows, self.constant(shape, v.element, 1)])
            rows.append(x if name == "same" else
                        make(name, *[y, x][name in ("negate", "convert"):]))
            one = ((1, *shape), v.element, None)
            if r.random() < 0.5:
                update = self.op("stablehlo.reshape", rows[-1:], [one])
            else:
                update = self.op("stablehlo.broadcast_in_dim", rows[-1:], [one],
                                 f"broadcast_dimensions = {array(range(1, len(shape) + 1))}")
            zero = [self.constant((), "i32", 0) for _ in shape]
            out += self.op("stablehlo.dynamic_update_slice", [stack, *update, at, *zero],
                           [(stack.shape, v.element, None)])
        return [v, *out, r.choice(rows)]

    def take_rows(self, n, at, inner, backwards):
        *stacks, total = inner
        if backwards:
            at = self.op("stablehlo.subtract", [self.constant((), "i32", n - 1), at],
                         [((), "i32", None)])[0]
        for i, stack in enumerate(stacks):
            name = ["add", "subtract", "maximum"][i % 3]
            total = self.op("stablehlo." + name, [total, self.row(stack, at)],
                            [(total.shape, total.element, None)])[0]
        return [*stacks, total]

    def counted(self, n, carried, body):
        """A loop of n trips; body(number, carried) gives what is carried on."""
        start, out = self.constant((), "i32", 0), self.name()
        k = out[2:]
        inner = [Value(f"%w{k}_{i}", v.shape, v.element) for i, v in enumerate(carried)]
        at = Value(f"%n{k}", (), "i32")
        outer, self.lines = self.lines, []
        self.depth += 1
        ends = body(at, inner)
        step = self.op("stablehlo.add", [at, self.constant((), "i32", 1)], [((), "i32", None)])[0]
        self.depth -= 1
        lines, self.lines = self.lines, outer
        head = joined(f"{v.name}: {v.type}" for v in [at, *inner])
        self.write_while(out, n, [start, *carried], head, lines, [v.name for v in [step, *ends]])
        return [Value(f"{out}#{i + 1}", v.shape, v.element) for i, v in enumerate(carried)]

    def write_while(self, out, trips, carried, head, lines, ends, given=""):
        """A loop of so many trips, by its number, the first that is carried, whose body adds to
        it; head: the body's arguments."""
        k, types = out[2:], joined(v.type for v in carried)
        self.lines += [
            f'{out}:{len(carried)} = "stablehlo.while"({joined(v.name for v in carried)}) '
            f"({{\n^bb0({self.head_renamed(head, k)}):",
            f'%m{k} = "stablehlo.constant"() <{{value = dense<{trips}> : tensor<i32>}}> : () -> '
            "tensor<i32>",
            f'%t{k} = "stablehlo.compare"(%q{k}, %m{k}) <{{comparison_direction = '
            "#stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>",
            f'"stablehlo.return"(%t{k}) : (tensor<i1>) -> ()\n}}, {{\n^bb0({head}):', *lines,
            f'"stablehlo.return"({joined(ends)}) : ({types}) -> ()',
            f"}}){given} : ({types}) -> ({types})"]
        self.counts["stablehlo.while"] += 1

    @staticmethod
    def head_renamed(head, k):
        """The arguments of the condition: other names than the body's."""
        return head.replace(f"%n{k}:", f"%q{k}:").replace(f"%w{k}_", f"%u{k}_")

    def branches(self, name, selector, n):
        many = [v for v in (self.some() for _ in range(self.r.choice([1, 1, 1, 2, 3]))) if v]
        regions = []
        for _ in range(n):
            lines, made = self.body(many, self.r.randint(0, 3))
            ends = [self.ending(lines, made, v) for v in many]
            types = joined(x.type for x in ends)
            regions.append("{\n" + "\n".join(
                [*lines, f'"stablehlo.return"({joined(x.name for x in ends)}) : ({types}) -> ()'])
                + "\n}")
        if many:
            self.keep(self.op(name, [selector], [(v.shape, v.element, v.bound) for v in many], "",
                              joined(regions)))

    def draw_case(self):
        if self.depth < 2 and not self.closed:
            n = self.r.choice([1, 2, 3, 6])
            self.branches("stablehlo.case", self.argument((), "i32", "index", n + 1), n)

    def draw_if(self):
        if self.depth < 2 and not self.closed:
            self.branches("stablehlo.if", self.argument((), "i1"), 2)

    def function(self, v):
        """A function of one argument like v, with a result like it."""
        name = f"f{len(self.functions)}"
        self.functions.append("")  # its place, as its body may have functions too
        p = Value(f"%p_{name}", v.shape, v.element, v.bound)
        lines, made = self.body([p], self.r.randint(1, 4), closed=True)
        x = self.ending(lines, made, p)
        given = ["", ""]
        for i in range(2):
            if self.chance(0.2):
                given[i] = self.marked(f" {{sdy.sharding = #sdy.sharding{self.sharding(v.shape)}}}")
        result = f"({v.type}{given[1]})" if given[1] else v.type
        self.functions[int(name[1:])] = "\n".join([
            f"func.func private @{name}({p.name}: {p.type}{given[0]}) -> {result} {{", *lines,
            f"return {x.name} : {x.type}", "}"])
        return name

    def draw_call(self):
        v = self.some(least=1, empty=True)
        if self.depth > 1 or v is None:
            return
        name = self.function(v)
        for _ in range(self.r.choice([1, 1, 2])):
            v = self.keep(self.op("func.call", [v], [(v.shape, v.element, v.bound)],
                                  f"callee = @{name}"))[0]

    def draw_composite(self):
        v = self.some(least=1)
        if self.depth > 1 or v is None:
            return
        self.keep(self.op(
            "stablehlo.composite", [v], [(v.shape, v.element, v.bound)],
            f'name = "my.op", decomposition = @{self.function(v)}, version = 1 : i32'))

    def draw_named(self):
        v = self.some(least=1)
        if self.depth > 1 or v is None:
            return
        out, k = self.name(), self.name()[2:]
        p = Value(f"%p{k}", v.shape, v.element, v.bound)
        lines, made = self.body([p], self.r.randint(1, 4), closed=True)
        x = self.ending(lines, made, p)
        ends = [x, *made[-2:]]
        types, outs = joined(e.type for e in ends), [f"{out}_{i}" for i in range(len(ends))]
        given = "".join(
            self.marked(f"{side}_shardings=[{joined(self.sharding(e.shape) for e in l)}] ")
            for side, l in (("in", [v]), ("out", ends)) if self.chance(0.3))
        self.lines += [f'{joined(outs)} = sdy.named_computation<"n{k}">({v.name}) {given}'
                       f"({p.name}: {p.type}) {{", *lines,
                       f"sdy.return {joined(e.name for e in ends)} : {types}",
                       f"}} : ({v.type}) -> ({types})"]
        self.counts["sdy.named_computation"] += 1
        self.keep([Value(name, e.shape, e.element, e.bound) for name, e in zip(outs, ends)])

    # ---- the choice ----

    WEIGHTS = {"unary": 2, "function": 1.5, "test": 0.4, "binary": 4, "chlo_binary": 0.5,
               "select": 1.5, "clamp": 0.7, "convert": 2.5, "bitcast": 0.7, "reduce_precision":
               0.3, "complex": 0.7, "iota": 1.2, "constant": 1, "rng": 0.5, "broadcast": 2,
               "reshape": 3, "transpose": 2, "reverse": 1.5, "slice": 2, "pad": 2,
               "concatenate": 2, "rotation": 1, "shifts": 1, "padded_slice": 1,
               "sum_of_pads": 1,
               "dynamic_slice": 2,
               "dynamic_update_slice": 2, "gather": 4,
               "dot": 4, "convolution": 2.5, "constraint": 4, "barrier": 0.7, "group": 0.5,
               "custom_call": 0.7, "collective": 0.7, "manual": 0.7, "named": 0.4,
               "reduce": 4,
               "argmax": 1, "reduce_window": 3, "select_and_scatter": 1.5, "sort": 2,
               "long_sort": 0.1,
               "top_k": 1, "scatter": 4, "written_window": 1, "map": 0.2, "old_broadcast": 0.2,
               "triangular_solve": 0.3, "while": 1.5, "scan": 1, "case": 0.8, "if": 0.8, "call": 1,
               "composite": 0.4, **Seldom.WEIGHTS}
    only = None  # "gather": every other op is one

    def step(self):
        names = list(self.WEIGHTS)
        if self.only and self.depth == 0 and self.chance(0.5):
            chosen = self.only
        else:
            chosen = self.r.choices(names, list(self.WEIGHTS.values()))[0]
        count = len(self.values)
        getattr(self, "draw_" + chosen)()
        if len(self.values) > count and self.chance(self.settled):
            self.constrain(self.values[-1])
