"""Random ops with regions, and random bits, for single.py: reductions, windows, sort, scatter,
control flow.

Reducers are associative, as the specification asks: bodies that are known, that do not commute, and
others, which no table can know."""

import ml_dtypes
import numpy as np

from single_elementwise import edge
from single_linear import Window
from single_shape import Geometry, array
from single_values import (BITS, COMPLEX, DTYPES, FLOATS, INTS, TYPES, UINTS, WIDE_FLOATS, Case,
                           integers, is_complex, is_float, limits, tensor)

KNOWN = {"p": ["and", "or", "xor", "maximum", "minimum"],
         "i": ["add", "multiply", "maximum", "minimum", "and", "or", "xor"],
         "f": ["add", "multiply", "maximum", "minimum"], "c": ["add", "multiply"]}
REDUCED = WIDE_FLOATS * 3 + FLOATS[4:11] + INTS * 2 + UINTS + ["i1"] * 2 + COMPLEX
SORTED = [t for t in TYPES if t not in COMPLEX]


def family(t):
    return "p" if t == "i1" else "c" if is_complex(t) else "f" if is_float(t) else "i"


def scalar(t, value):
    """A scalar array."""
    if is_float(t) or is_complex(t):
        return np.array(value).astype(DTYPES[t])
    return integers([value], t).reshape([])


def identity(op, t):
    if op in ("add", "or", "xor"):
        return scalar(t, 0)
    if op == "multiply":
        return scalar(t, 1)
    if op == "and":
        return scalar(t, 1 if t == "i1" else -1)
    if is_float(t):
        info = ml_dtypes.finfo(DTYPES[t])
        top = np.array(np.inf).astype(DTYPES[t])
        top = top if np.isinf(top.astype(np.float64)) else np.array(info.max, DTYPES[t])
        return -top if op == "maximum" else top
    return scalar(t, limits(t)[op == "minimum"])


class Body:
    """A reducer of `types`: p_i and q_i in, `lines` and `out`; what starts it, as arrays."""

    def __init__(self, d, t, known_only=False):
        self.types, self.features, self.sums, self.t = [t], set(), False, t
        self.commutes = True
        p, kind = d.r.random(), family(t)
        if known_only or p < 0.55:
            self.known(d, [d.pick(*KNOWN[kind])])
        elif p < 0.65:
            u = d.pick(*[u for u in REDUCED if u not in COMPLEX])
            self.types = [t, u]
            self.known(d, [d.pick(*KNOWN[kind]), d.pick(*KNOWN[family(u)])])
            self.features.add("variadic")
        elif p < 0.75:
            self.project(d)
        elif kind == "i" and p < 0.86:
            self.affine()
        elif kind in "if" and p < 0.93:
            self.greatest(d)
        elif kind == "i":
            self.unknown(d)
        else:
            self.known(d, [d.pick(*KNOWN[kind])])

    def known(self, d, ops):
        self.lines, self.init = [], []
        for i, (op, t) in enumerate(zip(ops, self.types)):
            s, pair = tensor(t, []), [f"%p{i}", f"%q{i}"]
            if d.chance(0.2):
                pair.reverse()
            self.lines.append(f"%b{i} = stablehlo.{op} {pair[0]}, {pair[1]} : {s}")
            self.sums |= op in ("add", "multiply") and family(t) in "fc"
            self.init.append(identity(op, t))
            self.features.add(f"reducer {op}")
        self.out = [f"%b{i}" for i in range(len(ops))]

    def project(self, d):
        """The last one."""
        self.features.add("non-commuting body")
        self.commutes = False
        self.lines, self.out = [], ["%q0"]
        self.init = [scalar(self.t, 1)]

    def affine(self):
        """x -> a x + b, composed."""
        s = tensor(self.t, [])
        self.features |= {"non-commuting body", "variadic"}
        self.commutes, self.types = False, [self.t, self.t]
        self.lines = [f"%b0 = stablehlo.multiply %p0, %q0 : {s}",
                      f"%b1 = stablehlo.multiply %p1, %q0 : {s}",
                      f"%b2 = stablehlo.add %b1, %q1 : {s}"]
        self.out, self.init = ["%b0", "%b2"], [scalar(self.t, 1), scalar(self.t, 0)]

    def greatest(self, d):
        """The greatest value, and the least index of such: argmax as JAX writes it."""
        self.features |= {"argmax body", "variadic"}
        index = d.pick("i32", "i64", "ui32")
        s, i, b = tensor(self.t, []), tensor(index, []), tensor("i1", [])
        self.types = [self.t, index]
        lines = [f"%b0 = stablehlo.compare GT, %p0, %q0 : ({s}, {s}) -> {b}"]
        if is_float(self.t):
            lines += [f"%n = stablehlo.compare NE, %p0, %p0 : ({s}, {s}) -> {b}",
                      f"%g = stablehlo.or %b0, %n : {b}"]
        else:
            lines += [f"%g = stablehlo.or %b0, %b0 : {b}"]
        self.lines = lines + [
            f"%e = stablehlo.compare EQ, %p0, %q0 : ({s}, {s}) -> {b}",
            f"%l = stablehlo.compare LT, %p1, %q1 : ({i}, {i}) -> {b}",
            f"%f = stablehlo.and %e, %l : {b}", f"%h = stablehlo.or %g, %f : {b}",
            f"%b1 = stablehlo.select %g, %p0, %q0 : {b}, {s}",
            f"%b2 = stablehlo.select %h, %p1, %q1 : {b}, {i}"]
        self.out = ["%b1", "%b2"]
        self.init = [identity("maximum", self.t), scalar(index, limits(index)[1])]

    def unknown(self, d):
        """Associative ones that no table has: p + q + c; (p + 1)(q + 1) - 1; ~(~p & ~q)."""
        self.features.add("arbitrary body")
        s, c = tensor(self.t, []), d.int(*limits(self.t))
        constant = lambda v: f"%c = stablehlo.constant dense<{v}> : {s}"
        which = d.int(0, 2)
        if which == 0:
            self.lines = [constant(c), f"%b0 = stablehlo.add %p0, %q0 : {s}",
                          f"%b1 = stablehlo.add %c, %b0 : {s}"]
            self.out, self.init = ["%b1"], [scalar(self.t, -c)]
        elif which == 1:
            self.lines = [constant(1), f"%b0 = stablehlo.add %p0, %c : {s}",
                          f"%b1 = stablehlo.add %q0, %c : {s}",
                          f"%b2 = stablehlo.multiply %b0, %b1 : {s}",
                          f"%b3 = stablehlo.subtract %b2, %c : {s}"]
            self.out, self.init = ["%b3"], [scalar(self.t, 0)]
        else:
            self.lines = [f"%b0 = stablehlo.not %p0 : {s}", f"%b1 = stablehlo.not %q0 : {s}",
                          f"%b2 = stablehlo.and %b0, %b1 : {s}", f"%b3 = stablehlo.not %b2 : {s}"]
            self.out, self.init = ["%b3"], [scalar(self.t, 0)]

    def start(self, d):
        """The initial values: identities, else anything where that has one meaning."""
        if self.commutes and "argmax body" not in self.features and d.chance(0.25):
            self.features.add("init not identity")
            return [d.values(t, [], "small") for t in self.types]
        return self.init

    def region(self):
        s = [tensor(t, []) for t in self.types]
        names = [f"%p{i}: {x}" for i, x in enumerate(s)] + [f"%q{i}: {x}" for i, x in enumerate(s)]
        body = "".join(f"    {line}\n" for line in self.lines)
        return (f"({{\n  ^bb0({', '.join(names)}):\n{body}    stablehlo.return "
                f"{', '.join(self.out)} : {', '.join(s)}\n  }})")

    def rule(self, count, kind):
        return ("sum", count, kind == "small", 0.0) if self.sums else ("exact",)


def results_of(body, types):
    n = len(types)
    out = ["%0"] if n == 1 else [f"%0#{i}" for i in range(n)]
    return ("%0" if n == 1 else f"%0:{n}"), out


NARROW = {"f32": ["bf16", "f16", "f8E5M2"], "f64": ["f32", "bf16"], "i32": ["i8", "i16"],
          "i64": ["i32", "i4"], "ui32": ["ui8"], "complex<f64>": ["complex<f32>"]}


def promoted(d, body, case, *more):
    """The same op of operands that are narrower than what its body combines, now and then."""
    t = body.types[0]
    if len(body.types) > 1 or t not in NARROW or not d.chance(0.1):
        return case
    u, ends = d.pick(*NARROW[t]), (0, len(case.args) - 1)
    with np.errstate(all="ignore"):
        thin = [(u, v.astype(DTYPES[u])) if i in ends else (s, v)
                for i, (s, v) in enumerate(case.args)]
    again = lambda args: generic(case.op.split(".")[1], body, args, *more)
    plain = again([(t, v.astype(DTYPES[t])) if i in ends else (s, v)
                   for i, (s, v) in enumerate(thin)])
    case = again(thin)
    case.plain = plain
    case.features.add("promoted operands")
    return case


def generic(op, body, args, attrs, out_dims, rule, features, flip=False):
    """An op with a region over arguments and as many results as the reducer has."""
    left, out = results_of(body, body.types)
    names = ", ".join(f"%a{i}" for i in range(len(args)))
    types = ", ".join(tensor(t, v.shape) for t, v in args)
    results = [(t, out_dims) for t in body.types]
    made = ", ".join(tensor(*r) for r in results)
    text = (f'{left} = "stablehlo.{op}"({names}) <{{{attrs}}}> {body.region()} : ({types}) -> '
            f"({made})")
    if body.sums:
        features.add("sum")
    return Case("stablehlo." + op, args, text, out, results, rule, features | body.features,
                constants=tuple(range(len(args))))


def operands(d, body, dims, kind):
    """Values to reduce. Products are mostly of ones: overflow would depend on the order."""
    if "reducer multiply" not in body.features:
        return [(t, d.values(t, dims, kind)) for t in body.types], kind
    kind = "unit" if kind in ("wide", "edge") else kind
    args = []
    for t in body.types:
        v = d.values(t, dims, kind)
        if is_float(t) or is_complex(t):
            ones = d.np.choice([1.0, -1.0], v.shape).astype(DTYPES[t])
            some = np.zeros(v.size, bool)
            some[d.r.sample(range(v.size), min(v.size, 4))] = True
            v = np.where(some.reshape(v.shape), v, ones)
        args.append((t, v))
    return args, kind


def reduce(d, turn):
    body = Body(d, REDUCED[turn % len(REDUCED)])
    dims = d.dims(0, 4)
    if d.chance(0.12):
        dims = d.pick([d.int(500, 3000)], [d.int(2, 9), d.int(100, 400)],
                      [d.int(100, 400), d.int(2, 9)])
        body.features.add("long reduction")
    axes = d.some(len(dims))
    if d.chance(0.7):
        axes.sort()
    xs, kind = operands(d, body, dims, d.kind())
    args = xs + list(zip(body.types, body.start(d)))
    out = [n for i, n in enumerate(dims) if i not in axes]
    count = int(np.prod([dims[i] for i in axes]))
    more = f"dimensions = {array(axes)}", out, body.rule(count, kind), edge(kind)
    return promoted(d, body, generic("reduce", body, args, *more), *more)


def reduce_window(d, turn):
    body = Body(d, REDUCED[turn % len(REDUCED)])
    dims, features = d.dims(0, 3, 6, 200), set()
    kernel = [d.int(1, 3) for _ in dims]
    if d.chance(0.15):
        dims = d.pick([d.int(20, 90)], [d.int(10, 30), d.int(10, 30)],
                      [d.int(1, 3), d.int(8, 40), d.int(1, 20)])
        kernel = [d.int(1, n) if d.chance(0.8) else 1 for n in dims]
        features.add("long window")
    windows = [Window(d, n, k) for n, k in zip(dims, kernel)]
    if dims and d.chance(0.3) and int(np.prod(dims)) * max(dims) < 10**8:  # XLA takes so many steps
        # a running sum along one dimension
        axis, features = d.int(0, len(dims) - 1), features | {"cumulative window"}
        kernel = [1] * len(dims)
        kernel[axis] = max(dims[axis], 1)
        for i, w in enumerate(windows):
            w.low = w.high = 0
            w.base = w.stride = w.dilation = 1
            w.out = dims[i]
        back = kernel[axis] - 1
        # Backwards the initial value is at the end as well, which a projection tells.
        forward = d.chance(0.6) or body.out == ["%q0"]
        windows[axis].low, windows[axis].high = (back, 0) if forward else (0, back)
    for w in windows:
        w.reverse = False
        w.note(features)
    attrs = (f"window_dimensions = {array(kernel)}, window_strides = "
             f"{array(w.stride for w in windows)}, base_dilations = "
             f"{array(w.base for w in windows)}, window_dilations = "
             f"{array(w.dilation for w in windows)}, padding = dense<"
             f"{[[w.low, w.high] for w in windows] if windows else ''}> : "
             f"tensor<{len(windows)}x2xi64>")
    xs, kind = operands(d, body, dims, d.kind())
    args = xs + list(zip(body.types, body.init))
    more = (attrs, [w.out for w in windows], body.rule(int(np.prod(kernel)), kind),
            features | edge(kind))
    return promoted(d, body, generic("reduce_window", body, args, *more), *more)


def select_and_scatter(d, turn):
    """Windows as pooling has them, and others; what is selected may be the same place again. Values
    are added one after the other, so that even sums have one result."""
    t = REDUCED[turn % len(REDUCED)]
    t = "f32" if t in COMPLEX else t
    body = Body(d, t, known_only=True)
    dims, features = d.dims(1, 4, 6, 400), set()
    kernel = [1 if d.chance(0.4) else d.int(1, 3) for _ in dims]
    windows = [Window(d, n, k) for n, k in zip(dims, kernel)]
    for n, k, w in zip(dims, kernel, windows):
        w.base = w.dilation = 1
        w.reverse = False
        if k == 1 or w.low < 0 or w.high < 0:
            w.low = w.high = 0
        if k == 1 and d.chance(0.7):
            w.stride = 1
        around = n + w.low + w.high
        w.out = 0 if k > around or not around else (around - k) // w.stride + 1
        w.note(features)
    s, b = tensor(t, []), tensor("i1", [])
    how = d.pick("GE", "GE", "GT", "LE", "LT", "NE")
    order = ", TOTALORDER" if is_float(t) and d.chance(0.3) else ""
    select = (f"{{\n  ^bb0(%s: {s}, %n: {s}):\n    %k = stablehlo.compare {how}, %s, %n{order} : "
              f"({s}, {s}) -> {b}\n    stablehlo.return %k : {b}\n  }}")
    kind, out = d.kind(), [w.out for w in windows]
    source, kind = operands(d, body, out, kind)
    first = d.values(t, dims, d.kind())
    if order and BITS[t] <= 8:
        first[np.isnan(first.astype(np.float32))] = 1  # XLA loses their signs
    args = [(t, first), source[0], (t, body.init[0])]
    attrs = (f"window_dimensions = {array(kernel)}, window_strides = "
             f"{array(w.stride for w in windows)}, padding = dense<"
             f"{[[w.low, w.high] for w in windows]}> : tensor<{len(windows)}x2xi64>")
    types = ", ".join(tensor(u, v.shape) for u, v in args)
    text = (f'%0 = "stablehlo.select_and_scatter"(%a0, %a1, %a2) <{{{attrs}}}> ({select}, '
            f"{body.region()[1:-1]}) : ({types}) -> {tensor(t, dims)}")
    return Case("stablehlo.select_and_scatter", args, text, ["%0"], [(t, dims)], ("exact",),
                features | body.features | edge(kind), constants=(0, 1, 2))


def long_sum(d, turn):
    """Ten million terms, or a million running sums: however they are added up, the error of a good
    order does not grow with them. Against NumPy in f64; no oracle could."""
    t, n = ["f32", "f64", "bf16", "f16", "f32"][turn % 5], d.pick(10**7, 10**7 + 1)
    x = d.np.random(n).astype(DTYPES[t])
    if d.chance(0.5):
        x -= DTYPES[t](0.5)
    wide = x.astype(np.float64)
    how, add = d.int(0, 2), Body(d, t)
    add.known(d, ["add"])
    add.types, add.init = [t], [scalar(t, 0)]
    if how == 0:
        case = generic("reduce", add, [(t, x), (t, add.init[0])], "dimensions = array<i64: 0>",
                       [], (), set())
        exact, sizes = wide.sum(), np.abs(wide).sum()
    elif how == 1:
        body = (f"%0 = stablehlo.dot_general %a0, %a0, contracting_dims = [0] x [0] : "
                f"({tensor(t, [n])}, {tensor(t, [n])}) -> {tensor(t, [])}")
        case = Case("stablehlo.dot_general", [(t, x)], body, ["%0"], [(t, [])])
        exact = sizes = (wide * wide).sum()
    else:
        x, n, wide = x[: 10**6], 10**6, wide[: 10**6]
        attrs = (f"window_dimensions = array<i64: {n}>, padding = dense<[[{n - 1}, 0]]> : "
                 "tensor<1x2xi64>")
        case = generic("reduce_window", add, [(t, x), (t, add.init[0])], attrs, [n], (), set())
        exact = np.cumsum(wide.astype(np.longdouble)).astype(np.float64)
        sizes = np.cumsum(np.abs(wide))
    case.rule, case.constants = ("known", 64), ()
    case.known = [np.asarray(exact)], [np.asarray(sizes)]
    case.features |= {"long sum"}
    return case


# ---- sort ----


def less(d, types, features):
    """A comparator: lexicographic over the first keys, in a random direction each."""
    keys, lines, result = d.int(1, min(2, len(types))), [], None
    b = tensor("i1", [])
    for k in reversed(range(keys)):
        t = types[k]
        s, order = tensor(t, []), ", TOTALORDER" if is_float(t) else ""
        direction = d.pick("LT", "GT")
        at = lambda name: f"%{name}{k}"
        test = lambda name, how: lines.append(
            f"{at(name)} = stablehlo.compare {how}, %p{k}, %q{k}{order} : ({s}, {s}) -> {b}")
        test("l", direction)
        if result:
            test("e", "EQ")
            lines.append(f"{at('n')} = stablehlo.and {at('e')}, {result} : {b}")
            lines.append(f"{at('r')} = stablehlo.or {at('l')}, {at('n')} : {b}")
            result = at("r")
        else:
            result = at("l")
    if keys > 1:
        features.add("lexicographic sort")
    return lines, result


def sort(d, turn):
    n = d.pick(1, 1, 2, 3)
    types = [SORTED[turn % len(SORTED)]] + [d.pick(*TYPES) for _ in range(n - 1)]
    if n > 1 and is_complex(types[1]):
        types[1] = "i32"
    features = {"variadic"} if n > 1 else set()
    dims, kind = d.dims(1, 4), d.kind()
    lines, result = less(d, types, features)
    stable = n > 1 or d.chance(0.5)  # of equal elements nobody can tell which
    if stable:
        features.add("stable sort")
    s = [tensor(t, []) for t in types]
    params = ", ".join(f"%{x}{i}: {u}" for i, u in enumerate(s) for x in "pq")
    axis = d.int(0, len(dims) - 1) - d.pick(0, len(dims))
    names = ", ".join(f"%a{i}" for i in range(n))
    whole = ", ".join(tensor(t, dims) for t in types)
    left, out = results_of(None, types)
    text = (f'{left} = "stablehlo.sort"({names}) <{{dimension = {axis} : i64, is_stable = '
            f"{'true' if stable else 'false'}}}> ({{\n  ^bb0({params}):\n"
            + "".join(f"    {line}\n" for line in lines)
            + f"    stablehlo.return {result} : {tensor('i1', [])}\n  }}) : ({whole}) -> ({whole})")
    args = [(t, d.values(t, dims, kind)) for t in types]
    for t, v in args:  # the interpreter orders no NaNs, XLA:CPU none of f8 alike each time
        if is_float(t) and BITS[t] <= 8:
            v[np.isnan(v.astype(np.float64))] = 1
        if is_float(t) and {"i2", "i4", "ui2", "ui4", "f4E2M1FN"} & set(types):
            # XLA:CPU, which alone knows -0 from 0, refuses these beside others; f4 it sorts anyhow
            v[v == 0] = 0
    return Case("stablehlo.sort", args, text, out, [(t, dims) for t in types], ("bits",),
                features | edge(kind), constants=tuple(range(n)))


# ---- scatter ----


def scatter(d, turn):
    g = Geometry(d)
    replaces = d.chance(0.25)
    body = Body(d, REDUCED[turn % len(REDUCED)])
    # XLA:CPU refuses floats of two types, and it alone leaves out windows that are partly outside
    while len({t for t in body.types if is_float(t)}) > 1:
        body = Body(d, body.t)
    if replaces:
        body.types, body.lines, body.out, body.sums = body.types[:1], [], ["%q0"], False
        body.features = {"non-commuting body"}
    it, index = g.draw(d)
    kind = d.kind()
    xs, kind = operands(d, body, g.dims, kind)
    updates, _ = operands(d, body, g.out, kind)
    numbers = (f"update_window_dims = {g.offsets}, inserted_window_dims = {g.collapsed}, "
               f"input_batching_dims = {g.operand_batching}, scatter_indices_batching_dims = "
               f"{g.index_batching}, scatter_dims_to_operand_dims = {g.map}, index_vector_dim = "
               f"{g.vector}")
    attrs = (f"scatter_dimension_numbers = #stablehlo.scatter<{numbers}>, indices_are_sorted = "
             "false, unique_indices = false")
    more = (attrs, g.dims, body.rule(int(np.prod(g.out)) + 1, kind), g.features | edge(kind))
    return promoted(d, body, generic("scatter", body, xs + [(it, index)] + updates, *more), *more)


# ---- control flow ----


def step(d, t, dims, value, name):
    """A line that makes `name` of `value`."""
    own, op = tensor(t, dims), d.pick("add", "multiply", "subtract", "maximum")
    if t == "i1":
        op = d.pick("and", "or", "xor")
    return f"%{name} = stablehlo.{op} {value}, %a0 : {own}"


def control_type(d, turn):
    types = INTS + UINTS + ["i1", "f32", "f64", "bf16"]
    t, dims = types[turn % len(types)], d.dims(0, 3)
    return t, dims, d.values(t, dims, "small")


def while_op(d, turn):
    t, dims, x = control_type(d, turn)
    it = d.pick("i32", "i64", "ui32", "i8", "ui8")
    i, own, b = tensor(it, []), tensor(t, dims), tensor("i1", [])
    inner = d.chance(0.3)
    body = f"""%zero = stablehlo.constant dense<0> : {i}
%one = stablehlo.constant dense<1> : {i}
%0:2 = stablehlo.while(%i = %zero, %x = %a0) : {i}, {own}
 cond {{
  %t = stablehlo.compare LT, %i, %a1 : ({i}, {i}) -> {b}
  stablehlo.return %t : {b}
 }} do {{
  %j = stablehlo.add %i, %one : {i}
  {step(d, t, dims, "%x", "y")}
"""
    last = "%y"
    if inner:
        last = "%z"
        body += f"""  %z = "stablehlo.if"(%u) ({{
    {step(d, t, dims, "%y", "w")}
    stablehlo.return %w : {own}
  }}, {{
    stablehlo.return %x : {own}
  }}) : ({b}) -> {own}
""".replace("%z =", f"%u = stablehlo.compare GT, %i, %one : ({i}, {i}) -> {b}\n  %z =", 1)
    body += f"  stablehlo.return %j, {last} : {i}, {own}\n }}"
    return Case("stablehlo.while", [(t, x), (it, scalar(it, d.int(0, 3)))], body,
                ["%0#0", "%0#1"], [(it, []), (t, dims)], ("exact",), set(), constants=(0, 1))


def branches(d, t, dims, n):
    own, texts = tensor(t, dims), []
    for _ in range(n):
        texts.append(f"{{\n  {step(d, t, dims, '%a1', 'w')}\n  stablehlo.return "
                     f"{d.pick('%w', '%w', '%a0')} : {own}\n }}")
    return "(" + ", ".join(texts) + ")"


def case_op(d, turn):
    t, dims, x = control_type(d, turn)
    n, own = d.int(1, 4), tensor(t, dims)
    k = d.pick(-1, n, -(2**31), 2**31 - 1) if d.chance(0.3) else d.int(0, n - 1)
    body = f'%0 = "stablehlo.case"(%a2) {branches(d, t, dims, n)} : (tensor<i32>) -> {own}'
    features = set() if 0 <= k < n else {"out-of-range index"}
    return Case("stablehlo.case", [(t, x), (t, d.values(t, dims, "small")), ("i32", scalar(
        "i32", k))], body, ["%0"], [(t, dims)], ("exact",), features, constants=(0, 1, 2))


def if_op(d, turn):
    t, dims, x = control_type(d, turn)
    own = tensor(t, dims)
    body = f'%0 = "stablehlo.if"(%a2) {branches(d, t, dims, 2)} : (tensor<i1>) -> {own}'
    return Case("stablehlo.if", [(t, x), (t, d.values(t, dims, "small")),
                                 ("i1", np.array(d.chance(0.5)))],
                body, ["%0"], [(t, dims)], ("exact",), set(), constants=(0, 1, 2))


def composite(d, turn):
    t, dims, x = control_type(d, turn)
    own = tensor(t, dims)
    op = "xor" if t == "i1" else "add"
    functions = (f"func.func private @part(%x: {own}, %y: {own}) -> {own} {{\n  %0 = stablehlo."
                 f"{op} %x, %y : {own}\n  return %0 : {own}\n}}\n")
    body = (f'%0 = stablehlo.composite "my.op" %a0, %a1 {{decomposition = @part, version = 1 : '
            f"i32}} : ({own}, {own}) -> {own}")
    return Case("stablehlo.composite", [(t, x), (t, d.values(t, dims, "small"))], body, ["%0"],
                [(t, dims)], ("exact",), set(), functions)


def rng_bit_generator(d, turn):
    algorithm, n = [("DEFAULT", 2), ("THREE_FRY", 2), ("PHILOX", 2), ("PHILOX", 3)][turn % 4]
    types = [t for t in INTS + UINTS if BITS[t] >= 8]
    t, dims = types[turn // 4 % len(types)], d.dims(0, 4)
    state = d.values("ui64", [n], d.pick("wide", "edge", "small"))
    body = (f"%0:2 = stablehlo.rng_bit_generator %a0, algorithm = {algorithm} : (tensor<{n}xui64>)"
            f" -> (tensor<{n}xui64>, {tensor(t, dims)})")
    return Case("stablehlo.rng_bit_generator", [("ui64", state)], body, ["%0#0", "%0#1"],
                [("ui64", [n]), (t, dims)], ("exact",), {f"{algorithm} bits"}, interpreter=False,
                constants=(0,))


def names():
    return {"stablehlo." + op for op in (
        "reduce", "reduce_window", "select_and_scatter", "sort", "scatter", "while", "case", "if",
        "composite", "rng_bit_generator")}
