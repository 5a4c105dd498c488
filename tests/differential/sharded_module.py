"""What sharded.py draws: meshes, shardings, and how a module is put together.

A module is written once, in generic form, with marks around what only its sharded form has; the
two forms are cut out of it. All numbers are such that any order of summation gives the same."""

import math
import random
import re

import numpy as np

from sharded_values import ELEMENTS, OFTEN, Value, literal, random_data, tensor

SIZES = [1, 2, 3, 4, 4, 5, 6, 6, 8, 8, 12, 12, 16, 24]
MESHES = {3: [[3]], 5: [[5]], 6: [[6], [2, 3], [3, 2]],
          8: [[8], [2, 4], [4, 2], [2, 2, 2]],
          12: [[12], [3, 4], [4, 3], [6, 2], [2, 6], [2, 3, 2]]}
LARGEST = 3072  # elements
# Ops of known sizes and places, their other forms, and what those take as operands.
DYNAMIC = {
    "stablehlo.reshape": ("dynamic_reshape", "shape"),
    "stablehlo.broadcast_in_dim": ("dynamic_broadcast_in_dim", "shape"),
    "stablehlo.iota": ("dynamic_iota", "shape"),
    "stablehlo.pad": ("dynamic_pad", "edge_padding_low", "edge_padding_high", "interior_padding"),
    "stablehlo.slice": ("real_dynamic_slice", "start_indices", "limit_indices", "strides"),
    "stablehlo.gather": ("dynamic_gather", "slice_sizes"),
    "stablehlo.convolution": ("dynamic_conv", "padding")}
BEGIN, OTHER, END = "\x01", "\x02", "\x03"
MARKED = re.compile(f"{BEGIN}([^{OTHER}]*){OTHER}([^{END}]*){END}")


def joined(items):
    return ", ".join(map(str, items))


def array(numbers):
    numbers = list(numbers)
    return f"array<i64{': ' if numbers else ''}{joined(numbers)}>"


def only_sharded(text, other=""):
    return f"{BEGIN}{text}{OTHER}{other}{END}"


def coexist(a, b):
    """Has one cut of an axis both parts (begin, end)?"""
    borders = sorted({*a, *b})
    return all(y % x == 0 for x, y in zip(borders, borders[1:]))


class Shardings:
    """Meshes and random shardings over them; counts what it gives out in `features`."""

    def draw_meshes(self):
        r = self.r
        self.devices = r.choice([3, 5, 6, 6, 8, 8, 8, 12, 12])
        sizes = list(r.choice(MESHES[self.devices]))
        if r.random() < 0.08:
            sizes.insert(r.randint(0, len(sizes)), 1)
        self.meshes = {"mesh": (dict(zip("xyzw", sizes)), self.device_ids(0.2))}
        if r.random() < 0.06:
            self.meshes["turned"] = (dict(zip("xyzw", sizes)), self.device_ids(1))
        if r.random() < 0.04:
            self.meshes["other"] = (dict(zip("abc", r.choice(MESHES[self.devices]))), None)
        self.parts = {}  # of each axis that anything names, by mesh and axis
        self.often = r.choice([0.1, 0.3, 0.8])  # annotated
        self.settled = r.choice([0, 0.1, 0.4])  # constrained at once
        self.open = r.choice([0.1, 0.5, 0.9])
        self.cut = r.choice([0, 0.3, 0.7])
        self.uneven = r.choice([0, 0.1, 0.4, 0.8])
        self.priorities = r.choice([0, 0, 0.4])
        self.unreduced = r.choice([0, 0, 0.1, 0.3])
        shape = "x".join(map(str, sizes))
        self.features.update([f"devices {self.devices}", f"mesh {shape}"])
        self.features.update(f"mesh @{name}" for name in self.meshes)

    def free_axes(self):
        return {a: n for a, n in self.meshes["mesh"][0].items() if a not in self.manual}

    def device_ids(self, chance):
        ids = list(range(self.devices))
        if self.r.random() >= chance:
            return None
        self.r.shuffle(ids)
        self.features["shuffled device ids"] += 1
        return ids

    def mesh_lines(self):
        for name, (axes, ids) in self.meshes.items():
            text = joined(f'"{a}"={n}' for a, n in axes.items())
            yield only_sharded(f"sdy.mesh @{name} = <[{text}]"
                               + (f", device_ids={ids}" if ids else "") + ">")

    def pieces(self, mesh):
        """Axes and parts of axes in random order: (axis, begin, end, size of the axis)."""
        out = []
        for axis, n in self.meshes[mesh][0].items():
            if axis in self.manual:
                continue
            cuts = [1]
            if self.r.random() < self.cut:
                cuts += [k for k in range(2, n) if n % k == 0 and self.r.random() < 0.6]
                cuts = [k for i, k in enumerate(cuts) if all(k % c == 0 for c in cuts[:i])]
                cuts = [k for i, k in enumerate(cuts) if all(c % k == 0 for c in cuts[i:])]
            ends = cuts[1:] + [n]
            out += [(axis, b, e, n) for b, e in zip(cuts, ends)]
        self.r.shuffle(out)
        return out

    def written(self, mesh, l, ordered=False):
        """The references, neighbours merged."""
        if ordered:
            order = list(self.meshes[mesh][0])
            l = sorted(l, key=lambda p: (order.index(p[0]), p[1]))
        merged = []
        for p in l:
            if merged and merged[-1][0] == p[0] and merged[-1][2] == p[1]:
                merged[-1] = (p[0], merged[-1][1], p[2], p[3])
            else:
                merged.append(p)
        out = []
        for axis, begin, end, n in merged:
            whole = begin == 1 and end == n
            out.append(f'"{axis}"' + ("" if whole else f":({begin}){end // begin}"))
            self.features["sub-axes"] += not whole
            self.parts.setdefault((mesh, axis), set()).add((begin, end))
        return joined(out)

    def sharding(self, shape, unreduced=False):
        r, mesh = self.r, "mesh"
        if len(self.meshes) > 1 and not self.manual and r.random() < 0.3:
            mesh = r.choice(list(self.meshes))
        dims, replicated, summed, left = [[] for _ in shape], [], [], list(shape)
        for p in self.pieces(mesh):
            size, q = p[2] // p[1], r.random()
            if q < 0.2 or not shape:
                continue
            if q < 0.28:
                replicated.append(p)
                continue
            if unreduced and q < 0.28 + self.unreduced:
                summed.append(p)
                continue
            fits = [d for d, n in enumerate(left) if n % size == 0]
            if r.random() < self.uneven:
                fits = range(len(shape))
            if fits:
                d = r.choice(list(fits))
                if left[d] % size:
                    few = " (fewer than devices)" * (left[d] < size)
                    self.features["uneven" + few] += 1
                dims[d].append(p)
                left[d] = left[d] // size if left[d] % size == 0 else 1

        def dim(l):
            more = ["?"] if r.random() < self.open else []
            priority = f"p{r.randrange(3)}" if l and r.random() < self.priorities else ""
            self.features["open"] += bool(more)
            self.features["priorities"] += bool(priority)
            return "{" + joined([self.written(mesh, l)] * bool(l) + more) + "}" + priority
        text = f"<@{mesh}, [{joined(map(dim, dims))}]"
        for word, l in (("replicated", replicated), ("unreduced", summed)):
            if l:
                self.features[word] += 1
                text += f", {word}={{{self.written(mesh, l, ordered=True)}}}"
        self.features["shardings"] += 1
        return text + ">"

    def count_unlike(self):
        """Parts of one axis that no cut has both."""
        for parts in self.parts.values():
            if any(not coexist(a, b) for a in parts for b in parts):
                self.features["sub-axes cut in unlike ways"] += 1


class Builder(Shardings):
    """Values, ops in generic form, constants, arguments, and the module around them."""

    def __init__(self, seed, counts, features):
        self.seed, self.counts, self.features = seed, counts, features
        self.r = random.Random(seed)
        self.lines, self.functions, self.values, self.arguments = [], [], [], []
        self.manual = set()  # axes of manual computations around
        self.long = []  # results that are too large for other ops
        self.sizes = SIZES + [0, 0] * (self.r.random() < 0.06)
        self.number, self.depth, self.closed, self.groups = 0, 0, False, {}
        self.special = self.r.random() < 0.3
        self.wild = self.r.random() < 0.1  # any numbers: only the devices' copies are compared
        self.features["special values"] += self.special
        self.features["any numbers"] += self.wild
        self.draw_meshes()
        names = list(ELEMENTS)
        weights = [OFTEN.get(n, 1) for n in names]
        self.elements = self.r.choices(names, weights, k=self.r.choice([1, 1, 2, 3]))

    # ---- names, values ----

    def name(self):
        self.number += 1
        return f"%v{self.number}"

    def chance(self, p):
        return self.r.random() < p

    def shape(self, least=0, most=4):
        for _ in range(50):
            shape = [self.r.choice(self.sizes) for _ in range(self.r.randint(least, most))]
            if math.prod(shape) <= LARGEST // 4:
                return shape
        return [2] * least

    def argument(self, shape, element, role="data", limit=None):
        """A new input of main; limit: what indices stay below, or nearly so."""
        e = ELEMENTS[element]
        bound = 3 if e.exact is None else min(3, e.exact)
        v = Value(f"%arg{len(self.arguments)}", shape, element, bound)
        self.features["no elements"] += not v.size
        given = self.sharding(shape) if self.chance(0.75) else None
        self.arguments.append((v, role, limit, given))
        return v

    def source(self, shape, element):
        """A new value from outside; where there is none, a constant."""
        if not self.closed and math.prod(shape) <= LARGEST:
            return self.argument(shape, element)
        return self.constant(shape, element)

    def some(self, test=lambda v: True, least=0, empty=False):
        """A value for which the test holds, of `least` dimensions or more; `empty`: maybe of no
        elements."""
        found = [v for v in self.values
                 if len(v.shape) >= least and (empty or v.size) and test(v)]
        if self.chance(0.7):
            found = found[-8:]
        if found and not self.chance(0.1):
            return self.r.choice(found)
        for element in self.r.sample(self.elements, len(self.elements)):
            v = Value("", self.shape(least, max(least, self.r.choice([1, 2, 3, 4]))), element, 1)
            if test(v) and (empty or v.size):
                return self.source(v.shape, element)
        return self.r.choice(found) if found else None

    def like(self, v):
        """Another value of its type."""
        found = [w for w in self.values if w.shape == v.shape and w.element == v.element]
        if found and self.chance(0.6):
            return self.r.choice(found)
        return self.source(v.shape, v.element)

    # ---- ops ----

    def op(self, name, operands, results, properties="", regions="", annotate=True, rule="",
           also=None, both=False):
        """`results` are (shape, element, bound); rule: discardable attributes of the sharded form,
        or of both; also: what it is in the sharded form instead, (name, operands, properties)."""
        out = self.name()
        many = len(results) != 1
        values = [Value(f"{out}#{i}" if many else out, *t) for i, t in enumerate(results)]
        discardable = rule
        if annotate and self.depth < 3 and self.chance(self.often * 0.5):
            sums = not many and self.may_be_parts(values[0])
            text = joined(self.sharding(v.shape, sums) for v in values)
            given = f"sdy.sharding = #sdy.sharding_per_value<[{text}]>"
            discardable = f"{given}{rule and ', '}{rule}"
        discardable = discardable and f" {{{discardable}}}"
        also = also or (self.dynamic(name, operands, results, properties) if annotate else None)
        head = f'{out}{f":{len(values)}" if many else ""} = '
        plain = self.generic(name, operands, properties, regions, values)
        if also:
            line = only_sharded(head + self.generic(*also, regions, values, discardable),
                                head + "".join(plain))
            self.counts[also[0]] += 1
        else:
            line = head + plain[0] + only_sharded(
                discardable, f" {{{rule}}}" * both) * bool(discardable) + plain[1]
        self.lines.append(line)
        self.counts[name] += 1
        return values

    @staticmethod
    def generic(name, operands, properties, regions, values, discardable=None):
        """An op in generic form: in two pieces, between which a discardable dictionary stands, or
        with it."""
        first = (f'"{name}"({joined(o.name for o in operands)})'
                 + (f" <{{{properties}}}>" if properties else "")
                 + (f" ({regions})" if regions else ""))
        last = f" : ({joined(o.type for o in operands)}) -> ({joined(v.type for v in values)})"
        return (first, last) if discardable is None else first + discardable + last

    def dynamic(self, name, operands, results, properties):
        """The op with operands in the place of attributes, and of its result's sizes."""
        if name not in DYNAMIC or not self.chance(0.05):
            return None
        other, *words = DYNAMIC[name]
        operands, element = list(operands), self.r.choice(["i32", "i64"])
        for word in words:
            numbers, shape = list(results[0][0]), None
            if word != "shape":
                text = re.search(rf"{word} = (array<i64[^>]*>|dense<[^>]*>( : tensor<[^>]*>))(, )?",
                                 properties)
                properties = properties.replace(text[0], "")
                numbers = re.sub(r"array<i64:?|dense| : .*|[^-\d,]", "", text[1])
                numbers = [int(n) for n in numbers.split(",") if n]
                shape = [len(numbers) // 2, 2] if word == "padding" else None
            operands.append(self.integers(numbers, shape or [len(numbers)],
                                          "i64" if word == "padding" else element))
        return "stablehlo." + other, operands, properties.removesuffix(", ")

    def keep(self, values):
        self.values += values
        return values

    def constant(self, shape, element, number=None):
        if number is None:
            number = self.r.choice([0, 1, 1, 2] if element != "i2" else [0, 1])
            number = number or (1 if ELEMENTS[element].kind == "scale" else 0)
        return self.op("stablehlo.constant", [], [(shape, element, abs(number))],
                       f"value = dense<{literal(element, number) if math.prod(shape) else ''}> : "
                       f"{tensor(shape, element)}",
                       annotate=bool(shape))[0]

    def integers(self, numbers, shape, element="i32"):
        """A constant of these numbers."""
        def nested(a):
            return str(a) if not isinstance(a, list) else f"[{joined(map(nested, a))}]"
        text = nested(np.reshape(numbers, shape).tolist()) if len(numbers) else ""
        return self.op("stablehlo.constant", [], [(shape, element, 9)],
                       f"value = dense<{text}> : {tensor(shape, element)}")[0]

    def fit(self, v, limit):
        """The value with integers up to `limit` only; None: that cannot be."""
        if self.wild:
            return v if v.info.kind != "scale" else None
        if v.info.exact is None:
            return v if v.info.kind != "scale" else None
        if limit < 1:
            return None
        if v.bound is not None and v.bound <= limit:
            return v
        if v.info.complex:
            return None
        if v.bound is None:
            return self.op("stablehlo.sign", [self.ordered(v)], [(v.shape, v.element, 1)])[0]
        k = min(limit, 3)
        ends = [self.constant((), v.element, n) for n in (-k, k)]
        return self.op("stablehlo.clamp", [ends[0], v, ends[1]], [(v.shape, v.element, k)])[0]

    def ordered(self, v):
        """Without NaN, whose sign nothing says."""
        if not v.info.float or (v.bound is not None and not self.special and not self.wild):
            return v
        text = "comparison_direction = #stablehlo<comparison_direction NE>"
        test = self.op("stablehlo.compare", [v, v], [(v.shape, "i1", 1)], text, annotate=False)[0]
        one = self.constant(v.shape, v.element, 1)
        return self.op("stablehlo.select", [test, one, v], [(v.shape, v.element, v.bound)])[0]

    def summable(self, v, n, times=1):
        """The value such that n of its elements times `times` sum up exactly, and the bound."""
        exact = v.info.exact if not self.wild else None
        v = self.fit(v, exact // max(1, n * times) if exact is not None else 0)
        return (v, (v.bound or 0) * n * times) if v else (None, 0)

    @staticmethod
    def marked(line, out=None, v=None):
        """A line of the sharded form; in the other, v is passed on as `out`."""
        other = (f'{out} = "stablehlo.optimization_barrier"({v.name}) : ({v.type}) -> {v.type}'
                 if v else "")
        return only_sharded(line, other)

    def may_be_parts(self, v):
        """Can it be unreduced? What linear ops make of parts is right but for signs of zeros."""
        return v.info.int

    def constrain(self, v):
        out = self.name()
        word = self.r.choice(["sharding_constraint", "sharding_constraint", "reshard"])
        sums = word == "sharding_constraint" and self.may_be_parts(v)
        text = self.sharding(v.shape, unreduced=sums)
        self.lines.append(self.marked(f"{out} = sdy.{word} {v.name} {text} : {v.type}", out, v))
        self.counts["sdy." + word] += 1
        return self.keep([Value(out, v.shape, v.element, v.bound)])[0]

    # ---- bodies ----

    def body(self, arguments, steps, closed=False):
        """Draws ops in a body; returns its lines and the values made."""
        outer = self.lines, self.values, self.closed
        begin = [] if closed else self.values[-3:]
        self.lines, self.values, self.closed = [], begin + list(arguments), self.closed or closed
        count = len(self.values)
        self.depth += 1
        for _ in range(steps):
            self.step()
        self.depth -= 1
        lines, made = self.lines, self.values[count:]
        self.lines, self.values, self.closed = outer
        return lines, made

    def ending(self, lines, made, v):
        """Of the values that a body made, one to return in v's place; its numbers fit as v's do."""
        found = [w for w in made if w.shape == v.shape and w.element == v.element]
        if not found:
            return v
        w = found[-1]
        outer, self.lines = self.lines, lines
        if v.bound is not None and w.info.exact is not None:
            w = self.fit(w, v.bound) or v
        if self.chance(0.3):
            values, self.values = self.values, []
            w = self.constrain(w)
            self.values = values
        self.lines = outer
        return w

    # ---- the module ----

    def witness(self, v):
        """The copy that each device has of a value, all of them."""
        if v.size * self.devices > LARGEST:
            return []
        name = self.r.choice([m for m, (axes, _) in self.meshes.items()])
        axes = joined(f'"{a}"' for a in self.meshes[name][0])
        dims = joined(["{" + axes + "}"] + ["{}"] * len(v.shape))
        out = self.op("stablehlo.broadcast_in_dim", [v],
                      [((self.devices, *v.shape), v.element, v.bound)],
                      f"broadcast_dimensions = {array(range(1, len(v.shape) + 1))}",
                      annotate=False)[0]
        seen = self.name()
        self.lines.append(self.marked(
            f"{seen} = sdy.sharding_constraint {out.name} <@{name}, [{dims}]> : {out.type}",
            seen, out))
        self.features["each device's copy"] += 1
        return [Value(seen, out.shape, out.element)]

    def build(self, steps):
        for _ in range(self.r.choice([1, 2, 2])):
            self.values.append(self.argument(self.shape(1, 3), self.r.choice(self.elements)))
        begin = len(self.values)
        for _ in range(steps):
            self.step()
        made = self.values[begin:] or self.values
        text = "\n".join(self.lines)
        ends = [v for v in made if len(re.findall(re.escape(v.name) + r"(?![\w#])", text)) < 2]
        self.results = (ends[-6:] + [self.r.choice(made)])[:7] + self.long
        self.witnesses = len(self.results)  # this result and those behind it
        for _ in range(4 if self.wild else self.chance(0.25)):
            self.results += self.witness(self.r.choice(made))
        self.given = [self.sharding(v.shape) if self.chance(0.4) else None for v in self.results]
        self.count_unlike()
        for element in {v.element for v, *_ in self.arguments} | {v.element for v in made}:
            self.features[f"element {element}"] += 1

    def whole(self):
        def attribute(given):
            return only_sharded(f" {{sdy.sharding = #sdy.sharding{given}}}") if given else ""
        arguments = joined(f"{v.name}: {v.type}{attribute(g)}" for v, _, _, g in self.arguments)
        results = joined(v.type + attribute(g) for v, g in zip(self.results, self.given))
        body = "\n".join(self.lines)
        return "\n".join(["module {", *self.mesh_lines(),
                          f"func.func public @main({arguments}) -> ({results}) {{", body,
                          f"return {joined(v.name for v in self.results)} : "
                          f"{joined(v.type for v in self.results)}", "}", *self.functions, "}", ""])

    def texts(self):
        """Sharded and unsharded."""
        text = self.whole()
        return MARKED.sub(r"\1", text), MARKED.sub(r"\2", text)

    def inputs(self):
        rng = np.random.default_rng(self.seed)
        return [np.ascontiguousarray(self.data(rng, v, role, limit), v.info.dtype).reshape(v.shape)
                for v, role, limit, _ in self.arguments]

    def data(self, rng, v, role, limit):
        if role == "index":
            low = 0 if v.info.kind == "unsigned" else -1
            return rng.integers(low if rng.random() < 0.3 else 0, max(1, limit), v.shape).astype(
                v.info.dtype)
        if role == "distinct":  # rows of numbers that differ, along the last dimension but one
            rows = [rng.permutation(limit)[:v.shape[-2]] for _ in range(v.size // v.shape[-2])]
            return np.reshape(rows, v.shape).astype(v.info.dtype)
        if role == "definite":
            a = rng.integers(-2, 3, v.shape).astype(v.info.dtype)
            if v.info.complex:
                a = a + 1j * rng.integers(-2, 3, v.shape)
            return a @ a.conj().swapaxes(-1, -2) + np.eye(v.shape[-1])
        if role == "bits":
            words = rng.integers(0, 1 << 40, v.shape).astype(v.info.dtype)
            return words if rng.random() < 0.7 else ~(words >> 37)  # about to begin again
        return random_data(rng, v, self.special, self.wild)
