"""A small fixed set of random modules, and some new ones: each propagates as in real Shardy."""

import os
import pathlib

import pytest

import modules
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


@pytest.fixture(scope="module")
def peer(tmp_path_factory):
    return shardy.Shardy(tmp_path_factory.mktemp("shardy"))


@pytest.mark.parametrize("seed", range(16))
def test_seed(seed, peer, tmp_path):
    path = tmp_path / "module.mlir"
    path.write_text(modules.make(seed))
    for mode in shardy.SEED_MODES.split(","):
        want = peer.run(path, mode)
        if want is not None:
            got = shardy.ours(BINARY, str(path), mode)
            assert want == got, f"{mode}: {shardy.first_difference(want, got)}"
