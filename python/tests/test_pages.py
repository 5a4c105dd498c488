"""What README.md and docs show is run as it stands: commands of the program, with files of the
names that they take; sessions, and what they print. docs/embedding.md is tests/install's."""
import doctest
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/adding-an-op.md", "docs/explain.md", "docs/layout.md"]
TERRAZZO = pathlib.Path(os.environ.get("TERRAZZO_BIN", ROOT / "build" / "bin")) / "terrazzo"
# What a command says no to answers 1: a limit that is exceeded, programs that differ.
ANSWERS_NO = {"check", "comms", "diff", "mem"}


def step(params, batch):
    def loss(p):
        middle = jnp.tanh(jnp.tanh(batch @ p["w1"]) @ p["w2"])
        return jnp.mean((jnp.tanh(middle @ p["w3"]) @ p["w4"]) ** 2)
    value, slopes = jax.value_and_grad(loss)(params)
    return value, jax.tree.map(lambda p, g: p - g, params, slopes)


def arguments(devices):
    mesh = Mesh(np.array(devices).reshape(4, 2), ("x", "y"))
    shape = lambda dims, *spec: jax.ShapeDtypeStruct(dims, jnp.float32,
                                                     sharding=NamedSharding(mesh, P(*spec)))
    first, second = shape((16, 32), None, "y"), shape((32, 16), "y")
    return {"w1": first, "w2": second, "w3": first, "w4": second}, shape((8, 16), "x")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """model.mlir and the like: a step of a small model, or two arrays of one program."""
    to = tmp_path_factory.mktemp("pages")
    params, batch = arguments(jax.devices("terrazzo"))
    lowered = jax.jit(step).lower(params, batch)
    text = lowered.compiler_ir("stablehlo").operation.get_asm(enable_debug_info=True)
    for name in ("model.mlir", "before.mlir", "after.mlir"):
        (to / name).write_text(text)
    product = jax.jit(lambda x, w: x @ w).lower(batch, params["w1"]).compiler_ir("stablehlo")
    with (to / "model.mlirbc").open("wb") as out:
        product.operation.write_bytecode(out)
    np.save(to / "x.npy", np.ones((8, 16), np.float32))
    np.save(to / "w.npy", np.ones((16, 32), np.float32))
    shutil.copy(ROOT / "examples" / "topologies" / "gpus.txt", to)
    (to / "examples").symlink_to(ROOT / "examples")
    return to


def blocks(page):
    """Lines of the page's indented blocks, in groups."""
    text = (ROOT / page).read_text()
    return [textwrap.dedent(block).splitlines()
            for block in re.findall(r"(?:^    .*\n(?:\n(?=    ))*)+", text, re.M)]


def commands(page):
    for block in blocks(page):
        for i, line in enumerate(block):
            plain = line.removeprefix("$ ").removeprefix("build/bin/")
            if plain.startswith("terrazzo "):
                shown = block[i + 1:] if line.startswith("$ ") else None
                yield plain, shown


COMMANDS = [(page, line, shown) for page in PAGES for line, shown in commands(page)]


@pytest.mark.parametrize("page, line, shown", COMMANDS, ids=[line for _, line, _ in COMMANDS])
def test_commands(page, line, shown, folder):
    words = shlex.split(line, comments=True)[1:]
    done = subprocess.run([TERRAZZO, *words], cwd=folder, capture_output=True, text=True,
                          timeout=300, stdin=subprocess.DEVNULL)
    assert done.returncode <= (words[0] in ANSWERS_NO), done.stdout + done.stderr
    assert "error:" not in done.stderr or words[0] in ANSWERS_NO
    if shown is not None:
        wanted = "\n".join(shown) + "..."  # a page may break off
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        assert doctest.OutputChecker().check_output(wanted, done.stdout, flags), done.stdout


class WhatIsShown(doctest.OutputChecker):
    """Where nothing is shown, anything may come."""

    def check_output(self, want, got, optionflags):
        return not want or super().check_output(want, got, optionflags)


@pytest.mark.parametrize("page", PAGES)
def test_sessions(page, monkeypatch):
    """The variables of one page are the next block's as well."""
    monkeypatch.syspath_prepend(str(ROOT / "python"))
    sessions = [block for block in blocks(page) if any(line.startswith(">>> ") for line in block)]
    lines = [line for block in sessions for line in block if not line.startswith("TERRAZZO_NUM")]
    mesh = Mesh(np.array(jax.devices("terrazzo")).reshape(2, 4), ("x", "y"))
    known = {"np": np, "NamedSharding": NamedSharding,
             "named_sharding": NamedSharding(mesh, P(("y", "x")))}
    test = doctest.DocTestParser().get_doctest("\n".join(lines) + "\n", known, page, page, 0)
    told = []
    doctest.DocTestRunner(WhatIsShown()).run(test, out=told.append)
    assert not told, "".join(told)


def test_explain_from_jax():
    params, batch = arguments(jax.devices("terrazzo"))
    known = {"step": step, "params": params, "batch": batch}
    ran = 0
    for block in blocks("docs/explain.md"):
        if block[0] == "import terrazzo_jax":
            exec("\n".join(block), known)
            ran += 1
        if block[0].startswith("def test_step(step_limits)"):
            limits = []
            exec("\n".join(block), known)
            known["test_step"](lambda *args, **kwargs: limits.append(kwargs))
            assert set(limits[0]) == {"collectives", "memory"}
            ran += 1
    assert ran == 2


def shown_in(line, text):
    """Whether a line stands there, its arguments by their names; `...` is anything."""
    line = re.sub(r"%b\b", "%arg1", re.sub(r"%a\b", "%arg0", line.strip()))
    return re.search(".*".join(map(re.escape, line.split("..."))), text)


def test_one_program_s_way(tmp_path):
    """docs/architecture.md shows what the stages make of a program."""
    source, local, steps = [b for b in blocks("docs/architecture.md")
                            if b[0].startswith(("sdy.mesh", "func.func", "program:"))]
    types = "(tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>"
    (tmp_path / "p.mlir").write_text("\n".join(source).replace("...", types, 1))
    for stage, wanted in ("partition", local[1:]), ("program", steps):
        command = [TERRAZZO, "run", tmp_path / "p.mlir", "--random-input", "--dump", stage]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        for line in wanted:
            assert shown_in(line, done.stderr), f"{line}\n{done.stderr}"


def test_program_over_meshes(tmp_path):
    """docs/mpmd.md shows a program, a command, and what comes out."""
    program, command, shown = blocks("docs/mpmd.md")
    (tmp_path / "step.mlir").write_text("\n".join(program) + "\n")
    words = shlex.split("\n".join(command).replace("\\\n", " "))
    done = subprocess.run([TERRAZZO.with_name(words[0]), *words[1:]], cwd=tmp_path,
                          capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    for line in shown:
        assert shown_in(line, done.stdout), f"{line}\n{done.stdout}"


def test_priorities(folder):
    """examples/dialect/README.md shows a file of them."""
    shown = next(b for b in blocks("examples/dialect/README.md") if b[0].startswith("demo.matmul "))
    (folder / "priorities").write_text("\n".join(shown) + "\n")
    done = subprocess.run([TERRAZZO, "opt", folder / "model.mlir", "--load-dialect",
                           TERRAZZO.parents[1] / "examples" / "dialect_demo.so", "--op-priorities",
                           folder / "priorities", "-sdy-aggressive-propagate"],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "sdy.sharding" in done.stdout, done.stderr


def test_no_block_is_left_out():
    """Each is of a kind above, C that tests/install compiles, make or pip, which it runs, or a row
    of the source."""
    kinds = ("terrazzo ", "build/bin/terrazzo ", "$ terrazzo ", ">>> ", "TERRAZZO_NUM_DEVICES=",
             "make", "pip install .", "import terrazzo_jax", "def test_step", "tz_", "cc ",
             "demo.matmul ", "func.func @main(%w1", "mpmd_opt ", "%0 = mpmd.fragment_call")
    pages = PAGES + ["docs/embedding.md"]
    pages += [str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md")]
    pages += [str(p.relative_to(ROOT)) for p in (ROOT / "examples").glob("*/README.md")]
    rows = "".join(p.read_text() for p in (ROOT / "src").rglob("*.def"))
    plain = lambda text: re.sub(r"\s+", " ", text)
    for page in set(pages) - {"docs/architecture.md"}:  # drawings
        for block in blocks(page):
            if re.match(r"[A-Z]+\(", block[0]):
                assert plain("\n".join(block)).strip() in plain(rows), f"{page}: {block[0]}"
            elif not block[0].startswith("| "):
                assert block[0].startswith(kinds), f"{page}: {block[0]}"
