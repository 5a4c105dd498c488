"""A program of 96 layers on 256 devices: each question is answered, briefly where it should be."""
import json

import pytest

from support import ROOT, terrazzo

LAYERS, X = 96, "tensor<256x1024xf32>"
WIDE, NARROW = "tensor<1024x4096xf32>", "tensor<4096x1024xf32>"
HIDDEN = "tensor<256x4096xf32>"
LINKS = ROOT / "examples" / "topologies" / "gpus.txt"


def said(dims):
    return f"{{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}"


def layers(odd=None):
    """One argument for each weight; the weight of layer `odd` is not cut."""
    arguments = [f'%x: {X} {said("""{"data"}, {}""")}']
    body, value = [], "%x"
    for i in range(LAYERS):
        cut = "{}, {}" if i == odd else '{}, {"model"}'
        arguments += [f'%w{i}: {WIDE} {said(cut)}', f"""%v{i}: {NARROW} {said('{"model"}, {}')}"""]
        body += [f"%a{i} = stablehlo.dot_general {value}, %w{i}, contracting_dims = [1] x [0] : "
                 f"({X}, {WIDE}) -> {HIDDEN}", f"%b{i} = stablehlo.tanh %a{i} : {HIDDEN}",
                 f"%c{i} = stablehlo.dot_general %b{i}, %v{i}, contracting_dims = [1] x [0] : "
                 f"({HIDDEN}, {NARROW}) -> {X}", f"%d{i} = stablehlo.add {value}, %c{i} : {X}"]
        value = f"%d{i}"
    return ('sdy.mesh @mesh = <["data"=16, "model"=16]>\n'
            f"func.func @main({', '.join(arguments)}) -> {X} {{\n" + "\n".join(body) +
            f"\nreturn {value} : {X}\n}}\n")


@pytest.fixture(scope="module", name="model")
def fixture_model(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "model.mlir"
    path.write_text(layers())
    return path


@pytest.mark.parametrize("command", ["why", "mem", "check", "comms"])
def test_answers(command, model):
    more = ("--topology", LINKS) if command == "comms" else ()
    done = terrazzo(command, model, "--json", *more)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    if command == "why":
        assert len(answer["collectives"]) == LAYERS
        assert all(c["for"][0]["axes"] for c in answer["collectives"])
    if command == "comms":
        assert answer["sum"]["count"] == LAYERS and answer["rows"][0]["link"] == "infiniband"


def test_small_difference(model, tmp_path):
    other = tmp_path / "other.mlir"
    other.write_text(layers(odd=40))
    done = terrazzo("diff", model, other)
    assert done.returncode == 0 and len(done.stdout.splitlines()) < 40
    assert done.stdout.startswith("annotation argument 81: ")
