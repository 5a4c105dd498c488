"""Random products and convolutions, for single.py."""

import numpy as np

from single_shape import array
from single_elementwise import edge
from single_values import (BITS, COMPLEX, DTYPES, FLOATS, INTS, UINTS, Case, is_complex, is_float,
                           part, tensor)

PRODUCTS = FLOATS[:4] * 3 + FLOATS[4:11] + INTS * 2 + UINTS + COMPLEX * 2
PRECISIONS = ["DEFAULT", "HIGH", "HIGHEST"]
ALGORITHMS = {  # name in the specification's terms: types of parts, accumulator, parts, products
    "f32": ("f32", "f32", 1, 1), "tf32": ("tf32", "f32", 1, 1), "tf32x3": ("tf32", "f32", 1, 3),
    "bf16": ("bf16", "f32", 1, 1), "bf16x3": ("bf16", "f32", 1, 3),
    "bf16x6": ("bf16", "f32", 1, 6), "bf16x9": ("bf16", "f32", 1, 9),
    "f16": ("f16", "f32", 1, 1),
}
COARSE = {"tf32": 2.0**-10, "bf16": 2.0**-7, "f16": 2.0**-10}


def kind_of(d):
    return d.pick("small", "small", "unit", "wide" if d.chance(0.3) else "unit", "edge"
                  if d.chance(0.4) else "small")


def preferred(d, t, features):
    """The result's type, for a product of this type."""
    wider = {"f16": ["f32"], "bf16": ["f32"], "f32": ["f64", "bf16"], "i8": ["i32", "i16"],
             "i4": ["i8", "i32"], "i2": ["i32"], "i16": ["i32"], "i32": ["i64"], "ui8": ["ui32"],
             "ui4": ["ui8", "ui32"], "ui2": ["ui32"]}
    if t not in wider and is_float(t) and BITS[t] <= 8:
        wider[t] = ["f32", "bf16", "f16"]
    if t in wider and d.chance(0.35):
        features.add("preferred type")
        return d.pick(*wider[t])
    return t


def product(d, op, args, body, result, count, features, kind, eps=0.0):
    """A case whose float results are sums of `count` products."""
    t = result[0]
    rule = ("exact",)
    if is_float(t) or is_complex(t):
        rule = ("sum", count * (2 if is_complex(t) else 1), kind == "small", eps)
        features |= {"sum"}
    case = Case("stablehlo." + op, args, body, ["%0"], [result], rule, features | edge(kind),
                constants=(0, 1))
    if any(u != t for u, _ in args) and not is_float(t):
        # Other than here, the interpreter's products have their arguments' type.
        left, right = " : (", ") -> "
        head, types = body.rsplit(left, 1)
        same = ", ".join(tensor(t, v.shape) for _, v in args)
        case.plain = Case(case.op, [(t, v.astype(DTYPES[t])) for _, v in args],
                          head + left + same + right + types.split(right)[1], ["%0"], [result],
                          rule)
    return case


def dot_general(d, turn):
    t = PRODUCTS[turn % len(PRODUCTS)]
    features, big = set(), d.chance(0.08)
    top = 24 if big else 4
    while True:
        d.again()
        batch = [d.size(3) for _ in range(d.pick(0, 0, 1, 1, 2, 3))]
        summed = [d.size(top) for _ in range(d.pick(0, 1, 1, 2, 3, 3, 4))]
        left = [d.size(top) for _ in range(d.pick(0, 1, 1, 2))]
        right = [d.size(top) for _ in range(d.pick(0, 1, 1, 2))]
        work = 1
        for n in batch + summed + left + right:
            work *= max(n, 1)
        if work <= (60000 if big else 3000) * d.room:
            break
    sides = []
    for free in (left, right):
        dims = [("b", i, n) for i, n in enumerate(batch)]
        dims += [("c", i, n) for i, n in enumerate(summed)] + [("f", i, n) for i, n in
                                                               enumerate(free)]
        if d.chance(0.8):
            dims = d.r.sample(dims, len(dims))
            loose = [x for x in dims if x[0] == "f"]  # these keep their order
            loose.sort()
            dims = [x if x[0] != "f" else loose.pop(0) for x in dims]
        at = {x[:2]: k for k, x in enumerate(dims)}
        sides.append(([x[2] for x in dims], [at["b", i] for i in range(len(batch))],
                      [at["c", i] for i in range(len(summed))]))
    (ld, lb, lc), (rd, rb, rc) = sides
    if len(lc) > 1:
        order = d.some(len(lc), len(lc))
        lc, rc = [lc[i] for i in order], [rc[i] for i in order]
    if len(lc) >= 3 and (sorted(lc), sorted(rc)) != (lc, rc):
        features.add("permuted contraction")
    if lb != list(range(len(lb))) or rb != list(range(len(rb))):
        features.add("batch dims anywhere")
    out = batch + left + right
    to, kind = preferred(d, t, features), kind_of(d)
    u = t
    if d.chance(0.1) and t in ("bf16", "f16", "f32", "f8E4M3FN", "f8E5M2", "i8", "i4"):
        u = d.pick("bf16", "f16", "f32", "f8E4M3FN", "f8E5M2") if is_float(t) else d.pick("i8",
                                                                                       "i4")
        to = "f32" if is_float(t) else "i32"
        if u != t:
            features.add("mixed types")
    args = [(t, d.values(t, ld, kind)), (u, d.values(u, rd, kind))]
    numbers = f"lhs_contracting_dimensions = {lc}, rhs_contracting_dimensions = {rc}"
    if lb:
        numbers = f"lhs_batching_dimensions = {lb}, rhs_batching_dimensions = {rb}, {numbers}"
    attrs, eps = f"dot_dimension_numbers = #stablehlo.dot<{numbers}>", 0.0
    if d.chance(0.3):
        features.add("precision")
        attrs += ", precision_config = [" + ", ".join(
            f"#stablehlo<precision {d.pick(*PRECISIONS)}>" for _ in range(2)) + "]"
    elif t == u == to == "f32" and d.chance(0.3):
        features.add("algorithm")
        name = d.pick(*ALGORITHMS)
        kind_, sums, parts, products = ALGORITHMS[name]
        eps = COARSE.get(name, 0.0)
        attrs += (f", algorithm = #stablehlo.dot_algorithm<lhs_precision_type = {kind_}, "
                  f"rhs_precision_type = {kind_}, accumulation_type = {sums}, "
                  f"lhs_component_count = {parts}, rhs_component_count = {parts}, "
                  f"num_primitive_operations = {products}, allow_imprecise_accumulation = false>")
    types = f"({tensor(t, ld)}, {tensor(u, rd)}) -> {tensor(to, out)}"
    count = 1
    for n in summed:
        count *= n
    body = f'%0 = "stablehlo.dot_general"(%a0, %a1) <{{{attrs}}}> : {types}'
    return product(d, "dot_general", args, body, (to, out), count, features, kind, eps)


def dot(d, turn):
    t, features = PRODUCTS[turn % len(PRODUCTS)], set()
    k, kind = d.size(9), kind_of(d)
    left, right = ([d.size(6)] if d.chance(0.6) else [] for _ in range(2))
    args = [(t, d.values(t, left + [k], kind)), (t, d.values(t, [k] + right, kind))]
    to = preferred(d, t, features)
    types = ", ".join(tensor(t, v.shape) for _, v in args)
    body = f"%0 = stablehlo.dot %a0, %a1 : ({types}) -> {tensor(to, left + right)}"
    case = product(d, "dot", args, body, (to, left + right), k, features, kind)
    case.legalize = "func.func(stablehlo-legalize-deprecated-ops{fail-on-unused=false})"
    return case


class Window:
    """Random padding, strides and dilations of one spatial dimension."""

    def __init__(self, d, size, kernel):
        while True:
            self.low, self.high = d.pick(0, 0, 1, 2, 3, -1, -2), d.pick(0, 0, 1, 2, 3, -1, -2)
            self.stride, self.base = d.pick(1, 1, 1, 2, 3), d.pick(1, 1, 1, 2, 3, 5)
            self.dilation, self.reverse = d.pick(1, 1, 1, 2, 3), d.chance(0.25)
            around = self.low + ((size - 1) * self.base + 1 if size else 0) + self.high
            reach = (kernel - 1) * self.dilation + 1 if kernel else 0
            if around >= 0:
                break
        self.out = 0 if reach > around or not around else (around - reach) // self.stride + 1

    def note(self, features):
        if self.low < 0 or self.high < 0:
            features.add("negative padding")
        if self.base > 1:
            features.add("base dilation")
        if self.dilation > 1:
            features.add("window dilation")
        if self.stride > 1:
            features.add("strides")
        if self.reverse:
            features.add("window reversal")


def placed(d, batch, feature, spatial):
    """Positions of a tensor's dimensions, in random order, and its dims."""
    rank = len(spatial) + 2
    order = d.some(rank, rank) if d.chance(0.7) else list(range(rank))
    dims = [0] * rank
    for place, n in zip(order, [batch, feature] + spatial):
        dims[place] = n
    return order, dims


def convolution(d, turn):
    t, features = PRODUCTS[turn % len(PRODUCTS)], set()
    spatial = d.pick(0, 1, 1, 2, 2, 2, 3)
    sizes, kernel = [d.size(6) for _ in range(spatial)], [d.int(1, 3) for _ in range(spatial)]
    windows = [Window(d, n, k) for n, k in zip(sizes, kernel)]
    for w in windows:
        w.note(features)
    feature_groups = batch_groups = 1
    if d.chance(0.3):
        feature_groups = d.pick(2, 3)
        features.add("feature groups")
    elif d.chance(0.25):
        batch_groups = d.pick(2, 3)
        features.add("batch groups")
    batch = max(d.size(3), batch_groups > 1) * batch_groups
    depth = max(d.size(4), 1)
    filters = max(d.size(3), 1) * feature_groups * batch_groups
    inputs, x = placed(d, batch, depth * feature_groups, sizes)
    kernels, w = placed(d, depth, filters, kernel)
    outputs, out = placed(d, batch // batch_groups, filters, [v.out for v in windows])
    if any(order != list(range(len(order))) for order in (inputs, kernels, outputs)):
        features.add("permuted convolution")
    to, kind = preferred(d, t, features), kind_of(d)
    attrs = (f"window_strides = {array(v.stride for v in windows)}, padding = dense<"
             f"{[[v.low, v.high] for v in windows] if windows else ''}> : "
             f"tensor<{len(windows)}x2xi64>, lhs_dilation = {array(v.base for v in windows)}, "
             f"rhs_dilation = {array(v.dilation for v in windows)}, window_reversal = "
             f"array<i1{': ' if windows else ''}"
             f"{', '.join('true' if v.reverse else 'false' for v in windows)}>, "
             f"dimension_numbers = #stablehlo.conv<{short(inputs, kernels, outputs)}>, "
             f"feature_group_count = {feature_groups} : i64, batch_group_count = "
             f"{batch_groups} : i64")
    if d.chance(0.2):
        features.add("precision")
        attrs += ", precision_config = [" + ", ".join(
            f"#stablehlo<precision {d.pick(*PRECISIONS)}>" for _ in range(2)) + "]"
    args = [(t, d.values(t, x, kind)), (t, d.values(t, w, kind))]
    if part(t) == "f64":  # XLA:CPU, which alone has groups, takes denormals as zeros
        for v in (side for _, v in args for side in ([v.real, v.imag] if is_complex(t) else [v])):
            v[np.abs(v) < np.finfo(v.dtype).tiny] = 0
    if is_float(t) or is_complex(t):  # infinity times what is padded is NaN to some
        args[1][1][~np.isfinite(args[1][1].astype(np.complex128))] = 1
        if feature_groups * batch_groups > 1:  # XLA's are of a kernel with zeros in other groups
            args[0][1][~np.isfinite(args[0][1].astype(np.complex128))] = 1
    count = depth
    for n in kernel:
        count *= n
    body = (f'%0 = "stablehlo.convolution"(%a0, %a1) <{{{attrs}}}> : ({tensor(t, x)}, '
            f"{tensor(t, w)}) -> {tensor(to, out)}")
    return product(d, "convolution", args, body, (to, out), count, features, kind)


def short(*orders):
    """The dimension numbers as MLIR spells them: [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]."""
    texts = []
    for order, letters in zip(orders, ("bf", "io", "bf")):
        named = list(letters) + [str(i) for i in range(len(order) - 2)]
        at = dict(zip(order, named))
        texts.append("[" + ", ".join(at[i] for i in range(len(order))) + "]")
    return f"{texts[0]}x{texts[1]}->{texts[2]}"


def names():
    return {"stablehlo.dot_general", "stablehlo.dot", "stablehlo.convolution"}
