"""Bad input that is easy to think of: a diagnostic each, with its place and in MLIR's words."""
import re

import pytest

from support import terrazzo

TOO_LARGE = "9223372036854775808"

FUNC = "func.func @f(%a: tensor<4xf32>, %i: tensor<i1>) {{\n{}\nreturn\n}}\n"
MESH = 'sdy.mesh @mesh = <["a"=2, "b"=4]>\n'

# text, line of the first error, its text
BAD = {
    "duplicate values": (FUNC.format("%0 = stablehlo.abs %a : tensor<4xf32>\n"
                                     "%0 = stablehlo.abs %a : tensor<4xf32>"), 3,
                         "redefinition of SSA value '%0'"),
    "duplicate arguments": ("func.func @f(%a: i32, %a: i32) { return }", 1,
                            "region entry argument '%a' is already in use"),
    "duplicate functions": ("func.func @f() { return }\nfunc.func @f() { return }", 2,
                            "redefinition of symbol named 'f'"),
    "duplicate blocks": (FUNC.format('"b.r"()[^x] : () -> ()\n^x:\n"b.r"()[^x] : () -> ()\n^x:'), 5,
                         "redefinition of block '^x'"),
    "duplicate attributes": ("module attributes {t.a = 1, t.a = 2} {}", 1,
                             "duplicate key 't.a' in dictionary attribute"),
    "duplicate aliases": ("#x = 1\n#x = 2\nmodule {}", 2,
                          "redefinition of attribute alias id 'x'"),
    "duplicate axes": ('sdy.mesh @m = <["a"=2, "a"=2]>', 1,
                       "custom op 'sdy.mesh' duplicate axis name: \"a\""),
    "a use before its definition": (
        FUNC.format("%0 = stablehlo.abs %1 : tensor<4xf32>\n%1 = stablehlo.abs %a : tensor<4xf32>"),
        2, "operand #0 does not dominate this use"),
    "a value that nothing defines": (FUNC.format("%0 = stablehlo.abs %1 : tensor<4xf32>"), 2,
                                     "use of undeclared SSA value name"),
    "a value of another function": (
        "func.func @g() {\n%0 = stablehlo.constant dense<1.0> : tensor<4xf32>\nreturn\n}\n" +
        FUNC.format("%1 = stablehlo.abs %0 : tensor<4xf32>"), 6,
        "use of undeclared SSA value name"),
    "a value of an inner region": (
        FUNC.format('%0 = "stablehlo.if"(%i) ({\n%1 = stablehlo.abs %a : tensor<4xf32>\n'
                    "stablehlo.return %1 : tensor<4xf32>\n}, {\nstablehlo.return %a : tensor<4xf32>"
                    "\n}) : (tensor<i1>) -> tensor<4xf32>\n%2 = stablehlo.abs %1 : tensor<4xf32>"),
        8, "use of undeclared SSA value name"),
    "a value of a region to come": (
        FUNC.format('%0 = "stablehlo.if"(%i) ({\n%1 = stablehlo.abs %2 : tensor<4xf32>\n'
                    "stablehlo.return %1 : tensor<4xf32>\n}, {\n"
                    "%2 = stablehlo.abs %a : tensor<4xf32>\nstablehlo.return %2 : tensor<4xf32>"
                    "\n}) : (tensor<i1>) -> tensor<4xf32>"), 3, ""),
    "a value from outside of an isolated region": (
        MESH + FUNC.format(
            '%0 = sdy.named_computation<"n">() () {\n%1 = stablehlo.abs %a : tensor<4xf32>\n'
            "sdy.return %1 : tensor<4xf32>\n} : () -> tensor<4xf32>"), 4,
        "'stablehlo.abs' op using value defined outside the region"),
    "a constant that is too short": (
        FUNC.format("%0 = stablehlo.constant dense<[1, 2]> : tensor<3xi32>"), 2,
        "inferred shape of elements literal ([2]) does not match type ([3])"),
    "a constant that is too long": (
        FUNC.format("%0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<3xi32>"), 2,
        "inferred shape of elements literal ([4]) does not match type ([3])"),
    "a ragged constant": (
        FUNC.format("%0 = stablehlo.constant dense<[[1, 2], [3]]> : tensor<2x2xi32>"), 2,
        "tensor literal is invalid; ranks are not consistent between elements"),
    "a hex constant of another length": (
        FUNC.format('%0 = stablehlo.constant dense<"0x0102"> : tensor<3xi32>'), 2,
        "elements hex data size is invalid for provided type"),
    "an array that claims much": (
        FUNC.format(f"%0 = stablehlo.constant dense<[1]> : tensor<{2**62}xi32>"), 2,
        "inferred shape of elements literal ([1]) does not match type"),
    "an integer that does not fit": (
        FUNC.format("%0 = stablehlo.constant dense<300> : tensor<i8>"), 2,
        "integer constant out of range"),
    "a symbol that is not there": (FUNC.format("call @g() : () -> ()"), 2,
                                   "'g' does not reference a valid function"),
    "results that are not": (FUNC.format("%0 = sdy.sharding_group %a group_id=1 : tensor<4xf32>"),
                             2, "cannot name an operation with no results"),
    "a text that ends": ("func.func @f() {\n  return", 2, "expected"),
    "a string that ends": ('module attributes {t.a = "', 1,
                           "expected '\"' in string literal"),
    "a dialect attribute that ends": ("module attributes {t.a = #sdy.mesh<[} {}", 1,
                                      "unbalanced '[' character in pretty dialect name"),
}


def first_error(path, text):
    path.write_text(text)
    done = terrazzo("opt", "-allow-unregistered-dialect", path)
    assert done.returncode == 1, done.stdout[:500]
    found = re.search(rf"^{re.escape(str(path))}:(\d+):\d+: error: (.*)", done.stderr, re.M)
    assert found, done.stderr
    return int(found.group(1)), found.group(2)


@pytest.mark.parametrize("case", BAD)
def test_bad(case, tmp_path):
    text, line, message = BAD[case]
    found = first_error(tmp_path / "bad.mlir", text)
    assert found[0] == line and message in found[1], found


# where a number may stand; N is it
NUMBERS = {
    "dimension": "func.func @f(%a: tensor<Nxf32>) { return }",
    "vector": "func.func @f(%a: vector<Nxf32>) { return }",
    "integer type": "func.func @f(%a: iN) { return }",
    "attribute": "module attributes {t.a = N : i64} {}",
    "array": "module attributes {t.a = array<i64: N>} {}",
    "elements": "module attributes {t.a = dense<N> : tensor<i64>} {}",
    "column": "module {} loc(\"f\":1:N)",
    "line": "module {} loc(\"f\":N:1)",
    "result number": FUNC.format("%0 = stablehlo.abs %a#N : tensor<4xf32>"),
    "result count": FUNC.format("%0:N = stablehlo.abs %a : tensor<4xf32>"),
    "axis": 'sdy.mesh @m = <["a"=N]>',
    "device": "sdy.mesh @m = <[], device_ids=[N]>",
    "pre-size": MESH + 'module attributes {t.a = #sdy<axis_ref"a":(N)2>} {}',
    "sub-axis": MESH + 'module attributes {t.a = #sdy<axis_ref"a":(1)N>} {}',
    "priority": 'module attributes {t.a = #sdy.sharding<@mesh, [{"a"}pN]>} {}',
    "factor": "module attributes {t.a = #sdy.op_sharding_rule<([i])->([i]) {i=N}>} {}",
    "factor number": "module attributes {t.a = #sdy.op_sharding_rule<([z_N])->([i]) {i=2}>} {}",
    "step": 'module attributes {t.a = #sdy.propagation_edges<[{step-N = '
            '[{"a" = operand-0 -> [result-0]}]}]>} {}',
    "value of an edge": 'module attributes {t.a = #sdy.propagation_edges<[{step-0 = '
                        '[{"a" = operand-N -> [result-0]}]}]>} {}',
    "group": FUNC.format("sdy.sharding_group %a group_id=N : tensor<4xf32>"),
    "source of all_to_all": MESH + FUNC.format(
        '%0 = sdy.all_to_all [{"a"}: N->0] %a out_sharding=<@mesh, [{}]> : tensor<4xf32>'),
    "permutation": FUNC.format(
        "%0 = stablehlo.transpose %a, dims = [N] : (tensor<4xf32>) -> tensor<4xf32>"),
    "slice": FUNC.format("%0 = stablehlo.slice %a [0:N] : (tensor<4xf32>) -> tensor<4xf32>"),
    "iota": FUNC.format("%0 = stablehlo.iota dim = N : tensor<4xf32>"),
    "channel": "module attributes {t.a = #stablehlo.channel_handle<handle = N, type = 1>} {}",
    "contracting dimension": "module attributes {t.a = #stablehlo.dot<"
                             "lhs_contracting_dimensions = [N]>} {}",
    "bound": "func.func @f(%a: tensor<?xf32, #stablehlo.bounds<N>>) { return }",
    "exponent": FUNC.format("%0 = stablehlo.reduce_precision %a, format = eNm1 : tensor<4xf32>"),
    "low padding": FUNC.format("%0 = stablehlo.pad %a, %i, low = [N], high = [0], interior = [0] "
                               ": (tensor<4xf32>, tensor<i1>) -> tensor<4xf32>"),
}


SIGNLESS = {"attribute", "array", "elements"}  # TOO_LARGE fits their 64 bits without a sign
UNFIT = [(f, n) for f in NUMBERS for n in (TOO_LARGE, "9" * 30, "18446744073709551617")
         if n != TOO_LARGE or f not in SIGNLESS]


@pytest.mark.parametrize(("field", "number"), UNFIT)
def test_number_that_does_not_fit(field, number, tmp_path):
    first_error(tmp_path / "bad.mlir", NUMBERS[field].replace("N", number))


@pytest.mark.parametrize("field", NUMBERS)
@pytest.mark.parametrize("number", ["0", "1", "-1", "4294967297", "2147483648",
                                    "9223372036854775807", "-9223372036854775808"])
def test_number_that_is_odd(field, number, tmp_path):
    """Either is fine, but nothing else."""
    path = tmp_path / "odd.mlir"
    path.write_text(NUMBERS[field].replace("N", number))
    done = terrazzo("opt", path)
    assert done.returncode == 0 or (done.returncode == 1 and ": error: " in done.stderr), done
