"""A few random modules through the generic passes, as in real MLIR."""

import os

import pytest

import passes
import shardy

BINARY = os.path.join(os.environ.get("TERRAZZO_BIN", "build/bin"), "terrazzo")


@pytest.mark.parametrize("name", ["canonicalize", "nested", "cse", "both", "symbol-dce"])
@pytest.mark.parametrize("seed", range(12))
def test_module(seed, name):
    source = passes.random_module(seed)
    want = passes.theirs(source, passes.PASSES[name])
    got = passes.ours(BINARY, source, passes.PASSES[name])
    assert want == got, shardy.first_difference(want, got)
