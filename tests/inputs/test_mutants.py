"""Some hundreds of changed modules through every command; tests/fuzz/mutate.py makes any number."""
import os
import subprocess
import sys

from support import BIN, ROOT


def test_mutants():
    build = os.environ.get("TERRAZZO_BUILD", BIN.parent)
    done = subprocess.run([sys.executable, ROOT / "tests" / "fuzz" / "mutate.py", "0", "600",
                           "--build", build], capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "600 passed, 0 failed" in done.stdout
