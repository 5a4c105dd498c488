"""Makes this folder's modules importable, and tests/ when pytest runs without tests/run."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]


def pytest_configure(config):
    config.addinivalue_line("markers", "native: loads what is built into Python, not for another "
                                       "machine (tests/run --under)")
