"""Ops that compile writes as others: `terrazzo run` on one device and on four, against NumPy."""
import numpy as np
import pytest

from test_run_ops import run

DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i32": np.int32,
          "i8": np.int8, "ui8": np.uint8, "i64": np.int64, "i1": np.bool_}


def tensor(shape, element):
    return f"tensor<{''.join(f'{d}x' for d in shape)}{element}>"


def main(shapes, element, body, results, devices):
    """A function of tensors %0, %1, ...; over four devices each is cut along what divides."""
    def spec(shape):
        axes = iter(['"x"', '"y"'])
        cut = [next(axes, None) if d % 2 == 0 and d else None for d in shape]
        return "[" + ", ".join("{" + (c or "") + "}" for c in cut) + "]"

    elements = element if isinstance(element, list) else [element] * len(shapes)
    types = [tensor(s, e) for s, e in zip(shapes, elements)]
    names = [f"%arg{i}: {t}" + (" {sdy.sharding = #sdy.sharding<@mesh, " + spec(s) + ">}"
                                if devices > 1 else "")
             for i, (s, t) in enumerate(zip(shapes, types))]
    mesh = 'sdy.mesh @mesh = <["x"=2, "y"=2]>\n' if devices > 1 else ""
    returned = ", ".join(results)
    return mesh + f"""func.func @main({', '.join(names)}) -> ({returned}) {{
      {body}
      return {', '.join(f'%r{i}' for i in range(len(results)))} : {returned}
    }}"""


def numbers(shape, element, seed=0, low=-4, high=5):
    random = np.random.default_rng(seed)
    if element == "i1":
        return random.integers(0, 2, shape).astype(bool)
    low = 0 if element[0] == "u" else low
    return random.integers(low, high, shape).astype(DTYPES[element])


# ---- chlo's broadcasts ----

BROADCASTS = {
    "add": (np.add, "f32"), "subtract": (np.subtract, "f32"), "multiply": (np.multiply, "i32"),
    "divide": (lambda x, y: x / y, "f64"), "maximum": (np.maximum, "i8"),
    "minimum": (np.minimum, "f16"), "power": (np.power, "f64"), "atan2": (np.arctan2, "f64"),
    "remainder": (np.fmod, "f64"), "and": (np.bitwise_and, "i32"), "or": (np.bitwise_or, "i1"),
    "xor": (np.bitwise_xor, "ui8"), "next_after": (np.nextafter, "f32"),
    "shift_left": (np.left_shift, "i32"), "shift_right_arithmetic": (np.right_shift, "i32"),
    "shift_right_logical": (np.right_shift, "ui8"),
}
SHAPES = [((4, 6), (6,)), ((6,), (4, 6)), ((), (3,)), ((4, 1), (1, 6)), ((0, 3), (1, 3)),
          ((4, 6), (4, 6)), ((), ())]


@pytest.mark.parametrize("devices", [1, 4])
@pytest.mark.parametrize("name", BROADCASTS)
def test_broadcast(tmp_path, name, devices):
    function, element = BROADCASTS[name]
    low = 1 if name in ("divide", "power", "remainder") or name.startswith("shift") else -4
    for a, b in SHAPES:
        x, y = numbers(a, element, 1, low), numbers(b, element, 2, low)
        want = function(x, y)
        types = f"({tensor(a, element)}, {tensor(b, element)}) -> {tensor(want.shape, element)}"
        module = main([a, b], element, f"%r0 = chlo.broadcast_{name} %arg0, %arg1 : {types}",
                      [tensor(want.shape, element)], devices)
        got, = run(tmp_path, module, x, y, devices=devices)
        np.testing.assert_allclose(got, want, rtol=1e-14)


@pytest.mark.parametrize("devices", [1, 4])
def test_broadcast_others(tmp_path, devices):
    body = """
    %r0 = chlo.broadcast_compare %arg0, %arg1 {comparison_direction =
        #chlo<comparison_direction LT>} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xi1>
    %r1 = chlo.broadcast_complex %arg0, %arg1
        : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xcomplex<f32>>
    %r2 = chlo.broadcast_select %r0, %arg0, %arg1
        : (tensor<4x6xi1>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
    %a = stablehlo.abs %arg0 : tensor<4x6xf32>
    %r3 = chlo.broadcast_polygamma %arg1, %a
        : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %r4 = chlo.broadcast_zeta %arg1, %a : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %r5 = "chlo.constant_like"(%arg0) {value = 2.5 : f32} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %r6 = chlo.constant dense<[1, 2]> : tensor<2xi32>
    %r7 = chlo._asin_acos_kernel %r1 : tensor<4x6xcomplex<f32>> -> tensor<4x6xcomplex<f32>>
    %r8 = "chlo.broadcast_add"(%arg0, %arg2) {broadcast_dimensions = array<i64: 0>}
        : (tensor<4x6xf32>, tensor<4xf32>) -> tensor<4x6xf32>
    """
    f = "tensor<4x6xf32>"
    c = "tensor<4x6xcomplex<f32>>"
    module = main([(4, 6), (6,), (4,)], "f32", body,
                  ["tensor<4x6xi1>", c, f, f, f, f, "tensor<2xi32>", c, f], devices)
    x = np.random.default_rng(3).normal(size=(4, 6)).astype("f4")
    y = np.array([1, 2, 3, 4, 2, 3], "f4")
    z = np.array([1, 2, 3, 4], "f4")
    got = run(tmp_path, module, x, y, z, devices=devices)
    assert (got[0] == (x < y)).all() and (got[1] == x + 1j * y).all()
    assert (got[2] == np.where(x < y, x, y)).all()
    special = pytest.importorskip("scipy.special")
    np.testing.assert_allclose(got[3], special.polygamma(y.astype(int), np.abs(x)), rtol=1e-4)
    with np.errstate(all="ignore"):
        zeta = special.zeta(np.broadcast_to(y, x.shape), np.abs(x))
    np.testing.assert_allclose(got[4][:, y > 1], zeta[:, y > 1], rtol=1e-4)
    assert (got[5] == 2.5).all() and got[6].tolist() == [1, 2]
    assert np.isfinite(got[7]).all()
    np.testing.assert_array_equal(got[8], x + z[:, None])


# ---- products and sums by an equation ----

EINSUMS = ["ab,bc->ac", "abc,cb->a", "bij,bjk->bki", "ab->ba", "ab->a", "aa->a", "aa->", "aba->b",
           "...ab,...bc->...ac", "abd,bc->ac", "aab,bc->ac", ",ab->ab", "a,b->ba", "abc->",
           "...->...", "i,i->", "...a->a...", "ab,ab->", "aab,bb->ab"]


@pytest.mark.parametrize("devices", [1, 4])
@pytest.mark.parametrize("sizes", [(4, 4, 2, 6), (3, 3, 5, 1), (2, 2, 0, 4)])
@pytest.mark.parametrize("equation", EINSUMS)
def test_einsum(tmp_path, equation, sizes, devices):
    size = dict(zip("abcd", sizes)) | dict(zip("ijk", sizes))
    inputs = equation.split("->")[0].split(",")
    shapes = [tuple(size[c] for c in i.replace("...", "dc")) for i in inputs]
    for element in "f32", "i32":
        xs = [numbers(s, element, i) for i, s in enumerate(shapes)]
        want = np.einsum(equation, *xs)
        op = "einsum" if len(xs) == 2 else "unary_einsum"
        types = ", ".join(tensor(s, element) for s in shapes)
        body = f"""%r0 = "stablehlo.{op}"({', '.join(f'%arg{i}' for i in range(len(xs)))})
            {{einsum_config = "{equation}"}} : ({types}) -> {tensor(want.shape, element)}"""
        module = main(shapes, element, body, [tensor(want.shape, element)], devices)
        got, = run(tmp_path, module, *xs, devices=devices)
        assert got.shape == want.shape and (got == want).all()


@pytest.mark.parametrize("devices", [1, 4])
def test_einsum_stretches(tmp_path, devices):
    a, b = (2, 1, 4, 6), (3, 6, 2)
    x, y = numbers(a, "f32", 1), numbers(b, "f32", 2)
    body = f"""%r0 = stablehlo.einsum %arg0, %arg1, config = "...ab,...bc->...ac"
        : ({tensor(a, "f32")}, {tensor(b, "f32")}) -> tensor<2x3x4x2xf32>"""
    got, = run(tmp_path, main([a, b], "f32", body, ["tensor<2x3x4x2xf32>"], devices), x, y,
               devices=devices)
    assert (got == x @ y).all()


# ---- small ones ----

@pytest.mark.parametrize("devices", [1, 4])
def test_broadcast_of_sizes(tmp_path, devices):
    for shape, sizes in [((4, 6), (2, 3)), ((), (4,)), ((4,), ()), ((2, 0), (3,))]:
        out = tensor(sizes + shape, "i8")
        body = f"""%r0 = stablehlo.broadcast %arg0, sizes = {list(sizes)}
            : ({tensor(shape, "i8")}) -> {out}"""
        x = numbers(shape, "i8")
        got, = run(tmp_path, main([shape], "i8", body, [out], devices), x, devices=devices)
        assert (got == np.broadcast_to(x, sizes + shape)).all()


@pytest.mark.parametrize("devices", [1, 4])
def test_torch_index_select(tmp_path, devices):
    for shape, index, dim, batches in [((4, 6, 2), (3,), 1, 0), ((4, 6), (2, 2), 0, 0),
                                       ((4, 6), (), 1, 0), ((2, 4, 6), (2, 3), 1, 1),
                                       ((2, 4, 6), (2, 3), -1, 1), ((2, 4, 6), (2, 4), 2, 2)]:
        at = dim % len(shape)
        x = numbers(shape, "f32", 1)
        i = np.random.default_rng(2).integers(0, shape[at], index).astype("i4")
        if batches == 0:
            want = np.take(x, i, axis=at)
        else:
            want = np.empty(shape[:at] + index[batches:] + shape[at + 1:], "f4")
            for b in np.ndindex(index[:batches]):
                want[b] = np.take(x[b], i[b], axis=at - batches)
        out = tensor(want.shape, "f32")
        body = f"""%r0 = "stablehlo.torch_index_select"(%arg0, %arg1)
            {{dim = {dim} : i64, batch_dims = {batches} : i64}}
            : ({tensor(shape, "f32")}, {tensor(index, "i32")}) -> {out}"""
        got, = run(tmp_path, main([shape, index], ["f32", "i32"], body, [out], devices), x, i,
                   devices=devices)
        assert (got == want).all()


@pytest.mark.parametrize("devices", [1, 4])
@pytest.mark.parametrize("start, limit, stride", [
    ((0, 0), (4, 6), (1, 1)), ((1, 2), (3, 6), (1, 1)), ((0, 1), (4, 6), (2, 3)),
    ((2, 2), (2, 6), (1, 2))])
@pytest.mark.parametrize("known", [True, False])
def test_real_dynamic_slice(tmp_path, start, limit, stride, known, devices):
    x = numbers((4, 6), "f32")
    want = x[start[0]:limit[0]:stride[0], start[1]:limit[1]:stride[1]]
    out, names = tensor(want.shape, "f32"), "%arg1, %arg2, %arg3"
    body = ""
    if known:
        names = "%s, %l, %t"
        for name, v in zip("slt", (start, limit, stride)):
            body += f"%{name} = stablehlo.constant dense<{list(v)}> : tensor<2xi32>\n"
    body += f"""%r0 = stablehlo.real_dynamic_slice %arg0, {names} : (tensor<4x6xf32>,
        tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> {out}"""
    module = main([(4, 6)] + [(2,)] * 3, ["f32"] + ["i32"] * 3, body, [out], devices)
    got, = run(tmp_path, module, x, *[np.array(v, "i4") for v in (start, limit, stride)],
               devices=devices)
    assert got.shape == want.shape and (got == want).all()


@pytest.mark.parametrize("devices", [1, 4])
def test_dimension_sizes(tmp_path, devices):
    body = """%r0 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<4x6xf32>) -> tensor<i32>
    %r1 = stablehlo.set_dimension_size %arg0, %r0, dim = 1
        : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x6xf32>"""
    x = numbers((4, 6), "f32")
    size, same = run(tmp_path, main([(4, 6)], "f32", body, ["tensor<i32>", "tensor<4x6xf32>"],
                                    devices), x, devices=devices)
    assert size == 6 and (same == x).all()


# ---- batch normalization ----

def norm(x, feature, *vectors):
    shape = [1] * x.ndim
    shape[feature] = -1
    return tuple(i for i in range(x.ndim) if i != feature), [v.reshape(shape) for v in vectors]


NORMS = [((4, 6, 2), 2), ((4, 6, 2), 0), ((4, 3), 1), ((8,), 0), ((1, 5), 1)]


@pytest.mark.parametrize("devices", [1, 4])
@pytest.mark.parametrize("element, tolerance", [("f32", 2e-5), ("f64", 1e-12), ("f16", 2e-2)])
@pytest.mark.parametrize("shape, feature", NORMS)
def test_batch_norm(tmp_path, shape, feature, element, tolerance, devices):
    random = np.random.default_rng(5)
    features, whole, each = (shape[feature],), tensor(shape, element), tensor((shape[feature],),
                                                                             element)
    x, grad = (random.normal(size=shape).astype(DTYPES[element]) for _ in range(2))
    scale, offset, mean = (random.normal(size=features).astype(DTYPES[element]) for _ in range(3))
    variance = random.uniform(0.5, 2, features).astype(DTYPES[element])
    with_ = f"{{epsilon = 0.0009765625 : f32, feature_index = {feature} : i64}}"
    body = f"""
    %r0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg2, %arg3, %arg4) {with_}
        : ({whole}, {each}, {each}, {each}, {each}) -> {whole}
    %r1, %r2, %r3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg2) {with_}
        : ({whole}, {each}, {each}) -> ({whole}, {each}, {each})
    %r4, %r5, %r6 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg3, %arg4, %arg5) {with_}
        : ({whole}, {each}, {each}, {each}, {whole}) -> ({whole}, {each}, {each})
    """
    module = main([shape] + [features] * 4 + [shape], element, body,
                  [whole, whole, each, each, whole, each, each], devices)
    got = run(tmp_path, module, x, scale, offset, mean, variance, grad, devices=devices)
    x, scale, offset, mean, variance, grad = (
        v.astype("f8") for v in (x, scale, offset, mean, variance, grad))
    rest, (s, o, m, v) = norm(x, feature, scale, offset, mean, variance)
    by = (x - m) / np.sqrt(v + 2**-10)
    of_batch = x.mean(rest), x.var(rest)
    _, (bm, bv) = norm(x, feature, *of_batch)
    n = x.size // shape[feature]
    part = n * grad - grad.sum(rest, keepdims=True) - (
        (grad * (x - m)).sum(rest, keepdims=True) * (x - m) / (v + 2**-10))
    want = [by * s + o, (x - bm) / np.sqrt(bv + 2**-10) * s + o, *of_batch,
            s / np.sqrt(v + 2**-10) / n * part, (grad * by).sum(rest), grad.sum(rest)]
    for g, w in zip(got, want):
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance * 4)


# ---- map ----

def mapped(args, body, result):
    names = ", ".join(f"%a{i}: tensor<{t}>" for i, t in enumerate(args))
    return f"({{\n^bb0({names}):\n{body}\nstablehlo.return %z : tensor<{result}>\n}})"


@pytest.mark.parametrize("devices", [1, 4])
@pytest.mark.parametrize("shape", [(4, 6), (), (0, 2), (5,)])
def test_map(tmp_path, shape, devices):
    body = mapped(["f32", "f32", "i32"], """
      %c = stablehlo.constant dense<2.0> : tensor<f32>
      %d = stablehlo.add %c, %c : tensor<f32>
      %e = stablehlo.multiply %a0, %d : tensor<f32>
      %p = stablehlo.compare LT, %a1, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %i = stablehlo.convert %a2 : (tensor<i32>) -> tensor<f32>
      %z = stablehlo.select %p, %e, %i : tensor<i1>, tensor<f32>""", "f32")
    f, i = tensor(shape, "f32"), tensor(shape, "i32")
    dims = f"array<i64: {', '.join(map(str, range(len(shape))))}>" if shape else "array<i64>"
    text = f'%r0 = "stablehlo.map"(%arg0, %arg1, %arg2) {body} {{dimensions = {dims}}} : ' \
           f"({f}, {f}, {i}) -> {f}"
    x, y, k = numbers(shape, "f32", 1), numbers(shape, "f32", 2), numbers(shape, "i32", 3)
    got, = run(tmp_path, main([shape] * 3, ["f32", "f32", "i32"], text, [f], devices), x, y, k,
               devices=devices)
    assert got.shape == shape and (got == np.where(y < 2, 4 * x, k)).all()


@pytest.mark.parametrize("devices", [1, 4])
@pytest.mark.parametrize("shape", [(4, 6), (), (0, 2), (5,)])
def test_map_with_a_loop(tmp_path, shape, devices):
    """How often 2 divides a number: its body is no elementwise op."""
    body = mapped(["i32"], """
      %one = stablehlo.constant dense<1> : tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %w:2 = stablehlo.while(%n = %a0, %c = %zero) : tensor<i32>, tensor<i32> cond {
        %r = stablehlo.remainder %n, %two : tensor<i32>
        %q = stablehlo.compare EQ, %r, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %q : tensor<i1>
      } do {
        %m = stablehlo.divide %n, %two : tensor<i32>
        %d = stablehlo.add %c, %one : tensor<i32>
        stablehlo.return %m, %d : tensor<i32>, tensor<i32>
      }
      %z = stablehlo.add %w#1, %zero : tensor<i32>""", "i32")
    t = tensor(shape, "i32")
    dims = f"array<i64: {', '.join(map(str, range(len(shape))))}>" if shape else "array<i64>"
    text = f'%r0 = "stablehlo.map"(%arg0) {body} {{dimensions = {dims}}} : ({t}) -> {t}'
    x = np.random.default_rng(1).integers(1, 65, shape).astype("i4")
    got, = run(tmp_path, main([shape], "i32", text, [t], devices), x, devices=devices)
    assert got.shape == shape and (got == np.log2(x & -x)).all()


# ---- random numbers ----

@pytest.mark.parametrize("devices", [1, 4])
@pytest.mark.parametrize("element", ["f32", "f64", "f16", "i32", "ui8", "i64", "i1"])
def test_rng_uniform(tmp_path, element, devices):
    body = f"""%s = stablehlo.constant dense<[128, 64]> : tensor<2xi64>
    %r0 = stablehlo.rng %arg0, %arg1, %s, distribution = UNIFORM
        : (tensor<{element}>, tensor<{element}>, tensor<2xi64>) -> tensor<128x64x{element}>
    %r1 = stablehlo.rng %arg0, %arg1, %s, distribution = UNIFORM
        : (tensor<{element}>, tensor<{element}>, tensor<2xi64>) -> tensor<128x64x{element}>"""
    low, high = (0, 1) if element == "i1" else (3, 11)
    ends = [np.array(v, DTYPES[element]) for v in (low, high)]
    x, y = run(tmp_path, main([(), ()], element, body, [tensor((128, 64), element)] * 2, devices),
               *ends, devices=devices)
    assert (x != y).any()
    if element == "i1":
        assert abs(x.mean() - 0.5) < 0.02
        return
    assert (x >= 3).all() and (x < 11).all()
    mean = 7 if element[0] == "f" else 6.5
    assert abs(x.astype("f8").mean() - mean) < 0.1
    assert abs(x.astype("f8").std() - 8 / 12**0.5) < 0.1


@pytest.mark.parametrize("devices", [1, 4])
@pytest.mark.parametrize("element", ["f32", "f64", "f16"])
def test_rng_normal(tmp_path, element, devices):
    body = f"""%s = stablehlo.constant dense<[128, 64]> : tensor<2xi64>
    %r0 = stablehlo.rng %arg0, %arg1, %s, distribution = NORMAL
        : (tensor<{element}>, tensor<{element}>, tensor<2xi64>) -> tensor<128x64x{element}>"""
    ends = [np.array(v, DTYPES[element]) for v in (2, 3)]
    x, = run(tmp_path, main([(), ()], element, body, [tensor((128, 64), element)], devices), *ends,
             devices=devices)
    x = (x.astype("f8") - 2) / 3
    assert abs(x.mean()) < 0.04 and abs(x.std() - 1) < 0.03
    assert abs((x**3).mean()) < 0.1 and abs((x**4).mean() - 3) < 0.3


# ---- values that are no tensors ----

PART = "tuple<tensor<i32>, !stablehlo.token>"
WHOLE = f"tuple<tensor<4xf32>, {PART}>"
BUNDLES = f"""
func.func private @two(%t: !stablehlo.token, %x: tensor<4xf32>) -> (!stablehlo.token, {WHOLE}) {{
  %c = stablehlo.constant dense<7> : tensor<i32>
  %a = stablehlo.after_all %t, %t : !stablehlo.token
  %i = stablehlo.tuple %c, %a : {PART}
  %o = stablehlo.tuple %x, %i : {WHOLE}
  return %a, %o : !stablehlo.token, {WHOLE}
}}
func.func @main(%x: tuple<tensor<4xf32>, tensor<i32>>, %t: !stablehlo.token)
    -> (tensor<4xf32>, {PART}, !stablehlo.token) {{
  %0 = stablehlo.get_tuple_element %x[0] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<4xf32>
  %cut = stablehlo.negate %0 SHARDED : tensor<4xf32>
  %r:2 = func.call @two(%t, %cut) : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, {WHOLE})
  %b = stablehlo.optimization_barrier %r#0 : !stablehlo.token
  %s = stablehlo.get_tuple_element %r#1[0] : ({WHOLE}) -> tensor<4xf32>
  %e = stablehlo.get_tuple_element %r#1[1] : ({WHOLE}) -> {PART}
  %g = stablehlo.get_tuple_element %e[0] : ({PART}) -> tensor<i32>
  %w:3 = stablehlo.while(%q = %s, %j = %g, %k = %b)
      : tensor<4xf32>, tensor<i32>, !stablehlo.token cond {{
    %z = stablehlo.constant dense<0> : tensor<i32>
    %c = stablehlo.compare GT, %j, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %m = stablehlo.subtract %j, %one : tensor<i32>
    %d = stablehlo.add %q, %q : tensor<4xf32>
    %p = stablehlo.tuple %m, %k : {PART}
    %y = stablehlo.get_tuple_element %p[0] : ({PART}) -> tensor<i32>
    stablehlo.return %d, %y, %k : tensor<4xf32>, tensor<i32>, !stablehlo.token
  }}
  %p = stablehlo.tuple %w#1, %w#2 : {PART}
  return %w#0, %p, %w#2 : tensor<4xf32>, {PART}, !stablehlo.token
}}
"""


@pytest.mark.parametrize("devices", [1, 4])
def test_tuples_and_tokens(tmp_path, devices):
    sharding = '{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}'
    module = BUNDLES.replace("SHARDED", sharding if devices > 1 else "")
    if devices > 1:
        module = 'sdy.mesh @mesh = <["x"=2, "y"=2]>\n' + module
    x = np.arange(4, dtype="f4")
    results = run(tmp_path, module, x, np.int32(5), np.zeros(0, "bool"), devices=devices)
    assert (results[0] == -128 * x).all() and results[1] == 0 and len(results) == 4


FUNCTIONS = """
func.func private @twice(%f: (tensor<8xf32>) -> tensor<8xf32>, %x: tensor<8xf32>)
    -> tensor<8xf32> {
  %0 = func.call_indirect %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = func.call_indirect %f(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @three(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.constant dense<3.0> : tensor<8xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32> ARGUMENT) -> tensor<4xf32> {
  %f = func.constant @three : (tensor<8xf32>) -> tensor<8xf32>
  %0 = func.call @twice(%f, %x)
      : ((tensor<8xf32>) -> tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = func.call_indirect %f(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "stablehlo.async_start"(%1) ({
  ^bb0(%a: tensor<8xf32>):
    %s = stablehlo.slice %a [2:6] : (tensor<8xf32>) -> tensor<4xf32>
    stablehlo.return %s : tensor<4xf32>
  }) : (tensor<8xf32>) -> !stablehlo.future<tensor<4xf32>>
  %3 = "stablehlo.async_done"(%2) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
"""


@pytest.mark.parametrize("devices", [1, 4])
def test_functions_and_futures(tmp_path, devices):
    sharding = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}'
    module = FUNCTIONS.replace("ARGUMENT", sharding if devices > 1 else "")
    if devices > 1:
        module = 'sdy.mesh @mesh = <["x"=2, "y"=2]>\n' + module
    x = np.arange(8, dtype="f4")
    got, = run(tmp_path, module, x, devices=devices)
    assert (got == 27 * x[2:6]).all()


# ---- products by groups, scans ----

# mode: shapes of lhs and rhs before {g}roups are known, of the result, and dimension numbers
RAGGED = {
    "rows": ("8x4", "{g}x4x6", "8x6", ([], [], [1], [1], [0], [0])),
    "contracted": ("8x4", "8x6", "{g}x4x6", ([], [], [0], [0], [0], [])),
    "batch": ("8x2x4", "8x4x6", "8x2x6", ([0], [0], [2], [1], [0], [])),
}
NAMES = ("lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
         "rhs_contracting_dimensions", "lhs_ragged_dimensions", "rhs_group_dimensions")


@pytest.mark.parametrize("devices", [1, 4])
@pytest.mark.parametrize("element", ["f32", "i32", "f64"])
@pytest.mark.parametrize("sizes", [[3, 5], [0, 8], [8], [1, 2, 3], [2, 0, 1, 5],
                                   []])
@pytest.mark.parametrize("mode", RAGGED)
def test_ragged_dot(tmp_path, mode, sizes, element, devices):
    *shapes, numbers_ = RAGGED[mode]
    a, b, out = (tuple(map(int, s.format(g=len(sizes)).split("x"))) for s in shapes)
    x, y, end = numbers(a, element, 1), numbers(b, element, 2), np.cumsum(np.array(sizes, "i4"))
    want = np.zeros(out, x.dtype)
    for i, (first, last) in enumerate(zip(end - np.array(sizes, "i4"), end)):
        if mode == "rows":
            want[first:last] = x[first:last] @ y[i]
        elif mode == "contracted":
            want[i] = x[first:last].T @ y[first:last]
    if mode == "batch":
        want = x @ y
    say = ", ".join(f"{n} = {v}" for n, v in zip(NAMES, numbers_))
    one = "#chlo<precision DEFAULT>"
    body = f"""%r0 = "chlo.ragged_dot"(%arg0, %arg1, %arg2) {{
        ragged_dot_dimension_numbers = #chlo.ragged_dot<{say}>, precision_config = [{one}, {one}]}}
        : ({tensor(a, element)}, {tensor(b, element)}, tensor<{len(sizes)}xi32>)
        -> {tensor(out, element)}"""
    module = main([a, b, (len(sizes),)], [element, element, "i32"], body, [tensor(out, element)],
                  devices)
    got, = run(tmp_path, module, x, y, np.array(sizes, "i4"), devices=devices)
    assert got.shape == out and (got == want).all()


@pytest.mark.parametrize("devices", [1, 4])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("shape, dim", [((4, 6), 0), ((4, 6), 1), ((5,), 0), ((2, 0, 3), 1),
                                        ((1, 3), 0)])
def test_scan(tmp_path, shape, dim, reverse, devices):
    """Sums so far, twice the inputs, and the sum of all."""
    rest = shape[:dim] + shape[dim + 1:]
    t, r = tensor(shape, "i32"), tensor(rest, "i32")
    body = f"""%r0, %r1, %r2 = chlo.scan(%arg0) inits (%arg1) dimension = {dim}
        attributes {{is_reverse = {str(reverse).lower()}}} {{
      ^bb0(%x: {r}, %sum: {r}):
        %n = stablehlo.add %x, %sum : {r}
        %d = stablehlo.add %x, %x : {r}
        stablehlo.return %n, %d, %n : {r}, {r}, {r}
      }} : ({t}, {r}) -> ({t}, {t}, {r})"""
    x, y = numbers(shape, "i32", 1), numbers(rest, "i32", 2)
    got = run(tmp_path, main([shape, rest], "i32", body, [t, t, r], devices), x, y,
              devices=devices)
    flipped = np.flip(x, dim) if reverse else x
    sums = np.cumsum(flipped, axis=dim) + np.expand_dims(y, dim)
    want = [np.flip(sums, dim) if reverse else sums, 2 * x, x.sum(dim) + y]
    for g, w in zip(got, want):
        assert g.shape == w.shape and (g == w).all()
