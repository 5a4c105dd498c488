"""The ops without regions that sharded.py draws: draw_NAME adds one to the module, or nothing."""

import math

from sharded_module import LARGEST, SIZES, Builder, array, joined
from sharded_values import ELEMENTS, Value, tensor

ROUNDING = ["ceil", "floor", "round_nearest_afz", "round_nearest_even"]
FUNCTIONS = ["cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one",
             "logistic", "rsqrt", "sine", "sqrt", "tan", "tanh"]
CHLO = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "tan"]
CHLO_REAL = ["bessel_i1e", "digamma", "erf", "erf_inv", "erfc", "lgamma"]
OF_INTEGERS = ["count_leading_zeros", "not", "popcnt"]
CONVERTED = ["f32", "i32", "bf16", "f16", "i8", "ui8", "f64", "i1", "i4", "f8E4M3FN", "f8E5M2"]


def is_number(v):
    return v.info.kind != "scale"


def is_real(v):
    return is_number(v) and not v.info.complex


def is_float(v):
    return v.info.float


def parts(numbers):
    """For bounds that attributes list."""
    return f"dense<{numbers}> : tensor<{len(numbers)}x2xi64>"


class Ops(Builder):
    # ---- elementwise ----

    def elementwise(self, name, operands, bound, element=None):
        v = max(operands, key=lambda v: len(v.shape))
        return self.keep(self.op(name, operands, [(v.shape, element or v.element, bound)]))

    def draw_unary(self):
        v = self.some(is_number, empty=True)
        if v is None:
            return
        kind, name = v.info.kind, self.r.choice(["negate", "abs", "sign"])
        if kind == "pred" or (kind == "signed" and self.chance(0.3)):
            self.elementwise("stablehlo." + ("not" if kind == "pred" else
                                             self.r.choice(OF_INTEGERS)), [v], 9)
        elif kind == "unsigned":
            self.elementwise("stablehlo." + self.r.choice(OF_INTEGERS), [v], 9)
        elif v.info.complex:
            name = self.r.choice(["negate", "real", "imag", "conj", "abs", "sign"])
            half = None if name in ("negate", "conj", "sign") else v.element[8:-1]
            bound = None if name in ("abs", "sign") else v.bound
            self.elementwise(("chlo." if name == "conj" else "stablehlo.") + name, [v], bound, half)
        else:
            self.elementwise("stablehlo." + name, [v], 1 if name == "sign" else v.bound)

    def draw_function(self):
        """Whose results are no integers."""
        v = self.some(lambda v: is_float(v) or v.info.complex, empty=True)
        if v is None:
            return
        small = v.bound or 0
        if is_float(v) and self.chance(0.25):
            self.elementwise("stablehlo." + self.r.choice(ROUNDING), [v], v.bound)
        elif self.chance(0.3) and v.info.bits > 8:
            names = self.r.choice([CHLO, CHLO_REAL]) if is_float(v) else CHLO
            self.elementwise("chlo." + self.r.choice(names), [v], None)
        elif v.info.bits > 8 and self.chance(0.1):
            bound = small ** 2 if self.exact(v, small ** 2) else None
            self.elementwise("chlo.square", [v], bound)
        else:
            names = FUNCTIONS[v.info.complex:]  # there is no complex cube root
            self.elementwise("stablehlo." + self.r.choice(names), [v], None)

    @staticmethod
    def exact(v, bound):
        return bool(v.bound) and not v.info.complex and bound <= (v.info.exact or 0)

    def draw_test(self):
        v = self.some(is_float, empty=True)
        if v is not None:
            names = ["chlo.is_inf", "chlo.is_neg_inf", "chlo.is_pos_inf"] * (v.info.bits > 8)
            name = self.r.choice(["stablehlo.is_finite", *names])
            self.elementwise(name, [v], 1, "i1")

    def draw_binary(self):
        v = self.some(is_number, empty=True)
        if v is None:
            return
        w, kind = self.like(v), v.info.kind
        names = ["add", "subtract", "multiply", "maximum", "minimum"]
        if kind == "pred":
            names = ["add", "multiply", "maximum", "minimum", "and", "or", "xor"]
        elif v.info.int:
            names += ["and", "or", "xor", "shift_left", "shift_right_arithmetic",
                      "shift_right_logical", "divide", "remainder", "power"]
        elif v.info.complex:
            names = ["add", "subtract", "multiply"] + ["divide", "power"] * (not self.special)
        elif self.chance(0.25):
            names = ["divide", "remainder", "power", "atan2"]
        name = self.r.choice(names)
        bound = None
        if v.bound is not None and w.bound is not None:
            bound = {"add": v.bound + w.bound, "subtract": v.bound + w.bound,
                     "multiply": v.bound * w.bound * (2 if v.info.complex else 1),
                     "maximum": max(v.bound, w.bound),
                     "minimum": max(v.bound, w.bound)}.get(name)
        if v.info.exact is not None and (bound or 0) > v.info.exact:
            bound = None
        self.elementwise("stablehlo." + name, [v, w], bound)

    def draw_chlo_binary(self):
        if self.chance(0.3):
            v = self.some(lambda v: v.info.int and v.info.bits >= 8)
            name = "mulhi"
        else:
            v = self.some(lambda v: v.element in ("f32", "f64", "bf16", "f16"))
            name = self.r.choice(["next_after", "polygamma", "zeta"])
        if v is not None:
            self.elementwise("chlo." + name, [v, self.like(v)], None)

    def compare(self, v, w, direction=None):
        kind = v.info.kind
        direction = direction or self.r.choice(
            ["EQ", "NE"] if v.info.complex else ["EQ", "NE", "LT", "LE", "GT", "GE"])
        text = f"comparison_direction = #stablehlo<comparison_direction {direction}>"
        if v.info.float and self.chance(0.2):
            v, w = self.ordered(v), self.ordered(w)
            text += ", compare_type = #stablehlo<comparison_type TOTALORDER>"
        elif kind == "unsigned" and self.chance(0.3):
            text += ", compare_type = #stablehlo<comparison_type UNSIGNED>"
        return self.op("stablehlo.compare", [v, w], [(v.shape, "i1", 1)], text)[0]

    def draw_select(self):
        v = self.some(is_number, empty=True)
        if v is None:
            return
        w = self.like(v)
        pred = self.compare(v, w)
        self.values.append(pred)
        scalar = self.chance(0.2)
        if scalar:
            pred = self.source((), "i1")
        bound = None if None in (v.bound, w.bound) else max(v.bound, w.bound)
        self.elementwise("stablehlo.select", [pred, v, w], bound, v.element)

    def draw_clamp(self):
        v = self.some(is_real, empty=True)
        if v is None:
            return
        if self.chance(0.5):
            ends = [self.like(v), self.like(v)]
        else:
            ends = [self.constant((), v.element, n) for n in (0 if v.info.int else -1, 1)]
        bounds = [x.bound for x in (v, *ends)]
        self.keep(self.op("stablehlo.clamp", [ends[0], v, ends[1]],
                          [(v.shape, v.element, None if None in bounds else max(bounds))]))

    def draw_convert(self):
        v = self.some(lambda v: True, empty=True)
        if v is None:
            return
        to = self.r.choice(CONVERTED + self.elements + list(ELEMENTS))
        e = ELEMENTS[to]
        if v.info.kind == "scale" and self.chance(0.5):
            return
        bound = v.bound if v.info.exact is not None else None
        if v.info.kind == "pred" or (v.info.int and v.info.bits == 2):
            bound = 3
        if bound is not None and e.exact is not None and bound > e.exact:
            bound = None
        if e.kind == "scale":
            bound = None
        self.elementwise("stablehlo.convert", [v], bound, to)

    def draw_bitcast(self):
        v = self.some(lambda v: v.info.bits >= 8 and not v.info.complex)
        if v is None:
            return
        to = self.r.choice([n for n, e in ELEMENTS.items() if e.bits >= 8 and not e.complex
                            and e.kind != "scale"])
        a, b, shape = v.info.bits, ELEMENTS[to].bits, list(v.shape)
        if a > b:
            shape.append(a // b)
        elif b > a:
            if not shape or shape[-1] != b // a:
                return
            shape.pop()
        if math.prod(shape) <= LARGEST:
            self.keep(self.op("stablehlo.bitcast_convert", [self.ordered(v)], [(shape, to, None)]))

    def draw_reduce_precision(self):
        v = self.some(lambda v: v.info.float and v.info.bits >= 16)
        if v is not None:
            self.keep(self.op("stablehlo.reduce_precision", [v], [(v.shape, v.element, None)],
                              f"exponent_bits = {self.r.choice([1, 3, 5, 8, 11])} : i32, "
                              f"mantissa_bits = {self.r.choice([0, 2, 4, 10, 23, 52])} : i32"))

    def draw_complex(self):
        v = self.some(lambda v: v.element in ("f32", "f64"))
        if v is not None and not self.special:
            w = self.like(v)
            bound = None if None in (v.bound, w.bound) else max(v.bound, w.bound)
            self.elementwise("stablehlo.complex", [v, w], bound, f"complex<{v.element}>")

    # ---- sources ----

    def draw_iota(self):
        shape = self.shape(1, 4)
        d, element = self.r.randrange(len(shape)), self.r.choice(self.elements)
        e = ELEMENTS[element]
        if e.kind in ("pred", "scale"):
            return
        bound = shape[d] if e.exact is None or shape[d] <= e.exact else None
        self.keep(self.op("stablehlo.iota", [], [(shape, element, bound)],
                          f"iota_dimension = {d} : i64"))

    def draw_constant(self):
        shape = self.shape(1, 3)
        element = self.r.choice(["i32", "f32", *self.elements])
        if self.chance(0.3) or not ELEMENTS[element].int or ELEMENTS[element].bits < 8:
            self.keep([self.constant(shape, element)])
        else:
            numbers = [self.r.randrange(4) for _ in range(math.prod(shape))]
            self.keep([self.integers(numbers, shape, element)])

    def draw_rng(self):
        if self.closed:
            return
        algorithm = self.r.choice(["DEFAULT", "THREE_FRY", "PHILOX"])
        words = (2 if algorithm == "THREE_FRY" else self.r.choice([2, 3]),)
        shape, state = self.shape(1, 3), self.argument(words, "ui64", "bits")
        element = self.r.choice(["ui32", "ui64", "ui8", "i32"])
        self.keep(self.op("stablehlo.rng_bit_generator", [state],
                          [(words, "ui64", 9), (shape, element, 9)],
                          f"rng_algorithm = #stablehlo<rng_algorithm {algorithm}>"))

    # ---- the same elements elsewhere ----

    def moved(self, name, v, shape, properties, others=(), bound=0):
        if math.prod(shape) > LARGEST:
            return
        bound = None if v.bound is None or bound is None else max(v.bound, bound)
        self.keep(self.op("stablehlo." + name, [v, *others], [(shape, v.element, bound)],
                          properties))

    def draw_broadcast(self):
        v = self.some(empty=True)
        if v is None or v.size > LARGEST // 4:
            return
        shape, dims = [], []
        for n in v.shape:
            while self.chance(0.25) and math.prod(shape) < 64:
                shape.append(self.r.choice(SIZES))
            dims.append(len(shape))
            shape.append(self.r.choice(SIZES) if n == 1 and self.chance(0.6) else n)
        while self.chance(0.4) and math.prod(shape) < 256:
            shape.append(self.r.choice(SIZES))
        order = list(range(len(shape)))
        if self.chance(0.2):
            self.r.shuffle(order)  # dimension d goes to order[d]
            shape = [shape[order.index(k)] for k in range(len(shape))]
            dims = [order[d] for d in dims]
        self.moved("broadcast_in_dim", v, shape, f"broadcast_dimensions = {array(dims)}")

    def draw_reshape(self):
        v = self.some(least=1, empty=True)
        if v is None:
            return
        shape, r = list(v.shape), self.r
        for _ in range(r.choice([1, 1, 2, 3])):
            d = r.randrange(len(shape)) if shape else 0
            factors = [k for k in (2, 3, 4, 6) if shape and shape[d] % k == 0]
            if len(shape) > 1 and r.random() < 0.4:
                d = r.randrange(len(shape) - 1)
                shape[d:d + 2] = [shape[d] * shape[d + 1]]
            elif factors and len(shape) < 6:
                k = r.choice(factors)
                shape[d:d + 1] = r.choice([[k, shape[d] // k], [shape[d] // k, k]])
            elif len(shape) < 6:
                shape.insert(d, 1)
        self.moved("reshape", v, shape, "")

    def draw_transpose(self):
        v = self.some(least=2, empty=True)
        if v is not None:
            order = self.r.sample(range(len(v.shape)), len(v.shape))
            self.moved("transpose", v, [v.shape[d] for d in order], f"permutation = {array(order)}")

    def sample(self, v, n=None):
        dims = range(len(v.shape))
        return sorted(self.r.sample(dims, n or self.r.randint(1, len(v.shape))))

    def draw_reverse(self):
        v = self.some(least=1, empty=True)
        if v is not None:
            self.moved("reverse", v, v.shape, f"dimensions = {array(self.sample(v))}")

    def draw_slice(self):
        v = self.some(least=1)
        if v is None:
            return
        begin, end, step = [], [], []
        for n in v.shape:
            a = 0 if self.chance(0.6) else self.r.randrange(n)
            begin.append(a)
            end.append(n if self.chance(0.6) else self.r.randint(a + 1, n))
            step.append(self.r.choice([1, 1, 1, 2, 3]) if self.chance(0.4) else 1)
        shape = [-(-(b - a) // k) for a, b, k in zip(begin, end, step)]
        self.moved("slice", v, shape, f"limit_indices = {array(end)}, start_indices = "
                   f"{array(begin)}, strides = {array(step)}")

    def draw_pad(self):
        v = self.some(least=1, empty=True)
        if v is None:
            return
        r = self.r
        low = [r.choice([0, 0, 0, 1, 2, 3, -1]) for _ in v.shape]
        high = [r.choice([0, 0, 0, 1, 2, 4, -1]) for _ in v.shape]
        inside = [r.choice([0, 0, 0, 0, 1, 2]) for _ in v.shape]
        shape = [n + a + b + max(0, n - 1) * i for n, a, b, i in zip(v.shape, low, high, inside)]
        if min(shape) > 0 or not v.size and min(shape) >= 0:
            number = self.constant((), v.element)
            self.moved("pad", v, shape, f"edge_padding_high = {array(high)}, edge_padding_low = "
                       f"{array(low)}, interior_padding = {array(inside)}", [number], number.bound)

    def draw_concatenate(self):
        v = self.some(least=1, empty=True)
        if v is None:
            return
        d, operands = self.r.randrange(len(v.shape)), [v]
        for _ in range(self.r.choice([1, 1, 2, 3])):
            found = [w for w in self.values if w.element == v.element and len(w.shape)
                     == len(v.shape) and all(a == b for k, (a, b) in
                                             enumerate(zip(w.shape, v.shape)) if k != d)]
            shape = [n if k != d else self.r.choice(SIZES) for k, n in enumerate(v.shape)]
            new = self.chance(0.5) and math.prod(shape) <= LARGEST
            operands.append(self.source(shape, v.element) if new else self.r.choice(found or [v]))
        shape = [n if k != d else sum(w.shape[d] for w in operands) for k, n in enumerate(v.shape)]
        bounds = [w.bound for w in operands]
        self.moved("concatenate", v, shape, f"dimension = {d} : i64", operands[1:],
                   None if None in bounds else max(bounds))

    def piece(self, v, d, begin, end):
        """Elements begin to end of v along d."""
        shape = [end - begin if k == d else n for k, n in enumerate(v.shape)]
        low = [begin * (k == d) for k in range(len(shape))]
        return self.op("stablehlo.slice", [v], [(shape, v.element, v.bound)],
                       f"limit_indices = {array(a + n for a, n in zip(low, shape))}, "
                       f"start_indices = {array(low)}, strides = {array([1] * len(shape))}")[0]

    def draw_rotation(self):
        """A concatenation of slices of one value, such as roll and the padding modes of NumPy."""
        v, r = self.some(least=1), self.r
        d = r.randrange(len(v.shape)) if v is not None else 0
        n = v.shape[d] if v is not None else 0
        if n < 2:
            return
        k, i, j = r.choice([1, 1, r.randrange(1, n)]), r.randrange(n), r.randrange(n)
        places = r.choice([[(k, n), (0, k)], [(n - k, n), (0, n - k)], [(n - k, n), (0, n), (0, k)],
                           [(0, 1), (0, n), (n - 1, n)], [None, (0, n - 1)], [(1, n), None],
                           [(min(i, j), max(i, j) + 1), (0, n - 1), (i, i + 1)]])
        one = [1 if e == d else m for e, m in enumerate(v.shape)]
        pieces = [self.piece(v, d, *p) if p else self.source(one, v.element) for p in places]
        shape = [sum(w.shape[d] for w in pieces) if e == d else m for e, m in enumerate(v.shape)]
        bounds = [w.bound for w in pieces]
        self.moved("concatenate", pieces[0], shape, f"dimension = {d} : i64", pieces[1:],
                   None if None in bounds else max(bounds))

    def draw_padded_slice(self):
        """As in the gradient of a rotation."""
        v, r = self.some(least=1), self.r
        d = r.randrange(len(v.shape)) if v is not None else 0
        n = v.shape[d] if v is not None else 0
        if n < 2:
            return
        k, i = r.randint(0, 2), r.randint(0, 2)
        x = self.piece(v, d, min(k, n - 1), max(n - i, min(k, n - 1) + 1))
        low, high = ([m * (e == d) for e in range(len(v.shape))] for m in (r.choice([i, 1]), k))
        shape = [m + a + b for m, a, b in zip(x.shape, low, high)]
        number = self.constant((), v.element)
        self.moved("pad", x, shape, f"edge_padding_high = {array(high)}, edge_padding_low = "
                   f"{array(low)}, interior_padding = {array([0] * len(shape))}", [number],
                   number.bound)

    def padded_to(self, x, d, low, end, number):
        """x at place `low` of `end` along d."""
        shape = [end if e == d else m for e, m in enumerate(x.shape)]
        lows, highs = ([m * (e == d) for e in range(len(shape))]
                       for m in (low, end - low - x.shape[d]))
        bound = None if None in (x.bound, number.bound) else max(x.bound, number.bound)
        return self.op("stablehlo.pad", [x, number], [(shape, x.element, bound)],
                       f"edge_padding_high = {array(highs)}, edge_padding_low = {array(lows)}, "
                       f"interior_padding = {array([0] * len(shape))}")[0]

    def draw_sum_of_pads(self):
        """As in the gradient of a concatenation or rotation: slices that are put elsewhere."""
        v, r = self.some(is_number, least=1), self.r
        d = r.randrange(len(v.shape)) if v is not None else 0
        n = v.shape[d] if v is not None else 0
        if n < 2:
            return
        cuts = sorted(r.sample(range(1, n), min(n - 1, r.choice([1, 1, 1, 2]))))
        pieces = [self.piece(v, d, a, b) for a, b in zip([0] + cuts, cuts + [n])]
        r.shuffle(pieces)
        at, gap, end = r.choice([0, 0, 1]), r.choice([0, 0, 0, 1, -1]), n + 1 + len(pieces)
        end = n if (at, gap) == (0, 0) else end
        number, padded = self.constant((), v.element, r.choice([0, 0, 0, 1])), []
        for x in pieces:
            padded.append(self.padded_to(x, d, at, end, number))
            at += max(x.shape[d] + gap, 0)
        r.shuffle(padded)
        total = padded[0]
        for x in padded[1:]:
            bound = None if None in (total.bound, x.bound) else total.bound + x.bound
            exact = v.info.exact is None or (bound or 0) <= v.info.exact
            total = self.op("stablehlo.add", [total, x],
                            [(x.shape, x.element, bound if exact else None)])[0]
        self.keep([total])

    def draw_shifts(self):
        """Slices of a padded value."""
        v, r = self.some(least=1), self.r
        d = r.randrange(len(v.shape)) if v is not None else 0
        n, k = v.shape[d] if v is not None else 0, r.choice([1, 1, 2, 3])
        if n < 2 or (v.size // n) * (n + 2 * k) > LARGEST:
            return
        number, around = self.constant((), v.element), [k * (e == d) for e in range(len(v.shape))]
        bound = None if None in (v.bound, number.bound) else max(v.bound, number.bound)
        shape = [m + 2 * k * (e == d) for e, m in enumerate(v.shape)]
        padded = self.op("stablehlo.pad", [v, number], [(shape, v.element, bound)],
                         f"edge_padding_high = {array(around)}, "
                         f"edge_padding_low = {array(around)}, interior_padding = "
                         f"{array([0] * len(shape))}")[0]
        for begin in r.sample(range(2 * k + 1), 2):
            self.keep([self.piece(padded, d, begin, begin + n)])

    # ---- places that are computed ----

    def starts(self, v, sizes):
        """A scalar index a dimension, often beyond the end."""
        element = self.r.choice(["i32", "i32", "i64", "ui32", "ui8", "i8"])
        out = []
        for n, k in zip(v.shape, sizes):
            if self.closed or self.chance(0.4):
                low = -1 if element[0] == "i" else 0
                out.append(self.constant((), element, self.r.randint(low, n - k + 1)))
            else:
                out.append(self.argument((), element, "index", n - k + 2))
        return out

    def sizes_within(self, v):
        return [n if self.chance(0.5) else self.r.randint(1, n) for n in v.shape]

    def draw_dynamic_slice(self):
        v = self.some(least=1)
        if v is not None:
            sizes = self.sizes_within(v)
            self.moved("dynamic_slice", v, sizes, f"slice_sizes = {array(sizes)}",
                       self.starts(v, sizes))

    def draw_dynamic_update_slice(self):
        v = self.some(least=1)
        if v is None:
            return
        sizes = self.sizes_within(v)
        found = [w for w in self.values if w.element == v.element and list(w.shape) == sizes]
        update = self.r.choice(found) if found else self.source(sizes, v.element)
        self.moved("dynamic_update_slice", v, v.shape, "", [update, *self.starts(v, sizes)],
                   update.bound)

    def draw_gather(self):
        """With collapsed, batching and window dimensions, the index vector anywhere."""
        v, r = self.some(least=1), self.r
        if v is None or self.closed:
            return
        dims = r.sample(range(len(v.shape)), len(v.shape))
        batching = sorted(dims.pop() for _ in range(r.choice([0, 0, 1, 2])) if len(dims) > 1)
        mapped = [dims.pop() for _ in range(r.choice([1, 1, 2])) if dims]
        sizes = [1 if d in batching else n for d, n in enumerate(v.shape)]
        collapsed = []
        for d in mapped:
            sizes[d] = 1 if r.random() < 0.7 else r.randint(1, v.shape[d])
            if sizes[d] == 1 and r.random() < 0.85:
                collapsed.append(d)
        for d in dims:
            sizes[d] = v.shape[d] if r.random() < 0.8 else r.randint(1, v.shape[d])
        batch = [v.shape[d] for d in batching] + self.shape(0, 2)
        order = r.sample(range(len(batch)), len(batch))
        batch = [batch[k] for k in order]
        places = [order.index(k) for k in range(len(batching))]  # of the batching dimensions
        vector = r.randint(0, len(batch))
        indices = batch[:vector] + [len(mapped)] + batch[vector:]
        if len(mapped) == 1 and r.random() < 0.4:
            vector, indices = len(batch), batch
        window = [sizes[d] for d in range(len(sizes)) if d not in batching + collapsed]
        rank = len(batch) + len(window)
        offsets = sorted(r.sample(range(rank), len(window)))
        if r.random() < 0.5:
            offsets = list(range(len(batch), rank))
        left, shape = iter(batch), []
        for k in range(rank):
            shape.append(window[offsets.index(k)] if k in offsets else next(left))
        if math.prod(shape) > LARGEST or math.prod(indices) > LARGEST:
            return
        limit = max(v.shape[d] - sizes[d] for d in mapped) + r.choice([1, 1, 2])
        index = self.argument(indices, r.choice(["i32", "i32", "i64", "ui32"]), "index", limit)
        places = [p + (p >= vector and len(indices) > len(batch)) for p in places]
        more = (f"operand_batching_dims = {batching}, start_indices_batching_dims = {places}, "
                if batching else "")
        self.moved("gather", v, shape, "dimension_numbers = #stablehlo.gather<offset_dims = "
                   f"{offsets}, collapsed_slice_dims = {sorted(collapsed)}, {more}"
                   f"start_index_map = {mapped}, index_vector_dim = {vector}>, "
                   f"indices_are_sorted = false, slice_sizes = {array(sizes)}", [index])

    # ---- products ----

    def draw_dot(self):
        """Batching and contracting dimensions in any order and place."""
        a, r = self.some(is_number, least=1, empty=True), self.r
        if a is None:
            return
        dims = r.sample(range(len(a.shape)), len(a.shape))
        batch = [dims.pop() for _ in range(r.choice([0, 0, 1, 2])) if len(dims) > 1]
        contracted = [dims.pop() for _ in range(r.choice([1, 1, 1, 2, 3])) if dims]
        free = self.shape(0, 2)
        kinds = [("b", i) for i in range(len(batch))] + [("c", i) for i in range(len(contracted))]
        kinds += [("f", i) for i in range(len(free))]
        r.shuffle(kinds)
        shape = [a.shape[batch[i]] if k == "b" else a.shape[contracted[i]] if k == "c" else free[i]
                 for k, i in kinds]
        out = [a.shape[d] for d in batch + sorted(dims)]
        out += [n for n, (k, _) in zip(shape, kinds) if k == "f"]
        if max(math.prod(shape), math.prod(out)) > LARGEST:
            return
        b = self.like(Value("", shape, a.element))
        n = math.prod(a.shape[d] for d in contracted)
        x = self.fit(a, 3)
        y = x and self.fit(b, 3)
        if y is None:
            return
        element = self.wider(a)
        bound = (x.bound or 0) * (y.bound or 0) * n * (2 if a.info.complex else 1)
        if self.wild:
            bound = None
        elif ELEMENTS[element].exact is not None and bound > ELEMENTS[element].exact:
            return
        batch_b = [kinds.index(("b", i)) for i in range(len(batch))]
        contracted_b = [kinds.index(("c", i)) for i in range(len(contracted))]
        if not batch and len(contracted) == 1 and contracted[0] == len(a.shape) - 1 < 2 and \
                contracted_b == [0] and len(shape) < 3 and r.random() < 0.8:
            self.keep(self.op("stablehlo.dot", [x, y], [(out, element, bound)]))
            return
        self.keep(self.op("stablehlo.dot_general", [x, y], [(out, element, bound)],
                          "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = "
                          f"{batch}, rhs_batching_dimensions = {batch_b}, "
                          f"lhs_contracting_dimensions = {contracted}, "
                          f"rhs_contracting_dimensions = {contracted_b}>" + self.precision(a)))

    def wider(self, v):
        """An element type that products of such values may be added up in."""
        if v.info.float and v.info.bits <= 16 and self.chance(0.4):
            return "f32"
        return "i32" if v.info.int and v.info.bits == 8 and self.chance(0.5) else v.element

    def precision(self, v, algorithms=True):
        if self.chance(0.8):
            return ""
        if v.element == "f32" and algorithms and self.chance(0.5):
            kind, times = self.r.choice([("bf16", 1), ("bf16", 6), ("tf32", 3), ("f16", 1)])
            return (f", algorithm = #stablehlo.dot_algorithm<lhs_precision_type = {kind}, "
                    f"rhs_precision_type = {kind}, accumulation_type = f32, "
                    "lhs_component_count = 1, rhs_component_count = 1, "
                    f"num_primitive_operations = {times}, "
                    "allow_imprecise_accumulation = false>")
        both = joined(f"#stablehlo<precision {self.r.choice(['DEFAULT', 'HIGH', 'HIGHEST'])}>"
                      for _ in range(2))
        return f", precision_config = [{both}]"

    def draw_convolution(self):
        """Dimensions in any order; strides, paddings, dilations, reversals, groups."""
        r, element = self.r, self.r.choice(self.elements)
        if not is_number(Value("", (), element)) or element == "i1":
            return
        n = r.choice([0, 1, 1, 2, 2, 3])
        groups, batches = r.choice([(1, 1)] * 4 + [(2, 1), (3, 1), (4, 1), (1, 2), (1, 3)])
        size = [r.choice([1, 2, 3, 4, 6, 8, 12, 16, 24]) for _ in range(n)]
        kernel = [r.choice([1, 1, 2, 3, 4, 6, 8, 12, 24]) for _ in range(n)]
        stride, far, near = ([r.choice([1, 1, 1, 2, 3]) for _ in range(n)] for _ in range(3))
        pad = [[r.choice([0, 0, 1, 2, -1]), r.choice([0, 0, 1, 2])] for _ in range(n)]
        turned = [r.random() < 0.3 for _ in range(n)]
        out = []
        for i in range(n):
            length = (size[i] - 1) * far[i] + 1 + sum(pad[i])
            room = length - ((kernel[i] - 1) * near[i] + 1)
            if room < 0:
                return
            out.append(room // stride[i] + 1)
        b, f, o = (r.choice([1, 2, 3, 4, 6, 8]) for _ in range(3))
        b, f, o = b * batches, f * groups, o * groups * batches

        def order(dims):
            """Their places, as they stand in `dims`, batches and features first."""
            places = r.sample(range(n + 2), n + 2) if r.random() < 0.7 else list(range(n + 2))
            shape = [0] * (n + 2)
            for p, k in zip(places, dims):
                shape[p] = k
            return places, shape
        left, right, result = (order([b, f, *size]), order([f // groups, o, *kernel]),
                               order([b // batches, o, *out]))
        if max(map(math.prod, (left[1], right[1], result[1]))) > LARGEST:
            return
        x, y = (self.fit(self.like(Value("", s, element)), 3) for s in (left[1], right[1]))
        if x is None or y is None:
            return
        bound = (x.bound or 0) * (y.bound or 0) * math.prod(kernel) * (f // groups)
        bound *= 2 if x.info.complex else 1
        element = self.wider(x)
        if self.wild:
            bound = None
        elif ELEMENTS[element].exact is not None and bound > ELEMENTS[element].exact:
            return

        def text(places, first, second):
            letters = dict(zip(places, [first, second, *map(str, range(n))]))
            return f"[{joined(letters[p] for p in range(n + 2))}]"
        dims = (f"{text(left[0], 'b', 'f')}x{text(right[0], 'i', 'o')}->"
                f"{text(result[0], 'b', 'f')}")
        reversal = f"array<i1{': ' if n else ''}{joined(str(t).lower() for t in turned)}>"
        padding = parts(pad) if n else "dense<> : tensor<0x2xi64>"
        self.keep(self.op(
            "stablehlo.convolution", [x, y], [(result[1], element, bound)],
            f"batch_group_count = {batches} : i64, dimension_numbers = #stablehlo.conv<{dims}>, "
            f"feature_group_count = {groups} : i64, lhs_dilation = {array(far)}, padding = "
            f"{padding}, rhs_dilation = {array(near)}, window_reversal = {reversal}, "
            f"window_strides = {array(stride)}{self.precision(x, False)}"))
