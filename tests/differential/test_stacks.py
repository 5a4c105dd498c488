"""A few seeds of stacks.py: random loops over stacks, against XLA."""
import pathlib

from support import python

HERE = pathlib.Path(__file__).resolve().parent


def test_seeds():
    done = python(HERE / "stacks.py", 0, 24, JAX_PLATFORMS="terrazzo,cpu")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "24 right, 0 wrong" in done.stdout
