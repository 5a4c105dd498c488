"""Conversions of floats, every bit pattern of every source of up to 16 bits, against ml_dtypes.

    python tests/differential/conversions.py [--build DIR]

And from f32: all that lies between two neighbours of a narrow type, on both sides of the middle and
on it; of f64 these values too, since ml_dtypes rounds the rest twice. NaNs to f4E2M1FN and f6*,
which have none, and denormals of f32 to f8E8M0FNU, which ml_dtypes does not round to the nearest,
are left out. Prints a line for each pair of types that differs, and how many values were
compared."""

import argparse
import sys

import numpy as np

import single
import single_run
from single_compare import is_nan, raw
from single_values import BITS, DTYPES, FLOATS, NO_NAN, SIX_BITS, Draw, tensor

ALL = FLOATS + SIX_BITS
NARROW = [t for t in ALL if BITS[t] <= 16]


def sources(t, to):
    """What is converted."""
    if BITS[t] <= 16:
        return Draw(0).every(t)
    with np.errstate(all="ignore"):
        near = np.unique(Draw(0).every(to).astype(np.float64))
        near = near[np.isfinite(near)]
        middle = near[:-1] / 2 + near[1:] / 2
        top = [near[-1] * 1.03125, near[-1] * 1.125, near[-1] * 2, np.inf, np.nan, -0.0]
        every = np.concatenate([near, middle, top, -np.array(top)]).astype(np.float32)
        return np.concatenate([every, np.nextafter(every, np.inf, dtype=every.dtype),
                               np.nextafter(every, -np.inf, dtype=every.dtype)]).astype(DTYPES[t])


def differences(ours):
    """(from, to, values compared, the first that differs or None) of each pair of types."""
    for t in ALL:
        for to in ALL:
            if (to in NARROW or t in NARROW) and (t, to) != ("f64", "f64"):
                x = sources(t, to if to in NARROW else t)
                text = (f"func.func public @main(%x: {tensor(t, x.shape)}) -> "
                        f"{tensor(to, x.shape)} {{\n  %0 = stablehlo.convert %x : "
                        f"({tensor(t, x.shape)}) -> {tensor(to, x.shape)}\n"
                        f"  return %0 : {tensor(to, x.shape)}\n}}\n")
                got, = ours.run(text, [x], [(to, x.shape)])
                with np.errstate(all="ignore"):
                    want = x.astype(np.float32).astype(DTYPES[to])
                    bad = (raw(got) != raw(want)) & ~(is_nan(got) & is_nan(want))
                    if to in NO_NAN:
                        bad &= ~is_nan(x)
                    if to == "f8E8M0FNU":
                        bad &= ~(np.abs(x.astype(np.float64)) < 2.0**-126)
                at = int(np.argmax(bad)) if bad.any() else None
                yield t, to, x.size, at if at is None else (x[at], got[at], want[at])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(single.HERE.parent.parent / "build"))
    total = bad = 0
    for t, to, n, first in differences(single_run.Terrazzo(parser.parse_args().build)):
        total += n
        bad += first is not None
        if first:
            print(f"{t} to {to}: {first[0]!r} is {first[1]!r}, not {first[2]!r}")
    print(f"{total} values, {bad} pairs of types differ")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
