"""Random StableHLO modules with shardings, for shardy.py: text that depends on the seed only.

    python tests/differential/modules.py SEED      prints one

What programs from JAX have seldom or never is frequent here: sub-axes, unreduced axes, priorities,
several meshes, manual computations (in loops too), calls of calls, sharding groups, barriers,
collectives, gathers and scatters of every form, grouped convolutions, sorts, rules of custom calls.
The ops that have no regions are in module_ops.py."""
import math
import random
import sys

from module_ops import SIZES, Ops, Value, joined


def names(values):
    return joined(v.name for v in values)


def types(values):
    return joined(v.type for v in values)


def parameters(values):
    return joined(f"{v.name}: {v.type}" for v in values)


def mesh_text(axes):
    return "[" + joined(f'"{a}"={n}' for a, n in axes.items()) + "]"


class Maker(Ops):
    def __init__(self, seed):
        self.r = r = random.Random(seed)
        self.count, self.lines, self.functions, self.values = 0, [], [], []
        self.depth, self.groups, self.group_shape, self.manual = 0, 0, None, {}
        names = ["a", "b", "c", "d"][:r.choice([1, 2, 3, 3, 4])]
        self.axes = {n: r.choice([2, 2, 2, 3, 4, 4, 8]) for n in names}
        self.meshes = {"mesh": self.axes}
        if r.random() < 0.1:
            self.axes[r.choice(names)] = 1
        if r.random() < 0.2:
            self.meshes["other"] = {n: r.choice([2, 4]) for n in r.sample(["a", "b", "e"], 2)}
        if r.random() < 0.15:
            self.meshes["turned"] = self.axes
        self.rare, self.named = r.choice([0, 0, 0.05]), r.random() < 0.1
        self.often = r.choice([0.1, 0.25, 0.5])
        self.open = r.choice([0.2, 0.6, 0.9])
        self.parts = r.choice([0, 0.2, 0.6])
        self.unreduced = r.choice([0, 0, 0, 0.1])
        self.priorities = r.choice([0, 0, 0.3])
        self.steps = [getattr(self, n) for n in sorted(dir(self)) if n.startswith("do_")]

    # ---- shardings ----

    def pieces(self, axes):
        out = []
        for name, size in axes.items():
            if size in (4, 8) and self.r.random() < self.parts:
                cuts = self.r.choice([[2], [4], [2, 4]] if size == 8 else [[2]])
                for begin, end in zip([1] + cuts, cuts + [size]):
                    if begin == 1 or self.r.random() < 0.6:
                        out.append((f'"{name}":({begin}){end // begin}', end // begin))
            else:
                out.append((f'"{name}"', size))
        self.r.shuffle(out)
        return out

    def sharding(self, shape, mesh=None):
        r = self.r
        if shape is None:  # of a token
            return "<@mesh, []>"
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
        named = mesh if r.random() < self.rare else f"@{mesh}"
        if named == mesh:
            named = f"mesh<{mesh_text(self.meshes[mesh])}>"
            if r.random() < 0.2:
                return "<@maximal, []>"
        text = f"<{named}, [{joined(map(dim, dims))}]"
        return text + self.listed("replicated", replicated, mesh) + self.listed(
            "unreduced", unreduced, mesh) + ">"

    def listed(self, word, l, mesh="mesh"):
        """Axes in the order of the mesh, and of their pieces."""
        order = [f'"{n}"' for n in self.meshes[mesh]]
        l = sorted(l, key=lambda t: (order.index(t.split(":")[0]), t))
        return f", {word}={{{joined(l)}}}" if l else ""

    def shardings(self, shapes, unreduced=True):
        if self.r.random() > self.often:
            return ""
        often = self.unreduced
        self.unreduced = often if unreduced else 0
        text = joined(self.sharding(s) for s in shapes)
        self.unreduced = often
        return f"sdy.sharding = #sdy.sharding_per_value<[{text}]>"

    # ---- ops ----

    def step(self):
        floats = [v for v in self.values if v.element == "f32"]
        v = self.r.choice(floats[-8:] if self.r.random() < 0.6 else floats)
        if math.prod(v.shape) <= 1 << 14:
            self.values += self.r.choice(self.steps)(v) or []

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
        if not same:
            return None
        if self.group_shape not in (None, v.shape):
            self.groups += 1
        self.group_shape = v.shape
        for x in [v, self.r.choice(same)]:
            self.lines.append(f"sdy.sharding_group {x.name} group_id = {self.groups} : {x.type}")
        if self.r.random() < 0.8:
            self.groups, self.group_shape = self.groups + 1, None
        return None

    def do_reshard(self, v):
        """With a collective after it, whose sharding follows from that of the reshard."""
        r, axes = self.r, [f'"{a}"' for a in self.axes if a not in self.manual]
        if not v.shape:
            return None
        r.shuffle(axes)
        free = axes[:r.randint(0, len(axes))]
        before = [[] for _ in v.shape]
        for a in axes[len(free):]:
            r.choice(before).append(a)
        after, moved = [list(l) for l in before], [[] for _ in v.shape]

        def text(dims):
            return "[" + joined("{" + joined(l) + "}" for l in dims) + "]"
        kind = r.choice(["", "all_gather", "all_slice", "reduce_scatter", "all_reduce",
                         "collective_permute", "all_to_all"])
        d = r.randrange(len(before))
        if kind in ("all_slice", "reduce_scatter"):
            moved[d] = free
            after[d] += free
        elif kind in ("all_gather", "all_to_all"):
            moved[d] = [after[d].pop()] if after[d] else []
        given = text(moved)
        if kind == "all_to_all":
            to = (d + 1) % len(before)
            after[to] += moved[d]
            given = f"[{{{joined(moved[d])}}}: {d}->{to}]"
        elif kind == "all_reduce":
            given = "{" + joined(sorted(free)) + "}"
        elif kind == "collective_permute":
            given = ""
            after[d].reverse()
        x, y = self.name(), self.name()
        self.lines.append(f"{x} = sdy.reshard {v.name} <@mesh, {text(before)}> : {v.type}")
        if not kind or (kind == "all_to_all" and to == d) or (
                kind != "collective_permute" and '"' not in given):
            return [Value(x, v.shape)]
        self.lines.append(f"{y} = sdy.{kind} {given} {x} out_sharding=<@mesh, {text(after)}> : "
                          f"{v.type}")
        return [Value(x, v.shape), Value(y, v.shape)]

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
        given = self.shardings([x.shape for x in carried] + [()])
        given = f"attributes {{{given}}} " if given else ""
        k = name[2:]
        self.lines += [
            f"{name}:{len(carried) + 1} = stablehlo.while({joined(pairs)}, {count} = "
            f"{counter.name}) : {types} {given}cond {{",
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
        for _ in range(self.r.choice([1, 2, 2, 3])):
            lines, made = self.inside([v], self.r.randint(1, 4), self.values[:2])
            x = self.result_like(lines, made, v)
            regions.append("{\n" + "\n".join(lines) + f"\nstablehlo.return {x.name} : {x.type}\n}}")
        return self.op("stablehlo.case", [index], [(v.shape,)], "", joined(regions))

    def border(self, taken, shape, inwards):
        """A sharding over the manual axes, and on free ones; the shape on its other side."""
        r, dims, other = self.r, [[] for _ in shape], list(shape)
        for a in taken:
            n = self.axes[a]
            fits = [d for d, m in enumerate(other) if not inwards or m % n == 0]
            if fits and r.random() < 0.7:
                d = r.choice(fits)
                dims[d].append(f'"{a}"')
                other[d] = other[d] // n if inwards else other[d] * n
        rest = [f'"{a}"' for a in taken if all(f'"{a}"' not in l for l in dims)]
        free = {a: n for a, n in self.axes.items() if a not in self.manual and a not in taken}
        for text, size in self.pieces(free):
            if shape and r.random() < 0.3:
                d = r.randrange(len(shape))
                if not dims[d] or dims[d][-1].split(":")[0] != text.split(":")[0]:
                    dims[d].append(text)
        end = ["?"] if r.random() < 0.6 else []
        text = "[" + joined("{" + joined(l + end) + "}" for l in dims) + "]"
        return f"<@mesh, {text}{self.listed('replicated', rest)}>", other

    def do_manual(self, v):
        """Axes of the mesh are taken whole."""
        free = [a for a in self.axes if a not in self.manual]
        if self.depth > 1 or not free:
            return None
        taken, name = self.r.sample(free, self.r.randint(1, len(free))), self.name()
        operands = [v] + self.others(0.3)
        given = [self.border(taken, x.shape, True) for x in operands]
        inner = [Value(f"%m{name[2:]}_{i}", local) for i, (_, local) in enumerate(given)]
        outer = self.manual
        self.manual = {**outer, **{a: self.axes[a] for a in taken}}
        lines, made = self.inside(inner, self.r.randint(1, 5))
        ends = [self.result_like(lines, made, inner[0])]
        ends += [x for x in made[-1:] if x.element == "f32" and self.r.random() < 0.3]
        self.manual = outer
        back = [self.border(taken, x.shape, False) for x in ends]
        results = [Value(f"{name}#{i}", shape) for i, (_, shape) in enumerate(back)]
        ins, outs = (joined(text for text, _ in many) for many in (given, back))
        axes = joined(f'"{a}"' for a in taken)
        self.lines += [f"{name}:{len(ends)} = sdy.manual_computation({names(operands)}) "
                       f"in_shardings=[{ins}] out_shardings=[{outs}] manual_axes={{{axes}}} "
                       f"({parameters(inner)}) {{", *lines,
                       f"sdy.return {names(ends)} : {types(ends)}",
                       f"}} : ({types(operands)}) -> ({types(results)})"]
        return results
    do_manual_2 = do_manual

    def others(self, often):
        return [x for x in self.r.sample(self.values, 1)
                if x.element == "f32" and self.r.random() < often]

    def do_named(self, v):
        """Rarely: where calls become named computations, Shardy refuses those of the input."""
        if self.depth > 1 or not self.named:
            return None
        name, operands = self.name(), [v] + self.others(0.3)
        inner = [Value(f"%m{name[2:]}_{i}", x.shape) for i, x in enumerate(operands)]
        lines, made = self.inside(inner, self.r.randint(1, 4))
        x = self.result_like(lines, made, inner[0])
        given = "".join(f"{side}_shardings=[{joined(self.sharding(y.shape) for y in many)}] "
                        for side, many in [("in", operands), ("out", [v])]
                        if self.r.random() < 0.3)
        self.lines += [f'{name} = sdy.named_computation<"n{len(lines)}">({names(operands)}) '
                       f"{given}({parameters(inner)}) {{", *lines,
                       f"sdy.return {x.name} : {x.type}",
                       f"}} : ({types(operands)}) -> {v.type}"]
        return [Value(name, v.shape)]

    def make_function(self, operands):
        """Its name, its parameters and its results."""
        name = f"f{self.name()[2:]}"
        inner = [Value(f"%x{name}_{i}", x.shape) for i, x in enumerate(operands)]
        depth, self.depth = self.depth, self.depth + 1
        lines, made = self.inside(inner, self.r.randint(1, 4))
        ends = [self.result_like(lines, made, inner[0])]
        ends += [x for x in made[-1:] if x.element == "f32" and self.r.random() < 0.3]
        self.depth = depth
        heads, tails = ([f" {{sdy.sharding = #sdy.sharding{self.sharding(x.shape)}}}"
                         if self.r.random() < 0.2 else "" for x in many] for many in (inner, ends))
        self.module_lines += [
            f"func.func private @{name}("
            + joined(f"{x.name}: {x.type}{h}" for x, h in zip(inner, heads)) + ") -> ("
            + joined(x.type + t for x, t in zip(ends, tails)) + ") {", *lines,
            f"return {names(ends)} : {types(ends)}", "}"]
        self.functions.append((name, inner, ends))
        return self.functions[-1]

    def do_call(self, v):
        """Of a function made now, or before for the same type."""
        if self.depth > 2 or self.manual and self.r.random() < 0.7:
            return None
        same = [f for f in self.functions if f[1][0].type == v.type]
        operands = [v] + self.others(0.3)
        if same and self.r.random() < 0.6:
            callee, inner, ends = self.r.choice(same)
            operands = [v] + [self.like(x.shape) for x in inner[1:]]
        else:
            callee, inner, ends = self.make_function(operands)
        name, given = self.name(), self.shardings([x.shape for x in ends])
        self.lines.append(f"{name}:{len(ends)} = func.call @{callee}({names(operands)}) "
                          + (f"{{{given}}} " if given else "")
                          + f": ({types(operands)}) -> ({types(ends)})")
        return [Value(f"{name}#{i}", x.shape) for i, x in enumerate(ends)]
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
        def devices(name, axes):
            n = math.prod(axes.values()) if name == "turned" else 0
            return f", device_ids=[{joined(reversed(range(n)))}]" if n else ""
        meshes = [f"sdy.mesh @{name} = <{mesh_text(axes)}{devices(name, axes)}>"
                  for name, axes in self.meshes.items()]
        meshes += ["sdy.mesh @maximal = <[], device_ids=[0]>"] if self.rare else []
        return "\n".join(["module {", *meshes, f"func.func public @main({joined(heads)}) -> "
                          f"({joined(tails)}) {{", *self.lines,
                          f"return {joined(v.name for v in outs)} : {joined(v.type for v in outs)}",
                          "}", *self.module_lines, "}", ""])


def make(seed):
    return Maker(seed).module()


if __name__ == "__main__":
    print(make(int(sys.argv[1])))
