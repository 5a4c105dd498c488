"""Large output: it leaves in pieces, and whoever reads it may go away."""
import subprocess

import pytest

from support import BIN, terrazzo

DIGITS = "0123456789ABCDEF" * 50_000
TEXT = f'module {{\n  "a.b"() {{a = dense<"0x{DIGITS}"> : tensor<100000xi32>}} : () -> ()\n}}\n'
SMALL = ("func.func @main() -> tensor<2xf32> {\n"
         "  %0 = stablehlo.constant dense<1.0> : tensor<2xf32>\n"
         "  return %0 : tensor<2xf32>\n}\n")
OPT = ("opt", "--allow-unregistered-dialect")


def test_over_its_input(tmp_path):
    """Text, then bytecode that constants point into, then text again, all in one file."""
    path = tmp_path / "large"
    path.write_text(TEXT)
    assert terrazzo(*OPT, path).stdout == TEXT
    for more in ((), ("--emit-bytecode",), ("--emit-bytecode",), ()):
        assert terrazzo(*OPT, path, *more, "-o", path).returncode == 0
    assert path.read_text() == TEXT


def test_closed_pipe(tmp_path):
    path = tmp_path / "large.mlir"
    path.write_text(TEXT)
    with subprocess.Popen([BIN / "terrazzo", *OPT, path], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        process.stdout.read(10)
        process.stdout.close()
        said = process.stderr.read()
    assert process.returncode == 1
    assert said == "terrazzo: cannot write to standard output\n"


@pytest.mark.parametrize("command", [
    "--help", "--version", "ops", "ops --json", "ops --counts", "ops --help", "opt --help",
    "opt --list-passes", "opt --show-dialects", "convert --help", "layout --help", "run --help",
    "convert --from pspec --to all --mesh x=2 P('x')", "opt FILE", "opt FILE --emit-bytecode",
    "run FILE --stats", "run FILE --time", "why FILE", "why FILE --json", "mem FILE",
    "opt FILE -o /dev/full", "run FILE --output DIR"])
def test_full_device(command, tmp_path):
    """What did not arrive is an error, whoever wrote it."""
    file, out = tmp_path / "small.mlir", tmp_path / "out"
    file.write_text(SMALL)
    out.mkdir()
    (out / "out_0.npy").symlink_to("/dev/full")
    words = [str({"FILE": file, "DIR": out}.get(w, w)) for w in command.split()]
    with open("/dev/full", "wb") as full:
        done = subprocess.run([BIN / "terrazzo", *words], stdout=full, stderr=subprocess.PIPE,
                              text=True, timeout=60)
    assert done.returncode == 1, done.stderr
    assert "cannot write" in done.stderr or "No space" in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1
