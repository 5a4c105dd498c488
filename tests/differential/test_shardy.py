"""A small fixed set of random modules: each propagates as in real Shardy, in every mode."""

import os
import pathlib

import pytest

import shardy

FILES = sorted(pathlib.Path(__file__).parent.joinpath("shardy").glob("*.mlir"))
BINARY = os.path.join(os.environ.get("TERRAZZO_BIN", "build/bin"), "terrazzo")


@pytest.mark.parametrize("mode", shardy.MODES)
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_module(path, mode):
    want = shardy.theirs(str(path), mode)
    if want is None:
        pytest.skip("Shardy refuses this module")
    got = shardy.ours(BINARY, str(path), mode)
    assert want == got, shardy.first_difference(want, got)
