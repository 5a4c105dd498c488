"""Programs that were linked with the last release go on to work: its binary interface, as recorded
in packaging/abi, is still there."""
import platform
import shutil
import subprocess

import pytest
from support import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("abidiff") or platform.machine() != "x86_64",
                                reason="there is no abidiff, or no record for this machine")


def check(*tree):
    done = subprocess.run([ROOT / "tools" / "abi", "check", *tree], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=600)
    return done.returncode, done.stdout + done.stderr


def test_nothing_has_changed():
    status, told = check()
    assert status == 0, told


def test_a_change_is_found(tmp_path):
    for name in ("src", "include"):
        shutil.copytree(ROOT / name, tmp_path / name)
    header = tmp_path / "include" / "terrazzo" / "terrazzo.h"
    text = header.read_text()
    assert "  bool flush_denormals; " in text
    header.write_text(text.replace("  bool flush_denormals; ",
                                   "  int64_t inserted;  bool flush_denormals; "))
    status, told = check(tmp_path)
    assert status & 4 and "int64_t inserted" in told, told
