"""Collectives on given links: the sums, the levels, the budgets, wrong topologies."""
import json
import re

import pytest

from support import CORPUS, ROOT, terrazzo

PROGRAMS = sorted(CORPUS.glob("*/global.mlir"))
MODEL = ROOT / "tests" / "corpus" / "xf_train_adam" / "global.mlir"
TOPOLOGIES = sorted((ROOT / "examples" / "topologies").glob("*.txt"))


def comms(path, topology, *options):
    done = terrazzo("comms", path, "--topology", topology, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.parent.name)
def test_corpus(path):
    every = json.loads(terrazzo("why", path, "--json").stdout)
    for topology in TOPOLOGIES:
        answer = comms(path, topology)
        assert answer["sum"]["count"] == len(every["collectives"])
        assert answer["sum"]["bytes"] == every["bytes"]
        for key in ("count", "times", "bytes"):
            assert sum(row[key] for row in answer["rows"]) == answer["sum"][key]
        assert abs(sum(r["seconds"] for r in answer["rows"]) - answer["sum"]["seconds"]) < 1e-9
        assert all(0 <= row["hidden"] <= row["seconds"] for row in answer["rows"])


def test_levels_and_axes(tmp_path):
    """Devices 0 to 3 are along `model`, and those of `data` are four apart."""
    path = tmp_path / "links.txt"
    path.write_text("# nodes of four\nlevel inside 4 1GB/s 1us\nlevel outside all 100MB/s 10us\n")
    links = {row["axes"]: row for row in comms(MODEL, path)["rows"]}
    model, data = links['"model"'], links['"data"']
    assert model["link"] == "inside" and data["link"] == "outside"
    # four meet in 6 messages, two in 2
    seconds = model["bytes"] / 1e9 + model["times"] * 6e-6
    assert model["seconds"] == pytest.approx(seconds, rel=1e-6)
    seconds = data["bytes"] / 1e8 + data["times"] * 2e-5
    assert data["seconds"] == pytest.approx(seconds, rel=1e-6)
    path.write_text(path.read_text() + "axis data 1GB/s 1ns\n")
    assert {row["link"] for row in comms(MODEL, path)["rows"]} == {"inside", "data"}


def test_times_in_why():
    done = terrazzo("why", MODEL, "--topology", TOPOLOGIES[0], "--json")
    total = sum(c["seconds"] * c["times"] for c in json.loads(done.stdout)["collectives"])
    assert total == pytest.approx(comms(MODEL, TOPOLOGIES[0])["sum"]["seconds"], rel=1e-6)
    assert re.search(r"a device in [\d.]+ us over \w+", terrazzo(
        "why", MODEL, "--topology", TOPOLOGIES[0]).stdout)


@pytest.mark.parametrize("budget, status", [("1s", 0), ("1ns", 1), ("1GiB", 0), ("1KiB", 1),
                                            ("soon", 2)])
def test_budget(budget, status):
    done = terrazzo("comms", MODEL, "--topology", TOPOLOGIES[0], "--budget", budget)
    assert done.returncode == status, done.stderr
    assert bool(done.stderr) == bool(status)


@pytest.mark.parametrize("text, place, said", [
    ("level a 8 1GB/s 1us\n", "", "no level of all devices"),
    ("\nlink a all 1GB/s 1us\n", ":2:1", "'link'"),
    ("level a all 1GB 1us\n", ":1:13", "bandwidth"),
    ("level a all 1GB/s 1\n", ":1:19", "latency"),
    ("level a -4 1GB/s 1us\n", ":1:9", "number of devices"),
    ("level a all 1GB/s 1us now\n", ":1:23", "end of the line"),
    ("level\n", ":1:6", "name"), ("flops 3\n", ":1:7", "speed"), ("", "", "no level")])
def test_wrong_topology(text, place, said, tmp_path):
    path = tmp_path / "links.txt"
    path.write_text(text)
    done = terrazzo("comms", MODEL, "--topology", path)
    assert done.returncode == 1 and not done.stdout
    assert re.search(rf"links.txt{place}.*: error: .*{said}", done.stderr), done.stderr
