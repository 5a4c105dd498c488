"""Attributes and types that are kept as text, with bytes in it that no text should have."""
import subprocess

import pytest

from support import BIN

INNER = [b"a\x01\x7f\xff\x80b", b"a\nb\r\n\tc // d\n", b'"\x01\xff"', "\u00e9\u4e2d".encode()]


def module(sigil, inside):
    return b"module attributes {t.a = " + sigil + b"foo<" + inside + b">} {\n}\n"


def read(path, *flags):
    return subprocess.run([BIN / "terrazzo", "opt", path, "-allow-unregistered-dialect", *flags],
                          capture_output=True, timeout=60)


@pytest.mark.parametrize("sigil", [b"#", b"!"])
@pytest.mark.parametrize("inside", INNER)
def test_odd_bytes_come_back(sigil, inside, tmp_path):
    path = tmp_path / "odd.mlir"
    path.write_bytes(module(sigil, inside))
    assert read(path).stdout == path.read_bytes()
    code = tmp_path / "odd.mlirbc"
    code.write_bytes(read(path, "--emit-bytecode").stdout)
    assert read(code).stdout == path.read_bytes()


@pytest.mark.parametrize("sigil", [b"#", b"!"])
def test_zero_bytes(sigil, tmp_path):
    path = tmp_path / "zero.mlir"
    path.write_bytes(module(sigil, b"a\0b"))
    assert b":1:30: error: unbalanced '<' character" in read(path).stderr
    path.write_bytes(module(sigil, b'"a\0b"'))  # in a string MLIR lets it pass
    assert read(path).stdout == path.read_bytes()
    written = read(path, "--emit-bytecode")  # which a zero ends
    assert written.returncode == 1 and b"with a zero byte in its text" in written.stderr
