"""Why: every collective of the corpus has a chain, and its annotation is the cause."""
import json
import pathlib

import pytest

from support import ROOT, terrazzo

CORPUS = sorted((ROOT / "tests" / "corpus").glob("*/global.mlir"))
MODEL = ROOT / "tests" / "corpus" / "xf_train_adam" / "global.mlir"


def why(path, *options):
    done = terrazzo("why", path, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def causes(collective):
    return [cause for part in collective["for"] for cause in part["axes"]]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.parent.name)
def test_explains_the_corpus(path):
    """Chains end at something said; without what is named the collective is gone, or smaller."""
    answer = why(path, "--tries", 1)
    stats = terrazzo("partition", path, "--stats").stdout.splitlines()
    assert len(answer["collectives"]) == len(stats) - 2
    for collective in answer["collectives"]:
        assert collective["for"], collective
        if collective["asked"]:
            continue
        assert causes(collective), collective
        for cause in causes(collective):
            assert cause["root"]["kind"] != "unknown", cause
            places = [cause["of"]] + [step["from"] for step in cause["steps"]]
            assert all(place["value"] != "none" for place in places), cause
        changeable = [c for c in causes(collective)
                      if c["root"]["kind"] in ("argument", "result", "constraint")]
        if changeable:
            tried = collective["tried"][0]
            assert tried["kind"] == "drop" and tried["gone"], (collective["number"], tried)


def test_bytecode_says_the_same():
    text, code = why(MODEL), why(pathlib.Path(str(MODEL) + "bc"))
    assert len(text["collectives"]) == len(code["collectives"]) and text["bytes"] == code["bytes"]
    for a, b in zip(text["collectives"], code["collectives"]):
        assert [p["op"] for p in a["for"]] == [p["op"] for p in b["for"]]
        assert [c["root"]["at"]["index"] for c in causes(a)] == \
            [c["root"]["at"]["index"] for c in causes(b)]
    assert any(p["file"].endswith(".py") for c in code["collectives"] for p in c["for"])


def test_selects():
    every = why(MODEL)["collectives"]
    assert why(MODEL, "--collective", 2)["collectives"][0]["number"] == 2
    line = every[0]["for"][0]["line"]
    assert every[0]["number"] in [c["number"] for c in why(MODEL, "--line", line)["collectives"]]
    for wrong in (("--collective", len(every) + 1), ("--line", 9999), ("--value", "nobody")):
        done = terrazzo("why", MODEL, *wrong)
        assert done.returncode == 1 and "there " in done.stderr or "no collective" in done.stderr


GOOD = """
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                %w: tensor<256x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [%W]>},
                %v: tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [%V]>})
    -> (tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<64x256xf32>, tensor<256x512xf32>) -> tensor<64x512xf32>
  %1 = stablehlo.tanh %0 : tensor<64x512xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0]
    : (tensor<64x512xf32>, tensor<512x256xf32>) -> tensor<64x256xf32>
  return %2 : tensor<64x256xf32>
}
"""


def test_first_change_helps(tmp_path):
    """A weight cut along what the batch is cut along: to drop that is what is proposed first."""
    path = tmp_path / "model.mlir"
    path.write_text(GOOD.replace("%W", '{"data"}, {"model"}').replace("%V", '{"model"}, {}'))
    bad = why(path, "--tries", 6)
    path.write_text(GOOD.replace("%W", '{}, {"model"}').replace("%V", '{"model"}, {}'))
    good = why(path)
    assert good["bytes"] < bad["bytes"]
    first = bad["collectives"][0]["tried"][0]
    assert first["change"] == "drop \"data\" from argument 1", first
    assert first["bytes"] == good["bytes"]
