"""Ops that JAX does not make: `terrazzo run` on one device and on four, against NumPy."""
import os
import pathlib
import subprocess

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
