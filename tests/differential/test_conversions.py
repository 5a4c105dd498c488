"""Every bit pattern of every narrow float, converted as ml_dtypes does."""

import os

import conversions
import single_run

BUILD = os.environ.get("TERRAZZO_BUILD", str(conversions.single.HERE.parent.parent / "build"))


def test_conversions():
    found = list(conversions.differences(single_run.Terrazzo(BUILD)))
    assert len(found) == 15 * 15 - 4  # those among f32 and f64 are conversions of wide floats
    assert [pair for pair in found if pair[3] is not None] == []
