"""Random modules are on many devices what they are on one; sharded.py draws more of them."""

import argparse

import pytest

import sharded



def wrong(seeds, only=None):
    options = argparse.Namespace(lib=sharded.LIBRARY, only=only)
    return [f"{seed} {outcome}" for seed, outcome, _ in sharded.outcomes(seeds, options) if outcome]


@pytest.mark.parametrize("first", range(0, 800, 100))
def test_seeds(first):
    assert not wrong(range(first, first + 100))


@pytest.mark.parametrize("op", sorted(sharded.Maker.WEIGHTS))
def test_op(op):
    assert not wrong(range(15), op)
