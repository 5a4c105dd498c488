"""Makes tests/ importable when pytest runs without tests/run."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]


def pytest_configure(config):
    """Marks of this suite."""
    config.addinivalue_line("markers", "slow: wants a browser, which tools/setup libraries brings")
