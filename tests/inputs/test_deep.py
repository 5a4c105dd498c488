"""Nesting a million deep, written out or through aliases: a diagnostic, never a stack overflow."""
import pytest

from support import terrazzo

DEPTH = 1_000_000
WRITTEN_OUT = {
    "regions": '"a.b"() ({\n',
    "modules": "module {\n",
    "arrays": "[",
    "dictionaries": "{x=",
    "tuple types": "tuple<",
    "complex types": "complex<",
    "function types": "(",
    "encodings": "tensor<1xf32, ",
    "fused locations": "fused[",
    "named locations": '"a"(',
    "call sites": "callsite(",
    "lists of elements": "[",
    "complex elements": "(",
}
BEFORE = {"arrays": "module attributes {a.b = ", "dictionaries": "module attributes {a.b = ",
          "fused locations": "module {} loc(", "named locations": "module {} loc(",
          "call sites": "module {} loc(",
          "lists of elements": "module attributes {a.b = dense<",
          "complex elements": "module attributes {a.b = dense<"}
TYPES = {"tuple types", "complex types", "function types", "encodings"}
ALIASES = {
    "attributes": ("#a0 = 1\n", "#a{} = [#a{}]\n", "module attributes {{a.b = #a{}}} {{}}"),
    "types": ("!a0 = i32\n", "!a{} = tuple<!a{}>\n", "module attributes {{a.b = !a{}}} {{}}"),
    "locations": ('#a0 = loc("f":1:2)\n', '#a{} = loc("n"(#a{}))\n', "module {{}} loc(#a{})"),
}


def refused(path, text):
    path.write_text(text)
    done = terrazzo("opt", "-allow-unregistered-dialect", path)
    assert done.returncode == 1
    assert f"{path}:" in done.stderr and "error: nested more than" in done.stderr, done.stderr[:500]


@pytest.mark.parametrize("kind", WRITTEN_OUT)
def test_written_out(kind, tmp_path):
    before = "func.func private @f() -> " if kind in TYPES else BEFORE.get(kind, "")
    refused(tmp_path / "deep.mlir", before + WRITTEN_OUT[kind] * DEPTH)


@pytest.mark.parametrize("before", ("dense<", "sparse<[[0]], "))
def test_lists_of_strings(before, tmp_path):
    refused(tmp_path / "deep.mlir", f"module attributes {{a.b = {before}" + "[" * DEPTH + '"a"' +
            "]" * DEPTH + "> : tensor<1x!a.b>}")


@pytest.mark.parametrize("kind", ALIASES)
def test_aliases(kind, tmp_path):
    first, step, use = ALIASES[kind]
    steps = "".join(step.format(k, k - 1) for k in range(1, 2000))
    refused(tmp_path / "deep.mlir", first + steps + use.format(1999))
