"""The sharded corpus computes what it does on one device. Planted errors: src/api/verify_test.c."""
import json

import pytest

from support import CORPUS, terrazzo

PROGRAMS = sorted(CORPUS.glob("*/global.mlir"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.parent.name)
def test_corpus(path):
    done = terrazzo("verify", path, "--json", "--seed", 3)
    assert done.returncode == 0 and json.loads(done.stdout) == {"same": True}, done.stderr
