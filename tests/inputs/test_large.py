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
