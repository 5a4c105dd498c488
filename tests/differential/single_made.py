"""Random ops that compile writes as others, for single.py: against the same without them where that
is one op or two, and NumPy's results where it is not."""

import copy
import re

import numpy as np

import single_linear
import single_shape
from sharded_module import DYNAMIC
from single_elementwise import BINARY, CHLO, CHLO_PAIRS, DIRECTIONS, ULPS, edge, rule_of
from single_shape import INDEX_TYPES, array
from single_values import (BITS, DTYPES, INTS, TYPES, UINTS, WIDE_FLOATS, Case, is_complex,
                           is_float, of_classes, part, tensor)

# ---- sizes and places as operands ----

STATIC = [single_shape.reshape, single_shape.broadcast_in_dim, single_shape.iota, single_shape.pad,
          single_shape.slice_op, single_shape.gather, single_linear.convolution]


def dynamic(d, turn):
    """An op with constants in the place of attributes and of its result's sizes."""
    plain = STATIC[turn % len(STATIC)](d, turn // len(STATIC))
    name, operands, _, attrs, types, out = re.fullmatch(
        r'%0 = "(.*?)"\((.*?)\)( <\{(.*)\}>)? : \((.*?)\) -> (.*)', plain.body).groups()
    attrs, types = attrs or "", [types] if types else []
    other, *words = DYNAMIC[name]
    element, lines, operands = d.pick("i32", "i64"), [], [operands] if operands else []
    for i, word in enumerate(words):
        numbers = plain.results[0][1]
        if word != "shape":
            found = re.search(rf"(?:^|, ){word} = (array<i64[^>]*>|dense<([^>]*)> : "
                              r"tensor<[^>]*>)", attrs)
            attrs = attrs.replace(found[0], "").removeprefix(", ")
            numbers = re.findall(r"-?\d+", found[2] if word == "padding" else found[1][9:])
        numbers = np.array(numbers, np.int64)
        kind = tensor(element, numbers.shape)
        if word == "padding":
            numbers = numbers.reshape(-1, 2)
            kind = tensor("i64", numbers.shape)
        text = numbers.tolist() if numbers.size else ""
        lines.append(f"%k{i} = stablehlo.constant dense<{text}> : {kind}")
        operands.append(f"%k{i}")
        types.append(kind)
    case = copy.copy(plain)
    case.op = "stablehlo." + other
    case.plain, case.features, case.constants = plain.plain or plain, set(plain.features), ()
    case.body = "\n".join([*lines, f'%0 = "{case.op}"({", ".join(operands)})'
                           + (f" <{{{attrs}}}>" if attrs else "")
                           + f" : ({', '.join(types)}) -> {out}"])
    return case


# ---- chlo's broadcasts ----

BROADCAST = {op: of_classes(classes) for op, classes in BINARY.items()}
BROADCAST |= {op: ["f32", "f64"] for op in (*CHLO_PAIRS[:3], "complex")}
BROADCAST |= {"compare": TYPES, "select": TYPES}


def shapes(d, n):
    """n shapes, and what they broadcast to."""
    out = d.dims(0, 4)
    return [[m if d.chance(0.7) else 1 for m in out[d.int(0, len(out)) * (i > 0):]]
            for i in range(n)], out


def broadcasts(d, turn):
    op = list(BROADCAST)[turn % len(BROADCAST)]
    t = BROADCAST[op][turn // len(BROADCAST) % len(BROADCAST[op])]
    given, _ = shapes(d, 2 + (op == "select"))
    d.r.shuffle(given)
    out = list(np.broadcast_shapes(*given))
    kind = d.kind()
    types = ["i1"] * (op == "select") + [t, t]
    args = [(u, d.values(u, dims, kind)) for u, dims in zip(types, given)]
    if op in ("zeta", "polygamma"):
        args[0] = (t, (2 + np.floor(4 * d.np.random(given[0]))).astype(DTYPES[t]))
        args[1] = (t, (1 + 4 * d.np.random(given[1])).astype(DTYPES[t]))
    elif op == "atan2" and is_complex(t):
        args = [(u, d.values(u, v.shape, "unit")) for u, v in args]
    elif op.startswith("shift"):
        args[1] = (t, d.np.integers(0, BITS[t], given[1]).clip(0, 7 if BITS[t] > 4 else 1).astype(
            DTYPES[t]))
    result = {"compare": "i1", "complex": f"complex<{t}>"}.get(op, t)
    names = ", ".join(f"%a{i}" for i in range(len(args)))
    whole = ", ".join(tensor(u, v.shape) for u, v in args)
    attrs, other = [], "chlo." if op in CHLO else "stablehlo."
    if len(given) == 2 and len(given[0]) != len(given[1]) and d.chance(0.5):
        short = min(map(len, given))
        attrs.append(f"broadcast_dimensions = {array(range(len(out) - short, len(out)))}")
    way = d.pick(*(DIRECTIONS[:2] if is_complex(t) else DIRECTIONS))
    direction = f"comparison_direction = #%s<comparison_direction {way}>"
    attrs += [direction % "chlo"] * (op == "compare")
    attrs = f" <{{{', '.join(attrs)}}}>" if attrs else ""
    body = f'%0 = "chlo.broadcast_{op}"({names}){attrs} : ({whole}) -> {tensor(result, out)}'
    lines = [f'%b{i} = "stablehlo.broadcast_in_dim"(%a{i}) <{{broadcast_dimensions = '
             f"{array(range(len(out) - v.ndim, len(out)))}}}> : ({tensor(u, v.shape)}) -> "
             f"{tensor(u, out)}" for i, (u, v) in enumerate(args)]
    wide = ", ".join(tensor(u, out) for u, _ in args)
    attrs = f" <{{{direction % 'stablehlo'}}}>" if op == "compare" else ""
    lines.append(f'%0 = "{other}{op}"({", ".join(f"%b{i}" for i in range(len(args)))}){attrs} : '
                 f"({wide}) -> {tensor(result, out)}")
    rule = ("ulps", CHLO[op][1]) if op in CHLO and CHLO[op][1] else \
        rule_of(op, t) if op in BINARY else ("bits",)
    case = Case("chlo.broadcast_" + op, args, body, ["%0"], [(result, out)], rule, edge(kind))
    case.plain = copy.copy(case)
    case.plain.body, case.plain.op = "\n".join(lines), other + op
    case.plain.legalize = "func.func(chlo-legalize-to-stablehlo)"
    case.plain.nudge = tuple(range(len(args))) * (is_complex(t) or op in CHLO)
    return case


def constant_like(d, turn):
    types = WIDE_FLOATS + INTS + UINTS
    t, dims = types[turn % len(types)], d.dims()
    number = f"{d.int(0, 1)}{'.5' if is_float(t) else ''}"
    args = [(t, d.values(t, dims, "small"))]
    own, name = tensor(t, dims), "chlo.constant_like"
    body = f'%0 = "chlo.constant_like"(%a0) <{{value = {number} : {t}}}> : ({own}) -> {own}'
    if d.chance(0.3):
        args, name = [], "chlo.constant"
        body = f'%0 = "chlo.constant"() <{{value = dense<{number}> : {own}}}> : () -> {own}'
    case = Case(name, args, body, ["%0"], [(t, dims)], ("bits",))
    case.plain = copy.copy(case)
    case.plain.body = f"%0 = stablehlo.constant dense<{number}> : {own}"
    return case


# ---- sums, by NumPy in f64 ----

SUMMED = ["f32", "f64", "bf16", "f16"]


def known(op, t, args, body, out, values, sizes, features=(), results=None):
    case = Case(op, args, body, ["%0"], results or [(t, list(out))], ("known", 64), set(features))
    case.known = [values], [sizes]
    return case


def einsum(d, turn):
    t, letters = SUMMED[turn % 4], "abcdefgh"
    a, b = d.dims(1, 4, 4), []
    left = "".join(letters[:len(a)])
    size = dict(zip(left, a))
    right = "".join(k for k in left if d.chance(0.5))
    for k in letters[len(a):len(a) + d.int(0, 2)]:
        size[k] = d.size(4)
        right += k
    right = "".join(d.r.sample(right, len(right)))
    out = [k for k in size if d.chance(0.6)]
    out = "".join(d.r.sample(out, len(out)))
    b = [size[k] for k in right]
    args = [(t, d.values(t, a, "small")), (t, d.values(t, b, "small"))]
    text = f"{left},{right}->{out}"
    x, y = (v.astype(np.float64) for _, v in args)
    dims = [size[k] for k in out]
    body = (f'%0 = "stablehlo.einsum"(%a0, %a1) <{{einsum_config = "{text}"}}> : '
            f"({tensor(t, a)}, {tensor(t, b)}) -> {tensor(t, dims)}")
    return known("stablehlo.einsum", t, args, body, dims, np.einsum(text, x, y),
                 np.einsum(text, abs(x), abs(y)))


def unary_einsum(d, turn):
    t, rank = SUMMED[turn % 4], d.int(1, 4)
    letters = [d.pick(*"abcd") for _ in range(rank)]
    size = {k: d.size(4) for k in letters}
    out = [k for k in size if d.chance(0.6)]
    text = f"{''.join(letters)}->{''.join(d.r.sample(out, len(out)))}"
    a = [size[k] for k in letters]
    x = d.values(t, a, "small")
    dims = [size[k] for k in text.partition(">")[2]]
    body = (f'%0 = "stablehlo.unary_einsum"(%a0) <{{einsum_config = "{text}"}}> : '
            f"({tensor(t, a)}) -> {tensor(t, dims)}")
    wide = x.astype(np.float64)
    return known("stablehlo.unary_einsum", t, [(t, x)], body, dims, np.einsum(text, wide),
                 np.einsum(text, abs(wide)))


def ragged_dot(d, turn):
    """Group sizes that may leave rows over, which are zero."""
    t, g = SUMMED[turn % 4], d.int(1, 4)
    m, n, k = (max(d.size(9), 1) for _ in range(3))
    how = turn // 4 % 2
    length = k if how else m
    cuts = sorted(d.int(0, length) for _ in range(g))
    sizes = np.diff([0, *cuts]).astype(np.int64)
    it = d.pick("i32", "i64")
    x = d.values(t, [m, k], "small")
    y = d.values(t, [k, n] if how else [g, k, n], "small")
    out = [g, m, n] if how else [m, n]
    wide, sums = np.zeros(out), np.zeros(out)
    for i, (low, high) in enumerate(zip([0, *cuts], cuts)):
        for to, a, b in ((wide, x, y), (sums, abs(x), abs(y))):
            a, b = a.astype(np.float64), b.astype(np.float64)
            if how:
                to[i] = a[:, low:high] @ b[low:high]
            else:
                to[low:high] = a[low:high] @ b[i]
    numbers = "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = " + (
        "[0], lhs_ragged_dimensions = [1]" if how else
        "[1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]")
    args = [(t, x), (t, y), (it, sizes.astype(DTYPES[it]))]
    types = ", ".join(tensor(u, v.shape) for u, v in args)
    body = (f'%0 = "chlo.ragged_dot"(%a0, %a1, %a2) <{{ragged_dot_dimension_numbers = '
            f"#chlo.ragged_dot<{numbers}>}}> : ({types}) -> {tensor(t, out)}")
    return known("chlo.ragged_dot", t, args, body, out, wide, sums)


def scan(d, turn):
    """A running sum, from either end, and what is left."""
    t, dims = SUMMED[turn % 4], d.dims(1, 3)
    axis, back = d.int(0, len(dims) - 1), d.chance(0.5)
    rest = dims[:axis] + dims[axis + 1:]
    x, y = d.values(t, dims, "small"), d.values(t, rest, "small")
    k = tensor(t, rest)
    one = "array<i32: 1, 1>"
    body = f"""%0:2 = "chlo.scan"(%a0, %a1) <{{dimension = {axis} : i64, is_reverse = {
        str(back).lower()}, operandSegmentSizes = {one}, resultSegmentSizes = {one}}}> ({{
  ^bb0(%x: {k}, %y: {k}):
    %z = stablehlo.add %x, %y : {k}
    stablehlo.return %z, %z : {k}, {k}
  }}) : ({tensor(t, dims)}, {k}) -> ({tensor(t, dims)}, {k})"""
    wide = []
    for a, b in ((x, y), (abs(x), abs(y))):
        a, b = np.moveaxis(a.astype(np.float64), axis, 0), b.astype(np.float64)
        a = a[::-1] if back else a
        a = b + np.cumsum(a, 0)
        end = a[-1] if len(a) else b
        wide.append((np.moveaxis(a[::-1] if back else a, 0, axis), end))
    case = Case("chlo.scan", [(t, x), (t, y)], body, ["%0#0", "%0#1"], [(t, dims), (t, rest)],
                ("known", 64))
    case.known = wide
    return case


def index_select(d, turn):
    t, dims = SUMMED[turn % 4], [max(d.size(5), 1) for _ in range(d.int(1, 4))]
    axis = d.int(0, len(dims) - 1)
    batch = d.int(0, axis)
    x, it = d.values(t, dims, "wide"), d.pick(*INDEX_TYPES[:7])
    shape = dims[:batch] + d.dims(0, 2, 4)
    index = d.np.integers(0, dims[axis], shape)
    out = dims[:axis] + shape[batch:] + dims[axis + 1:]
    value = np.zeros(out)
    for place in np.ndindex(*out):
        at = place[:batch] + place[axis:axis + len(shape) - batch]
        value[place] = x[place[:axis] + (index[at],) + place[axis + len(shape) - batch:]]
    args = [(t, x), (it, index.astype(DTYPES[it]))]
    body = (f'%0 = "stablehlo.torch_index_select"(%a0, %a1) <{{batch_dims = {batch} : i64, dim = '
            f"{axis} : i64}}> : ({tensor(t, dims)}, {tensor(it, shape)}) -> {tensor(t, out)}")
    return known("stablehlo.torch_index_select", t, args, body, out, value, 0 * value)


def sizes(d, turn):
    dims = [max(n, 1) for n in d.dims(1, 4)]
    t, axis = TYPES[turn % len(TYPES)], d.int(0, len(dims) - 1)
    x = d.values(t, dims, d.kind())
    own = tensor(t, dims)
    name, out, more, types = "get", ("i32", []), "", own
    plain = f"%0 = stablehlo.constant dense<{dims[axis]}> : tensor<i32>"
    if d.chance(0.5):
        name, out, more, types = "set", (t, dims), ", %n", f"{own}, tensor<i32>"
        plain = f"%0 = stablehlo.optimization_barrier %a0 : {own}"
    body = (f"%n = stablehlo.constant dense<{dims[axis]}> : tensor<i32>\n"
            f'%0 = "stablehlo.{name}_dimension_size"(%a0{more}) <{{dimension = {axis} : i64}}> : '
            f"({types}) -> {tensor(*out)}")
    case = Case(f"stablehlo.{name}_dimension_size", [(t, x)], body, ["%0"], [out], ("bits",))
    case.plain = copy.copy(case)
    case.plain.body = plain
    return case


# ---- normalizations ----


def batch_norm(d, turn):
    t, how = SUMMED[turn % 4], ["training", "inference", "grad"][turn // 4 % 3]
    dims = [max(n, 1) for n in d.dims(1, 4)]
    axis = d.int(0, len(dims) - 1)
    n, rest = dims[axis], tuple(i for i in range(len(dims)) if i != axis)
    x, grad = d.values(t, dims, "unit"), d.values(t, dims, "unit")
    scale, offset, mean = (d.values(t, [n], "unit") for _ in range(3))
    variance = np.abs(d.values(t, [n], "unit")) + DTYPES[t](0.25)
    args = {"training": [x, scale, offset], "inference": [x, scale, offset, mean, variance],
            "grad": [x, scale, mean, variance, grad]}[how]
    eps = d.pick(0.001, 0.5)
    each = (t, [n])
    results = [(t, dims)] + [each] * 2 * (how != "inference")
    wide = [v.astype(np.float64) for v in args]
    along = lambda v: v.reshape([-1 if i == axis else 1 for i in range(len(dims))])
    w, s = wide[0], along(wide[1])
    if how == "grad":
        m, root, g = along(wide[2]), 1 / np.sqrt(along(wide[3]) + np.float32(eps)), wide[4]
        count = np.prod([dims[i] for i in rest])
        hat = (w - m) * root
        total, product = g.sum(rest), (g * hat).sum(rest)
        values = [s * root * (g - along(total) / count - hat * along(product) / count), product,
                  total]
    else:
        m, v = (w.mean(rest), w.var(rest)) if how == "training" else wide[3:]
        value = (w - along(m)) / np.sqrt(along(v) + np.float32(eps)) * s + along(wide[2])
        values = [value, m, v][:len(results)]
    coarse = {"bf16": 2.0**13, "f16": 2.0**10}.get(t, 1)
    top = max(np.abs(v).max(initial=1) for v in values)
    largest = [np.full(v.shape, 8 * coarse * top) for v in values]
    names = ", ".join(f"%a{i}" for i in range(len(args)))
    types = ", ".join(tensor(t, v.shape) for v in args)
    made = ", ".join(tensor(*r) for r in results)
    body = (f'%0{":3" * (len(results) > 1)} = "stablehlo.batch_norm_{how}"({names}) <{{epsilon = '
            f"{eps} : f32, feature_index = {axis} : i64}}> : ({types}) -> ({made})")
    out = ["%0"] if how == "inference" else [f"%0#{i}" for i in range(3)]
    case = Case("stablehlo.batch_norm_" + how, [(t, v) for v in args], body, out, results,
                ("known", 64))
    case.known = values, largest
    return case


# ---- quantized numbers ----

STORAGE = [("i8", -128, 127), ("u8", 0, 255), ("i4", -8, 7), ("i16", -32768, 32767)]


def quantized(d, turn):
    """There, maybe through an op, and back: scales are powers of two, and numbers multiples."""
    name, low, high = STORAGE[turn % len(STORAGE)]
    dims = [max(n, 1) for n in d.dims(1, 3)]
    axis = d.int(0, len(dims) - 1) if d.chance(0.4) else None
    count = 1 if axis is None else dims[axis]
    scale = d.np.choice([0.25, 0.5, 1.0, 2.0], count)
    zero = d.np.integers(max(low, -5), min(high, 5), count, endpoint=True)
    each = ", ".join(f"{s}:{z}" for s, z in zip(scale, zero))
    kind = f"!quant.uniform<{name}:f32, {each}>" if axis is None else \
        f"!quant.uniform<{name}:f32:{axis}, {{{each}}}>"
    along = lambda v: v if axis is None else v.reshape(
        [-1 if i == axis else 1 for i in range(len(dims))])

    def back(v):
        stored = np.clip(np.rint(np.clip(v / along(scale) + along(zero), low, high)), low, high)
        return (stored - along(zero)) * along(scale)
    args = [("f32", d.values("f32", dims, d.pick("small", "unit"))) for _ in range(2)]
    own, quant = tensor("f32", dims), tensor(kind, dims)
    lines = [f"%q{i} = stablehlo.uniform_quantize %a{i} : ({own}) -> {quant}" for i in range(2)]
    x, y = (back(v.astype(np.float64)) for _, v in args)
    op = d.pick("add", "subtract", "maximum", "none") if axis is None else "none"
    value = {"add": back(x + y), "subtract": back(x - y), "maximum": np.maximum(x, y),
             "none": x}[op]
    lines.append(f"%q2 = stablehlo.{op} %q0, %q1 : {quant}" if op != "none" else
                 f"%q2 = stablehlo.reshape %q0 : ({quant}) -> {quant}")
    lines.append(f"%0 = stablehlo.uniform_dequantize %q2 : ({quant}) -> {own}")
    return known(f"stablehlo.uniform_{d.pick('de', '')}quantize", "f32", args, "\n".join(lines),
                 dims, value, 0 * value)


def names():
    return ({"stablehlo." + other[0] for other in DYNAMIC.values()}
            | {"chlo.broadcast_" + op for op in BROADCAST}
            | {"chlo.constant", "chlo.constant_like", "chlo.ragged_dot", "chlo.scan"}
            | {"stablehlo." + op for op in (
                "einsum", "unary_einsum", "torch_index_select", "get_dimension_size",
                "set_dimension_size", "batch_norm_training", "batch_norm_inference",
                "batch_norm_grad", "uniform_quantize", "uniform_dequantize")})
