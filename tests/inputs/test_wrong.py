"""Wrong programs and wrong calls: what the message says, and where."""
import json
import re
import subprocess

import numpy as np
import pytest

from support import BIN, ROOT, terrazzo

CORPUS = ROOT / "tests" / "corpus"
MLP = CORPUS / "mlp_tp" / "global.mlir"
INPUTS = [CORPUS / "mlp_tp" / f"in_{k}.npy" for k in range(5)]

# body of @main(%a: tensor<4xf32>), line of the error, its text
WRONG = {
    "unknown dialect": ('%0 = "elsewhere.op"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n'
                        "return %0 : tensor<4xf32>", 2, ""),
    "undefined value": ("%0 = stablehlo.add %a, %b : tensor<4xf32>\n"
                        "return %0 : tensor<4xf32>", 2, "undeclared"),
    "types differ": ("%0 = stablehlo.add %a, %a : tensor<5xf32>\n"
                     "return %0 : tensor<5xf32>", 2, ""),
    "result type": ("%0 = stablehlo.transpose %a, dims = [0] : (tensor<4xf32>) -> tensor<5xf32>\n"
                    "return %0 : tensor<5xf32>", 2, "stablehlo.transpose"),
    "no such function": ("%0 = call @nowhere(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
                         "return %0 : tensor<4xf32>", 2, "nowhere"),
    "a function in a function": ("return %a : tensor<4xf32>\nfunc.func\n", 5, "symbol name"),
    "no such mesh": ('%0 = sdy.sharding_constraint %a <@none, [{"x"}]> : tensor<4xf32>\n'
                     "return %0 : tensor<4xf32>", 2, "none"),
    "no such axis": ('%0 = sdy.sharding_constraint %a <@mesh, [{"q"}]> : tensor<4xf32>\n'
                     "return %0 : tensor<4xf32>", 2, "q"),
}


def module(body):
    result = re.search(r"return .*: (.*)", body).group(1)
    return (f'func.func public @main(%a: tensor<4xf32>) -> {result} {{\n{body}\n}}\n'
            'sdy.mesh @mesh = <["x"=2]>\n')


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("command", [("opt",), ("run", "--devices", "2")], ids=["opt", "run"])
def test_wrong_module(case, command, tmp_path):
    body, line, text = WRONG[case]
    path = tmp_path / "wrong.mlir"
    path.write_text(module(body))
    done = terrazzo(*command, path)
    assert done.returncode == 1
    found = re.search(rf"^{re.escape(str(path))}:(\d+):(\d+): error: (.*)", done.stderr, re.M)
    assert found, done.stderr
    assert int(found.group(1)) == line and text in found.group(3), done.stderr


def refused(*arguments, text):
    done = terrazzo(*arguments)
    assert done.returncode != 0
    assert re.search(text, done.stderr), done.stderr


@pytest.mark.parametrize("op", ["stablehlo.unheard_of", "stablehlo.fft", "chlo.unheard_of"])
def test_op_that_we_do_not_have(op, tmp_path):
    """Named, with its place, when the program is compiled."""
    path = tmp_path / "op.mlir"
    path.write_text("func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                    f'  %0 = "{op}"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n'
                    "  return %0 : tensor<4xf32>\n}\n")
    refused("run", path, "--devices", 1, text=rf"op.mlir:2:\d+: error: .*{re.escape(op)}")


@pytest.mark.parametrize("inside", [False, True])
def test_elements_that_no_instruction_takes(inside, tmp_path):
    """A valid op over elements that it cannot be computed on, also in a region."""
    t = "tensor<complex<f32>>"
    one = f"  %1 = stablehlo.remainder %x, %x : {t}\n"
    region = (f'  %0 = "stablehlo.reduce"(%a, %i) ({{\n ^bb0(%x: {t}, %y: {t}):\n{one}'
              f"  stablehlo.return %1 : {t}\n}}) {{dimensions = array<i64: 0>}} : "
              f"(tensor<4xcomplex<f32>>, {t}) -> {t}\n  return %0 : {t}\n}}\n")
    path = tmp_path / "op.mlir"
    path.write_text(f"func.func @main(%a: tensor<4xcomplex<f32>>, %i: {t}) -> {t} {{\n{region}"
                    if inside else
                    f"func.func @main(%x: {t}) -> {t} {{\n{one}  return %1 : {t}\n}}\n")
    refused("run", path, text=r"op.mlir:\d+:\d+: error: 'stablehlo.remainder' op is not "
                              r"implemented: over elements of 'complex<f32>'")


@pytest.mark.parametrize("body, text", [
    ("""  %p = stablehlo.constant dense<1> : tensor<1x2xi64>
  %0 = "stablehlo.dynamic_conv"(%a, %a, %p) <{batch_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[i, 0, o]->[b, 0, f]>,
    feature_group_count = 1 : i64}>
    : (tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x2xi64>) -> tensor<1x16x1xf32>
""", r"op.mlir:3:8: error: inferred shape '\[1, 3, 1\]' is incompatible"),
    ("""  %i = stablehlo.constant dense<true> : tensor<1x16xi1>
  %0 = "stablehlo.torch_index_select"(%a, %i) <{batch_dims = 1 : i64, dim = 1 : i64}>
    : (tensor<1x3x1xf32>, tensor<1x16xi1>) -> tensor<1x16x1xf32>
""", r"op.mlir:3:8: error: 'stablehlo.gather' op operand #1 must be"),
])
def test_what_an_op_becomes(body, text, tmp_path):
    """Wrong only once the sizes are known, or as the op that it is made of."""
    path = tmp_path / "op.mlir"
    path.write_text("func.func @main(%a: tensor<1x3x1xf32>) -> tensor<1x16x1xf32> {\n"
                    f"{body}  return %0 : tensor<1x16x1xf32>\n}}\n")
    refused("run", path, text=text)


def test_shape_of_an_input(tmp_path):
    np.save(tmp_path / "wrong.npy", np.zeros((16, 63), np.float32))
    refused("run", MLP, "--devices", 8, "--input", tmp_path / "wrong.npy", *INPUTS[1:],
            text=r"error: .*16x64.*16x63")


def test_type_of_an_input(tmp_path):
    np.save(tmp_path / "wrong.npy", np.zeros((16, 64), np.int32))
    refused("run", MLP, "--devices", 8, "--input", tmp_path / "wrong.npy", *INPUTS[1:],
            text=r"error: .*f32.*i32")


def test_number_of_inputs():
    refused("run", MLP, "--devices", 8, "--input", *INPUTS[:3], text=r"5 arguments.*3")


@pytest.mark.parametrize("devices", [3, 4, 16])
def test_device_count_the_mesh_does_not_have(devices):
    refused("run", MLP, "--devices", devices, "--input", *INPUTS,
            text=rf"error: .*(\b8\b.*\b{devices}\b|\b{devices}\b.*\b8\b)")


@pytest.mark.parametrize("devices", ["0", "-1", "many", "99999999999999999999"])
def test_senseless_device_count(devices):
    refused("run", MLP, "--devices", devices, text=re.escape(devices))


@pytest.mark.parametrize("mesh", ["mesh", "mesh=", "mesh=x", "mesh=x=0", "mesh=x=-2", "mesh=q=2",
                                  "none=x=2", "mesh=x=2,x=2", "mesh=x=9999999999999999999"])
def test_senseless_mesh(mesh):
    refused("run", MLP, "--devices", 2, "--mesh", mesh, "--input", *INPUTS, text="mesh|axis|axes")


def test_missing_file():
    refused("run", "/nowhere.mlir", text="nowhere.mlir")
    refused("opt", "/nowhere.mlir", text="nowhere.mlir")


def npy(header, data=b"", version=1, length=None):
    size = len(header) if length is None else length
    return (b"\x93NUMPY" + bytes([version, 0]) + size.to_bytes(2 if version == 1 else 4, "little") +
            header + data)


GOOD = b"{'descr': '<f4', 'fortran_order': False, 'shape': (16, 64), }\n"
FULL = b"\0" * (16 * 64 * 4)
DAMAGED = {
    "nothing": (b"", "expected 10 bytes of a .npy file's beginning, found 0"),
    "magic alone": (b"\x93NUMPY", "expected 10 bytes of a .npy file's beginning, found 6"),
    "another file": (b"module {\n}\n", "expected a .npy file"),
    "a header that is cut": (npy(GOOD[:9], length=80), "expected 80 bytes of a header, found 9"),
    "a long header": (npy(b"{", version=2, length=1 << 31),
                      "expected a header of less than 4096 bytes, found 2147483648"),
    "no order": (npy(b"{'descr': '<f4', 'shape': (1,)}\n"), "the header is not as NumPy writes"),
    "floating sizes": (npy(GOOD.replace(b"16", b"1e9")), "the header is not as NumPy writes"),
    "too large a size": (npy(GOOD.replace(b"16", b"9" * 30)), "the header is not as NumPy writes"),
    "a negative size": (npy(GOOD.replace(b"16", b"-1")), "the header is not as NumPy writes"),
    "unfinished shape": (npy(GOOD[:-6]), "the header is not as NumPy writes"),
    "unfinished type": (npy(b"'fortran_order': False, 'shape': (), 'descr': '"),
                        "the header is not as NumPy writes"),
    "elements of no size": (npy(GOOD.replace(b"<f4", b"<f")), "expected elements of 1 to 16 bytes"),
    "huge elements": (npy(GOOD.replace(b"<f4", b"<U99999999999")),
                      "expected elements of 1 to 16 bytes, found '<U99999999999'"),
    "Fortran's order": (npy(GOOD.replace(b"False", b"True")), "a little-endian array in C order"),
    "big-endian": (npy(GOOD.replace(b"<", b">")), "a little-endian array in C order"),
    "a huge shape": (npy(GOOD.replace(b"64", b"9223372036854775807")),
                     "expected 16x64 of f32, found 16x9223372036854775807 of f32"),
    "too short": (npy(GOOD, FULL[:-1]), "expected 4096 bytes of elements, found 4095"),
    "too long": (npy(GOOD, FULL + b"\0"), "expected 4096 bytes of elements, found more"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_array(case, tmp_path):
    (tmp_path / "wrong.npy").write_bytes(DAMAGED[case][0])
    refused("run", MLP, "--devices", 8, "--input", tmp_path / "wrong.npy", *INPUTS[1:],
            text="wrong.npy: .*" + re.escape(DAMAGED[case][1]))


def test_what_is_no_array(tmp_path):
    """A device without end is read as far as it can be one; a directory says what it is."""
    for path, text in (("/dev/zero", "/dev/zero: expected a .npy file"),
                       (tmp_path, "Is a directory"), ("/nowhere.npy", "No such file"),
                       ("/dev/null", "expected 10 bytes")):
        refused("run", MLP, "--devices", 8, "--input", path, *INPUTS[1:], text=text)


def test_what_is_no_program(tmp_path):
    for command in "opt", "run":
        refused(command, "/dev/zero", text="expected a file or a pipe, found a device")
        refused(command, tmp_path, text=f"{tmp_path}: Is a directory")


def test_array_from_a_pipe():
    """As large as it should be, and then endless: it is not read further than that."""
    for data, text in ((FULL, ""), (FULL[:9], "expected 4096 bytes of elements, found 9"),
                       (FULL * 999, "expected 4096 bytes of elements, found more")):
        done = subprocess.run([BIN / "terrazzo", "run", MLP, "--devices", "8", "--input",
                               "/dev/stdin", *INPUTS[1:]], input=npy(GOOD, data),
                              capture_output=True, timeout=60)
        assert done.returncode == bool(text) and text in done.stderr.decode(), done.stderr


def test_main_that_another_function_calls(tmp_path):
    """It is private, and what calls it goes: it is what runs all the same."""
    path = tmp_path / "main.mlir"
    bodies = {"main": "  %0 = stablehlo.negate %a : tensor<5xf32>\n",
              "g": "  %0 = call @main(%a) : (tensor<5xf32>) -> tensor<5xf32>\n"}
    path.write_text("".join(f"func.func private @{name}(%a: tensor<5xf32>) -> tensor<5xf32> {{\n"
                            f"{body}  return %0 : tensor<5xf32>\n}}\n"
                            for name, body in bodies.items()))
    np.save(tmp_path / "x.npy", np.arange(5, dtype=np.float32))
    for devices in 1, 2:
        done = terrazzo("run", path, "--devices", devices, "--input", tmp_path / "x.npy",
                        "--output", tmp_path / "out")
        assert done.returncode == 0, done.stderr
        assert np.load(tmp_path / "out" / "out_0.npy").tolist() == [0, -1, -2, -3, -4]


def test_listing_of_an_op():
    ops = json.loads(terrazzo("ops", "--json", "stablehlo.add").stdout)
    assert [op["op"] for op in ops] == ["stablehlo.add"]
    assert {op["op"].split(".")[0] for op in json.loads(terrazzo("ops", "--json", "sdy").stdout)} \
        == {"sdy"}
    assert json.loads(terrazzo("ops", "--json").stdout)


def test_group_that_a_manual_computation_cannot_follow(tmp_path):
    """Its member is in parts along an axis that is manual there, below another one."""
    path = tmp_path / "group.mlir"
    path.write_text("""sdy.mesh @mesh = <["a"=4, "b"=2]>
func.func @main(%a: tensor<24x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "a"}, {}]>})
    -> tensor<24x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{?}, {?}]>]
      out_shardings=[<@mesh, [{?}, {?}]>] manual_axes={"a"} (%b: tensor<24x8xf32>) {
    %1 = stablehlo.negate %b : tensor<24x8xf32>
    sdy.return %1 : tensor<24x8xf32>
  } : (tensor<24x8xf32>) -> tensor<24x8xf32>
  sdy.sharding_group %0 group_id=0 : tensor<24x8xf32>
  sdy.sharding_group %a group_id=0 : tensor<24x8xf32>
  return %0 : tensor<24x8xf32>
}
""")
    refused("run", path, text=r"group.mlir:4:\d+: error: 'sdy.manual_computation' op ")


def test_unknown_pass():
    refused("opt", MLP, "-sdy-no-such-pass", text="sdy-no-such-pass")


def test_deep_nesting(tmp_path):
    """Input depth is bounded by a message, not by the stack."""
    path = tmp_path / "deep.mlir"
    path.write_text("#a = " + "[" * 200_000 + "\n")
    refused("opt", path, text="error: ")
    path.write_text("func.func @f(%a: " + "tuple<" * 200_000 + "\n")
    refused("opt", path, text="error: ")
