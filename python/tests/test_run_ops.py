"""Ops that JAX does not make: `terrazzo run` on one device and on four, against NumPy."""
import os
import pathlib
import subprocess

import ml_dtypes
import numpy as np
import pytest

TERRAZZO = pathlib.Path(os.environ["TERRAZZO_BIN"]) / "terrazzo"


def run(folder, module, *inputs, devices=1):
    """The results of @main, global arrays."""
    files = []
    for i, x in enumerate(inputs):
        files.append(folder / f"in_{i}.npy")
        np.save(files[-1], x)
    source = folder / "module.mlir"
    source.write_text(module)
    subprocess.run([TERRAZZO, "run", source, "--devices", str(devices), "--input", *files,
                    "--output", folder], check=True)
    return [np.load(f) for f in sorted(folder.glob("out_*.npy"))]


def on(devices, module, **shardings):
    """The module with its arguments sharded over a 2x2 mesh, or with none of that."""
    if devices == 1:
        return module.format(**{name: "" for name in shardings})
    where = {name: "{sdy.sharding = #sdy.sharding<@mesh, " + s + ">}"
             for name, s in shardings.items()}
    return 'sdy.mesh @mesh = <["x"=2, "y"=2]>\n' + module.format(**where)


MULHI = """func.func @main(%x: tensor<64xTYPE> {s}, %y: tensor<64xTYPE>) -> tensor<64xTYPE> {{
  %0 = chlo.mulhi %x, %y : tensor<64xTYPE>, tensor<64xTYPE> -> tensor<64xTYPE>
  return %0 : tensor<64xTYPE>
}}
"""


@pytest.mark.parametrize("devices", [1, 4])
@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64",
                                  "uint8", "uint16", "uint32", "uint64"])
def test_mulhi(tmp_path, name, devices):
    bits = np.iinfo(name).bits
    mlir = ("ui" if name[0] == "u" else "i") + str(bits)
    random = np.random.default_rng(bits)
    ends = np.array([np.iinfo(name).min, np.iinfo(name).max, 0, 1], name)
    x = random.integers(ends[0], ends[1], 64, name, endpoint=True)
    y = random.integers(ends[0], ends[1], 64, name, endpoint=True)
    x[:16], y[:16] = np.repeat(ends, 4), np.tile(ends, 4)
    module = on(devices, MULHI.replace("TYPE", mlir), s='[{"x", "y"}]')
    want = [(int(a) * int(b)) >> bits for a, b in zip(x, y)]  # Python's integers have no width
    got, = run(tmp_path, module, x, y, devices=devices)
    assert got.dtype == x.dtype and got.tolist() == want


def test_mulhi_of_half_a_byte(tmp_path):
    module = """func.func @main(%x: tensor<256xi8>, %y: tensor<256xi8>)
        -> (tensor<256xi8>, tensor<256xui8>) {
      %0 = stablehlo.convert %x : (tensor<256xi8>) -> tensor<256xi4>
      %1 = stablehlo.convert %y : (tensor<256xi8>) -> tensor<256xi4>
      %2 = chlo.mulhi %0, %1 : tensor<256xi4>, tensor<256xi4> -> tensor<256xi4>
      %3 = stablehlo.convert %x : (tensor<256xi8>) -> tensor<256xui4>
      %4 = stablehlo.convert %y : (tensor<256xi8>) -> tensor<256xui4>
      %5 = chlo.mulhi %3, %4 : tensor<256xui4>, tensor<256xui4> -> tensor<256xui4>
      %6 = stablehlo.convert %2 : (tensor<256xi4>) -> tensor<256xi8>
      %7 = stablehlo.convert %5 : (tensor<256xui4>) -> tensor<256xui8>
      return %6, %7 : tensor<256xi8>, tensor<256xui8>
    }"""
    all_of_them = np.arange(-8, 8, dtype="int8")
    x, y = np.repeat(all_of_them, 16), np.tile(all_of_them, 16)
    signed, unsigned = run(tmp_path, module, x, y)
    assert signed.tolist() == [(int(a) * int(b)) >> 4 for a, b in zip(x, y)]
    assert unsigned.tolist() == [((int(a) & 15) * (int(b) & 15)) >> 4 for a, b in zip(x, y)]


REDUCE_NARROW = """func.func @main(%x: tensor<ROWSxCOLUMNSxTYPE>)
    -> (tensor<COLUMNSxTYPE>, tensor<ROWSxTYPE>, tensor<ROWSxCOLUMNSxTYPE>, tensor<TYPE>) {
  %init = stablehlo.constant dense<INIT> : tensor<TYPE>
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.OP across dimensions = [0]
      : (tensor<ROWSxCOLUMNSxTYPE>, tensor<TYPE>) -> tensor<COLUMNSxTYPE>
  %1 = stablehlo.reduce(%x init: %init) applies stablehlo.OP across dimensions = [1]
      : (tensor<ROWSxCOLUMNSxTYPE>, tensor<TYPE>) -> tensor<ROWSxTYPE>
  %2 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: ROWS, 1>,
      padding = dense<[[LAST, 0], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<TYPE>, %b: tensor<TYPE>):
      %r = stablehlo.OP %a, %b : tensor<TYPE>
      stablehlo.return %r : tensor<TYPE>
  }) : (tensor<ROWSxCOLUMNSxTYPE>, tensor<TYPE>) -> tensor<ROWSxCOLUMNSxTYPE>
  return %0, %1, %2, %init : tensor<COLUMNSxTYPE>, tensor<ROWSxTYPE>, tensor<ROWSxCOLUMNSxTYPE>,
      tensor<TYPE>
}
"""


@pytest.mark.parametrize("shape", [(6, 8), (3, 200)])
@pytest.mark.parametrize("op, ufunc", [("maximum", np.maximum), ("minimum", np.minimum),
                                       ("add", np.add), ("multiply", np.multiply)])
@pytest.mark.parametrize("name", ["i4", "i2", "ui4", "ui2"])
def test_reductions_of_narrow_integers(tmp_path, name, op, ufunc, shape):
    """Inputs have stray upper bits, and the initial value is the lowest or the highest there is."""
    bits, unsigned = int(name[-1]), name[0] == "u"
    low, high = (0, 2**bits - 1) if unsigned else (-2**(bits - 1), 2**(bits - 1) - 1)
    init = {"maximum": low, "minimum": high, "add": 0, "multiply": 1}[op]
    module = REDUCE_NARROW
    for word, value in [("TYPE", name), ("ROWS", shape[0]), ("COLUMNS", shape[1]), ("OP", op),
                        ("LAST", shape[0] - 1), ("INIT", init)]:
        module = module.replace(word, str(value))
    x = np.random.default_rng(bits).integers(0, 256, shape)
    value = lambda v: (v - low) % 2**bits + low
    down, across, running, start = run(tmp_path, module, x.astype("uint8" if unsigned else "int8"))
    assert start == init
    assert down.tolist() == value(ufunc.reduce(value(x), axis=0)).tolist()
    assert across.tolist() == value(ufunc.reduce(value(x), axis=1)).tolist()
    assert running.tolist() == value(ufunc.accumulate(value(x), axis=0)).tolist()


def test_bools_of_any_byte(tmp_path):
    module = """func.func @main(%x: tensor<16x16xi1>, %y: tensor<16x16xi1>, %one: tensor<i1>)
        -> (tensor<16x16xi1>, tensor<16x16xi1>, tensor<16x16xi32>, tensor<16xi1>, tensor<16xi1>,
            tensor<16x16xi1>, tensor<i1>) {
      %init = stablehlo.constant dense<true> : tensor<i1>
      %0 = stablehlo.not %x : tensor<16x16xi1>
      %1 = stablehlo.compare EQ, %x, %y : (tensor<16x16xi1>, tensor<16x16xi1>) -> tensor<16x16xi1>
      %2 = stablehlo.convert %x : (tensor<16x16xi1>) -> tensor<16x16xi32>
      %3 = stablehlo.reduce(%x init: %init) applies stablehlo.and across dimensions = [1]
          : (tensor<16x16xi1>, tensor<i1>) -> tensor<16xi1>
      %4 = stablehlo.reduce(%x init: %one) applies stablehlo.xor across dimensions = [0]
          : (tensor<16x16xi1>, tensor<i1>) -> tensor<16xi1>
      %5 = stablehlo.dot %x, %y : (tensor<16x16xi1>, tensor<16x16xi1>) -> tensor<16x16xi1>
      %6 = stablehlo.while(%w = %one) : tensor<i1> cond {
        stablehlo.return %w : tensor<i1>
      } do {
        %n = stablehlo.not %w : tensor<i1>
        stablehlo.return %n : tensor<i1>
      }
      return %0, %1, %2, %3, %4, %5, %6 : tensor<16x16xi1>, tensor<16x16xi1>, tensor<16x16xi32>,
          tensor<16xi1>, tensor<16xi1>, tensor<16x16xi1>, tensor<i1>
    }"""
    random = np.random.default_rng(1)
    x, y = (random.integers(0, 256, (16, 16), "uint8") & random.integers(0, 16, (16, 16), "uint8")
            for _ in range(2))
    x[3] |= 2
    got = run(tmp_path, module, x.view(bool), y.view(bool), np.array(4, "uint8").view(bool))
    p, q = x != 0, y != 0
    want = [~p, p == q, p.astype("int32"), p.all(1), ~np.logical_xor.reduce(p, 0),
            (p.astype(int) @ q.astype(int)) != 0, np.array(False)]
    assert all(g.view("uint8").tolist() == w.view("uint8").tolist() for g, w in zip(got, want))


DOT = """func.func @main(%x: tensor<LEFTxTYPE> {a}, %y: tensor<RIGHTxTYPE> {b})
    -> tensor<OUTTYPE> {{
  %0 = stablehlo.dot %x, %y : (tensor<LEFTxTYPE>, tensor<RIGHTxTYPE>) -> tensor<OUTTYPE>
  return %0 : tensor<OUTTYPE>
}}
"""
SHARDINGS = {  # by what is contracted, and by what is not
    ("8x16", "16x4"): [('[{"x"}, {"y"}]', '[{"y"}, {}]'), ('[{"x"}, {}]', '[{}, {"y"}]')],
    ("8x16", "16"): [('[{"x"}, {"y"}]', '[{"y"}]'), ('[{}, {"x", "y"}]', '[{"x", "y"}]')],
    ("16", "16x4"): [('[{"x"}]', '[{"x"}, {"y"}]'), ('[{}]', '[{}, {"x", "y"}]')],
    ("16", "16"): [('[{"x"}]', '[{"x"}]'), ('[{"x", "y"}]', '[{}]')],
}


@pytest.mark.parametrize("name", ["float32", "float64", "int32"])
@pytest.mark.parametrize("left, right", SHARDINGS)
def test_dot(tmp_path, left, right, name):
    mlir = name.replace("float", "f").replace("int", "i")
    random = np.random.default_rng(7)
    x, y = (random.integers(-9, 9, [int(n) for n in s.split("x")]).astype(name)
            for s in (left, right))
    want = x @ y
    out = "".join(f"{n}x" for n in want.shape) + mlir
    for old, new in {"LEFT": left, "RIGHT": right, "OUTTYPE": out, "TYPE": mlir}.items():
        module = (module if old != "LEFT" else DOT).replace(old, new)
    ways = [(1, "", "")] + [(4, *s) for s in SHARDINGS[left, right]]
    for number, (devices, a, b) in enumerate(ways):
        folder = tmp_path / str(number)
        folder.mkdir()
        got, = run(folder, on(devices, module, a=a, b=b), x, y, devices=devices)
        assert got.shape == want.shape and (got == want).all()  # small integers: no rounding


SELECT_AND_SCATTER = """func.func @main(
    %x: tensor<INxTYPE> {s}, %y: tensor<OUTxTYPE>, %z: tensor<WIDE>) -> tensor<INxWIDE> {{
  %0 = "stablehlo.select_and_scatter"(%x, %y, %z) <{{window_dimensions = array<i64: SIZES>,
      window_strides = array<i64: STEPS>, padding = dense<PADS> : tensor<RANKx2xi64>}}> ({{
    ^bb0(%a: tensor<TYPE>, %b: tensor<TYPE>):
      %r = stablehlo.compare GE, %a, %b : (tensor<TYPE>, tensor<TYPE>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
  }}, {{
    ^bb0(%a: tensor<WIDE>, %b: tensor<WIDE>):
      %sum = stablehlo.add %a, %b : tensor<WIDE>
      %max = stablehlo.maximum %a, %b : tensor<WIDE>
      %all = stablehlo.add %sum, %max : tensor<WIDE>
      stablehlo.return RESULT : tensor<WIDE>
  }}) : (tensor<INxTYPE>, tensor<OUTxTYPE>, tensor<WIDE>) -> tensor<INxWIDE>
  return %0 : tensor<INxWIDE>
}}
"""



def select_and_scatter(x, y, z, sizes, steps, pads, combine):
    """One window after the other; the first element of each is selected, until one is above."""
    result = np.full(x.shape, z)
    for at in np.ndindex(y.shape):
        chosen = None
        for k in np.ndindex(*sizes):
            p = tuple(a * s + i - low for a, s, i, (low, _) in zip(at, steps, k, pads))
            if not all(0 <= i < n for i, n in zip(p, x.shape)):
                continue
            if chosen is None or not x[chosen] >= x[p]:
                chosen = p
        if chosen is not None:
            result[chosen] = combine(result[chosen], y[at].astype(z.dtype))
    return result


POOLS = [  # dims, windows, strides, padding, a sharding; overlapping or not, of many windows or few
    ((4, 9, 9, 2), (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (0, 1), (0, 0)),
     '[{"x"}, {}, {}, {"y"}]'),
    ((2, 4, 6, 8), (1, 1, 2, 2), (1, 1, 2, 2), ((0, 0),) * 4, '[{"x"}, {"y"}, {}, {}]'),
    ((3000,), (5,), (2,), ((2, 3),), '[{"x"}]'),
    ((2, 20, 300), (1, 2, 1), (1, 1, 1), ((0, 0), (3, 3), (0, 0)), '[{"x"}, {}, {"y"}]'),
    ((5, 2, 5), (2, 1, 2), (3, 1, 1), ((1, 2), (0, 0), (0, 0)), '[{}, {"x"}, {}]'),
]


@pytest.mark.parametrize("body", ["add", "maximum", "neither"])
@pytest.mark.parametrize("name, wide", [("f32", "f32"), ("f16", "f64"), ("i32", "i32")])
@pytest.mark.parametrize("dims, sizes, steps, pads, sharding", POOLS)
def test_select_and_scatter(tmp_path, dims, sizes, steps, pads, sharding, name, wide, body):
    dtypes = {"f32": "float32", "f16": "float16", "f64": "float64", "i32": "int32"}
    out = [max(n + low + high - k, -1) // s + 1
           for n, k, s, (low, high) in zip(dims, sizes, steps, pads)]
    random = np.random.default_rng(len(dims))
    x = random.integers(0, 9, dims).astype(dtypes[name])
    y = random.integers(-99, 99, out).astype(dtypes[name])
    z = np.array(3, dtypes[wide])
    if name[0] == "f":
        x[random.integers(0, 9, dims) == 0] = np.nan
    module = SELECT_AND_SCATTER
    for word, value in [("TYPE", name), ("WIDE", wide), ("IN", "x".join(map(str, dims))),
                        ("OUT", "x".join(map(str, out))), ("SIZES", str(sizes).strip("(),")),
                        ("STEPS", str(steps).strip("(),")), ("RANK", len(dims)),
                        ("PADS", [list(p) for p in pads]),
                        ("RESULT", {"add": "%sum", "maximum": "%max", "neither": "%all"}[body])]:
        module = module.replace(word, str(value))
    combine = {"add": lambda a, b: a + b, "maximum": max,
               "neither": lambda a, b: a + b + max(a, b)}[body]
    want = select_and_scatter(x, y, z, sizes, steps, pads, combine)
    for devices in 1, 4:
        folder = tmp_path / str(devices)
        folder.mkdir()
        got, = run(folder, on(devices, module, s=sharding), x, y, z, devices=devices)
        assert got.dtype == want.dtype and (got == want).all()


DIVISION = """func.func @main(%x: tensor<SIZExTYPE>, %y: tensor<SIZExTYPE>, %s: tensor<TYPE>)
    -> (tensor<SIZExTYPE>, tensor<SIZExTYPE>, tensor<SIZExTYPE>, tensor<SIZExTYPE>) {
  %z = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<TYPE>) -> tensor<SIZExTYPE>
  %0 = stablehlo.divide %x, %y : tensor<SIZExTYPE>
  %1 = stablehlo.remainder %x, %y : tensor<SIZExTYPE>
  %2 = stablehlo.divide %x, %z : tensor<SIZExTYPE>
  %3 = stablehlo.remainder %x, %z : tensor<SIZExTYPE>
  return %0, %1, %2, %3 : tensor<SIZExTYPE>, tensor<SIZExTYPE>, tensor<SIZExTYPE>,
      tensor<SIZExTYPE>
}
"""


@pytest.mark.parametrize("name", ["int16", "int32", "int64", "uint16", "uint32", "uint64"])
def test_division(tmp_path, name):
    """Multiples and their neighbours, where a quotient by floating point would be one off first."""
    info, random, size = np.iinfo(name), np.random.default_rng(3), 2000
    numbers = lambda: [int(v) >> int(s) for v, s in zip(
        random.integers(info.min, info.max, size, name, endpoint=True),
        random.integers(0, info.bits, size))]
    wrap = lambda v: (v - info.min) % 2**info.bits + info.min
    ys = numbers()
    ys[:8] = [0, 1, 2, 3, info.max, info.max - 1, info.min, wrap(-1)]
    xs = [wrap(v // (y or 1) * (y or 1) + i % 3 - 1) for i, (v, y) in enumerate(zip(numbers(), ys))]
    xs[:16:2] = [info.min] * 8

    def divided(x, y):
        q = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) if y else -1
        return wrap(q), wrap(x - q * y)

    module = DIVISION.replace("SIZE", str(size)).replace(
        "TYPE", name.replace("uint", "ui").replace("int", "i"))
    for scalar in 7, info.min or info.max:
        got = run(tmp_path, module, np.array(xs, name), np.array(ys, name), np.array(scalar, name))
        want = [divided(x, y) for x, y in zip(xs, ys)] + [divided(x, scalar) for x in xs]
        assert [list(pair) for pair in zip(got[0].tolist() + got[2].tolist(),
                                           got[1].tolist() + got[3].tolist())] == \
            [list(pair) for pair in want]


def test_sort_of_many_operands(tmp_path):
    """As jnp.lexsort of that many keys makes; 40 rows of ones and noughts and their places."""
    n, size = 41, 64
    names = [f"%x{i}" for i in range(n - 1)]
    types = ["tensor<64xf32>"] * (n - 1) + ["tensor<64xi32>"]
    scalars = ["f32"] * (n - 1) + ["i32"]
    body = ", ".join(f"%a{i}: tensor<{t}>, %b{i}: tensor<{t}>" for i, t in enumerate(scalars))
    to_i1 = "(tensor<f32>, tensor<f32>) -> tensor<i1>"
    less = f"    %l0 = stablehlo.compare LT, %a0, %b0 : {to_i1}\n"
    for i in range(1, n - 1):
        less += f"""    %c{i} = stablehlo.compare LT, %a{i}, %b{i} : {to_i1}
    %e{i} = stablehlo.compare EQ, %a{i}, %b{i} : {to_i1}
    %d{i} = stablehlo.and %e{i}, %l{i - 1} : tensor<i1>
    %l{i} = stablehlo.or %c{i}, %d{i} : tensor<i1>
"""
    arguments = ", ".join(f"{x}: tensor<64xf32>" for x in names)
    module = f"""func.func @main({arguments}) -> tensor<64xi32> {{
  %i = stablehlo.iota dim = 0 : tensor<64xi32>
  %r:{n} = "stablehlo.sort"({", ".join(names)}, %i)
      <{{dimension = 0 : i64, is_stable = true}}> ({{
  ^bb0({body}):
{less}    stablehlo.return %l{n - 2} : tensor<i1>
  }}) : ({", ".join(types)}) -> ({", ".join(types)})
  return %r#{n - 1} : tensor<64xi32>
}}
"""
    x = np.random.default_rng(0).integers(0, 2, (n - 1, size)).astype(np.float32)
    got, = run(tmp_path, module, *x)
    assert np.array_equal(got, np.lexsort(x))


MASKED = """func.func @main(%q: tensor<2x300x64xTYPE>, %k: tensor<2x300x64xTYPE>,
    %v: tensor<2x300x64xTYPE>, %m: tensor<300x300xi1>) -> tensor<2x300x64xTYPE> {
  %low = stablehlo.constant dense<LOW> : tensor<TYPE>
  %zero = stablehlo.constant dense<0.0> : tensor<TYPE>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] :
    (tensor<2x300x64xTYPE>, tensor<2x300x64xTYPE>) -> tensor<2x300x300xTYPE>
  %mm = stablehlo.broadcast_in_dim %m, dims = [1, 2] :
    (tensor<300x300xi1>) -> tensor<2x300x300xi1>
  %lows = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<TYPE>) -> tensor<2x300x300xTYPE>
  %w = stablehlo.select %mm, CHOICE : tensor<2x300x300xi1>, tensor<2x300x300xTYPE>
  %t = stablehlo.reduce(%w init: %low) applies stablehlo.maximum across dimensions = [2] :
    (tensor<2x300x300xTYPE>, tensor<TYPE>) -> tensor<2x300xTYPE>
  %ts = stablehlo.broadcast_in_dim %t, dims = [0, 1] :
    (tensor<2x300xTYPE>) -> tensor<2x300x300xTYPE>
  %d = stablehlo.subtract %w, %ts : tensor<2x300x300xTYPE>
  %e = stablehlo.exponential %d : tensor<2x300x300xTYPE>
  %o = stablehlo.dot_general %e, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] :
    (tensor<2x300x300xTYPE>, tensor<2x300x64xTYPE>) -> tensor<2x300x64xTYPE>
  return %o : tensor<2x300x64xTYPE>
}
"""


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("mask", ["causal", "window", "rows"])
@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_masked_products(tmp_path, name, mask, inverted):
    """Scores that nobody sees may be anything; a probability of 0 times infinity is NaN."""
    row, column = np.arange(300)[:, None], np.arange(300)[None, :]
    lives = {"causal": column <= row, "window": (column <= row) & (column > row - 70),
             "rows": (column <= row) & (row >= 100)}[mask]
    random = np.random.default_rng(5)
    q, k, v = (random.standard_normal((2, 300, 64)).astype(np.float32) for _ in range(3))
    q, k, v = (x.astype(ml_dtypes.bfloat16).astype(np.float32) for x in (q, k, v))
    k[0, 290], v[1, 280] = np.nan, np.inf  # seen by the last rows; by all
    with np.errstate(all="ignore"):
        scores = np.where(lives, q @ k.transpose(0, 2, 1), np.float32(-1e30))
        want = np.exp(scores - scores.max(-1, keepdims=True)) @ v
    module = MASKED.replace("TYPE", "bf16" if name == "bfloat16" else "f32")
    module = module.replace("CHOICE", "%lows, %s" if inverted else "%s, %lows")
    narrow = [x.astype(ml_dtypes.bfloat16 if name == "bfloat16" else name) for x in (q, k, v)]
    got, = run(tmp_path, module.replace("LOW", "-1.0e30"), *narrow, lives != inverted)
    got = got.view(ml_dtypes.bfloat16) if name == "bfloat16" else got
    loose = dict(rtol=.06, atol=.5) if name == "bfloat16" else dict(rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(got.astype(np.float32), want, **loose)
    assert not np.isfinite(got[1, :280].astype(np.float32)).any()
    assert np.isfinite(want[0, 100:290]).all()


SOFTMAX = """
func.func @main(%q: tensor<2xNx64xTYPE>, %k: tensor<2xNx64xTYPE>, %v: tensor<2xNx64xTYPE>,
                %s: tensor<NxNxi1>) -> (tensor<2xNx64xTYPE>RESULT) {
  %zero = stablehlo.constant dense<0.0> : tensor<TYPE>
  %inf = stablehlo.constant dense<0xINFINITY> : tensor<TYPE>
  %low = stablehlo.constant dense<LOW> : tensor<2xNxNxTYPE>
  %mask = stablehlo.broadcast_in_dim %s, dims = [1, 2] : (tensor<NxNxi1>) -> tensor<2xNxNxi1>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2]
    : (tensor<2xNx64xTYPE>, tensor<2xNx64xTYPE>) -> tensor<2xNxNxTYPE>
  %1 = stablehlo.select %mask, %0, %low : tensor<2xNxNxi1>, tensor<2xNxNxTYPE>
  %2 = stablehlo.reduce(%1 init: %inf) applies stablehlo.maximum across dimensions = [2]
    : (tensor<2xNxNxTYPE>, tensor<TYPE>) -> tensor<2xNxTYPE>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<2xNxTYPE>) -> tensor<2xNxNxTYPE>
  %4 = stablehlo.subtract %1, %3 : tensor<2xNxNxTYPE>
  %5 = stablehlo.exponential %4 : tensor<2xNxNxTYPE>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [2]
    : (tensor<2xNxNxTYPE>, tensor<TYPE>) -> tensor<2xNxTYPE>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<2xNxTYPE>) -> tensor<2xNxNxTYPE>
  %8 = stablehlo.divide %5, %7 : tensor<2xNxNxTYPE>
  %9 = stablehlo.dot_general %8, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<2xNxNxTYPE>, tensor<2xNx64xTYPE>) -> tensor<2xNx64xTYPE>
  return %9RETURN : tensor<2xNx64xTYPE>RESULT
}
"""


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("low", ["-1.0e30", "-2.0"])
@pytest.mark.parametrize("mask", ["causal", "window", "late", "rows"])
@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_masked_softmax(tmp_path, name, mask, low, kept):
    """Columns that a mask throws away are worked out once a row, if at all: the same bits."""
    n = 320
    row, column = np.arange(n)[:, None], np.arange(n)[None, :]
    lives = {"causal": column <= row, "window": (column <= row) & (column > row - 70),
             "late": column >= row, "rows": (column <= row) & (row >= 100)}[mask]
    random = np.random.default_rng(5)
    q, k, v = (random.standard_normal((2, n, 64)).astype(np.float32) for _ in range(3))
    q, k, v = (x.astype(ml_dtypes.bfloat16).astype(np.float32) for x in (q, k, v))
    k[0, 310], v[1, 290] = np.nan, np.inf  # seen by some rows; by all
    with np.errstate(all="ignore"):
        scores = np.where(lives, q @ k.transpose(0, 2, 1), np.float32(low))
        want = np.exp(scores - scores.max(-1, keepdims=True))
        want /= want.sum(-1, keepdims=True)
        values = want @ v
    half = name == "bfloat16"
    module = SOFTMAX.replace("INFINITY", "FF80" if half else "FF800000").replace("LOW", low)
    module = module.replace("RESULT", ", tensor<2xNxNxTYPE>" if kept else "")
    module = module.replace("RETURN", ", %8" if kept else "").replace("xN", f"x{n}")
    module = module.replace("<N", f"<{n}").replace("TYPE", "bf16" if half else "f32")
    arguments = [x.astype(ml_dtypes.bfloat16 if half else name) for x in (q, k, v)] + [lives]
    got = run(tmp_path, module, *arguments)
    loose = dict(rtol=.08, atol=.1) if half else dict(rtol=1e-4, atol=1e-4)
    for x, y in zip(got, [values, want]):
        x = x.view(ml_dtypes.bfloat16) if half else x
        np.testing.assert_allclose(x.astype(np.float32), y, **loose)
    # nothing is left out where the mask is not known before the scores are
    scores, truth = (f"tensor<2x{n}x{n}x{t}>" for t in ("bf16" if half else "f32", "i1"))
    whole = module.replace("select %mask,", "select %or,").replace("  %1 =", f"""
  %same = stablehlo.compare EQ, %0, %0 : ({scores}, {scores}) -> {truth}
  %and = stablehlo.and %mask, %same : {truth}
  %or = stablehlo.or %mask, %and : {truth}
  %1 =""")
    for x, y in zip(got, run(tmp_path, whole, *arguments)):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("name", ["bf16", "f16"])
def test_words_looked_up(tmp_path, name):
    """Of very many words each is computed once: the same bits as of few."""
    module = """func.func @main(%x: tensor<NxTYPE>) -> tensor<NxTYPE> {
      %0 = stablehlo.multiply %x, %x : tensor<NxTYPE>
      %1 = stablehlo.tanh %0 : tensor<NxTYPE>
      %2 = stablehlo.add %1, %x : tensor<NxTYPE>
      %3 = stablehlo.logistic %2 : tensor<NxTYPE>
      %4 = stablehlo.multiply %3, %x : tensor<NxTYPE>
      %5 = stablehlo.exponential %4 : tensor<NxTYPE>
      return %5 : tensor<NxTYPE>
    }""".replace("TYPE", name)
    words = np.arange(1 << 16, dtype=np.uint16)
    many = np.concatenate([words] * 9 + [words[:-5]])
    x = [w if name == "bf16" else w.view(np.float16) for w in (words, many)]
    few, = run(tmp_path, module.replace("<N", f"<{x[0].size}"), x[0])
    got, = run(tmp_path, module.replace("<N", f"<{x[1].size}"), x[1])
    few = few.view(np.uint16)
    np.testing.assert_array_equal(got.view(np.uint16), np.concatenate([few] * 9 + [few[:-5]]))


GROUPS = """func.func @main(%q: tensor<300x2x3x64xf32>, %k: tensor<300x2x64xf32>,
    %v: tensor<300x2x64xf32>, %m: tensor<300x300xi1>) -> tensor<300x2x3x64xf32> {
  %low = stablehlo.constant dense<-1.0e30> : tensor<f32>
  %s0 = stablehlo.dot_general %q, %k, batching_dims = [1] x [1], contracting_dims = [3] x [2] :
    (tensor<300x2x3x64xf32>, tensor<300x2x64xf32>) -> tensor<2x300x3x300xf32>
  %s = stablehlo.transpose %s0, dims = [2, 0, 1, 3] :
    (tensor<2x300x3x300xf32>) -> tensor<3x2x300x300xf32>
  %mm = stablehlo.broadcast_in_dim %m, dims = [2, 3] :
    (tensor<300x300xi1>) -> tensor<3x2x300x300xi1>
  %lows = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> tensor<3x2x300x300xf32>
  %w = stablehlo.select %mm, %s, %lows : tensor<3x2x300x300xi1>, tensor<3x2x300x300xf32>
  %t0 = stablehlo.reduce(%w init: %low) applies stablehlo.maximum across dimensions = [3] :
    (tensor<3x2x300x300xf32>, tensor<f32>) -> tensor<3x2x300xf32>
  %least = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> tensor<3x2x300xf32>
  %t = stablehlo.maximum %t0, %least : tensor<3x2x300xf32>
  %ts = stablehlo.broadcast_in_dim %t, dims = [0, 1, 2] :
    (tensor<3x2x300xf32>) -> tensor<3x2x300x300xf32>
  %d = stablehlo.subtract %w, %ts : tensor<3x2x300x300xf32>
  %e = stablehlo.exponential %d : tensor<3x2x300x300xf32>
  %o = stablehlo.dot_general %v, %e, batching_dims = [1] x [1], contracting_dims = [0] x [3] :
    (tensor<300x2x64xf32>, tensor<3x2x300x300xf32>) -> tensor<2x64x3x300xf32>
  %r = stablehlo.transpose %o, dims = [3, 0, 2, 1] :
    (tensor<2x64x3x300xf32>) -> tensor<300x2x3x64xf32>
  return %r : tensor<300x2x3x64xf32>
}
"""


@pytest.mark.parametrize("mask", ["causal", "window", "rows", "all"])
def test_masked_groups(tmp_path, mask):
    """Queries that share keys in groups, which lie inside of positions and share a mask."""
    row, column = np.arange(300)[:, None], np.arange(300)[None, :]
    lives = {"causal": column <= row, "window": (column <= row) & (column > row - 70),
             "rows": (column <= row) & (row >= 100), "all": (row >= 0) & (column >= 0)}[mask]
    random = np.random.default_rng(6)
    q, k, v = (random.standard_normal(s).astype(np.float32)
               for s in ((300, 2, 3, 64), (300, 2, 64), (300, 2, 64)))
    k[290, 0], v[280, 1] = np.nan, np.inf  # seen by the last rows; by all
    with np.errstate(all="ignore"):
        scores = np.where(lives, np.einsum("tkgd,skd->gkts", q, k), np.float32(-1e30))
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        want = np.einsum("gkts,skd->tkgd", weights, v)
    got, = run(tmp_path, GROUPS, q, k, v, lives)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
