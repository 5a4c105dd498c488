"""Random graphs of up to 30 ops, for single.py, of those that sharded.py draws, on one device. What
comes of functions that are not exact is rounded to small integers, so that all else is: every
element of the results must be that of an oracle."""

import collections
import dataclasses
import re

import ml_dtypes
import numpy as np

from sharded_module import array
from sharded_regions import Maker
from sharded_seldom import Seldom
from sharded_values import ELEMENTS
from single_values import Case, limits

EXACT = {"abs", "add", "and", "ceil", "clamp", "compare", "complex", "conj", "convert", "divide",
         "floor", "imag", "is_finite", "is_inf", "is_neg_inf", "is_pos_inf", "maximum", "minimum",
         "multiply", "negate", "not", "or", "popcnt", "count_leading_zeros", "power", "real",
         "remainder", "round_nearest_afz", "round_nearest_even", "select", "sign", "square",
         "subtract", "xor", "shift_left", "shift_right_arithmetic", "shift_right_logical", "mulhi"}
INEXACT = {True: {"abs", "divide", "multiply", "power", "sign", "square"}, False: {"power"}}
# What is of many devices, and what not all oracles have.
NOT_DRAWN = {"constraint", "group", "custom_call", "collective", "manual", "named", "rng", "scan",
             *Seldom.WEIGHTS}  # nor what is not exact

LEGAL = "func.func(chlo-legalize-to-stablehlo)"


# A product of other elements than its operands'.
WIDENED = re.compile(r'(%\w+) = "stablehlo\.(?:dot_general|convolution)"\((\S+), (\S+)\) <.*> : '
                     r"\(tensor<(\S+)>, tensor<(\S+)>\) -> \(tensor<(\S+)>\)")


class Graph(Case):
    def text(self, constants=(), body=None):
        return self.body


def element(shaped):
    return re.sub(r"^(\d+x)*", "", shaped)


def widened(line):
    """Of a product its operands are converted first: the interpreter's products of two numbers are
    rounded to their own type."""
    found = WIDENED.fullmatch(line)
    if not found or len({element(t) for t in found.groups()[3:]}) == 1:
        return line
    name, *operands = found.groups()[:3]
    lines, to = [], element(found[6])
    for i, (operand, shaped) in enumerate(zip(operands, found.groups()[3:5])):
        wide = f"tensor<{shaped.removesuffix(element(shaped))}{to}>"
        lines.append(f'{name}_{i} = "stablehlo.convert"({operand}) : (tensor<{shaped}>) -> {wide}')
        line = line.replace(f"({operand}, " if i == 0 else f", {operand})",
                            f"({name}_0, " if i == 0 else f", {name}_1)", 1)
        at = line.rindex(" : (")
        line = line[:at] + line[at:].replace(f"tensor<{shaped}>" + ",)"[i], wide + ",)"[i], 1)
    return "\n".join([*lines, line])


def neutral(e, name):
    """What a reduction may start from without a difference: a number, or one in hex."""
    if e.float and name in ("maximum", "minimum"):
        sign = -1 if name == "maximum" else 1
        infinite = (sign * np.array(np.inf)).astype(e.dtype)
        if not np.isinf(infinite):
            return sign * float(ml_dtypes.finfo(e.dtype).max)
        size = e.dtype.itemsize
        return f"0x{int(infinite.view(f'u{size}')):0{size * 2}X}"
    least, greatest = limits(e.name) if not (e.float or e.complex) else (0, 1)
    return {"add": 0, "multiply": 1, "or": 0, "xor": 0, "maximum": least, "minimum": greatest,
            "and": -1 if e.kind == "signed" else greatest}[name]


class GraphMaker(Maker):
    WEIGHTS = {name: w for name, w in Maker.WEIGHTS.items() if name not in NOT_DRAWN}

    def __init__(self, seed):
        super().__init__(seed, collections.Counter(), collections.Counter())
        self.wild, self.often, self.settled = False, 0, 0

    def reduction(self, v, n):
        """With a neutral start: of any other each oracle's windows have another sum, and XLA leaves
        it out where one element is reduced."""
        chosen = super().reduction(v, n)
        if not chosen or (n > 1 and chosen[0] not in ("add", "multiply")):
            return chosen
        name, v, _, bound = chosen
        return name, v, self.start(v.element, neutral(v.info, name)), bound

    def extreme(self, element, name):
        return neutral(ELEMENTS[element], name)

    def witness(self, v):
        return []

    def dynamic(self, *more):
        return None

    def draw_convolution(self):
        if not self.special:  # zeros between elements, by infinity: XLA leaves them out
            super().draw_convolution()

    def op(self, name, operands, *more, **words):
        if name == "stablehlo.scatter":  # the interpreter's writes into its operand
            v, inserted, mapped = operands[0], *("".join(re.findall(
                rf" {word} = \[(.*?)\]", more[1])) for word in
                ("inserted_window_dims", "scatter_dims_to_operand_dims"))
            if set(mapped.split(", ")) - set(inserted.split(", ")):
                return [v]  # a window partly outside, of which it writes the inside
            none = array([0] * len(v.shape))
            copy = super().op("stablehlo.pad", [v, self.constant((), v.element)],
                              [(v.shape, v.element, v.bound)], f"edge_padding_high = {none}, "
                              f"edge_padding_low = {none}, interior_padding = {none}")
            operands = copy + operands[1:]
        if name == "stablehlo.broadcast":  # the interpreter lacks it
            name, sizes = "stablehlo.broadcast_in_dim", more[1].split(":")[1].count(",") + 1
            rank = len(operands[0].shape)
            more = (more[0], f"broadcast_dimensions = {array(range(sizes, sizes + rank))}")
        if name == "stablehlo.dot":  # and this
            name = "stablehlo.dot_general"
            more = (more[0], "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = "
                    f"[{len(operands[0].shape) - 1}], rhs_contracting_dimensions = [0]>")
        return super().op(name, operands, *more, **words)

    def elementwise(self, name, operands, bound, element=None):
        v = max(operands, key=lambda v: len(v.shape))
        e, short = ELEMENTS[element or v.element], name.partition(".")[2]
        if e.kind == "scale":  # oracles have each another zero
            return
        inexact = INEXACT[any(o.info.complex for o in operands)]
        if short in EXACT and (e.int or short not in inexact):
            super().elementwise(name, operands, bound, element)
        elif e.name in ("f32", "f64"):
            self.rounded(self.op(name, operands, [(v.shape, e.name, None)])[0])

    def rounded(self, v):
        """4 v as an integer from -3 to 3."""
        four, low, high = (self.constant(shape, v.element, n)
                           for shape, n in ((v.shape, 4), ((), -3), ((), 3)))
        like, v = [(v.shape, v.element, None)], self.ordered(v)
        v = self.op("stablehlo.multiply", [v, four], like)[0]
        v = self.op("stablehlo.round_nearest_even", [v], like)[0]
        self.keep(self.op("stablehlo.clamp", [low, v, high], [(v.shape, v.element, 3)]))


def graph(seed):
    m = GraphMaker(seed)
    m.build(m.r.randint(2, 30))
    text = re.sub(r"^module \{\n|\}\n\Z", "", m.texts()[1].lstrip("\n"))
    case = Graph("graph", [(v.element, a) for (v, *_), a in zip(m.arguments, m.inputs())], text, [],
                 [(v.element, list(v.shape)) for v in m.results], ("ulps", 0), {"graph"},
                 legalize=LEGAL)
    plain = "\n".join(widened(line) for line in text.split("\n"))
    if plain != text:
        case.plain = dataclasses.replace(case, body=plain)
    return case
