"""Memory: the sums add up, the budget decides; to the byte it is src/api/mem_test.c's affair."""
import json

import pytest

from support import CORPUS, ROOT, terrazzo

PROGRAMS = sorted(CORPUS.glob("*/global.mlir"))
MODEL = ROOT / "tests" / "corpus" / "xf_train_adam" / "global.mlirbc"


def mem(path, *options):
    done = terrazzo("mem", path, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.parent.name)
def test_corpus(path):
    answer = mem(path)
    assert answer["total"] == answer["arguments"] + answer["results"] + answer["workspace"]
    assert answer["peak"] == max(answer["over_time"], default=0) <= answer["workspace"]
    alive = answer["alive"]
    assert sum(b["bytes"] for b in alive if b["kind"] == "argument") == answer["arguments"]
    assert sum(b["bytes"] for b in alive if b["kind"] == "result") == answer["results"]
    there = sum((b["bytes"] + 63) // 64 * 64 for b in alive if b["kind"] == "temporary")
    assert there == answer["peak"]


def test_says_what_buffers_are():
    alive = mem(MODEL)["alive"]
    made = [b for b in alive if b["kind"] == "temporary"]
    assert made and all(b["op"] for b in made)
    assert any(".py:" in b["location"] and b["sharding"] for b in made)
    assert {b["name"] for b in alive if b["kind"] == "argument"} >= {"x", "y", "p['w1']"}


@pytest.mark.parametrize("budget, status", [("17288", 0), ("17287", 1), ("1GiB", 0), ("1KiB", 1),
                                            ("0.5MB", 0), ("x", 2), ("-1", 2), ("1XB", 2)])
def test_budget(budget, status):
    done = terrazzo("mem", MODEL, "--budget", budget)
    assert done.returncode == status, done.stderr
    assert bool(done.stderr) == bool(status)
    assert bool(done.stdout) == (status != 2)
