"""Bad input, less easy to think of: the first error is where MLIR has it, in MLIR's words.

Sizes that overflow are errors here only.
"""
import re

import pytest

from support import terrazzo

HEAD = "func.func @f(%a: tensor<4xf32>, %i: tensor<i32>, %z: tensor<f32>) {\n"


def body(text):
    return f"{HEAD}{text}\nreturn\n}}\n"


# what is wrong: the text, with a backtick where the error is; what it says
BAD = {
    "an argument of a region twice": (
        body('%0 = "stablehlo.reduce"(%a, %z) ({\n'
             "^bb0(%x: tensor<f32>, `%x: tensor<f32>):\n"
             "stablehlo.return %x : tensor<f32>\n"
             "}) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>"),
        "redefinition of SSA value '%x'"),
    "a value of an inner region with an outer one's name": (
        body('%0 = "stablehlo.case"(%i) ({\n'
             "`%a = stablehlo.constant dense<1> : tensor<i32>\n"
             "stablehlo.return %a : tensor<i32>\n}) : (tensor<i32>) -> tensor<i32>"),
        "redefinition of SSA value '%a'"),
    "more elements than 2^63": (
        body("%0 = stablehlo.constant `dense<1> : tensor<4294967296x4294967296xi32>"),
        "elements literal type has too many elements"),
    "a concatenation longer than 2^63": (
        "func.func @f(%a: tensor<9223372036854775807xi8>) {\n"
        "%0 = `stablehlo.concatenate %a, %a, dim = 0 : (tensor<9223372036854775807xi8>, "
        "tensor<9223372036854775807xi8>) -> tensor<?xi8>\n"
        "return\n}",
        "result is too large"),
    "a padding that overflows": (
        body("%0 = `stablehlo.pad %a, %z, low = [9223372036854775807], high = "
             "[9223372036854775807], interior = [0] : (tensor<4xf32>, tensor<f32>) -> "
             "tensor<?xf32>"),
        "Padding is too large for dimension 0"),
    "an op without a name": (
        '`"" () : () -> ()',
        "empty operation name is invalid"),
    "a value without a name": (
        body("`% = stablehlo.abs %a : tensor<4xf32>"),
        "invalid SSA name"),
    "a result that an op lacks": (
        body("%0:2 = stablehlo.optimization_barrier %a, %a : tensor<4xf32>, tensor<4xf32>\n"
             "%1 = stablehlo.abs `%0#2 : tensor<4xf32>"),
        "reference to invalid result number"),
    "more names than results": (
        body("`%0, %1 = stablehlo.abs %a : tensor<4xf32>"),
        "operation defines 1 results but was provided 2 to bind"),
    "a use with another type": (
        body("%0 = stablehlo.abs `%a : tensor<5xf32>"),
        "use of value '%a' expects different type than prior uses: 'tensor<5xf32>' vs "
        "'tensor<4xf32>'"),
    "an early use with another type": (
        body("%0 = stablehlo.abs %9 : tensor<5xf32>\n"
             "`%9 = stablehlo.abs %a : tensor<4xf32>"),
        "definition of SSA value '%9#0' has type 'tensor<4xf32>'"),
    "an op that uses itself": (
        body("%0 = `stablehlo.abs %0 : tensor<4xf32>"),
        "operand #0 does not dominate this use"),
    "a region that ends with the text": (
        'func.func @f() { "a.b"() (`{',
        "expected operation name in quotes"),
    "a brace too many": (
        "module {}`}",
        "expected operation name in quotes"),
    "an escape that is none": (
        'module attributes {t.a = "`\\q"} {}',
        "unknown escape in string literal"),
    "a line break in a string": (
        'module attributes {t.a = "x`\ny"} {}',
        "expected '\"' in string literal"),
    "an alias of itself": (
        "#a = [#a`]\nmodule attributes {t.a = #a} {}",
        "undefined symbol alias id 'a'"),
    "aliases of types in a circle": (
        "!a = tuple<!b`>\n!b = tuple<!a>\nmodule attributes {t.a = !a} {}",
        "undefined symbol alias id 'b'"),
    "an alias that nothing defines": (
        "module attributes {t.a = #b`} {}",
        "undefined symbol alias id 'b'"),
    "a constant of no shape": (
        body("%0 = stablehlo.constant `dense<1> : tensor<?xi32>"),
        "elements literal type must have static shape"),
    "a fraction among integers": (
        body("%0 = stablehlo.constant dense<`1.5> : tensor<2xi32>"),
        "expected integer elements, but parsed floating-point"),
    "a sub-axis that is a number": (
        'module attributes {t.a = #stablehlo.axis_ref<name = "y", sub_axis_info =` 1.5>} {}',
        "expected '('"),
    "a resource of a token": (
        "module attributes {t.a = dense_resource<k> : `!stablehlo.token} {}",
        "`dense_resource` expected a shaped type"),
    "half a hex byte": (
        body('%0 = stablehlo.constant dense<`"0x012"> : tensor<1xi8>'),
        "expected string containing hex digits starting with `0x`"),
    "a dimension below zero": (
        "func.func @f(%a: tensor<`-4xf32>) { return }",
        "expected non-function type"),
    "a type of elements that starts with x": (
        "func.func @f(%a: tensor<4x4x`x4f32>) { return }",
        "expected non-function type"),
    "a call with a type too many": (
        "func.func @f() { call @f(`) : (i32) -> ()\nreturn }",
        "custom op 'func.call' number of operands and types do not match: got 0 operands "
        "and 1 types"),
    "a call of a mesh": (
        'sdy.mesh @m = <["a"=2]>\nfunc.func @f() {\n`call @m() : () -> ()\n'
        "return\n}",
        "'func.call' op 'm' does not reference a valid function"),
    "a result that is not returned": (
        "func.func @f() -> i32 { `return }",
        "'func.return' op has 0 operands, but enclosing function (@f) returns 1"),
    "a return in a module": (
        "`func.return",
        "'func.return' op expects parent op 'func.func'"),
    "a block that is not there": (
        body('"b.r"()[`^nope] : () -> ()'),
        "reference to an undefined block '^nope'"),
    "a block of another function": (
        "func.func @g() {\n^x:\nreturn\n}\nfunc.func @f() {\n"
        '"b.r"()[`^x] : () -> ()\n}',
        "reference to an undefined block '^x'"),
    "a mesh of too many devices": (
        '`sdy.mesh @m = <["a"=4611686018427387904, "b"=4611686018427387904]>',
        "'sdy.mesh' op the mesh has more than 2^63 devices"),
    "a device twice": (
        'sdy.mesh @m = `<["a"=2], device_ids=[0, 0]>',
        "custom op 'sdy.mesh' sorted device ids must be iota(product(axes)), got: 0, 0"),
    "a sharding of another rank": (
        'sdy.mesh @m = <["a"=2]>\n'
        "`func.func @f(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}) { "
        "return }",
        "'func.func' op arg 0 - sharding doesn't match tensor rank: 2 != 1"),
    "an axis twice in a sharding": (
        'sdy.mesh @m = <["a"=2]>\n'
        '`func.func @f(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, '
        '{"a"}]>}) { return }',
        "'func.func' op arg 0 - duplicate axis ref: \"a\""),
    "a location that ends early": (
        'module {} loc("x":1:2 to`)',
        "expected either integer or `:` post `to` in FileLineColRange"),
    "a location of no line": (
        'module {} loc("x":`-1:2)',
        "expected integer line number in FileLineColRange"),
    "a location that nothing defines": (
        "module {} loc(`#l)",
        "operation location alias was never defined"),
    "a key of resources that is a number": (
        "module {}\n{-# dialect_resources: { `1: {} } #-}",
        "expected identifier key for 'resource' entry"),
    "resources of nobody": (
        "module {}\n{-# `other_resources: {} #-}",
        "unknown key 'other_resources' in file metadata dictionary"),
    "a resource that is a number": (
        "module {}\n{-# dialect_resources: { builtin: { x: `1 } } #-}",
        "expected hex string blob for key 'x'"),
    "a name of an attribute that is a number": (
        "module attributes {`1 = 2} {}",
        "expected attribute name"),
    "a vector of no size": (
        "func.func @f(%a: `vector<[0]xf32>) { return }",
        "vector types must have positive constant sizes but got 0"),
    "a complex number of tuples": (
        "func.func @f(%a: complex<`tuple<>>) { return }",
        "invalid element type for complex"),
    "two memory spaces": (
        "func.func @f(%a: memref<4xf32, 1, 2`>) { return }",
        "multiple memory spaces specified in memref type"),
    "a layout behind a memory space": (
        "func.func @f(%a: memref<4xf32, 1, strided<[1]>`>) { return }",
        "expected memory space to be last in memref type"),
    "an integer of 2^24 bits": (
        "func.func @f(%a: `i16777216) { return }",
        "integer bitwidth is limited to 16777215 bits"),
    "a scale of zero": (
        "func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.0`>>) { return }",
        "scale 0.000000e+00 out of expressed type range [1.401298e-45, 3.402823e+38]"),
}


@pytest.mark.parametrize("case", BAD)
def test_place_and_words(case, tmp_path):
    marked, message = BAD[case]
    before, after = marked.split("`")
    path = tmp_path / "bad.mlir"
    path.write_text(before + after)
    done = terrazzo("opt", "-allow-unregistered-dialect", path)
    assert done.returncode == 1
    place = f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
    found = re.search(rf"^{re.escape(str(path))}:(\d+:\d+): error: (.*)", done.stderr, re.M)
    assert found and found.groups() == (place, message), done.stderr
