"""Each kind of mistake is seen, and programs without any are left alone."""
import json

import pytest

from support import CORPUS, ROOT, terrazzo

PROGRAMS = sorted(CORPUS.glob("*/global.mlir"))
BIG = "tensor<1024x512xf32>"
HEAD = 'sdy.mesh @mesh = <["x"=4, "y"=2]>\n'
CUT = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}'
ROWS = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'


def check(path, *options):
    done = terrazzo("check", path, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# the program, the kind of what is wrong with it, bytes that it costs (None: not asked)
WRONG = {
    "replicated": (f"func.func @main(%a: {BIG} {CUT}, %w: {BIG}) -> ({BIG} {CUT}) {{\n"
                   f"  %0 = sdy.sharding_constraint %w <@mesh, [{{}}, {{}}]> : {BIG}\n"
                   f"  %1 = stablehlo.sine %0 : {BIG}\n"
                   f"  %2 = stablehlo.add %a, %1 : {BIG}\n  return %2 : {BIG}\n}}\n", None),
    "unused axis": (f"func.func @main(%a: {BIG} {ROWS}) -> ({BIG} {ROWS}) {{\n"
                    f"  return %a : {BIG}\n}}\n", 0),
    "padding": ("func.func @main(%a: tensor<10x8xf32>) -> tensor<10x8xf32> {\n"
                '  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {"y"}]> : tensor<10x8xf32>\n'
                "  %1 = stablehlo.sine %0 : tensor<10x8xf32>\n"
                "  return %1 : tensor<10x8xf32>\n}\n", None),
    "constraints that differ": (
        f"func.func @main(%a: {BIG}) -> ({BIG}, {BIG}) {{\n"
        f"  %0 = stablehlo.sine %a : {BIG}\n"
        f'  %1 = sdy.sharding_constraint %0 <@mesh, [{{"x"}}, {{"y"}}]> : {BIG}\n'
        f'  %2 = sdy.sharding_constraint %0 <@mesh, [{{"y"}}, {{"x"}}]> : {BIG}\n'
        f"  %3 = stablehlo.cosine %1 : {BIG}\n  %4 = stablehlo.cosine %2 : {BIG}\n"
        f"  return %3, %4 : {BIG}, {BIG}\n}}\n", 2097152),
    "donation": (f"func.func @main(%a: {BIG} {{jax.buffer_donor = true, sdy.sharding = "
                 '#sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<f32> {\n'
                 "  %0 = stablehlo.constant dense<0.0> : tensor<f32>\n"
                 "  %1 = stablehlo.reduce(%a init: %0) applies stablehlo.add across dimensions = "
                 f"[0, 1] : ({BIG}, tensor<f32>) -> tensor<f32>\n  return %1 : tensor<f32>\n}}\n",
                 262144),
    "whole": ('func.func @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, '
              '[{"x", "y"}, {}]>}) -> tensor<64x64xf32> {\n'
              "  %0 = stablehlo.cholesky %a, lower = true : tensor<64x64xf32>\n"
              "  return %0 : tensor<64x64xf32>\n}\n", None),
}


@pytest.mark.parametrize("kind", WRONG)
def test_sees(kind, tmp_path):
    path = tmp_path / "wrong.mlir"
    text, cost = WRONG[kind]
    path.write_text(HEAD + text)
    rows = [row for row in check(path) if row["kind"] == kind]
    assert rows, terrazzo("check", path).stdout
    assert cost is None or rows[0]["bytes"] == cost
    assert kind in terrazzo("check", path).stdout


def test_gathers_in_loops():
    rows = check(ROOT / "tests" / "corpus" / "scan_fsdp" / "global.mlir")
    loops = [row for row in rows if row["kind"] == "gather in a loop"]
    assert {row["other"]["index"] for row in loops} == {0, 1}


def test_fine(tmp_path):
    path = tmp_path / "fine.mlir"
    path.write_text(HEAD + f"func.func @main(%a: {BIG} {CUT}) -> ({BIG} {CUT}) {{\n"
                    f"  %0 = stablehlo.sine %a : {BIG}\n  return %0 : {BIG}\n}}\n")
    assert check(path) == []
    assert terrazzo("check", path).stdout == "nothing looks wrong\n"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.parent.name)
def test_corpus(path):
    for row in check(path, "--large", "256B"):
        assert row["text"] and row["bytes"] >= 0
