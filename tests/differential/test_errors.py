"""A few damaged programs: nearly all first errors are MLIR's, in place and words."""

import os

import errors
from support import ROOT

BINARY = os.path.join(os.environ.get("TERRAZZO_BIN", "build/bin"), "terrazzo")


def test_first_error():
    files = sorted((ROOT / "tests" / "corpus").glob("*/*.mlir"))
    files = [f for f in files if f.stat().st_size < 60000]
    seen = list(errors.compare([BINARY], files, seed=1, count=300))
    different = [(a, b) for _, a, b in seen if a != b]
    assert not [b for _, b in different if b and "died" in b[1]]
    assert len(different) <= len(seen) // 20, different
