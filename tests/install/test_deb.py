"""Debian packages, built by Debian's tools, unpacked into an empty root and used there."""
import shutil
import subprocess

import pytest
from conftest import Installed
from support import ROOT

PROGRAM = ROOT / "examples" / "embed" / "run.c"


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("dh"), reason="there is no debhelper")
def test_packages(tmp_path):
    done = subprocess.run(["make", "deb"], cwd=ROOT, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    packages = {p.name.split("_")[0]: p for p in (ROOT / "build-deb").glob("*.deb")}
    assert {"libterrazzo0", "libterrazzo-dev", "terrazzo", "terrazzo-pjrt-plugin"} <= set(packages)
    for name in ("libterrazzo0", "libterrazzo-dev", "terrazzo", "terrazzo-pjrt-plugin"):
        subprocess.run(["dpkg-deb", "-x", packages[name], tmp_path / "root"], check=True)
    root = Installed(tmp_path / "root")
    assert (root.lib / "pjrt_plugin_terrazzo.so").stat().st_size < 5_000_000
    assert "0.1.0" in root.run(root.usr / "bin" / "terrazzo", "--version")
    root.run("cc", PROGRAM, "-o", tmp_path / "run",
             *root.run("pkg-config", "--cflags", "--libs", "terrazzo").split())
    assert "6 22 ... 118" in root.run(tmp_path / "run")
