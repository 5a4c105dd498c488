"""A few seeds of loops.py, loops within loops and what they carry, against XLA."""
import pathlib

from support import python

HERE = pathlib.Path(__file__).resolve().parent


def test_seeds():
    done = python(HERE / "loops.py", 50, 66, JAX_PLATFORMS="terrazzo,cpu", JAX_ENABLE_X64="1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "16 right, 0 wrong" in done.stdout
