"""A few seeds of large.py: programs over arrays that no cache holds, against XLA."""
import pathlib

from support import python

HERE = pathlib.Path(__file__).resolve().parent


def test_seeds():
    done = python(HERE / "large.py", 1000, 1012, JAX_PLATFORMS="terrazzo,cpu")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "12 right, 0 wrong" in done.stdout
