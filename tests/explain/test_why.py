"""Why: every collective of the corpus has a chain, and its annotation is the cause."""
import json
import pathlib
import re

import pytest

from support import CORPUS, ROOT, terrazzo

PROGRAMS = sorted(CORPUS.glob("*/global.mlir"))
MODEL = ROOT / "tests" / "corpus" / "xf_train_adam" / "global.mlir"


def why(path, *options):
    done = terrazzo("why", path, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def causes(collective):
    return [cause for part in collective["for"] for cause in part["axes"]]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.parent.name)
def test_explains_the_corpus(path):
    """Chains end at something said; without what is named the collective is gone, or smaller."""
    answer = why(path, "--tries", 1)
    stats = terrazzo("partition", path, "--stats").stdout
    assert len(answer["collectives"]) == len(re.findall(r"^\w+ +\d+ ", stats, re.M))
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


def test_equal_layers_are_said_once(tmp_path):
    """What differs in numbers of layers alone: one answer, with how many and their sum."""
    kind, value = "tensor<64x64xf32>", "%x"
    arguments, body = [f'%x: {kind} loc("x")'], []
    for i in range(9):
        arguments.append(f'%w{i}: {kind} {{sdy.sharding = #sdy.sharding<@mesh, [{{"m"}}, {{}}]>}} '
                         f"""loc("layers[{i}]['w']")""")
        body.append(f"%d{i} = stablehlo.dot_general {value}, %w{i}, contracting_dims = [1] x [0] "
                    f': ({kind}, {kind}) -> {kind} loc("f.py":3:9)')
        body.append(f'%t{i} = stablehlo.tanh %d{i} : {kind} loc("f.py":4:9)')
        value = f"%t{i}"
    path = tmp_path / "model.mlir"
    path.write_text('sdy.mesh @mesh = <["m"=4]>\nfunc.func @main(' + ", ".join(arguments) +
                    f") -> {kind} {{\n" + "\n".join(body) + f"\nreturn {value} : {kind}\n}}\n")
    assert len(why(path)["collectives"]) == 9
    shown = terrazzo("why", path).stdout.splitlines()
    assert len(shown) < 20 and shown[0].startswith("#1 reduce_scatter"), shown
    assert any(re.match("  and [78] more alike, ", line) for line in shown), shown
    assert "layers[0]['w']" in "".join(shown) and shown[-1].startswith("9 collectives;")
    assert len(terrazzo("why", path, "--tries", 0, "--line", 3).stdout.splitlines()) > 9 * 3


# Two layers: the batch over `data`, what is hidden over `model`.
def layers(x='{"data"}, {}', w='{}, {"model"}', v='{"model"}, {}', result='{"data"}, {}',
           hidden=None, out=None, bias=None):
    def said(dims):
        return f" {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}" if dims else ""

    def constrained(value, name, dims, kind):
        return f"  {name} = sdy.sharding_constraint {value} <@mesh, [{dims}]> : {kind}\n"

    a, b, c = "tensor<64x256xf32>", "tensor<256x512xf32>", "tensor<512x256xf32>"
    h = "tensor<64x512xf32>"
    lines = ('sdy.mesh @mesh = <["data"=4, "model"=2]>\n'
             f"func.func @main(%x: {a}{said(x)}, %w: {b}{said(w)}, %v: {c}{said(v)},\n"
             f"                %b: {h}{said(bias)}) -> ({a}{said(result)}) {{\n"
             "  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] "
             f": ({a}, {b}) -> {h}\n"
             f"  %1 = stablehlo.add %0, {'%b' if bias else '%0'} : {h}\n"
             f"  %2 = stablehlo.tanh %1 : {h}\n")
    if hidden:
        lines += constrained("%2", "%h", hidden, h)
    lines += (f"  %3 = stablehlo.dot_general {'%h' if hidden else '%2'}, %v, "
              f"contracting_dims = [1] x [0] : ({h}, {c}) -> {a}\n")
    if out:
        lines += constrained("%3", "%o", out, a)
    return lines + f"  %4 = stablehlo.sine {'%o' if out else '%3'} : {a}\n  return %4 : {a}\n}}\n"


# what is right (where it is not the default), and the mistake
MISTAKES = {
    "weight over the batch's axis": ({}, {"w": '{"data"}, {"model"}'}),
    "first weight transposed": ({}, {"w": '{"model"}, {}'}),
    "second weight transposed": ({}, {"v": '{}, {"model"}'}),
    "features of a weight over the batch's axis": ({}, {"v": '{"model"}, {"data"}'}),
    "mesh transposed for the batch": ({}, {"x": '{"model"}, {}'}),
    "batch cut along features": ({}, {"x": '{}, {"data"}'}),
    "result over the other axis": ({}, {"result": '{"model"}, {}'}),
    "result whole": ({}, {"result": "{}, {}"}),
    "constraint transposed": ({"hidden": '{"data"}, {"model"}'},
                              {"hidden": '{"model"}, {"data"}'}),
    "constraint on features": ({"out": '{"data"}, {}'}, {"out": '{}, {"data"}'}),
    "bias transposed": ({"bias": '{"data"}, {"model"}'}, {"bias": '{"model"}, {"data"}'}),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_best_change_mends(mistake, tmp_path):
    """What is proposed first sends no more than the program without the mistake."""
    path = tmp_path / "model.mlir"
    right, wrong = MISTAKES[mistake]
    path.write_text(layers(**right))
    good = why(path)
    path.write_text(layers(**wrong))
    bad = why(path, "--tries", 40)
    assert good["bytes"] < bad["bytes"] and bad["best"]["bytes"] <= good["bytes"], bad["best"]
    assert f"best: {bad['best']['change']}: " in terrazzo("why", path, "--tries", 40).stdout


def test_first_change_names_the_annotation(tmp_path):
    path = tmp_path / "model.mlir"
    path.write_text(layers(w='{"data"}, {"model"}'))
    first = why(path, "--tries", 6)["collectives"][0]["tried"][0]
    assert first["change"] == 'drop "data" from argument 1', first
