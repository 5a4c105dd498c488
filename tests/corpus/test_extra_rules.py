"""Rules that Shardy lacks: propagated with them, programs compute the same; and the page about them
is complete."""
import json

import numpy as np
import pytest

from support import ROOT, terrazzo

MESH = 'sdy.mesh @mesh = <["a"=2, "b"=2]>\n'
SHARDED = '{sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}'
ONE = ("acos asin asinh atan atanh bessel_i1e cosh digamma erf erf_inv erfc lgamma sinh square tan "
       "conj").split()
TWO = "next_after polygamma zeta".split()


def program(body, result):
    return (f"func.func @main(%x: tensor<8x4xf32> SHARDED) -> {result} {{\n"
            f"{body}\nreturn %r : {result}\n}}\n")


RUNNABLE = {name: program(f"%r = chlo.{name} %x : tensor<8x4xf32> -> tensor<8x4xf32>",
                          "tensor<8x4xf32>") for name in ONE}
RUNNABLE |= {name: program(f"%r = chlo.{name} %x, %x : tensor<8x4xf32>, tensor<8x4xf32> -> "
                           "tensor<8x4xf32>", "tensor<8x4xf32>") for name in TWO}
RUNNABLE |= {name: program(f"%r = chlo.{name} %x : tensor<8x4xf32> -> tensor<8x4xi1>",
                           "tensor<8x4xi1>") for name in ("is_inf", "is_neg_inf", "is_pos_inf")}
RUNNABLE["acosh"] = program(
    "%one = stablehlo.constant dense<1.0> : tensor<8x4xf32>\n"
    "%y = stablehlo.add %x, %one : tensor<8x4xf32>\n"
    "%r = chlo.acosh %y : tensor<8x4xf32> -> tensor<8x4xf32>", "tensor<8x4xf32>")
RUNNABLE["mulhi"] = program(
    "%i = stablehlo.bitcast_convert %x : (tensor<8x4xf32>) -> tensor<8x4xi32>\n"
    "%r = chlo.mulhi %i, %i : tensor<8x4xi32>, tensor<8x4xi32> -> tensor<8x4xi32>",
    "tensor<8x4xi32>")
RUNNABLE["top_k"] = program(
    "%r, %i = chlo.top_k(%x, k = 2) : tensor<8x4xf32> -> (tensor<8x2xf32>, tensor<8x2xi32>)",
    "tensor<8x2xf32>")
RUNNABLE["if"] = program(
    "%c = stablehlo.constant dense<true> : tensor<i1>\n"
    '%r = "stablehlo.if"(%c) ({\n'
    "  %n = stablehlo.negate %x : tensor<8x4xf32>\n"
    "  stablehlo.return %n : tensor<8x4xf32>\n"
    "}, {\n"
    "  stablehlo.return %x : tensor<8x4xf32>\n"
    "}) : (tensor<i1>) -> tensor<8x4xf32>", "tensor<8x4xf32>")
RUNNABLE |= {
    "stablehlo.einsum": program(
        '%r = stablehlo.einsum %x, %x, config = "ij,kj->ik" : '
        "(tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>", "tensor<8x8xf32>"),
    "stablehlo.broadcast": program(
        "%r = stablehlo.broadcast %x, sizes = [2] : (tensor<8x4xf32>) -> tensor<2x8x4xf32>",
        "tensor<2x8x4xf32>"),
    "chlo.broadcast_add": program(
        "%r = chlo.broadcast_add %x, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>",
        "tensor<8x4xf32>"),
}


def propagated(source, folder):
    whole = folder / "whole.mlir"
    whole.write_text(MESH + source.replace("SHARDED", SHARDED))
    done = terrazzo("opt", whole, "-sdy-propagation-pipeline=extra-rules=true")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("#sdy.sharding") > 2, done.stdout
    (folder / "sharded.mlir").write_text(done.stdout)
    (folder / "whole.mlir").write_text(source.replace("SHARDED", ""))


def run(folder, form, devices):
    done = terrazzo("run", folder / f"{form}.mlir", "--devices", devices,
                    "--input", folder / "x.npy", "--output", folder / form)
    assert done.returncode == 0, done.stderr
    return np.load(folder / form / "out_0.npy")


@pytest.mark.parametrize("name", RUNNABLE)
def test_same_numbers_on_shards(name, tmp_path):
    values = np.random.default_rng(5).permutation(32).reshape(8, 4) / 32
    np.save(tmp_path / "x.npy", values.astype(np.float32))
    propagated(RUNNABLE[name], tmp_path)
    assert np.array_equal(run(tmp_path, "sharded", 4), run(tmp_path, "whole", 1), equal_nan=True)


def test_page_names_every_op_without_shardys_rule():
    ops = json.loads(terrazzo("ops", "--json").stdout)
    page = (ROOT / "docs" / "sharding-rules.md").read_text()
    families = ("chlo.broadcast_",)
    elementwise = [op["op"] for op in ops if op["op"].startswith("chlo.") and op["partition"]]
    missing = [op["op"] for op in ops if op["shard"] in (None, "extra rule")
               and not op["op"].startswith(families) and op["op"] not in elementwise
               and f"`{op['op']}`" not in page]
    assert not missing
