"""Random reshards send no more than they have to; reshards.py draws more of them."""

import collections

import pytest

import reshards
import sharded


@pytest.fixture(scope="module")
def oracles():
    return sharded.Terrazzo(sharded.LIBRARY), reshards.Shardy()


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_seeds(first, oracles):
    tally = collections.Counter()
    wrong = [(seed, what) for seed in range(first, first + 50)
             if (what := reshards.check(seed, *oracles, tally))]
    assert not wrong


@pytest.mark.parametrize("seed", [21902, 22973, 43927, 45881, 48789, 49257, 68010, 68883,
                                  5100625, 5111840])
def test_seeds_that_sent_too_much(seed, oracles):
    assert reshards.check(seed, *oracles, collections.Counter()) is None
