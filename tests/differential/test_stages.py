"""The corpus after each stage of real Shardy, and random modules after one."""
import os
import pathlib

import pytest

import inprocess
import stages

if pathlib.Path(os.environ.get("TERRAZZO_BUILD", "build")).name != "build":
    pytest.skip("Python loads the ordinary build's library", allow_module_level=True)

FOLDERS = sorted(pathlib.Path(__file__).parents[1].glob("corpus/*/global.mlir"))


@pytest.fixture(scope="module")
def answers():
    jobs = [(str(path.parent), stage) for path in FOLDERS for stage in stages.STAGES]
    return dict(inprocess.in_children(stages.Runner().folder, jobs, count=2))


@pytest.mark.parametrize("stage", stages.STAGES)
@pytest.mark.parametrize("path", FOLDERS, ids=lambda p: p.parent.name)
def test_corpus(path, stage, answers):
    assert answers[str(path.parent), stage] is None


def test_seeds():
    jobs = [(seed, stages.stage_of(seed)) for seed in range(360)]
    totals = stages.Totals()
    for job, answer in inprocess.in_children(stages.Runner().seed, jobs, count=2):
        totals.add(job, answer)
    assert totals.failed == 0
    assert set(totals.ran) == set(stages.STAGES)
    assert all(totals.sdy[name] for name in stages.SHOWN if name != "sdy.reduce_scatter")
