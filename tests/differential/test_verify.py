"""A few ops with something wrong: nearly all first errors are MLIR's, in place and words."""

import os

import verify

BINARY = os.path.join(os.environ.get("TERRAZZO_BIN", "build/bin"), "terrazzo")


def test_first_error():
    seen = list(verify.compare([BINARY], seed=1, count=300))
    different = [(a, b) for _, a, b in seen if a != b]
    assert not [b for _, b in different if b and "died" in b[1]]
    assert len(different) <= len(seen) // 100, different
