#!/usr/bin/env python3
"""Changes valid modules where they have structure, and runs what comes of it through every command.

  tests/fuzz/mutate.py FIRST LAST [--build DIR]      those numbers; each is always the same module
  tests/fuzz/mutate.py --minutes N [FIRST]           from FIRST on, as many as fit
  tests/fuzz/mutate.py --sanitize ...                makes build-asan first and runs there
  tests/fuzz/mutate.py --show NUMBER                 prints the module

Seeds are the modules of tests/lit and tests/corpus that verify, in the generic form. A mutation
changes types, attributes, sharding axes, meshes, groups, constants, operands, regions or whole ops;
one to four of them make a module. Each goes through reading, verifying, printing and bytecode,
through pipelines and passes, and is compiled and run on 1 and on 8 devices (tests/fuzz/mutants.c).
It may be refused with a diagnostic anywhere. What may not be is a process that dies, a report of a
sanitizer, a command that does not end, an error without words or one that blames the compiler, text
or bytecode that does not come back the same: those are written to --out, one module a file. Prints
what became of the modules by mutation and by command.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import time

from mutations import MUTATIONS, Module

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LARGEST = 16_000  # bytes of a seed
PIECE = 160  # modules a run of the driver

# ---- seeds, modules ----


def pack(texts):
    return b"".join(struct.pack("<I", len(t)) + t for t in texts)


def unpack(data):
    at, out = 0, []
    while at < len(data):
        n = struct.unpack_from("<I", data, at)[0]
        out.append(data[at + 4:at + 4 + n].decode(errors="replace"))
        at += 4 + n
    return out


def with_main(text):
    """The first function is what runs, where none is called main."""
    m = re.search(r'"func.func"\(\) <\{.*?sym_name = "(\w+)"', text)
    if not m or 'sym_name = "main"' in text:
        return text
    return re.sub(rf'(@|sym_name = "){m.group(1)}\b', r"\1main", text)


def seeds(driver, folders):
    parts = []
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.mlir")):
            if path.stat().st_size < 8 * LARGEST:
                parts += re.split(r"^// -----.*$", path.read_text(errors="replace"), flags=re.M)
    with tempfile.NamedTemporaryFile() as f:
        f.write(pack([p.encode() for p in parts if len(p) < LARGEST]))
        f.flush()
        done = subprocess.run([driver, "--seeds", f.name], stdout=subprocess.PIPE, check=True)
    texts = [with_main(t) for t in unpack(done.stdout) if t.count("\n") > 3]
    return sorted(set(texts), key=lambda t: (len(t), t))


def module(texts, number):
    """The names of the mutations, and the text."""
    rng = random.Random(number)
    m = Module(rng.choice(texts), rng, texts)
    names = []
    wanted = rng.choice([1, 1, 1, 1, 2, 2, 3, 4])
    for _ in range(40):  # some find nothing to change
        name = rng.choice(MUTATIONS)
        if len(names) < wanted and getattr(m, name)():
            names.append(name)
    return names, m.text


# ---- running ----

LINE = re.compile(r"^(\d+) (\S+) (\S+)(?: (-?\d+))?$")


class Counts:
    def __init__(self):
        self.modules = 0
        self.by_mutation = collections.defaultdict(collections.Counter)
        self.by_command = collections.defaultdict(collections.Counter)
        self.bad = []

    def add(self, other):
        self.modules += other.modules
        for mine, more in ((self.by_mutation, other.by_mutation),
                           (self.by_command, other.by_command)):
            for key, counts in more.items():
                mine[key].update(counts)
        self.bad += other.bad

    def show(self):
        for title, table in (("mutation", self.by_mutation), ("command", self.by_command)):
            print(f"\nby {title}")
            for key in sorted(table):
                counts = "  ".join(f"{o} {n}" for o, n in table[key].most_common())
                print(f"  {key:45.45s} {counts}")
        print(f"\n{self.modules} modules")


def furthest(outcomes):
    """One word for a module: how far it came."""
    if any(o in ("died", "out-of-time") for o in outcomes.values()):
        return "bad"
    if outcomes.get("round-trip") in ("reader", "verifier"):
        return "refused-by-" + outcomes["round-trip"]
    if any(c.startswith("run") and o == "fine" for c, o in outcomes.items()):
        return "run"
    compiled = any(c.startswith("compile") and o == "fine" for c, o in outcomes.items())
    return "compiled" if compiled else "passed"


def may_be_endless(command, text):
    return command.startswith("run") and "stablehlo.while" in text


def run_piece(options, texts, first, last):
    made = [module(texts, n) for n in range(first, last)]
    counts = Counts()
    with tempfile.NamedTemporaryFile() as f:
        f.write(pack([t.encode() for _, t in made]))
        f.flush()
        environment = os.environ | {
            "ASAN_OPTIONS": "allocator_may_return_null=1:max_allocation_size_mb=2048:"
                            "hard_rss_limit_mb=6000:detect_stack_use_after_return=0",
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
        done = subprocess.run([options.driver, f.name, str(first)], stdout=subprocess.PIPE,
                              env=environment)
    outcomes = [{} for _ in made]
    report, bad = None, False  # bad: what the report is about, if there is one
    for line in done.stdout.decode(errors="replace").splitlines():
        m = LINE.match(line) if report is None else None
        if line == "<<<":
            report = []
        elif line == ">>>":
            if bad:
                counts.bad[-1][-1].extend(report)
            report = None
        elif report is not None:
            report.append(line)
        elif m:
            index, command, what = int(m.group(1)), m.group(2), m.group(3)
            if what == "out-of-time" and may_be_endless(command, made[index][1]):
                what = "endless"
            outcomes[index][command] = what
            counts.by_command[command][what] += 1
            if options.odd and what in ("memory", "broken"):
                print(f"ODD {first + index} {command}: {what}", flush=True)
            bad = what in ("died", "out-of-time")
            if bad:
                counts.bad.append((first + index, command, what, made[index], []))
    if done.returncode:
        counts.bad.append((first, "driver", f"ended with {done.returncode}", ([], ""), []))
    for (names, _), result in zip(made, outcomes):
        counts.modules += 1
        for name in names or ["nothing"]:
            counts.by_mutation[name][furthest(result)] += 1
    return counts


def keep(options, bad):
    number, command, what, (names, text), report = bad
    print(f"BAD {number} {command}: {what} ({', '.join(names)})")
    print("\n".join("    " + line for line in report[:12]), flush=True)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / f"{number}.mlir").write_text(text)
        (options.out / f"{number}.txt").write_text(f"{command} {what}\n" + "\n".join(report) + "\n")


def run(options, texts):
    total, start, first = Counts(), time.monotonic(), options.first
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = set()

        def more():
            nonlocal first
            in_time = options.minutes and time.monotonic() - start < 60 * options.minutes
            if in_time or (not options.minutes and first < options.last):
                last = first + PIECE if options.minutes else min(first + PIECE, options.last)
                waiting.add(pool.submit(run_piece, options, texts, first, last))
                first = last
        for _ in range(options.jobs):
            more()
        while waiting:
            done, rest = concurrent.futures.wait(
                waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            waiting = rest
            for piece in done:
                total.add(piece.result())
                for bad in piece.result().bad:
                    keep(options, bad)
                more()
    total.show()
    print(f"numbers {options.first} to {first}, {len(texts)} seeds, "
          f"{time.monotonic() - start:.0f} s")
    print(f"{total.modules - len(total.bad)} passed, {len(total.bad)} failed, 0 skipped")
    return bool(total.bad)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seeds", action="append", help="another folder of them")
    parser.add_argument("--only", action="append", help="a folder of seeds in place of ours")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--odd", action="store_true",
                        help="name what took too much memory, or no longer verifies after a pass")
    parser.add_argument("--show", type=int)
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("last", type=int, nargs="?", default=400)
    options = parser.parse_args()
    if options.sanitize:
        options.build = ROOT / "build-asan"
        subprocess.run(["make", "-C", ROOT, "build-asan"], check=True, stdout=subprocess.DEVNULL)
    options.driver = options.build / "tests/fuzz/mutants"
    ours = [ROOT / "tests" / "lit", ROOT / "tests" / "corpus"]
    folders = (options.only or ours) + (options.seeds or [])
    texts = seeds(options.driver, folders)
    if options.show is not None:
        names, text = module(texts, options.show)
        print(f"// {', '.join(names)}\n{text}")
        return 0
    return run(options, texts)


if __name__ == "__main__":
    sys.exit(main())
