"""A few seeds of places.py: random loops over places, against XLA."""
import pathlib

from support import python

HERE = pathlib.Path(__file__).resolve().parent


def test_seeds():
    done = python(HERE / "places.py", 0, 24, JAX_PLATFORMS="terrazzo,cpu")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "24 right, 0 wrong" in done.stdout
