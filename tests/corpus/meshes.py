#!/usr/bin/env python3
"""Runs the programs of a corpus on other meshes: the results must be the recorded ones.

  tests/corpus/meshes.py [--build DIR] [--devices 8,3,5,6,12] [--only NAME] CORPUS

Every mesh with as many axes as the program's own, and so many devices. What a program says of its
devices stays, so a manual computation, whose shapes are those of shards, is refused; that is
counted apart. Prints what differs or does not run, and what was run."""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

from compare import difference

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXED = "is written for the sizes of mesh"


def shapes(devices, axes):
    """Every list of so many sizes with this product."""
    if axes == 1:
        return [[devices]]
    return [[first] + rest for first in range(1, devices + 1) if devices % first == 0
            for rest in shapes(devices // first, axes - 1)]


def problem_of(program, folder, mesh, devices):
    meta = json.loads((folder / "meta.json").read_text())
    with tempfile.TemporaryDirectory() as out:
        inputs = [folder / entry["file"] for entry in meta["inputs"]]
        given = ["--input", *inputs] if inputs else []
        done = subprocess.run([program, "run", folder / "global.mlir", "--devices", str(devices),
                               "--mesh", mesh, "--output", out, *given],
                              capture_output=True, text=True)
        if done.returncode:
            return done.stderr.strip() or f"ended with {done.returncode}"
        for entry in meta["outputs"]:
            got, want = (np.load(pathlib.Path(at) / entry["file"]) for at in (out, folder))
            problem = difference(entry, want, got)
            if problem:
                return f"{entry['file']}: {problem}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--devices", default="8,3,5,6,12")
    parser.add_argument("--only")
    options = parser.parse_args()
    counts = collections.Counter()
    for folder in sorted(at.parent for at in options.corpus.glob("*/meta.json")):
        if options.only and folder.name != options.only:
            continue
        text = (folder / "global.mlir").read_text()
        meshes = re.findall(r"sdy\.mesh @([\w\"]+) = <\[(.*?)\]", text)
        if len(meshes) != 1:
            counts["programs of several meshes or none"] += 1
            continue
        name, axes = meshes[0][0], re.findall(r"\"(\w+)\"=", meshes[0][1])
        for devices in map(int, options.devices.split(",")):
            for sizes in shapes(devices, len(axes)):
                mesh = f"{name}=" + ",".join(f"{a}={n}" for a, n in zip(axes, sizes))
                problem = problem_of(options.build / "bin" / "terrazzo", folder, mesh, devices)
                counts["fixed" if problem and FIXED in problem else
                       "wrong" if problem else "right"] += 1
                if problem and FIXED not in problem:
                    print(f"{folder.name} --mesh {mesh}: {problem}", flush=True)
    print(", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    sys.exit(counts["wrong"] != 0)


if __name__ == "__main__":
    main()
