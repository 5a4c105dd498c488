"""What `make install` makes, below a root of its own."""
import os
import pathlib
import subprocess

import pytest
from support import ROOT


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: compiles everything once more")


class Installed:
    """A tree under `root`, whose prefix is /usr."""

    def __init__(self, root):
        self.root, self.usr = root, root / "usr"
        self.lib = next(self.usr.rglob("libterrazzo.so")).parent
        self.environment = os.environ | {
            "PKG_CONFIG_PATH": str(self.lib / "pkgconfig"), "PKG_CONFIG_SYSROOT_DIR": str(root),
            "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1", "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1",
            "CMAKE_PREFIX_PATH": str(self.usr), "LD_LIBRARY_PATH": str(self.lib)}

    def run(self, *command, cwd=None, **environment):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=cwd,
                              stdin=subprocess.DEVNULL, timeout=600,
                              env=self.environment | environment)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    done = subprocess.run(["make", "install", "PREFIX=/usr", f"DESTDIR={root}"], cwd=ROOT,
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=850)
    assert done.returncode == 0, done.stdout + done.stderr
    return Installed(pathlib.Path(root))
