#!/usr/bin/env python3
"""Runs every program of a corpus again and again: its results must be the same, bit for bit.

  tests/corpus/bits.py [--runs 50] [--only NAME] [CORPUS]

With 1, 2 and 16 workers, and with 16 that share one processor; each --runs times, on as many
devices as the program has. CORPUS: a folder of programs (default: this one). Prints each program
that differs or does not run, and what was run."""
import argparse
import json
import os
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "differential"))

from inprocess import Child, Died, Refused, Terrazzo, receive  # noqa: E402

WAYS = {"1 worker": (1, False), "2 workers": (2, False), "16 workers": (16, False),
        "16 workers on one processor": (16, True)}


def run_all(folder, way, runs):
    """The bytes of the results, or what went wrong."""
    threads, one = WAYS[way]
    if one:
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    meta = json.loads((folder / "meta.json").read_text())
    inputs = [np.load(folder / entry["file"]) for entry in meta["inputs"]]
    source = (folder / "global.mlir").read_bytes()
    try:
        on = Terrazzo(threads)
        first = None
        for i in range(runs):
            outputs = [a.tobytes() for a in on.run(source, inputs)]
            first = first or outputs
            if outputs != first:
                return f"run {i} differs from the first"
        return first
    except Refused as refused:
        return f"does not run: {str(refused).splitlines()[-1]}"


def answer(job):
    child = Child(lambda job, note: run_all(*job))
    child.begin(job)
    got = receive(child.answers)
    child.end()
    return got[1] if got else Died("died")


def check(folder, runs):
    want = None
    for way in WAYS:
        got = answer((folder, way, runs))
        if isinstance(got, str):
            return f"{way}: {got}"
        want = want or got
        if got != want:
            return f"{way}: differs from 1 worker"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", type=pathlib.Path, default=HERE)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--only")
    options = parser.parse_args()
    folders = sorted(p.parent for p in options.corpus.glob("*/global.mlir")
                     if (p.parent / "meta.json").exists())
    same = wrong = 0
    for folder in folders:
        if options.only and options.only not in folder.name:
            continue
        problem = check(folder, options.runs)
        same += problem is None
        wrong += problem is not None
        if problem:
            print(f"{folder.name}: {problem}", flush=True)
    print(f"{same} programs gave the same bits in {options.runs} runs each with "
          f"{', '.join(WAYS)}; {wrong} did not")
    return wrong != 0 or not same


if __name__ == "__main__":
    sys.exit(main())
