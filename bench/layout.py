#!/usr/bin/env python3
"""Times of layouts on large device matrices: the slice of every rank of 2^20 devices, and of one
rank of up to 2^60, which must not grow with the devices.

  bench/layout.py [--repeat N]
"""
import argparse
import ctypes
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python")]

import terrazzo_layout as tz  # noqa: E402


def milliseconds(function, repeat):
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append((time.perf_counter() - start) * 1e3)
    return f"{statistics.median(times):8.3f} ms (best {min(times):.3f}, worst {max(times):.3f})"


def all_ranks(matrix, entries, repeat):
    names = tuple(f"a{i}" for i in range(len(matrix)))
    layout = tz.Layout(matrix, names)(*entries)
    library, out = tz._library(), (ctypes.c_int64 * 2**20)()
    shown = "x".join(map(str, matrix)) if len(matrix) < 20 else "2 twenty times"
    took = milliseconds(lambda: tz._check(library.tz_layout_slices(layout._handle, out)), repeat)
    print(f"slices of all 2^20 ranks, {shown:>24}  {took}")
    for rank in (0, 1, 4097, 2**20 - 1):
        assert out[rank] == layout.slice_of(rank)


def one_rank(exponent, axes, repeat):
    size = 2 ** (exponent // axes)
    names = tuple(f"a{i}" for i in range(axes))
    layout = tz.Layout((size,) * axes, names)(*reversed(names))
    library, out = tz._library(), (ctypes.c_int64 * 1)()
    rank = size**axes - 2

    def many():
        for _ in range(1000):
            library.tz_layout_slice_of(layout._handle, rank, out)

    print(f"slice of one rank of 2^{exponent:<2}, {axes:>2} axes, 1000 times  "
          f"{milliseconds(many, repeat)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=21)
    repeat = parser.parse_args().repeat
    all_ranks((1024, 1024), ("a1", "a0"), repeat)
    all_ranks((64, 16, 32, 32), (("a3", "a1"), "None", "a0"), repeat)
    all_ranks((2,) * 20, tuple(f"a{i}" for i in reversed(range(20))), repeat)
    all_ranks((2**20,), ("None",), repeat)
    for exponent in (10, 20, 40, 60):
        one_rank(exponent, 2, repeat)
    for axes in (4, 10, 20):
        one_rank(60, axes, repeat)


if __name__ == "__main__":
    main()
