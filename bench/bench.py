"""Terrazzo beside XLA:CPU: small programs, calls, collectives and whole training steps.

  bench.py [--quick] [NAME...]       measures; a NAME is part of a group's or a program's
  bench.py --compare A.json B.json   two runs: how far ours moved, against XLA beside it
  bench.py --page A.json FILE.html   the page of a run again

Both platforms run in processes of their own and take turns; a number is the best of all turns (the
median stands beside it in the file). A ratio is XLA's time by ours: above 1, ours is faster. Beside
calls stands what they take with a plugin that does nothing (noop.c), where it is compiled. A run
writes bench.json and bench.html, a page that needs no other file, into --output (build/bench).
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import page

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
NOOP = ROOT / "build" / "noop.so"

# What runs where: groups, devices, processors.
PLACES = [
    (("elementwise", "rows", "moves", "products", "convolutions", "loops"), 1, 1),
    (("elementwise", "rows", "moves", "products", "convolutions"), 1, 2),
    (("calls", "steps", "models"), 1, 2),
    (("calls", "collectives", "steps", "models"), 8, 2),
    (("sizes: x * 2 + 1", "layers: compiling a step"), 1, 2),
]


class Side:
    """A platform's process, started when it is first asked, and again where it died."""

    def __init__(self, platform, devices, processors, plugin=None):
        self.platform = platform if plugin is None else "noop"
        self.process = None
        self.processors = sorted(os.sched_getaffinity(0))[-processors:]
        self.environment = dict(
            os.environ, JAX_PLATFORMS=platform, TERRAZZO_NUM_DEVICES=str(devices),
            TERRAZZO_NUM_THREADS=str(len(self.processors)),
            XLA_FLAGS=f"--xla_force_host_platform_device_count={devices}")
        if plugin is not None:
            import terrazzo_jax
            self.environment.update(NOOP_OF=str(terrazzo_jax.library_path()),
                                    TERRAZZO_PLUGIN=str(plugin))

    def ask(self, **request):
        if self.process is None or self.process.poll() is not None:
            if "name" not in request:
                return dict(error="its process ended")
            processors = self.processors
            self.process = subprocess.Popen(
                [sys.executable, HERE / "side.py"], env=self.environment, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                preexec_fn=lambda: os.sched_setaffinity(0, processors))
            if not self.process.stdout.readline():
                return dict(error=f"{self.platform} did not start")
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return dict(error="its process ended")
        line = self.process.stdout.readline()
        return json.loads(line) if line else dict(error="its process ended")

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(timeout=60)


def differ(paths):
    """The largest difference of the results, by their size; None: they were not kept."""
    import numpy as np
    if not all(os.path.exists(path) for path in paths):
        return None
    a, b = (np.load(path) for path in paths)
    worst = 0.0
    for name in a.files:
        x, y = a[name], b[name]
        if x.shape != y.shape:
            return math.inf
        scale = np.abs(y[np.isfinite(y)]).mean() if y.size else 0
        bad = np.abs(x - y) / (np.abs(y) + scale + 1e-30)
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        worst = max(worst, float(bad[~same].max(initial=0)))
    return worst


def measure(name, sides, options, folder):
    """Both platforms' figures of a row, by turns: dict platform -> figures, or an error's text."""
    found = {}
    paths = [f"{folder}/{side.platform}.npz" for side in sides]
    for side, path in zip(sides, paths):
        pathlib.Path(path).unlink(missing_ok=True)
        answer = side.ask(name=name, save=path)
        if "error" in answer:
            return f"{side.platform}: {answer['error']}"
        found[side.platform] = dict(compile=answer["compile"], times=[], processor=[])
    for turn in range(options.turns):
        for side in sides if turn % 2 else sides[::-1]:
            answer = side.ask(seconds=options.seconds)
            if "error" in answer:
                return f"{side.platform}: {answer['error']}"
            found[side.platform]["times"] += answer["times"]
            found[side.platform]["processor"].append(answer["processor"])
    for figures in found.values():
        times = figures.pop("times")
        figures.update(best=min(times), median=statistics.median(times), calls=len(times),
                       processor=min(figures["processor"]))
    return dict(found, difference=differ(paths[:2]))


def show_time(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.2f} {unit}"
    return f"{seconds * 1e6:.2f} us"


def show_row(row):
    ours, xla = row["terrazzo"], row["cpu"]
    print(f"  {row['name']:42}{show_time(ours['best']):>12}{show_time(xla['best']):>12}"
          f"{xla['best'] / ours['best']:9.2f}{xla['median'] / ours['median']:9.2f}" +
          (f"  no work {show_time(row['noop']['best'])}" if "noop" in row else ""), flush=True)


def matches(options, group, name, quick):
    wanted = not options.names or any(n in group or n in name for n in options.names)
    return wanted and (quick or not options.quick or bool(options.names))


def run(options):
    import programs
    rows, folder = [], tempfile.mkdtemp()
    print(f"  {'':42}{'ours':>12}{'XLA':>12}{'XLA/ours':>9}{'medians':>9}")
    for groups, devices, processors in PLACES:
        processors = min(processors, len(os.sched_getaffinity(0)))
        sides = [Side("terrazzo", devices, processors), Side("cpu", devices, processors)]
        if "calls" in groups and NOOP.exists():
            sides.append(Side("terrazzo", devices, processors, NOOP))
        for group in groups:
            chosen = [n for n, r in programs.ROWS.items()
                      if r.group == group and matches(options, group, n, r.quick)]
            if chosen:
                print(f"{group}: devices {devices}, processors {processors}")
            for name in chosen:
                found = measure(name, sides if group == "calls" else sides[:2], options, folder)
                if isinstance(found, str):
                    print(f"  {name:42}{found}", flush=True)
                    continue
                rows.append(dict(group=group, name=name, devices=devices, processors=processors,
                                 size=programs.ROWS[name].size, **found))
                show_row(rows[-1])
        for side in sides:
            side.close()
    return rows


def describe():
    """Where this was measured."""
    def first_line(*command):
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
        return done.stdout.strip().split("\n")[0]
    import jax
    model = [line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
             if line.startswith("model name")]
    return dict(commit=first_line("git", "describe", "--always", "--dirty"), jax=jax.__version__,
                processor=model[0] if model else "", processors=os.cpu_count(),
                date=datetime.datetime.now().isoformat(timespec="minutes"))


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def ratio(row, figure="best"):
    return row["cpu"][figure] / row["terrazzo"][figure]


def compare(before, after):
    """Rows of both runs; what the machine did meanwhile touched XLA as well."""
    key = lambda row: (row["group"], row["name"], row["devices"], row["processors"])
    old = {key(row): row for row in before["rows"]}
    both = [(old[key(row)], row) for row in after["rows"] if key(row) in old]
    print(f"{before['about']['commit']} -> {after['about']['commit']}: ours, and XLA/ours")
    for a, b in sorted(both, key=lambda pair: ratio(pair[1]) / ratio(pair[0])):
        change = ratio(b) / ratio(a)
        mark = "slower" if change < 0.9 else "faster" if change > 1.1 else ""
        place = f"{b['name']} ({b['devices']} devices, {b['processors']} processors)"
        print(f"  {place:66}{show_time(a['terrazzo']['best']):>12}"
              f"{show_time(b['terrazzo']['best']):>12}{ratio(a):8.2f}{ratio(b):8.2f}  {mark}")
    print(f"{len(both)} rows, geometric mean of the change "
          f"{mean([ratio(b) / ratio(a) for a, b in both]):.3f}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--compare", nargs=2)
    parser.add_argument("--page", nargs=2)
    parser.add_argument("--turns", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build" / "bench")
    options = parser.parse_args()
    load = lambda path: json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    if options.compare:
        compare(*map(load, options.compare))
        return
    if options.page:
        pathlib.Path(options.page[1]).write_text(page.make(load(options.page[0])), encoding="utf-8")
        return
    options.turns = options.turns or (2 if options.quick else 5)
    options.seconds = options.seconds or (0.05 if options.quick else 0.2)
    os.environ["JAX_PLATFORMS"] = "cpu"  # of this process, which only reads the table
    rows = run(options)
    report = dict(about=describe(), rows=rows)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "bench.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    (options.output / "bench.html").write_text(page.make(report), encoding="utf-8")
    ratios = [ratio(row) for row in rows]
    print(f"{len(rows)} rows, {sum(r < 1 for r in ratios)} slower than XLA, "
          f"geometric mean {mean(ratios):.2f}; {options.output}/bench.html")


if __name__ == "__main__":
    main()
