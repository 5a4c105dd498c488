"""A small fixed set of random modules, and some new ones: each propagates as in real Shardy."""

import os
import pathlib

import pytest

import modules
import shardy

FILES = sorted(pathlib.Path(__file__).parent.joinpath("shardy").glob("*.mlir"))
# Shardy refuses to export these, or dies: nothing to compare with.
NOT_EXPORTED = {"module_1390", "module_1609", "module_1918", "module_2167", "module_2191"}
CASES = [(path, mode) for mode in shardy.MODES for path in FILES
         if mode != "export" or path.stem not in NOT_EXPORTED]
BINARY = os.path.join(os.environ.get("TERRAZZO_BIN", "build/bin"), "terrazzo")


@pytest.fixture(scope="module")
def peer(tmp_path_factory):
    return shardy.Shardy(tmp_path_factory.mktemp("shardy"))


@pytest.mark.parametrize("path, mode", CASES, ids=lambda v: getattr(v, "stem", v))
def test_module(path, mode, peer):
    want = peer.run(path, mode)
    if want is None and mode == "reshards":
        pytest.skip("Shardy does not reshard this module")
    got = shardy.ours(BINARY, str(path), mode)
    assert want is not None, "Shardy refuses this module"
    assert want == got, shardy.first_difference(want, got)


@pytest.mark.parametrize("seed", range(16))
def test_seed(seed, peer, tmp_path):
    path = tmp_path / "module.mlir"
    path.write_text(modules.make(seed))
    for mode in shardy.SEED_MODES.split(","):
        want = peer.run(path, mode)
        if want is not None:
            got = shardy.ours(BINARY, str(path), mode)
            assert want == got, f"{mode}: {shardy.first_difference(want, got)}"
