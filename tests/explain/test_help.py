"""Every subcommand that explains says how it is called, and its examples run."""
import shutil

import pytest

from support import ROOT, terrazzo

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


@pytest.mark.parametrize("command", ONE)
def test_wrong_use(command):
    for words in ((), ("--unheard-of",), ("a", "b"), ("a", "--devices"), ("a", "--devices", "x"),
                  ("a", "--devices", "-1")):
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
