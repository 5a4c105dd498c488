"""Random shardings through every pair of notations; roundtrip.py runs many more of them."""
import os
import pathlib

import pytest

if pathlib.Path(os.environ.get("TERRAZZO_BUILD", "build")).name != "build":
    pytest.skip("Python loads the ordinary build's library", allow_module_level=True)

import roundtrip


@pytest.mark.parametrize("seed", range(10))
def test_pairs(seed):
    out = roundtrip.run(seed, 60)
    assert out.cases == 60 and len(out.pairs) == 56


@pytest.mark.slow
def test_many():
    assert roundtrip.run(0, 100000).cases == 100000
