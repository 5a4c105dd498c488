"""Bytecode as MLIR reads and writes it, of a few real programs; bytecode.py takes any files."""

import os
import pathlib

import pytest

import bytecode

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = sorted([*ROOT.glob("corpus/*/global.mlir*"), *ROOT.glob("lit/bytecode/round_trip.mlir"),
                *ROOT.glob("data/*.mlirbc")])
BINARY = os.path.join(os.environ.get("TERRAZZO_BIN", "build/bin"), "terrazzo")


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_file(path, tmp_path):
    ours = bytecode.Ours([BINARY, "opt"], str(tmp_path), False)
    problems = bytecode.compare(ours, str(path), formats=(6, 4, 1))
    if problems is None:
        pytest.skip("MLIR does not read this file")
    assert not problems, "\n".join(problems)


def test_builtin_attrs(tmp_path):
    ours = bytecode.Ours([BINARY, "opt"], str(tmp_path), True)
    problems = bytecode.compare(ours, str(ROOT / "lit/bytecode/builtin_attrs.mlir"))
    assert not problems, "\n".join(problems or [])
