"""`terrazzo layout --to-...`: the steps, done on a tensor of numbered elements, must end in the
slices of the target, and what a rank receives must be what it lacks.

redistribution_cases.json: pairs of layouts with the slices MindSpore 2.10 ends in.
"""
import json
import pathlib
import random

import numpy as np
import pytest

from support import terrazzo
from test_layout import entry, numbers

CASES = json.loads((pathlib.Path(__file__).resolve().parent /
                    "redistribution_cases.json").read_text())["cases"]


def arguments(layout, to=""):
    out = [f"--{to}device-matrix", numbers(layout["device_matrix"]), f"--{to}alias",
           numbers(layout["alias_name"]), f"--{to}map", ",".join(map(entry, layout["entries"]))]
    if layout.get("rank_list"):
        out += [f"--{to}rank-list", numbers(layout["rank_list"])]
    return out


def plan(source, target, shape):
    done = terrazzo("layout", *arguments(source), *arguments(target, "to-"), "--tensor",
                    numbers(shape), "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def slices(layout, shape, number):
    """By hand: the piece of the tensor with a number."""
    sizes = dict(zip(layout["alias_name"], layout["device_matrix"]))
    out = []
    for d, e in reversed(list(zip(shape, layout["entries"]))):
        pieces = int(np.prod([sizes[n] for n in ([e] if isinstance(e, str) else e) if n != "None"]))
        number, k = divmod(number, pieces)
        out.append(slice(k * d // pieces, (k + 1) * d // pieces))
    return tuple(reversed(out))


def execute(steps, held):
    for step in steps:
        after, dim = {}, step["dim"]
        for group in step["groups"]:
            for k, rank in enumerate(group):
                if step["op"] == "slice":
                    after[rank] = np.split(held[rank], len(group), dim)[k]
                elif step["op"] == "all_gather":
                    after[rank] = np.concatenate([held[r] for r in group], dim)
                elif step["op"] == "all_to_all":
                    after[rank] = np.concatenate(
                        [np.split(held[r], len(group), step["to_dim"])[k] for r in group], dim)
            if step["op"] == "collective_permute":
                after[group[1]] = held[group[0]]
        assert after.keys() == held.keys()
        held = after
    return held


def check(source, target, shape, from_slices=None, to_slices=None):
    got = plan(source, target, shape)
    if from_slices is not None:
        assert got["from_slices"] == from_slices and got["to_slices"] == to_slices
    tensor = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    ranks = [r["rank"] for r in got["receives"]]
    before = {r: tensor[slices(source, shape, s)] for r, s in zip(ranks, got["from_slices"])}
    after = {r: tensor[slices(target, shape, s)] for r, s in zip(ranks, got["to_slices"])}
    done = execute(got["steps"], before)
    for rank in ranks:
        assert np.array_equal(done[rank], after[rank]), rank
    for r in got["receives"]:
        pieces = [tensor[tuple(slice(*x) for x in p["ranges"])] for p in r["pieces"]]
        assert all(np.isin(x, before[p["from"]]).all() for x, p in zip(pieces, r["pieces"]))
        assert np.array_equal(np.sort(np.concatenate([x.ravel() for x in pieces])),
                              after[r["rank"]].ravel())
        missing = np.setdiff1d(after[r["rank"]], before[r["rank"]])
        assert r["bytes"] == 4 * missing.size


@pytest.mark.parametrize("case", CASES, ids=[c["id"] for c in CASES])
def test_case(case):
    check(case["from"], case["to"], case["shape"], case["from_slices"], case["to_slices"])


def random_layout(rng, devices, rank, order):
    matrix, rest = [], devices
    while rest > 1:
        matrix.append(rng.choice([k for k in range(2, rest + 1) if rest % k == 0]))
        rest //= matrix[-1]
    matrix = matrix or [1]
    names = [f"a{i}" for i in range(len(matrix))]
    entries = [[] for _ in range(rank)]
    for name in rng.sample(names, len(names)):
        if rng.random() < 0.8:
            rng.choice(entries).append(name)
    return dict(device_matrix=matrix, alias_name=names, rank_list=order,
                entries=[e or "None" for e in entries])


@pytest.mark.parametrize("seed", range(60))
def test_random(seed):
    rng = random.Random(seed)
    devices, rank = rng.choice([4, 6, 8, 12, 16]), rng.randint(1, 3)
    order = rng.sample(range(devices), devices)
    other = rng.choice([order, rng.sample(order, devices)])
    check(random_layout(rng, devices, rank, order), random_layout(rng, devices, rank, other),
          [devices] * rank)


WRONG = {
    "devices": ("6", "4", [24], "--device-matrix"),
    "shape": ("4", "4", [6], "--tensor[0]"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    before, after, shape, field = WRONG[name]
    done = terrazzo("layout", "--device-matrix", before, "--alias", "a", "--map", "a",
                    "--to-device-matrix", after, "--tensor", numbers(shape))
    assert done.returncode == 1 and done.stderr.startswith(f"terrazzo: {field}: "), done.stderr
