"""Every subcommand says how it is called, its examples run, and manual pages and completions say
the same."""
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest

from support import BIN, ROOT, terrazzo

MODEL = ROOT / "tests" / "corpus" / "mlp_2d" / "global.mlir"
COMMANDS = ("why", "mem", "comms", "verify", "diff", "check", "report", "plan")
ONE = tuple(command for command in COMMANDS if command != "diff")  # which takes two programs
TOPOLOGIES = sorted((ROOT / "examples" / "topologies").glob("*.txt"))
MORE = {"comms": ("--topology", TOPOLOGIES[0])}  # what a command needs besides a program


@pytest.mark.parametrize("command", COMMANDS)
def test_examples(command, tmp_path):
    text = terrazzo(command, "--help").stdout
    assert text.startswith(f"usage: terrazzo {command} ")
    lines = [line.split() for line in text[text.index("examples:"):].splitlines()[1:]]
    assert lines and all(line[:2] == ["terrazzo", command] for line in lines)
    shutil.copy(MODEL, tmp_path / "model.mlir")
    for topology in TOPOLOGIES:
        shutil.copy(topology, tmp_path)
    for line in lines:
        done = terrazzo(*line[1:], cwd=tmp_path)
        written = done.stdout or (tmp_path / line[line.index("-o") + 1]).read_text()
        assert done.returncode == 0 and written, (line, done.stderr)


def examples(command):
    text = terrazzo(command, "--help").stdout
    found = text[re.search("^examples:?", text, re.M | re.I).end():].replace("\\\n", " ")
    return [shlex.split(line) for line in found.strip().splitlines()]


@pytest.mark.parametrize("command", ["opt", "run", "partition", "convert", "layout", "ops"])
def test_examples_of_others(command, tmp_path):
    mesh = 'sdy.mesh @mesh = <["data"=4, "model"=2]>\n'
    model = (f'{mesh}func.func @main(%x: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, '
             '[{"data"}, {}]>}, %w: tensor<16x8xf32>) -> tensor<8x8xf32> {\n'
             "  %0 = stablehlo.dot %x, %w : (tensor<8x16xf32>, tensor<16x8xf32>) -> "
             "tensor<8x8xf32>\n  return %0 : tensor<8x8xf32>\n}\n")
    for name in ("model.mlir", "mlp.mlir", "model.mlirbc"):
        (tmp_path / name).write_text(model)
    np.save(tmp_path / "x.npy", np.ones((8, 16), np.float32))
    np.save(tmp_path / "w.npy", np.ones((16, 8), np.float32))
    assert examples(command)
    for words in examples(command):
        if words[0] != "terrazzo":
            assert words[0] == "mpirun"
            continue
        done = terrazzo(*words[1:], cwd=tmp_path)
        assert done.returncode == 0, (words, done.stderr)


@pytest.fixture(scope="module", name="manual")
def fixture_manual(tmp_path_factory):
    out = tmp_path_factory.mktemp("manual")
    subprocess.run([sys.executable, ROOT / "tools" / "make-man", BIN / "terrazzo", out], check=True)
    return out


def commands():
    listed = terrazzo("--help").stdout.partition("examples:")[0]
    return re.findall(r"^  (\w+) +\S", listed, re.M)


def test_manual_pages(manual):
    names = {path.name for path in (manual / "man1").iterdir()}
    assert names == {"terrazzo.1"} | {f"terrazzo-{name}.1" for name in commands()}
    for command in commands():
        text = (manual / "man1" / f"terrazzo-{command}.1").read_text()
        assert all(f".SH {part}\n" in text for part in ("NAME", "SYNOPSIS", "EXAMPLES"))
        said = terrazzo(command, "--help").stdout
        for option in re.findall(r"^ {0,2}(--[a-z][\w-]*)", said, re.M):
            assert "\\fB" + option.replace("-", "\\-") + "\\fR" in text, (command, option)
        shown = subprocess.run(["man", "-l", manual / "man1" / f"terrazzo-{command}.1"],
                               capture_output=True, text=True, check=False).stdout \
            if shutil.which("man") else command
        assert command in shown


@pytest.mark.parametrize("typed, wanted", [
    ("me", {"mem"}), ("mem --bu", {"--budget"}), ("report --top", {"--topology"}),
    ("--ver", {"--version"}), ("layout --in", {"--interleaved-parallel"})])
def test_completion(typed, wanted, manual):
    words = ["terrazzo", *typed.split()]
    script = (f"source {manual}/terrazzo; COMP_WORDS=({' '.join(words)}); "
              f"COMP_CWORD={len(words) - 1}; _terrazzo; echo ${{COMPREPLY[@]}}")
    done = subprocess.run(["bash", "-c", "complete() { :; }; " + script], capture_output=True,
                          text=True, check=True)
    assert set(done.stdout.split()) == wanted
    for shell in ("_terrazzo", "terrazzo.fish"):
        text = (manual / shell).read_text()
        assert all(word.lstrip("-") in text for word in wanted - {"--version"})


@pytest.mark.parametrize("command", ONE)
def test_wrong_use(command):
    for words in ((), ("--unheard-of",), ("a", "b"), ("a", "--devices"), ("a", "--devices", "x"),
                  ("a", "--devices", "-1"), ("a", "--devices", "0")):
        done = terrazzo(command, *words)
        assert done.returncode == 2 and done.stderr, words
    done = terrazzo(command, "nowhere.mlir", *MORE.get(command, ()))
    assert done.returncode == 1 and "nowhere.mlir" in done.stderr


@pytest.mark.parametrize("command", ONE)
def test_wrong_program(command, tmp_path):
    path = tmp_path / "wrong.mlir"
    for text, said in (("", "@main"), ("func.func @main(", "wrong.mlir:1:"), ("\0\1\2", "error"),
                       ("func.func @main() { return %a : tensor<f32> }", "wrong.mlir:1:")):
        path.write_text(text)
        done = terrazzo(command, path, *MORE.get(command, ()))
        assert done.returncode == 1 and said in done.stderr, (text, done.stderr)
