"""A few seeds of buffers.py: random graphs with layouts and donations, against the same without."""
import pathlib

from support import python

HERE = pathlib.Path(__file__).resolve().parent


def test_seeds():
    done = python(HERE / "buffers.py", 1000, 1080, JAX_PLATFORMS="terrazzo", JAX_ENABLE_X64="1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "80 right, 0 wrong" in done.stdout
