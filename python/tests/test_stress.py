"""A small run of stress.py: programs at random from several threads, in poisoned memory."""
import pathlib
import subprocess
import sys

import pytest

STRESS = pathlib.Path(__file__).parent / "stress.py"


@pytest.mark.parametrize("options", [
    ["--devices", "1", "--most", "24", "--runs", "800", "--workers", "16", "--poison", "5"],
    ["--devices", "8", "--most", "16", "--runs", "500", "--workers", "2", "--poison", "6"]])
def test_results_do_not_change(options):
    done = subprocess.run([sys.executable, STRESS, *options], capture_output=True, text=True,
                          timeout=600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
