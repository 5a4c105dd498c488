"""Every op that runs on one device is drawn by single.py, and every feature of ops."""

import collections
import os
import subprocess

import graphs
import numpy as np
import single
import single_exact

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


def test_oracles_products():
    """An oracle gets a product of other elements as one of operands that are converted first."""
    dims = "contracting_dims = [1] x [0]"
    line = (f'%v2 = "stablehlo.dot_general"(%v1#0, %v1#0) <{{{dims}}}> : '
            "(tensor<2x2xi8>, tensor<2x2xi8>) -> (tensor<2x2xi32>)")
    assert graphs.widened(line).split("\n") == [
        '%v2_0 = "stablehlo.convert"(%v1#0) : (tensor<2x2xi8>) -> tensor<2x2xi32>',
        '%v2_1 = "stablehlo.convert"(%v1#0) : (tensor<2x2xi8>) -> tensor<2x2xi32>',
        f'%v2 = "stablehlo.dot_general"(%v2_0, %v2_1) <{{{dims}}}> : '
        "(tensor<2x2xi32>, tensor<2x2xi32>) -> (tensor<2x2xi32>)"]
    same = line.replace("i8", "i32")
    assert graphs.widened(same) == same


def test_known_zeta():
    """Against sums of a million terms, and where only the first one counts, or none."""
    for x, q in (3.5, 0.25), (4.5, 4.0), (79.0, 990.0), (6.0, 3000.0):
        terms = (np.arange(10**6) + np.longdouble(q)) ** -np.longdouble(x)
        value = single_exact.zeta(np.array([x], np.longdouble), np.array([q], np.longdouble))
        assert abs(value[0] / terms[::-1].sum() - 1) < 1e-8
    x, q = np.array([1e30, 1e30, 0.5, 2], np.longdouble), np.array([3, 1, 2, -1], np.longdouble)
    assert np.array_equal(single_exact.zeta(x, q), [0, 1, np.nan, np.nan], equal_nan=True)


def test_modules():
    build = os.environ.get("TERRAZZO_BUILD", str(single.HERE.parent.parent / "build"))
    seeds = [*range(400), *range(single.LARGE, single.LARGE + 50),
             *range(single.GRAPHS, single.GRAPHS + 50)]
    tally = single.run(seeds, build)
    assert tally.bad == []
    assert sum(tally.words.values()) == 500
