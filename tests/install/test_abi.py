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


@pytest.fixture
def changed(tmp_path):
    """A tree whose tz_compile_options has a field more, in front of one."""
    for name in ("src", "include"):
        shutil.copytree(ROOT / name, tmp_path / name)

    def change(field):
        header = tmp_path / "include" / "terrazzo" / "terrazzo.h"
        text = header.read_text()
        assert "  bool flush_denormals; " in text
        header.write_text(text.replace("  bool flush_denormals; ",
                                       f"  {field}; bool flush_denormals; "))
        return check(tmp_path)
    return change


def test_a_change_is_found(changed):
    status, told = changed("int64_t inserted")
    assert status & 4 and "int64_t inserted" in told, told


def test_a_field_in_padding_is_found(changed):
    """It moves nothing, but earlier programs have rubbish there."""
    status, told = changed("bool inserted")
    assert status and "tz_compile_options.inserted: begins at byte 40" in told, told
