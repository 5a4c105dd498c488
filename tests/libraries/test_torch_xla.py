"""The example of torch_xla, in a process of its own; it compares with torch. TERRAZZO_TORCH names a
Python that has torch and torch_xla, which are large, where this one has not."""
import os
import pathlib
import subprocess
import sys

import pytest

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "torch_xla" / "train.py"


def test_example():
    python = os.environ.get("TERRAZZO_TORCH", sys.executable)
    probe = subprocess.run([python, "-c", "import torch, torch_xla"], capture_output=True)
    if probe.returncode:
        pytest.skip(f"{python} has no torch_xla: TERRAZZO_TORCH may name one that has")
    done = subprocess.run([python, EXAMPLE], capture_output=True, text=True, timeout=600)
    assert done.stdout.startswith("4 devices"), done.stderr
