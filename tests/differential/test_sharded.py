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


def test_everything_is_drawn():
    tally = sharded.Tally()
    for op in sharded.Maker.WEIGHTS:
        for seed in range(100):
            sharded.make(seed, op, tally)
    assert sharded.never(tally.ops) == []
    assert not [op for op in sharded.ELSEWHERE if tally.ops[op]]
