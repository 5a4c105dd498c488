"""A few random modules through the generic passes, as in real MLIR."""

import os

import pytest

import passes
import shardy

BINARY = os.path.join(os.environ.get("TERRAZZO_BIN", "build/bin"), "terrazzo")


def first_name(source):
    return source.split("(")[0].removeprefix("func.func @")


def check(source, name):
    want = passes.theirs(source, passes.PASSES[name])
    got = passes.ours(BINARY, source, passes.PASSES[name])
    assert want == got, shardy.first_difference(want or "", got)


@pytest.mark.parametrize("source", list(passes.chlo_functions()), ids=first_name)
def test_chlo(source):
    check(source, "chlo")


@pytest.mark.parametrize("source", list(passes.complex_functions()), ids=first_name)
def test_complex(source):
    check(source, "complex")


@pytest.mark.parametrize("name", ["canonicalize", "nested", "cse", "both", "symbol-dce"])
@pytest.mark.parametrize("seed", range(12))
def test_module(seed, name):
    check(passes.random_module(seed), name)
