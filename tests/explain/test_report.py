"""The page of a report: that it stands alone, and that what it knows is what the other answers
say. test_page.py opens it in a browser."""
import json
import re

import pytest

from support import CORPUS, ROOT, terrazzo

PROGRAMS = sorted(CORPUS.glob("*/global.mlir"))
MODEL = ROOT / "tests" / "corpus" / "xf_train_adam" / "global.mlirbc"
LINKS = ROOT / "examples" / "topologies" / "gpus.txt"
DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.S)


def data_of(path, *options):
    done = terrazzo("report", path, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def answer(command, path, *options):
    return json.loads(terrazzo(command, path, "--json", *options).stdout)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.parent.name)
def test_corpus(path):
    data, why = data_of(path), answer("why", path)
    texts, ops = data["texts"], data["ops"]
    assert data["bytes"] == why["bytes"] and data["mem"] == answer("mem", path)
    assert data["check"] == answer("check", path) and "diff" not in data
    for said, row in zip(why["collectives"], data["collectives"], strict=True):
        assert (said["kind"], said["bytes"]) == (texts[row["kind"]], row["bytes"])
        for part, found in zip(said["for"], row["parts"], strict=True):
            assert part["op"] == texts[ops["name"][found["op"]]] and part["id"] == found["op"]
            assert len(part["axes"]) == len(found["axes"]) and texts[found["because"]]
    lengths = {len(column) for column in ops.values()}
    assert len(lengths) == 1 and len(data["steps"]["at"]) == data["mem"]["steps"]
    count = lengths.pop()
    assert sum(ops["uses"]) == len(data["uses"]["op"])
    assert all(parent < op or not op for op, parent in enumerate(ops["parent"]))
    assert all(op < count for op in data["uses"]["op"] + data["values"]["op"])
    assert texts[ops["name"][data["main"]]] == "func.func"


def test_functions_and_scopes():
    """The places that JAX records: scopes of names, functions of the source."""
    data = data_of(MODEL)
    texts, ops = data["texts"], data["ops"]
    assert any("jit(" in texts[what] and "/" in texts[what] for what in ops["what"])
    assert {texts[a["name"]] for a in data["arguments"]} >= {"x", "y", "p['w1']"}
    assert [[texts[name], size] for name, size in data["meshes"][0]["axes"]] == [
        ["data", 2], ["model", 4]]


def test_times_and_tries():
    data = data_of(MODEL, "--topology", LINKS, "--tries", 1)
    assert data["comms"] == answer("comms", MODEL, "--topology", LINKS)
    assert all(c["seconds"] > 0 and data["texts"][c["link"]] for c in data["collectives"])
    better = [c["tried"][0] for c in data["collectives"] if c["tried"]]
    assert better and all(f["bytes"] < data["bytes"] for f in better)


def test_difference(tmp_path):
    path = ROOT / "tests" / "corpus" / "mlp_2d" / "global.mlir"
    other = tmp_path / "before.mlir"
    other.write_text(path.read_text().replace('[{"x"}, {"y"}]', "[{}, {}]"))
    data = data_of(path, "--before", other)
    assert data["diff"] == json.loads(terrazzo("diff", other, path, "--json").stdout)
    assert data["texts"][data["other"]] == str(other)


def test_stands_alone(tmp_path):
    page = tmp_path / "report.html"
    source = tmp_path / "odd.mlir"
    source.write_text('func.func @main(%a: tensor<4xf32> loc("</script><script>alert(1)")) -> '
                      'tensor<4xf32> {\n  return %a : tensor<4xf32>\n}\n')
    done = terrazzo("report", source, "-o", page)
    assert done.returncode == 0 and not done.stdout, done.stderr
    text = page.read_text()
    assert text.count("</script>") == 2 and "alert(1)" in text
    assert json.loads(DATA.search(text).group(1))["texts"]
    addresses = set(re.findall(r"https?://[^\"' ]*", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}, addresses
    assert not re.search(r"<(link|img|iframe|object)\b|\bsrc=|@import|url\(", text)
    assert terrazzo("report", source).stdout == text
    done = terrazzo("report", source, "-o", tmp_path / "none" / "page.html")
    assert done.returncode == 1 and "page.html" in done.stderr


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.parent.name)
def test_graph(path):
    """Model Explorer wants ids that are unique and edges from nodes that there are."""
    done = terrazzo("report", path, "--as", "graph")
    nodes = json.loads(done.stdout)["graphs"][0]["nodes"]
    known = {node["id"]: node for node in nodes}
    assert len(known) == len(nodes) and all("main" in n["namespace"] or n["label"] for n in nodes)
    outputs = {key: {m["id"] for m in node["outputsMetadata"]} for key, node in known.items()}
    edges = [edge for node in nodes for edge in node["incomingEdges"]]
    assert edges and all(edge["sourceNodeId"] in known for edge in edges)
    arguments = [edge for edge in edges if edge["sourceNodeId"].startswith("arg")]
    assert all(edge["sourceNodeOutputId"] in outputs[edge["sourceNodeId"]] for edge in arguments)
    sends = [int(a["value"]) for n in nodes for a in n["attrs"] if a["key"] == "bytes_sent"]
    assert bool(sends) == bool(answer("why", path)["collectives"])


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.parent.name)
def test_trace(path):
    """Events one after the other; as many collectives as there are."""
    done = terrazzo("report", path, "--as", "trace", "--topology", LINKS)
    events = [e for e in json.loads(done.stdout)["traceEvents"] if e["ph"] == "X"]
    ends = 0
    for event in events:
        assert event["ts"] >= ends - 1e-3 and event["dur"] >= 0
        ends = event["ts"] + event["dur"]
    collectives = answer("why", path)["collectives"]
    found = [e["args"]["bytes"] for e in events if e["tid"] == 1]
    assert sorted(found) == sorted(c["bytes"] for c in collectives)


def test_wrong_forms():
    done = terrazzo("report", MODEL, "--as", "trace")
    assert done.returncode == 1 and "topology" in done.stderr
    done = terrazzo("report", MODEL, "--as", "picture")
    assert done.returncode == 1 and "expected page" in done.stderr
