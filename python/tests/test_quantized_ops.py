"""Quantized types: `terrazzo run` on one device and on four, against the specification's formulas.
Arguments and results of @main are the storage."""
import ml_dtypes
import numpy as np
import pytest

from test_run_ops import run

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=2]>\n'
STORAGE = {"i8": ("int8", -128, 127), "u8": ("uint8", 0, 255), "ui8": ("uint8", 0, 255),
           "i4": ("int8", -8, 7), "u4": ("uint8", 0, 15), "i16": ("int16", -2**15, 2**15 - 1),
           "i32": ("int32", -2**31, 2**31 - 1), "i8<-127:127>": ("int8", -127, 127)}
FLOATS = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "f16": np.float16}


class Quant:
    """A type with one scale, or with one for each position along an axis."""

    def __init__(self, storage, scales, zeros, axis=None, expressed="f32"):
        self.name, self.expressed, self.axis = storage, expressed, axis
        self.dtype, self.min, self.max = STORAGE[storage]
        self.scales, self.zeros = np.atleast_1d(scales), np.atleast_1d(zeros)
        pairs = [f"{float(s)!r}:{z}" for s, z in zip(self.scales, self.zeros)]
        inner = pairs[0] if axis is None else "{" + ", ".join(pairs) + "}"
        where = "" if axis is None else f":{axis}"
        self.text = f"!quant.uniform<{storage}:{expressed}{where}, {inner}>"

    def each(self, list_, rank):
        if self.axis is None:
            return list_[0]
        return list_.reshape([-1 if d == self.axis else 1 for d in range(rank)])

    def quantize(self, x):
        t = FLOATS[self.expressed]
        with np.errstate(over="ignore"):
            y = np.asarray(x, t) / self.each(self.scales, np.ndim(x)).astype(t)
        y = (y + self.each(self.zeros, np.ndim(x)).astype(t)).astype("f8")
        return np.rint(np.clip(y, self.min, self.max)).astype(self.dtype)

    def dequantize(self, q):
        t = FLOATS[self.expressed]
        y = q.astype("i8") - self.each(self.zeros, q.ndim)
        return (y.astype(t) * self.each(self.scales, q.ndim).astype(t)).astype(t)

    def tensor(self, *shape):
        return f"tensor<{''.join(f'{d}x' for d in shape)}{self.text}>"

    def random(self, *shape, seed=0):
        return np.random.default_rng(seed).integers(self.min, self.max, shape, endpoint=True,
                                                    dtype="i8").astype(self.dtype)


def tensor(shape, element):
    return f"tensor<{''.join(f'{d}x' for d in shape)}{element}>"


def program(args, body, results, devices):
    names = ", ".join(
        f"%arg{i}: {t}" + (f" {{sdy.sharding = #sdy.sharding<@mesh, {s}>}}" if devices > 1 else "")
        for i, (t, s) in enumerate(args))
    returned = ", ".join(results)
    values = ", ".join(f"%r{i}" for i in range(len(results)))
    return (MESH if devices > 1 else "") + (
        f"func.func @main({names}) -> ({returned}) {{\n{body}\nreturn {values} : {returned}\n}}")


ROWS, BOTH = '[{"x"}, {}]', '[{"x"}, {"y"}]'
TYPES = [Quant("i8", 0.1, -30), Quant("i8", [0.1, 0.5, 2.0, 0.25], [-30, 20, 0, 5], 0),
         Quant("i8", [0.1, 0.5, 2.0, 0.25, 1.5, 0.3], [-30, 20, 0, 5, 1, -1], 1),
         Quant("u8", 0.5, 128), Quant("ui8", 0.25, 3), Quant("i4", 1.5, -2), Quant("u4", 0.5, 3),
         Quant("i16", 0.01, 100), Quant("i32", 0.001, 7), Quant("i8<-127:127>", 0.1, 0),
         Quant("i8", 0.125, 3, None, "bf16"), Quant("i8", 0.1, -3, None, "f64"),
         Quant("i8", 0.1, -3, None, "f16")]


@pytest.mark.parametrize("devices", [1, 4])
@pytest.mark.parametrize("q", TYPES, ids=lambda q: q.text)
def test_there_and_back(tmp_path, q, devices):
    f = tensor((4, 6), q.expressed)
    body = f"""%r0 = stablehlo.uniform_quantize %arg0 : ({f}) -> {q.tensor(4, 6)}
    %r1 = stablehlo.uniform_dequantize %arg1 : ({q.tensor(4, 6)}) -> {f}"""
    module = program([(f, BOTH), (q.tensor(4, 6), BOTH)], body, [q.tensor(4, 6), f], devices)
    x = (np.random.default_rng(1).normal(size=(4, 6)) * 40).astype(FLOATS[q.expressed])
    x[0, :3], y = [1e30 if q.expressed in ("f32", "f64") else 1e4, -1e4, 0], q.random(4, 6, seed=2)
    view = x.view("u2") if q.expressed == "bf16" else x
    there, back = run(tmp_path, module, view, y, devices=devices)
    back = back.view(ml_dtypes.bfloat16) if q.expressed == "bf16" else back
    assert there.dtype == q.dtype
    if q.name == "i32":  # the greatest number of the storage is none of f32's
        assert np.abs(there.astype("f8") - q.quantize(x).astype("f8")).max() <= 128
    else:
        assert (there == q.quantize(x)).all()
    assert (back == q.dequantize(y)).all()


A, B, C = Quant("i8", 0.1, -30), Quant("i8", 0.5, -20), Quant("i8", 0.3, 4)


@pytest.mark.parametrize("devices", [1, 4])
def test_elementwise(tmp_path, devices):
    a, b, c = (q.tensor(4, 6) for q in (A, B, C))
    body = f"""
    %r0 = "stablehlo.add"(%arg0, %arg1) : ({a}, {b}) -> {c}
    %r1 = "stablehlo.multiply"(%arg0, %arg1) : ({a}, {b}) -> {c}
    %r2 = "stablehlo.tanh"(%arg0) : ({a}) -> {a}
    %r3 = "stablehlo.uniform_quantize"(%arg0) : ({a}) -> {b}
    %r4 = "stablehlo.maximum"(%arg0, %arg1) : ({a}, {b}) -> {c}
    %r5 = stablehlo.compare LT, %arg0, %arg0 : ({a}, {a}) -> tensor<4x6xi1>
    %r6 = stablehlo.negate %arg0 : {a}
    %t = stablehlo.transpose %arg0, dims = [1, 0] : ({a}) -> {A.tensor(6, 4)}
    %r7 = stablehlo.reshape %t : ({A.tensor(6, 4)}) -> {A.tensor(24)}
    """
    module = program([(a, BOTH), (b, ROWS)], body,
                     [c, c, a, b, c, "tensor<4x6xi1>", a, A.tensor(24)], devices)
    x, y = A.random(4, 6, seed=1), B.random(4, 6, seed=2)
    got = run(tmp_path, module, x, y, devices=devices)
    f, g = A.dequantize(x), B.dequantize(y)
    want = [C.quantize(f + g), C.quantize(f * g), A.quantize(np.tanh(f)), B.quantize(f),
            C.quantize(np.maximum(f, g)), f < f, A.quantize(-f), x.T.reshape(24)]
    for g, w in zip(got, want):
        assert (g == w).all()


@pytest.mark.parametrize("devices", [1, 4])
@pytest.mark.parametrize("rhs", [Quant("i8", 0.25, 0),
                                 Quant("i8", [0.5, 0.25, 1.0, 2.0], [0] * 4, 1)],
                         ids=["tensor", "axis"])
def test_products(tmp_path, rhs, devices):
    lhs, out = Quant("i8", 0.5, 3), Quant("i8", 4.0, -3)
    if rhs.axis is not None:
        out = Quant("i8", [4.0, 8.0, 16.0, 2.0], [1, 2, 3, 4], 1)
    l, r, t = lhs.tensor(4, 6), rhs.tensor(6, 4), out.tensor(4, 4)
    body = f"""
    %r0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : ({l}, {r}) -> {t}
    %r1 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [0]
        : (tensor<4x6xf32>, {r}) -> tensor<4x4xf32>"""
    module = program([(l, BOTH), (r, ROWS), ("tensor<4x6xf32>", BOTH)], body,
                     [t, "tensor<4x4xf32>"], devices)
    x, y = lhs.random(4, 6, seed=1), rhs.random(6, 4, seed=2)
    z = np.random.default_rng(3).integers(-9, 9, (4, 6)).astype("f4")
    whole, half = run(tmp_path, module, x, y, z, devices=devices)
    assert (whole == out.quantize(lhs.dequantize(x) @ rhs.dequantize(y))).all()
    assert (half == z @ rhs.dequantize(y)).all()


@pytest.mark.parametrize("devices", [1, 4])
def test_regions_and_functions(tmp_path, devices):
    q = Quant("i8", 0.5, 2)
    s, v, m = q.tensor(), q.tensor(6), q.tensor(4, 6)
    body = f"""
    %init = stablehlo.constant() {{value = dense<2> : tensor<i8>}} : () -> {s}
    %r0 = "stablehlo.reduce"(%arg0, %init) <{{dimensions = array<i64: 0>}}> ({{
      ^bb0(%a: {s}, %b: {s}):
        %c = "stablehlo.maximum"(%a, %b) : ({s}, {s}) -> {s}
        stablehlo.return %c : {s}
    }}) : ({m}, {s}) -> {v}
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %w:2 = stablehlo.while(%i = %zero, %x = %arg0) : tensor<i32>, {m} cond {{
      %three = stablehlo.constant dense<3> : tensor<i32>
      %go = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    }} do {{
      %one = stablehlo.constant dense<1> : tensor<i32>
      %n = stablehlo.add %i, %one : tensor<i32>
      %y = func.call @half(%x) : ({m}) -> {m}
      stablehlo.return %n, %y : tensor<i32>, {m}
    }}
    %r1 = stablehlo.pad %w#1, %init, low = [1, 0], high = [0, 0], interior = [0, 0]
        : ({m}, {s}) -> {q.tensor(5, 6)}
    %r2:2 = "stablehlo.sort"(%arg0, %arg0) <{{dimension = 1 : i64}}> ({{
      ^bb0(%a: {s}, %b: {s}, %c: {s}, %d: {s}):
        %p = stablehlo.compare GT, %a, %b : ({s}, {s}) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
    }}) : ({m}, {m}) -> ({m}, {m})
    """
    body = body.replace("%r2:2", "%r2, %unused")
    half = f"""func.func private @half(%x: {m}) -> {m} {{
      %f = stablehlo.uniform_dequantize %x : ({m}) -> tensor<4x6xf32>
      %h = stablehlo.constant dense<0.5> : tensor<4x6xf32>
      %g = stablehlo.multiply %f, %h : tensor<4x6xf32>
      %q = stablehlo.uniform_quantize %g : (tensor<4x6xf32>) -> {m}
      return %q : {m}
    }}
    """
    module = program([(m, BOTH)], body, [v, q.tensor(5, 6), m], devices) + half
    x = q.random(4, 6, seed=1)
    most, padded, sorted_ = run(tmp_path, module, x, devices=devices)
    assert (most == np.maximum(x.max(0), 2)).all()
    y = x
    for _ in range(3):
        y = q.quantize(q.dequantize(y) * np.float32(0.5))
    assert (padded[0] == 2).all() and (padded[1:] == y).all()
    assert (sorted_ == -np.sort(-x.astype("i4"), axis=1)).all()


def test_dynamic_ops(tmp_path):
    """Sizes that are values, and open ones that follow from the arguments."""
    q, p, wide = Quant("i8", 0.5, 3), Quant("i8<-127:127>", 0.5, 0), Quant("i32", 0.25, 0)
    open_, v, s = q.tensor("?", 3), q.tensor(3), q.tensor()
    body = f"""
    %n = stablehlo.get_dimension_size %arg0, dim = 0 : ({open_}) -> tensor<i32>
    %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %three = stablehlo.constant dense<3> : tensor<1xi32>
    %zero = stablehlo.constant dense<0> : tensor<1xi32>
    %one = stablehlo.constant dense<1> : tensor<1xi32>
    %nothing = stablehlo.constant dense<0> : tensor<1x2xi32>
    %shape = stablehlo.concatenate %n1, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>)
        -> tensor<2xi32>
    %b = stablehlo.dynamic_broadcast_in_dim %arg1, %shape, dims = [1] : ({v}, tensor<2xi32>)
        -> {open_}
    %r0 = stablehlo.add %arg0, %b : {open_}
    %i = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi32>) -> {open_}
    %r1 = stablehlo.maximum %arg0, %i : {open_}
    %many = stablehlo.multiply %n1, %three : tensor<1xi32>
    %r2 = stablehlo.dynamic_reshape %arg0, %many : ({open_}, tensor<1xi32>) -> {q.tensor("?")}
    %pad = stablehlo.constant() {{value = dense<9> : tensor<i8>}} : () -> {s}
    %r3 = stablehlo.dynamic_pad %arg1, %pad, %one, %zero, %one
        : ({v}, {s}, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> {q.tensor("?")}
    %r4 = stablehlo.real_dynamic_slice %r2, %one, %many, %three
        : ({q.tensor("?")}, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> {q.tensor("?")}
    %x = stablehlo.dynamic_reshape %arg0, %many : ({open_}, tensor<1xi32>) -> {q.tensor(12)}
    %y = stablehlo.reshape %x : ({q.tensor(12)}) -> {q.tensor(1, 6, 2)}
    %r5 = "stablehlo.dynamic_conv"(%y, %arg2, %nothing) <{{batch_group_count = 1 : i64,
        feature_group_count = 1 : i64, dimension_numbers =
        #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}}>
        : ({q.tensor(1, 6, 2)}, {p.tensor(2, 2, 3)}, tensor<1x2xi32>) -> {wide.tensor(1, 5, 3)}
    """
    module = program([(open_, ""), (v, ""), (p.tensor(2, 2, 3), "")], body,
                     [open_, open_, q.tensor("?"), q.tensor("?"), q.tensor("?"),
                      wide.tensor(1, 5, 3)], 1)
    x, y, k = q.random(4, 3, seed=1), q.random(3, seed=2), p.random(2, 2, 3, seed=3)
    got = run(tmp_path, module, x, y, k)
    f, g = q.dequantize(x), q.dequantize(y)
    lines, w = q.dequantize(x.reshape(6, 2)), p.dequantize(k)
    conv = np.stack([lines[i] @ w[0] + lines[i + 1] @ w[1] for i in range(5)])[None]
    want = [q.quantize(f + g), q.quantize(np.maximum(f, np.arange(3, dtype="f4"))), x.reshape(12),
            np.array([9, y[0], 9, y[1], 9, y[2]], "i1"), x.reshape(12)[1::3], wide.quantize(conv)]
    for a, b in zip(got, want):
        assert (a == b).all()
