"""A small fixed set of random modules, printed as MLIR prints them, in every form."""

import os

import pytest

import random_text
import text

BINARY = os.path.join(os.environ.get("TERRAZZO_BIN", "build/bin"), "terrazzo")


@pytest.mark.parametrize("seed", range(90000, 90060))
def test_module(seed, tmp_path):
    source = random_text.Generator(seed).module()
    path = str(tmp_path / "module.mlir")
    what, problems = random_text.compare(text.make_context(True), [BINARY, "opt"], source, path,
                                         lenient=False)
    assert what == "same", "\n".join(problems)
