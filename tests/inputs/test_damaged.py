"""Damaged programs: each is an error with a place, or a module that verifies; never a crash."""
import concurrent.futures
import re
import subprocess

import pytest

from support import BIN, ROOT

CORPUS = ROOT / "tests" / "corpus"
PLACED = re.compile(r"^\S.*?:(\d+:\d+:)? error: ", re.M)
SECONDS = 20


def verdict(path, *command):
    """None when the program ended as it may, or why not."""
    try:
        done = subprocess.run([BIN / "terrazzo", *command, path], capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "hangs"
    errors = done.stderr.decode(errors="replace")
    if done.returncode < 0 or "Sanitizer" in errors or "runtime error" in errors:
        return f"died ({done.returncode}): {errors[:2000]}"
    if done.returncode == 0:
        return None
    return None if PLACED.search(errors) else f"no error with a place: {errors[:500]!r}"


def judge(variants, folder, *command):
    """Runs every (name, bytes); returns what is wrong, by name."""
    def one(numbered):
        number, (name, content) = numbered
        path = folder / f"{number % 64}-{name}"
        path.write_bytes(content)
        problem = verdict(path, *command)
        path.unlink()
        return problem and f"{name}: {problem}"
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return [problem for problem in pool.map(one, enumerate(variants)) if problem]


def cut(content, step=1):
    for at in range(0, len(content), step):
        yield f"cut-{at}", content[:at]


def flipped(content, mask, step=1):
    for at in range(0, len(content), step):
        yield f"flip-{mask:02x}-{at}", (content[:at] + bytes([content[at] ^ mask]) +
                                        content[at + 1:])


@pytest.mark.parametrize("name", ["mlp_tp", "reshape_merge", "smap_collectives"])
def test_bytecode_cut_everywhere(name, tmp_path):
    content = (CORPUS / name / "global.mlirbc").read_bytes()
    wrong = judge(cut(content), tmp_path, "opt")
    assert not wrong, "\n".join(wrong[:5])


@pytest.mark.parametrize("mask", [0x01, 0xFF])
@pytest.mark.parametrize("name", ["mlp_tp", "smap_collectives"])
def test_bytecode_flipped_everywhere(name, mask, tmp_path):
    content = (CORPUS / name / "global.mlirbc").read_bytes()
    wrong = judge(flipped(content, mask), tmp_path, "opt")
    assert not wrong, "\n".join(wrong[:5])


def test_flipped_bytecode_compiles_or_says_why(tmp_path):
    """The whole way: what still verifies goes on to partitioning and to the missing arguments."""
    content = (CORPUS / "mlp_2d" / "global.mlirbc").read_bytes()
    wrong = judge(flipped(content, 0x04), tmp_path, "run", "--devices", "8")
    # a program that compiles lacks its arguments: that message names no place
    wrong = [line for line in wrong if "takes" not in line]
    assert not wrong, "\n".join(wrong[:5])
    wrong = judge(flipped(content, 0x04, 3), tmp_path, "why", "--devices", "8")
    assert not wrong, "\n".join(wrong[:5])


def test_text_cut(tmp_path):
    content = (CORPUS / "mlp_tp" / "global.mlir").read_bytes()
    wrong = judge(cut(content, 5), tmp_path, "opt")
    assert not wrong, "\n".join(wrong[:5])


def test_text_flipped(tmp_path):
    content = (CORPUS / "smap_collectives" / "global.mlir").read_bytes()
    wrong = judge(flipped(content, 0x05, 7), tmp_path, "opt")
    assert not wrong, "\n".join(wrong[:5])


MESHES = ROOT / "tests" / "lit" / "mpmd"


def opt_all(*passes):
    return ("opt", *(f"-mpmd-{p}" for p in passes))


@pytest.mark.parametrize("name, command", [
    ("ops", ("opt", "-canonicalize")),
    ("lower_to_fragment_calls", opt_all("mark-aliasing-and-donation", "lower-to-fragment-calls")),
    ("mark_reserved_memory", opt_all("mark-fragment-reserved-memory", "delay-inferred-fragments")),
    ("sink_tokens", opt_all("sink-create-token-into-fragments"))])
def test_programs_over_meshes(name, command, tmp_path):
    """Text of MPMD, cut and changed, through passes of it."""
    content = (MESHES / f"{name}.mlir").read_bytes().split(b"// -----")[0]
    wrong = judge(cut(content, 29), tmp_path, *command)
    wrong += judge(flipped(content, 0x05, 23), tmp_path, *command)
    assert not wrong, "\n".join(wrong[:5])


def test_bytecode_over_meshes(tmp_path):
    path = tmp_path / "whole.mlirbc"
    subprocess.run([BIN / "mpmd_opt", "--emit-bytecode", MESHES / "ops.mlir", "-o", path],
                   check=True)
    wrong = judge(flipped(path.read_bytes(), 0x11, 3), tmp_path, "opt", "-canonicalize")
    assert not wrong, "\n".join(wrong[:5])
