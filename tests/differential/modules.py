"""Random StableHLO modules with shardings, for shardy.py: text that depends on the seed only.

    python tests/differential/modules.py SEED      prints one

What programs from JAX have seldom or never is frequent here: sub-axes, unreduced axes, priorities,
several meshes, manual computations (in loops too), calls of calls, sharding groups, barriers,
gathers and scatters of every form, grouped convolutions, sorts, rules of custom calls."""
import math
import random
import sys

SIZES = [1, 2, 2, 3, 4, 4, 6, 8, 8, 8, 12, 16, 16, 24]
ARITHMETIC = ["add", "multiply", "subtract", "maximum", "divide"]
UNARY = ["tanh", "negate", "sine", "abs", "exponential"]


def tensor(shape, element="f32"):
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


def joined(items):
    return ", ".join(map(str, items))


def array(numbers):
    return f"array<i64{': ' if numbers else ''}{joined(numbers)}>"


class Value:
    def __init__(self, name, shape, element="f32"):
        self.name, self.shape, self.element = name, tuple(shape), element

    @property
    def type(self):
        return tensor(self.shape, self.element)


class Maker:
    def __init__(self, seed):
        self.r = r = random.Random(seed)
        self.count, self.lines, self.functions, self.values = 0, [], [], []
        self.depth, self.groups, self.manual = 0, 0, {}
        names = ["a", "b", "c", "d"][:r.choice([1, 2, 3, 3, 4])]
        self.axes = {n: r.choice([2, 2, 2, 3, 4, 4, 8]) for n in names}
        self.meshes = {"mesh": self.axes}
        if r.random() < 0.2:
            self.meshes["other"] = {n: r.choice([2, 4]) for n in r.sample(["a", "b", "e"], 2)}
        self.often = r.choice([0.1, 0.25, 0.5])
        self.open = r.choice([0.2, 0.6, 0.9])
        self.parts = r.choice([0, 0.2, 0.6])
        self.unreduced = r.choice([0, 0, 0.15])
        self.priorities = r.choice([0, 0, 0.3])
        self.steps = [getattr(self, n) for n in sorted(dir(self)) if n.startswith("do_")]

    # ---- shardings ----

    def pieces(self, axes):
        out = []
        for name, size in axes.items():
            if size in (4, 8) and self.r.random() < self.parts:
                cut = self.r.choice([2, 4] if size == 8 else [2])
                out.append((f'"{name}":(1){cut}', cut))
                if self.r.random() < 0.5:
                    out.append((f'"{name}":({cut}){size // cut}', size // cut))
            else:
                out.append((f'"{name}"', size))
        self.r.shuffle(out)
        return out

    def sharding(self, shape, mesh=None):
        r = self.r
        if mesh is None:
            mesh = r.choice(list(self.meshes)) if r.random() < 0.15 else "mesh"
        axes = {n: s for n, s in self.meshes[mesh].items() if n not in self.manual}
        left, dims, replicated, unreduced = list(shape), [[] for _ in shape], [], []
        for text, size in self.pieces(axes):
            fits = [d for d, n in enumerate(left) if n % size == 0 or r.random() < 0.05]
            q = r.random()
            if q < 0.25:
                continue
            name = text.split(":")[0]
            if q < 0.32:
                replicated += [text] if all(name not in t for t in replicated) else []
            elif q < 0.32 + self.unreduced:
                unreduced += [text] if all(name not in t for t in unreduced) else []
            elif fits:
                d = r.choice(fits)
                if not dims[d] or dims[d][-1].split(":")[0] != name:
                    dims[d].append(text)
                    left[d] = max(1, left[d] // size)
        whole = r.random() < self.open

        def dim(l):
            more = ["?"] if whole == (r.random() < 0.85) else []
            priority = f"p{r.choice([0, 1, 2])}" if l and r.random() < self.priorities else ""
            return "{" + joined(l + more) + "}" + priority
        text = f"<@{mesh}, [{joined(map(dim, dims))}]"
        order = [f'"{n}"' for n in self.meshes[mesh]]

        def listed(word, l):
            l = sorted(l, key=lambda t: order.index(t.split(":")[0]))
            return f", {word}={{{joined(l)}}}" if l else ""
        return text + listed("replicated", replicated) + listed("unreduced", unreduced) + ">"

    def attributes(self, shapes):
        if self.r.random() > self.often:
            return ""
        return ("{sdy.sharding = #sdy.sharding_per_value<["
                + joined(self.sharding(s) for s in shapes) + "]>} ")

    # ---- ops ----

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def op(self, text, operands, results, properties="", regions=""):
        """In generic form; `results` are (shape, element)."""
        name = self.name()
        many = len(results) != 1
        outs = [Value(f"{name}#{i}" if many else name, *r) for i, r in enumerate(results)]
        self.lines.append(
            f'{name}{f":{len(outs)}" if many else ""} = "{text}"'
            f"({joined(o.name for o in operands)}) "
            + (f"<{{{properties}}}> " if properties else "") + (f"({regions}) " if regions else "")
            + self.attributes([o.shape for o in outs])
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

    def constant(self, shape, element="f32", text="1"):
        text += ".0" if element == "f32" else ""
        return self.op("stablehlo.constant", [], [(shape, element)],
                       f"value = dense<{text}> : {tensor(shape, element)}")[0]

    def like(self, shape, element="f32"):
        """Some value of this type."""
        found = [v for v in self.values if v.shape == tuple(shape) and v.element == element]
        if found and self.r.random() < 0.75:
            return self.r.choice(found)
        if shape and self.r.random() < 0.5:
            return self.op("stablehlo.iota", [], [(shape, element)],
                           f"iota_dimension = {self.r.randrange(len(shape))} : i64")[0]
        return self.constant(shape, element)

    def step(self):
        floats = [v for v in self.values if v.element == "f32"]
        v = self.r.choice(floats[-8:] if self.r.random() < 0.6 else floats)
        if math.prod(v.shape) <= 1 << 14:
            self.values += self.r.choice(self.steps)(v) or []

    def do_binary(self, v):
        return self.op("stablehlo." + self.r.choice(ARITHMETIC), [v, self.like(v.shape)],
                       [(v.shape,)])
    do_binary_2 = do_binary_3 = do_binary

    def do_unary(self, v):
        return self.op("stablehlo." + self.r.choice(UNARY), [v], [(v.shape,)])

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

    def do_slice(self, v):
        if not v.shape:
            return None
        d = self.r.randrange(len(v.shape))
        begin, end = [0] * len(v.shape), list(v.shape)
        begin[d] = self.r.randrange(v.shape[d])
        out = [b - a for a, b in zip(begin, end)]
        return self.op("stablehlo.slice", [v], [(out,)],
                       f"start_indices = {array(begin)}, limit_indices = {array(end)}, "
                       f"strides = {array([1] * len(out))}")

    def do_sort(self, v):
        if not v.shape:
            return None
        k = self.name()[1:]
        two = [v] + ([self.like(v.shape, "i32")] if self.r.random() < 0.5 else [])
        arguments = [f"%{s}{k}{i}: tensor<{x.element}>" for i, x in enumerate(two) for s in "lr"]
        body = (f"{{\n^bb0({joined(arguments)}):\n%c{k} = \"stablehlo.compare\"(%l{k}0, %r{k}0) "
                "<{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, "
                f"tensor<f32>) -> tensor<i1>\n\"stablehlo.return\"(%c{k}) : (tensor<i1>) -> ()\n}}")
        return self.op("stablehlo.sort", two, [(x.shape, x.element) for x in two],
                       f"dimension = {self.r.randrange(len(v.shape))} : i64, is_stable = true",
                       body)

    def gather_form(self, v):
        """Indexed dimension, whether dimension 0 is a batch, shape of the indices but one."""
        batch = len(v.shape) > 1 and self.r.random() < 0.4
        d = self.r.randrange(batch, len(v.shape))
        shape = [self.r.choice([2, 4, 8]) for _ in range(self.r.choice([1, 1, 2]))]
        return d, batch, ([v.shape[0]] if batch else []) + shape

    def do_gather(self, v):
        if not 1 <= len(v.shape) <= 3:
            return None
        d, batch, shape = self.gather_form(v)
        indices = self.like(shape + [1], "i32")
        gone = [0, d] if batch else [d]
        whole = [n for k, n in enumerate(v.shape) if k not in gone]
        size = self.r.choice([1, 1, max(1, whole[0] // 2)]) if whole else 1
        whole[:1] = [size if self.r.random() < 0.3 else whole[0]] if whole else []
        sizes = iter(whole)
        slices = [1 if k in gone else next(sizes) for k in range(len(v.shape))]
        offset = list(range(len(shape), len(shape) + len(whole)))
        batching = [0] if batch else []
        return self.op("stablehlo.gather", [v, indices], [(shape + whole,)],
                       f"dimension_numbers = #stablehlo.gather<offset_dims = {offset}, "
                       f"collapsed_slice_dims = [{d}], operand_batching_dims = {batching}, "
                       f"start_indices_batching_dims = {batching}, start_index_map = [{d}], "
                       f"index_vector_dim = {len(shape)}>, slice_sizes = {array(slices)}, "
                       "indices_are_sorted = false")

    def do_scatter(self, v):
        if not 1 <= len(v.shape) <= 3:
            return None
        d, batch, shape = self.gather_form(v)
        gone = [0, d] if batch else [d]
        window = [n for k, n in enumerate(v.shape) if k not in gone]
        indices, updates = self.like(shape + [1], "i32"), self.like(shape + window)
        offset = list(range(len(shape), len(shape) + len(window)))
        batching = [0] if batch else []
        return self.op("stablehlo.scatter", [v, indices, updates], [(v.shape,)],
                       "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
                       f"{offset}, inserted_window_dims = [{d}], input_batching_dims = "
                       f"{batching}, scatter_indices_batching_dims = {batching}, "
                       f"scatter_dims_to_operand_dims = [{d}], index_vector_dim = {len(shape)}>, "
                       "indices_are_sorted = false, unique_indices = false",
                       self.reducer(["f32"]))

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

    def do_custom_call(self, v):
        """With a rule of its own, or without any."""
        name, attributes = self.name(), []
        if v.shape and self.r.random() < 0.7:
            letters = "ijklmnop"[:len(v.shape)]
            dims = "[" + joined(letters) + "]"
            kind = self.r.choice(["", "need_replication", "permutation", "blocked_propagation"])
            special = f" {kind}={{{self.r.choice(letters)}}}" if kind else ""
            sizes = joined(f"{a}={n}" for a, n in zip(letters, v.shape))
            attributes.append(f"sdy.sharding_rule = #sdy.op_sharding_rule<({dims}, {dims})->"
                              f"({dims}) {{{sizes}}}{special}, custom>")
        self.lines.append(f'{name} = "stablehlo.custom_call"({v.name}, {self.like(v.shape).name}) '
                          f'<{{call_target_name = "foo"}}> {{{joined(attributes)}}} : '
                          f"({v.type}, {v.type}) -> {v.type}")
        return [Value(name, v.shape)]

    def do_constraint(self, v):
        name = self.name()
        self.lines.append(f"{name} = sdy.sharding_constraint {v.name} {self.sharding(v.shape)} "
                          f": {v.type}")
        return [Value(name, v.shape)]
    do_constraint_2 = do_constraint

    def do_barrier(self, v):
        many = [v, self.r.choice(self.values)]
        return self.op("stablehlo.optimization_barrier", many,
                       [(x.shape, x.element) for x in many])

    def do_propagation_barrier(self, v):
        name, way = self.name(), self.r.choice(["NONE", "FORWARD", "BACKWARD"])
        self.lines.append(f"{name} = sdy.propagation_barrier {v.name} allowed_direction={way} : "
                          f"{v.type}")
        return [Value(name, v.shape)]

    def do_group(self, v):
        same = [x for x in self.values if x.shape == v.shape and x.name != v.name]
        if not same or self.depth:
            return None
        for x in [v, self.r.choice(same)]:
            self.lines.append(f"sdy.sharding_group {x.name} group_id = {self.groups} : {x.type}")
        self.groups += self.r.random() < 0.8
        return None

    # ---- regions ----

    def inside(self, arguments, steps, captured=()):
        """Lines of a body, and the values that it made."""
        lines, values = self.lines, self.values
        self.lines, self.values = [], list(captured) + list(arguments)
        self.depth += 1
        begin = len(self.values)
        for _ in range(steps):
            self.step()
        self.depth -= 1
        made, out = self.values[begin:], self.lines
        self.lines, self.values = lines, values
        return out, made

    def result_like(self, lines, made, v):
        """A value of v's type at the end of a body."""
        found = [x for x in made if x.shape == v.shape and x.element == v.element]
        if found and self.r.random() < 0.8:
            return found[-1]
        outer, self.lines = self.lines, lines
        x = self.op("stablehlo.cosine", [v], [(v.shape,)])[0]
        self.lines = outer
        return x

    def do_while(self, v):
        if self.depth > 1:
            return None
        carried = [v] + [x for x in self.values[-2:] if x.element == "f32"]
        counter = self.constant((), "i32", "0")
        name = self.name()
        inner = [Value(f"%w{name[2:]}_{i}", x.shape) for i, x in enumerate(carried)]
        count = f"%w{name[2:]}_n"
        lines, made = self.inside(inner, self.r.randint(1, 6), self.values[:2])
        ends = [self.result_like(lines, made, x) for x in inner]
        types = joined([x.type for x in carried] + ["tensor<i32>"])
        pairs = [f"{a.name} = {x.name}" for a, x in zip(inner, carried)]
        attributes = self.attributes([x.shape for x in carried] + [()])
        k = name[2:]
        self.lines += [
            f"{name}:{len(carried) + 1} = stablehlo.while({joined(pairs)}, {count} = "
            f"{counter.name}) : {types} {'attributes ' + attributes if attributes else ''}cond {{",
            f"%n{k} = stablehlo.constant dense<3> : tensor<i32>",
            f"%t{k} = stablehlo.compare LT, {count}, %n{k} : (tensor<i32>, tensor<i32>) -> "
            f"tensor<i1>", f"stablehlo.return %t{k} : tensor<i1>", "} do {", *lines,
            f"%i{k} = stablehlo.constant dense<1> : tensor<i32>",
            f"%j{k} = stablehlo.add {count}, %i{k} : tensor<i32>",
            f"stablehlo.return {joined([x.name for x in ends] + [f'%j{k}'])} : {types}", "}"]
        return [Value(f"{name}#{i}", x.shape) for i, x in enumerate(carried)]
    do_while_2 = do_while

    def do_case(self, v):
        if self.depth > 1:
            return None
        index, regions = self.like((), "i32"), []
        for _ in range(2):
            lines, made = self.inside([v], self.r.randint(1, 4), self.values[:2])
            x = self.result_like(lines, made, v)
            regions.append("{\n" + "\n".join(lines) + f"\nstablehlo.return {x.name} : {x.type}\n}}")
        return self.op("stablehlo.case", [index], [(v.shape,)], "", joined(regions))

    def do_manual(self, v):
        """One operand, one result of its type; axes of the mesh are taken whole."""
        free = [a for a in self.axes if a not in self.manual]
        if self.depth > 1 or not v.shape or not free:
            return None
        taken = self.r.sample(free, self.r.randint(1, len(free)))
        dims, local = [[] for _ in v.shape], list(v.shape)
        for a in taken:
            fits = [d for d, n in enumerate(local) if n % self.axes[a] == 0]
            if fits and self.r.random() < 0.7:
                d = self.r.choice(fits)
                dims[d].append(f'"{a}"')
                local[d] //= self.axes[a]
        rest = [f'"{a}"' for a in self.axes if a in taken and all(f'"{a}"' not in l for l in dims)]
        end = ["?"] if self.r.random() < 0.6 else []
        sharding = "<@mesh, [" + joined("{" + joined(l + end) + "}" for l in dims) + "]"
        sharding += f", replicated={{{joined(rest)}}}>" if rest else ">"
        name = self.name()
        argument = Value(f"%m{name[2:]}", local)
        outer = self.manual
        self.manual = {**outer, **{a: self.axes[a] for a in taken}}
        lines, made = self.inside([argument], self.r.randint(1, 5))
        x = self.result_like(lines, made, argument)
        self.manual = outer
        axes = joined(f'"{a}"' for a in taken)
        self.lines += [f"{name} = sdy.manual_computation({v.name}) in_shardings=[{sharding}] "
                       f"out_shardings=[{sharding}] manual_axes={{{axes}}} ({argument.name}: "
                       f"{argument.type}) {{", *lines, f"sdy.return {x.name} : {x.type}",
                       f"}} : ({v.type}) -> {v.type}"]
        return [Value(name, v.shape)]
    do_manual_2 = do_manual

    def do_call(self, v):
        """Of a function made now, or before for the same type."""
        if self.depth > 2 or self.manual:
            return None
        same = [n for n, t in self.functions if t == v.type]
        if same and self.r.random() < 0.6:
            callee = self.r.choice(same)
        else:
            callee = f"f{self.name()[2:]}"
            argument = Value(f"%x{callee}", v.shape)
            depth, self.depth = self.depth, self.depth + 1
            lines, made = self.inside([argument], self.r.randint(1, 4))
            x = self.result_like(lines, made, argument)
            self.depth = depth
            given = [f" {{sdy.sharding = #sdy.sharding{self.sharding(v.shape)}}}"
                     if self.r.random() < 0.2 else "" for _ in range(2)]
            self.module_lines += [f"func.func private @{callee}({argument.name}: {v.type}"
                                  f"{given[0]}) -> ({v.type}{given[1]}) {{", *lines,
                                  f"return {x.name} : {x.type}", "}"]
            self.functions.append((callee, v.type))
        name = self.name()
        self.lines.append(f"{name} = func.call @{callee}({v.name}) {self.attributes([v.shape])}: "
                          f"({v.type}) -> {v.type}")
        return [Value(name, v.shape)]
    do_call_2 = do_call

    # ---- all of it ----

    def module(self):
        r, self.module_lines = self.r, []
        base = [r.choice(SIZES) for _ in range(4)]
        for i in range(r.randint(2, 5)):
            shape = [r.choice(base) for _ in range(r.choice([1, 2, 2, 3]))]
            self.values.append(Value(f"%arg{i}", shape))
        heads = [f"{v.name}: {v.type}" + (f" {{sdy.sharding = #sdy.sharding"
                 f"{self.sharding(v.shape)}}}" if r.random() < 0.7 else "") for v in self.values]
        for _ in range(r.randint(6, 40)):
            self.step()
        outs = self.values[-2:] + r.sample(self.values, 1)
        tails = [v.type + (f" {{sdy.sharding = #sdy.sharding{self.sharding(v.shape)}}}"
                           if r.random() < self.often else "") for v in outs]
        meshes = [f"sdy.mesh @{name} = <[" + joined(f'"{a}"={n}' for a, n in axes.items()) + "]>"
                  for name, axes in self.meshes.items()]
        return "\n".join(["module {", *meshes, f"func.func public @main({joined(heads)}) -> "
                          f"({joined(tails)}) {{", *self.lines,
                          f"return {joined(v.name for v in outs)} : {joined(v.type for v in outs)}",
                          "}", *self.module_lines, "}", ""])


def make(seed):
    return Maker(seed).module()


if __name__ == "__main__":
    print(make(int(sys.argv[1])))
