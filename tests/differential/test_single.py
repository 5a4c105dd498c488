"""Every op that runs on one device is drawn by single.py, and every feature of ops."""

import collections
import os
import subprocess

import single

BINARY = os.path.join(os.environ.get("TERRAZZO_BIN", "build/bin"), "terrazzo")
# Ops that run, but say nothing on one device, or stand around others in every module.
ELSEWHERE = {
    "builtin.module", "builtin.unrealized_conversion_cast", "func.func", "func.call",
    "func.return", "stablehlo.return", "stablehlo.custom_call",
    "stablehlo.all_gather", "stablehlo.all_reduce", "stablehlo.all_to_all",
    "stablehlo.collective_broadcast", "stablehlo.collective_permute", "stablehlo.reduce_scatter",
    "stablehlo.partition_id", "stablehlo.replica_id", "stablehlo.collective_reduce",
    "stablehlo.cross-replica-sum", "stablehlo.infeed", "stablehlo.outfeed", "stablehlo.send",
    "stablehlo.recv", "interpreter.print", "interpreter.probe", "interpreter.run_parallel",
    # values that are no tensors, or of types that the oracles here do not take
    "func.call_indirect", "func.constant", "stablehlo.after_all", "stablehlo.async_done",
    "stablehlo.async_start", "stablehlo.create_token", "stablehlo.get_tuple_element",
    "stablehlo.tuple",
}
# What no oracle has; python/tests/test_decomposed_ops.py and tests/lit have each.
OTHERS = {"chlo._asin_acos_kernel", "stablehlo.rng"}
# What shape, tensor and arith say of sizes is known before anything runs (tests/lit/dynamic); what
# mpmd has runs nowhere as it is (tests/lit/mpmd).
FAMILIES = ("sdy.", "mpmd.", "check.", "shape.", "tensor.", "arith.")


def test_rows():
    table = subprocess.run([BINARY, "ops"], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in table.splitlines()[1:]]
    runs = {row[0] for row in rows if row[-1] in ("yes", "vanishes")}
    runs = {op for op in runs if not op.startswith(FAMILIES)}
    drawn = single.drawn_ops()
    assert runs - drawn - ELSEWHERE - OTHERS == set()
    assert (ELSEWHERE | OTHERS) & drawn == set()


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
    seeds = [*range(450), *range(single.GRAPHS, single.GRAPHS + 50)]
    tally = single.run(seeds, build)
    assert tally.bad == []
    assert sum(tally.words.values()) == 500
