"""Manual computations with every collective compute what a simulation of each device does."""
import os
import pathlib

import pytest

if pathlib.Path(os.environ.get("TERRAZZO_BUILD", "build")).name != "build":
    pytest.skip("Python loads the ordinary build's library", allow_module_level=True)

import inprocess
import manual

SEEDS, PARTS = range(400), 8


@pytest.fixture(scope="module")
def answers():
    return dict(inprocess.in_children(manual.Runner().seed, SEEDS, count=2))


@pytest.mark.parametrize("part", range(PARTS))
def test_seeds(part, answers):
    wrong = {seed: answers[seed] for seed in SEEDS[part::PARTS]}
    wrong = {seed: a for seed, a in wrong.items()
             if isinstance(a, inprocess.Died) or a.problem is not None}
    assert not wrong


def test_everything_is_drawn(answers):
    totals = manual.Totals()
    for seed, answer in answers.items():
        totals.add(seed, answer)
    assert all(totals.ops[name] for name in manual.Ops.STEPS)
    assert all(totals.forms[form] for form in manual.FORMS)
