"""Colours and the line about long work: only where somebody sees them."""
import os
import pty
import re
import subprocess
import time

import pytest

from support import BIN, ROOT, terrazzo

MODEL = ROOT / "tests" / "corpus" / "mlp_2d" / "global.mlir"
OTHER = ROOT / "tests" / "corpus" / "mlp_tp" / "global.mlir"
COMMANDS = {"why": (MODEL,), "mem": (MODEL,), "check": (MODEL, "--large", "256B"),
            "diff": (MODEL, OTHER), "verify": (MODEL,), "plan": (MODEL, "--tries", 20)}
COLOUR = re.compile(r"\033\[\d+m")


def on_terminal(*arguments, text=None, wait=0, **environment):
    """What both streams say on a terminal; text comes to standard input after a while."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([BIN / "terrazzo", *map(str, arguments)], stdin=subprocess.PIPE,
                          stdout=theirs, stderr=theirs,
                          env=os.environ | {"TERM": "xterm"} | environment) as process:
        os.close(theirs)
        time.sleep(wait)
        process.stdin.write(text or b"")
        process.stdin.close()
        said = b""
        try:
            while more := os.read(ours, 1 << 16):
                said += more
        except OSError:
            pass  # Linux says so when the other side is closed
        assert process.wait(60) == 0, said
    os.close(ours)
    return said.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_color(command):
    arguments = (command, *COMMANDS[command])
    plain = terrazzo(*arguments).stdout
    painted = terrazzo(*arguments, "--color", "always").stdout
    assert not COLOUR.search(plain) and COLOUR.search(painted)
    assert COLOUR.sub("", painted) == plain
    assert not COLOUR.search(terrazzo(*arguments, "--color=always", "--json").stdout)
    assert on_terminal(*arguments) == painted
    assert on_terminal(*arguments, "--color=never") == plain
    assert on_terminal(*arguments, NO_COLOR="1") == plain
    assert on_terminal(*arguments, TERM="dumb") == plain
    assert terrazzo(*arguments, "--color", "red").returncode == 2


def test_long_work():
    quick = on_terminal("mem", MODEL, NO_COLOR="1")
    assert "at work" not in quick
    slow = on_terminal("mem", "-", text=MODEL.read_bytes(), wait=1.5, NO_COLOR="1")
    line, _, rest = slow.partition("\033[K")
    assert line.startswith("terrazzo: at work, 1 s\r")
    assert rest.splitlines()[:4] == quick.splitlines()[:4]
