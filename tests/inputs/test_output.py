"""Large output: it leaves in pieces, and whoever reads it may go away."""
import subprocess

from support import BIN, terrazzo

DIGITS = "0123456789ABCDEF" * 50_000
TEXT = f'module {{\n  "a.b"() {{a = dense<"0x{DIGITS}"> : tensor<100000xi32>}} : () -> ()\n}}\n'
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
