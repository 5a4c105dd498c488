"""Programs that are large in one way only. What grows with the square of that never comes to an
end here, while anything else is done in a moment."""
import pytest

from support import terrazzo

N = 100_000


def listed(form, n=N):
    return "".join(form.format(k, k + 1, max(1, k - 1)) for k in range(1, n))


LARGE = {
    "blocks with loops inside loops": (
        '"a.r"() ({\n%v = "a.v"() : () -> i32\n"a.br"()[^bb1, ^bb' f'{N}] : () -> ()\n' +
        listed('^bb{0}:\n"a.u"(%v) : (i32) -> ()\n"a.br"()[^bb{1}, ^bb{2}] : () -> ()\n') +
        f'^bb{N}:\n"a.br"()[^bb{N - 1}] : () -> ()\n' "}) : () -> ()\n"),
    "a location fused of many": (
        'module {} loc(fused[' + listed('"f":{0}:1, ', 2 * N) + '"f":1:2])\n'),
    "resources": (
        listed('"a.u"() {{r = dense_resource<r{0}> : tensor<1xi32>}} : () -> ()\n') +
        "{-# dialect_resources: { builtin: {" +
        listed('r{0}: "0x0400000000000000",\n') + 'r: "0x0400000000000000" } } #-}\n'),
    "distinct attributes": (
        '"a.b"() {a = [' + listed('distinct[{0}]<"x">, ', 2 * N) + '0]} : () -> ()\n'),
    "attributes of an op": (
        '"a.b"() {' + listed('k{0}, ', 2 * N) + 'k} : () -> ()\n'),
}


MAIN = ("func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {{\n{}"
        "  return %a : tensor<4xf32>\n}}\n")
PASSES = {
    "branches that differ inside": ("-cse", MAIN.format(
        "  %p = stablehlo.constant dense<true> : tensor<i1>\n"
        "  %x1 = stablehlo.sine %a : tensor<4xf32>\n" +
        listed('  %x{1} = "stablehlo.if"(%p) ({{\n    stablehlo.return %x{0} : tensor<4xf32>\n'
               '  }}, {{\n    stablehlo.return %a : tensor<4xf32>\n'
               '  }}) : (tensor<i1>) -> tensor<4xf32>\n'
               '  "a.u"(%x{1}) : (tensor<4xf32>) -> ()\n', N // 4))),
    "equal reshards": ("-canonicalize", 'sdy.mesh @m = <["x"=2]>\n' + MAIN.format(
        listed('  %x{0} = sdy.reshard %a <@m, [{{"x"}}]> : tensor<4xf32>\n'
               '  "a.u"(%x{0}) : (tensor<4xf32>) -> ()\n'))),
    "dead uses of two values": ("-canonicalize", MAIN.format(
        '  %x = stablehlo.sine %a : tensor<4xf32>\n  %y = stablehlo.cosine %a : tensor<4xf32>\n'
        f"  %t:{4 * N} = stablehlo.optimization_barrier " + "%x, %y, " * (2 * N - 1) + "%x, %y : " +
        "tensor<4xf32>, " * (4 * N - 1) + "tensor<4xf32>\n")),
}


def test_one_number_for_many(tmp_path):
    """Printed before anybody has looked at its shape."""
    path = tmp_path / "large.mlir"
    path.write_text(MAIN.format(
        '  %p = "stablehlo.convolution"(%a, %a) <{padding = dense<0> : tensor<1099511627776xi64>, '
        "dimension_numbers = #stablehlo.conv<[b, f]x[i, o]->[b, f]>, feature_group_count = 1 : "
        "i64, batch_group_count = 1 : i64}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n"))
    done = terrazzo("run", path, "--dump", "parse")
    assert "dense<0> : tensor<1099511627776xi64>" in done.stderr
    assert "expects" in done.stderr


@pytest.mark.parametrize("kind", PASSES)
def test_passes(kind, tmp_path):
    path = tmp_path / "large.mlir"
    path.write_text(PASSES[kind][1])
    done = terrazzo("opt", "-allow-unregistered-dialect", path, PASSES[kind][0],
                    "-o", tmp_path / "out.mlir")
    assert done.returncode == 0, done.stderr[:500]


@pytest.mark.parametrize("kind", LARGE)
def test_large(kind, tmp_path):
    path = tmp_path / "large.mlir"
    path.write_text(LARGE[kind])
    code = tmp_path / "large.mlirbc"
    for file, *options in ((path, "--emit-bytecode", "--target=native", "-o", code),
                           (code, "-o", tmp_path / "out.mlir")):
        done = terrazzo("opt", "-allow-unregistered-dialect", file, *options)
        assert done.returncode == 0, done.stderr[:500]


def test_expectations(tmp_path):
    """Of lines apart from each other, and all of one."""
    path = tmp_path / "large.mlir"
    path.write_text(listed("func.func private @f{0}()\n"
                           "// expected-error@+1 {{{{redefinition of symbol named 'f'}}}}\n") +
                    "// expected-note@below {{nothing}}\n" * N + "module {}\n")
    done = terrazzo("opt", "--verify-diagnostics", path)
    assert done.stderr.count("was not produced") == 2 * N - 1
