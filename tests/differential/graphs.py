"""Random graphs of up to 30 ops, for single.py, of those that sharded.py draws, on one device. What
comes of functions that are not exact is rounded to small integers, so that all else is: every
element of the results must be that of an oracle."""

import collections
import re

from sharded_module import array
from sharded_regions import Maker
from sharded_seldom import Seldom
from sharded_values import ELEMENTS
from single_values import Case

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


class Graph(Case):
    def text(self, constants=(), body=None):
        return self.body


class GraphMaker(Maker):
    WEIGHTS = {name: w for name, w in Maker.WEIGHTS.items() if name not in NOT_DRAWN}

    def __init__(self, seed):
        super().__init__(seed, collections.Counter(), collections.Counter())
        self.wild, self.often, self.settled = False, 0, 0

    def reduction(self, v, n):
        """With a neutral start: of any other each oracle's windows have another sum."""
        chosen = super().reduction(v, n)
        neutral = {"add": 0, "multiply": 1}.get(chosen and chosen[0])
        if neutral is None:
            return chosen
        return *chosen[:2], self.constant((), v.element, neutral), chosen[3]

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
        if name == "stablehlo.dot":  # the interpreter lacks it
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
    return Graph("graph", [(v.element, a) for (v, *_), a in zip(m.arguments, m.inputs())], text, [],
                 [(v.element, list(v.shape)) for v in m.results], ("ulps", 0), {"graph"},
                 legalize=LEGAL)
