"""A program of every row of StableHLO and chlo, and of some rows times some types (rows.py)."""

import os
import random

import rows
import rows_table

BUILD = os.environ.get("TERRAZZO_BUILD", str(rows.single.HERE.parent.parent / "build"))


def test_tables():
    known = set(rows.read_rows(BUILD))
    for table in (rows_table.MOVES, rows_table.SUMS, rows_table.VALUES, rows_table.FORMULAS,
                  rows_table.ELSEWHERE):
        assert set(table) <= known


# What was wrong, or what no oracle knew.
FOUND = [
    ("chlo.acos", "f4E2M1FN"), ("chlo.atanh", "f8E8M0FNU"), ("chlo.bessel_i1e", "f8E5M2"),
    ("chlo.constant_like", "complex<f32>"), ("chlo.constant_like", "complex<f64>"),
    ("chlo.erfc", "f8E4M3FN"), ("chlo.is_inf", "f4E2M1FN"), ("chlo.next_after", "f8E8M0FNU"),
    ("chlo.ragged_dot", "complex<f32>"), ("stablehlo.async_start", "f32"),
    ("stablehlo.cholesky", "f8E8M0FNU"), ("stablehlo.dynamic_iota", "i1"),
    ("stablehlo.unary_einsum", "i2"), ("stablehlo.uniform_quantize", "f16"),
]


def test_found():
    done = rows.run(FOUND, BUILD)
    assert {pair: how for pair, how in done.items() if rows.WORDS[how[0]] != "."} == {}


def test_rows():
    """Each op takes one of these types, and a sample of all pairs does not go wrong either."""
    pairs = rows.all_pairs(BUILD)
    left, done = list(dict.fromkeys(op for op, _ in pairs)), {}
    for t in ("f32", "i32", "i1", "complex<f32>"):
        done |= rows.run([(op, t) for op in left if (op, t) in pairs], BUILD)
        left = [op for op in left if done.get((op, t), ("none",))[0] == "none"]
    assert left == []
    done |= rows.run(random.Random(1).sample(pairs, 50), BUILD)
    assert {pair: how for pair, how in done.items() if rows.WORDS[how[0]] in "WC"} == {}
