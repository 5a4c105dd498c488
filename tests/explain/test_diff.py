"""Differences are small where the change is small, and none of a program with itself."""
import json
import pathlib

import pytest

from support import CORPUS, ROOT, terrazzo

PROGRAMS = sorted(CORPUS.glob("*/global.mlir"))
MODEL = ROOT / "tests" / "corpus" / "mlp_2d" / "global.mlir"


def diff(first, second, *options):
    done = terrazzo("diff", first, second, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.parent.name)
def test_nothing(path):
    answer = diff(path, path)
    assert not answer["rows"]
    for key in ("collectives", "bytes", "memory", "flops"):
        assert answer[key][0] == answer[key][1]
    assert not diff(path, pathlib.Path(str(path) + "bc"))["memory"][0] - answer["memory"][0]


def test_one_annotation(tmp_path):
    text = MODEL.read_text()
    line = next(i for i, l in enumerate(text.splitlines()) if "sdy.sharding_constraint" in l)
    lines = text.splitlines()
    lines[line] = lines[line].replace('[{"x"}, {"y"}]', "[{}, {}]")
    other = tmp_path / "other.mlir"
    other.write_text("\n".join(lines) + "\n")
    rows = diff(MODEL, other)["rows"]
    said = [row for row in rows if row["kind"] == "annotation"]
    assert len(said) == 1 and said[0]["at"]["op"] == "sdy.sharding_constraint"
    assert '"x"' in said[0]["before"] and '"x"' not in said[0]["after"]
    assert any(row["kind"] == "sharded" for row in rows)
    assert {row["kind"] for row in rows} <= {"annotation", "sharded", "comes", "goes"}
    shown = terrazzo("diff", MODEL, other).stdout.splitlines()
    assert len(shown) < 40 and shown[0].startswith("annotation")


def test_an_op_more(tmp_path):
    text = MODEL.read_text()
    at = text.index("    return")
    result = text[at:].split()[1].rstrip(",")
    kind = text[at:].split(" : ")[1].split("\n")[0].split(", tensor")[0]
    other = tmp_path / "other.mlir"
    more = f"    %new = stablehlo.sine {result} : {kind}\n"
    other.write_text(text[:at] + more + text[at:].replace(result, "%new", 1))
    rows = diff(MODEL, other)["rows"]
    assert [row["kind"] for row in rows] == ["new op"] and rows[0]["before"] == "stablehlo.sine"
    assert [row["kind"] for row in diff(other, MODEL)["rows"]] == ["op gone"]


def test_a_layer_less(tmp_path):
    """Arguments are matched by their names, so that those behind another one are no news."""
    def model(layers):
        kind, value, body = "tensor<64x64xf32>", "%x", []
        arguments = [f'%x: {kind} loc("x")']
        for i in layers:
            dims = ["{}, {}", '{"m"}, {}', '{}, {"m"}'][i]
            arguments.append(f"%w{i}: {kind} {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}} "
                             f'loc("w[{i}]")')
            body.append(f"%d{i} = stablehlo.dot_general {value}, %w{i}, contracting_dims = [1] x "
                        f"[0] : ({kind}, {kind}) -> {kind}")
            value = f"%d{i}"
        path = tmp_path / f"model{len(layers)}.mlir"
        path.write_text(f'sdy.mesh @mesh = <["m"=4]>\nfunc.func @main({", ".join(arguments)}) -> '
                        f"{kind} {{\n" + "\n".join(body) + f"\nreturn {value} : {kind}\n}}\n")
        return path
    rows = diff(model([0, 1, 2]), model([1, 2]))["rows"]
    assert rows and "annotation" not in {row["kind"] for row in rows}


def test_two_meshes():
    answer = diff(MODEL, MODEL, "--second-mesh", "mesh=x=2,y=4")
    assert answer["bytes"][0] != answer["bytes"][1]
    assert {row["kind"] for row in answer["rows"]} <= {"comes", "goes", "sharded"}


def test_wrong_use():
    for files in ((), (MODEL,), (MODEL, MODEL, MODEL)):
        assert terrazzo("diff", *files).returncode == 2
    done = terrazzo("diff", MODEL, "nowhere.mlir")
    assert done.returncode == 1 and "nowhere.mlir" in done.stderr
