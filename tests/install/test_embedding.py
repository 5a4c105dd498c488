"""The programs of examples/embed, built with the one command that each shows, against what is
installed; and docs/embedding.md, whose code blocks are parts of them or run as they are."""
import re
import shutil
import sys

import pytest
from support import ROOT

EXAMPLES = ROOT / "examples" / "embed"
SQUARES = "0 1 4 9 16"


def numbers(text):
    return " ".join(re.findall(r"\d+(?:\.\d+)?", text.replace(".0", "")))


def flags(installed, *wanted):
    return installed.run("pkg-config", *wanted, "terrazzo").split()


def tool(name):
    if not shutil.which(name):
        pytest.skip(f"there is no {name}")
    return name


def test_c(installed, tmp_path):
    installed.run("cc", "-Wall", "-Wextra", "-Werror", EXAMPLES / "run.c", "-o", tmp_path / "run",
                  *flags(installed, "--cflags", "--libs"))
    assert installed.run(tmp_path / "run").splitlines() == [
        "the first argument: 8x4 of f32, a device has 4x4",
        "the result: 8x8 of f32, a device has 4x2", "6 22 ... 118"]


def test_steps(installed, tmp_path):
    installed.run("cc", "-Wall", "-Wextra", "-Werror", EXAMPLES / "steps.c", "-o",
                  tmp_path / "steps", *flags(installed, "--cflags", "--libs"))
    assert installed.run(tmp_path / "steps") == "after 20 steps: 1.0000 ... 1.0000\n"


def test_cpp(installed, tmp_path):
    installed.run(tool("c++"), "-Wall", "-Wextra", "-Werror", EXAMPLES / "run.cpp", "-o",
                  tmp_path / "run", *flags(installed, "--cflags", "--libs"))
    assert installed.run(tmp_path / "run") == "8 on 8 devices\n"


def test_rust(installed, tmp_path):
    installed.run(tool("rustc"), EXAMPLES / "run.rs", "-L", installed.lib, "-l", "terrazzo",
                  cwd=tmp_path)
    first, second = installed.run(tmp_path / "run").splitlines()
    assert numbers(first) == SQUARES and second.startswith("refused: -:1:")


def test_go(installed, tmp_path):
    told = installed.run(tool("go"), "run", EXAMPLES / "run.go", cwd=tmp_path,
                         GOCACHE=str(tmp_path / "cache"), GOFLAGS="-mod=mod", GO111MODULE="off")
    assert numbers(told) == SQUARES


def test_python(installed, tmp_path):
    told = installed.run(sys.executable, EXAMPLES / "run.py",
                         LIBRARY=str(installed.lib / "libterrazzo.so.0"))
    assert numbers(told) == SQUARES + " 8"


def test_the_page_shows_what_is_there(installed, tmp_path):
    """Blocks of C in docs/embedding.md stand in a program of examples or compile alone."""
    page = (ROOT / "docs" / "embedding.md").read_text()
    sources = "".join(p.read_text() for p in ROOT.glob("examples/*/*.c"))
    blocks = re.findall(r"```c\n(.*?)```", page, re.S)
    assert blocks
    for i, block in enumerate(blocks):
        if re.sub(r"\s+", " ", block).strip() in re.sub(r"\s+", " ", sources):
            continue
        source = tmp_path / f"block{i}.c"
        source.write_text("#include <terrazzo/dialect.h>\n#include <terrazzo/layout.h>\n"
                          "#include <terrazzo/trace.h>\n" + block)
        installed.run("cc", "-Wall", "-Werror", "-fsyntax-only", source,
                      *flags(installed, "--cflags"))
    for name in re.findall(r"examples/\w+/\w+\.\w+", page):
        assert (ROOT / name).exists(), name
