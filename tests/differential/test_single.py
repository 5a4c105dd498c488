"""Every op that runs on one device is drawn by single.py, and every feature of ops."""

import collections
import os
import subprocess

import single

BINARY = os.path.join(os.environ.get("TERRAZZO_BIN", "build/bin"), "terrazzo")
# Ops that run, but say nothing on one device, or stand around others in every module.
ELSEWHERE = {
    "builtin.module", "builtin.unrealized_conversion_cast", "func.func", "func.call",
    "func.return", "stablehlo.return", "stablehlo.custom_call", "shape.assuming_yield",
    "stablehlo.all_gather", "stablehlo.all_reduce", "stablehlo.all_to_all",
    "stablehlo.collective_broadcast", "stablehlo.collective_permute", "stablehlo.reduce_scatter",
    "stablehlo.partition_id", "stablehlo.replica_id",
}


def test_rows():
    table = subprocess.run([BINARY, "ops"], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in table.splitlines()[1:]]
    runs = {row[0] for row in rows if row[-1] in ("yes", "vanishes")}
    runs = {op for op in runs if not op.startswith("sdy.")}
    assert runs - single.drawn_ops() == ELSEWHERE


def test_features():
    features, ops = collections.Counter(), set()
    for seed in range(4000):
        case = single.generate(seed)
        features.update(case.features)
        ops.add(case.op)
    assert [f for f in single.FEATURES if not features[f]] == []
    assert set(features) - set(single.FEATURES) - {f for f in features if f.startswith(
        ("compare ", "reducer "))} == set()
    assert ops == single.drawn_ops()


def test_modules():
    build = os.environ.get("TERRAZZO_BUILD", str(single.HERE.parent.parent / "build"))
    tally = single.run(range(500), build)
    assert tally.bad == []
    assert sum(tally.words.values()) == 500
