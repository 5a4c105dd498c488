"""A program of every row times every element type: Terrazzo against the interpreter and XLA.

    python tests/differential/rows.py [--build DIR] [--jobs N] [--op NAME] [--type NAME]

The rows are those of `terrazzo ops --json`; a row that rows_table.py has nothing of is an op of
equal tensors. The verifier says which types an op takes, and MLIR's must say the same; each program
is run and compared as single.py does it. Prints a matrix of ops and types:

  .  right             -  refused by the verifier    n  not implemented
  W  wrong             C  crash                      o  nobody else knows
  x  refused, and by XLA: chlo's verifier takes it, and none of what it becomes

and a line for each W, C and o, and what is not implemented; exits with 1 if there is any W or C."""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback

import numpy as np

import rows_table
import single
import single_elementwise as elementwise
from single_values import (BITS, DTYPES, TYPES, WIDE_FLOATS, Case, Draw, integers, is_complex,
                           is_float, part, tensor)

WORDS = {"right": ".", "oracles differ": ".", "none": "-", "refused by both": "x",
         "unimplemented": "n", "wrong": "W",
         "illegal": "W", "refused": "W", "crash": "C", "no oracle": "o"}


def read_rows(build):
    out = subprocess.run([os.path.join(build, "bin", "terrazzo"), "ops", "--json", "stablehlo",
                          "chlo"], check=True, capture_output=True, text=True).stdout
    return {row["op"]: row for row in json.loads(out)}


# ---- values ----


def mixed(d, t, n):
    """Edges, small numbers and large ones."""
    if is_complex(t):
        out = np.empty(n, DTYPES[t])
        out.real, out.imag = mixed(d, part(t), n), mixed(d, part(t), n)
        return out
    kinds = ("edge", "small", "unit", "wide")
    return np.concatenate([d.values(t, [n - n // 4 * 3 if k == "edge" else n // 4], k)
                           for k in kinds])


def operands(d, t, n):
    """Arguments of one length: every value or pair of a small type, else a mixture."""
    if is_complex(t) or n > 2 or BITS[t] > (8 if n == 1 else 4):
        return [d.np.permutation(mixed(d, t, 256)) for _ in range(n)]
    every = d.every(t)
    return [every] if n == 1 else [np.repeat(every, every.size), np.tile(every, every.size)]


def small(d, t, dims):
    """Such that a few of them add and multiply without rounding."""
    if t == "i1":
        return d.np.integers(0, 2, dims).astype(bool)
    if is_complex(t):
        return (small(d, part(t), dims) + 1j * small(d, part(t), dims)).astype(DTYPES[t])
    if is_float(t) and BITS[t] <= 8:
        low = t == "f8E8M0FNU"
        return d.np.choice([1.0, 2.0] if low else [-1.0, 0.0, 0.5, 1.0], dims).astype(DTYPES[t])
    top = 1 if BITS[t] == 2 else 3
    values = d.np.integers(0 if t[0] == "u" else -min(top, 2), top, dims)
    return values.astype(DTYPES[t]) if is_float(t) else integers(
        values.reshape(-1), t).reshape(dims)


def shape_of(text):
    """The element type and sizes of a tensor's type."""
    *dims, kind = re.fullmatch(r"tensor<(?:((?:\d+x)*))([^x].*)>", text).groups()
    return kind, [int(n) for n in (dims[0] or "").split("x") if n]


# ---- programs ----


def fill(text, t):
    return text.replace("$T", t).replace("$P", part(t))


def from_table(op, table, t, d, rule, values):
    bodies, args, results = table[op]
    given = []
    for spec in args:
        kind, _, fixed = spec.partition("=")
        kind, dims = shape_of(fill(kind, t))
        v = values(d, kind, dims) if "$T" in spec else None
        if fixed:
            numbers = np.array([int(n) for n in fixed.split(",")])
            v = numbers.astype(DTYPES[kind]).reshape(dims)
        given.append((kind, v))
    made = [shape_of(fill(r, t)) for r in results]
    bodies = [bodies] if isinstance(bodies, str) else bodies
    for body in bodies[::-1] if is_complex(t) and "LT" in bodies[0] else bodies:
        left = re.findall(r"^%(\w+)(?::(\d+))? = ", body, re.M)[-1]
        if not op.startswith("stablehlo.fft"):
            these = made
        else:
            these = [made["RFFT" in body]]
        out = [f"%{left[0]}"] if not left[1] else [f"%{left[0]}#{i}" for i in range(len(these))]
        functions = fill(rows_table.PART, t) if "@part" in body else ""
        same = rows_table.SAME.get((op, t)) or rows_table.SAME.get(op)
        same = same and Case(op, given, fill(same, t), out, these, rule)
        yield Case(op, given, fill(body, t), out, these, rule, functions=functions, plain=same,
                   legalize="func.func(chlo-legalize-to-stablehlo)" if op[0] == "c" else "")


def last_places(op, t):
    """The rule of an elementwise op."""
    dialect, _, name = op.partition(".")
    name = name.removeprefix("broadcast_")
    if dialect == "chlo" and name in elementwise.CHLO:
        _, ulps, *least = elementwise.CHLO[name]
        ulps = 1 if ulps and BITS[t] <= 16 else ulps
        return ("ulps", max(ulps, 8) if is_complex(t) else ulps, *least) if ulps else ("exact",)
    return elementwise.rule_of(name, t)


def of_equal_tensors(op, row, t, d):
    n = len(row["operands"])
    args = operands(d, t, n)
    if op.endswith(("polygamma", "zeta")) and is_float(t):  # where they are defined, and smooth
        first = d.np.integers(0, 4, 256) if "poly" in op else 1.5 + 3 * d.np.random(256)
        args = [v.astype(DTYPES[t]) for v in (first, 0.5 + 4 * d.np.random(256))]
    if is_complex(t) and op.endswith("power"):  # beyond infinity signs mean nothing
        args[1] = d.values(t, args[0].shape, "unit")
    if is_complex(t) and op.endswith(("imum", "_maximum", "_minimum")):
        for v in args:  # a number with a NaN wins, which the oracles have otherwise each
            v[np.isnan(v)] = 1
    own = tensor(t, args[0].shape)
    names = ", ".join(f"%a{i}" for i in range(n))
    chlo = op.startswith("chlo.")
    for result in dict.fromkeys([t, "i1", part(t), f"complex<{t}>"]):
        if result not in DTYPES:
            continue
        made = tensor(result, args[0].shape)
        yield Case(op, [(t, v) for v in args],
                   f'%0 = "{op}"({names}) : ({", ".join([own] * n)}) -> {made}', ["%0"],
                   [(result, args[0].shape)], last_places(op, t),
                   legalize="func.func(chlo-legalize-to-stablehlo)" if chlo else "",
                   nudge=tuple(range(n)) if is_complex(t) or (chlo and t in WIDE_FLOATS) else ())


def some(d, t, dims):
    n = int(np.prod(dims))
    return d.np.permutation(mixed(d, t, max(n, 16)))[:n].reshape(dims)


def programs(op, row, t):
    """Cases of which the first one counts that the verifier takes."""
    d, tables = Draw(sum(map(ord, op + t))), rows_table
    if op in tables.MOVES:
        rule = ("ulps", 0) if "quantize" in op else ("bits",)
        return list(from_table(op, tables.MOVES, t, d, rule, some))
    if op in tables.SUMS:
        return list(from_table(op, tables.SUMS, t, d, ("ulps", 1 if BITS[t] <= 8 else 0), small))
    if op in tables.VALUES:
        return list(from_table(op, tables.VALUES, t, d, ("exact",), some))
    if op in tables.FORMULAS:
        return list(from_table(op, tables.FORMULAS, t, d, ("ulps", 32, 1.0), small))
    return list(of_equal_tensors(op, row, t, d))


# ---- a worker ----


class Worker(single.Worker):
    def verified(self, text):
        """None, or why our verifier refuses the module."""
        try:
            self.ours.passes(text, "builtin.module(symbol-dce)")
        except self.refused as error:
            return str(error)
        return None

    def first(self, cases, check):
        """The first case that is taken; and why the last was not."""
        why = ""
        for case in cases:
            why = check(case.text())
            if not why:
                return case, ""
        return None, why

    def legal(self, text):
        try:
            self.interpreter.legal(text)
        except self.refused as error:
            return str(error)
        return None

    def check(self, seed, cases, skip):
        self.say(at=seed, stage="verify")
        case, why = self.first(cases, self.verified)
        theirs, refusal = self.first(cases, self.legal)
        if theirs is not case and "registered dialect" not in refusal:  # jaxlib has no quant
            return "illegal", f"ours: {why or 'takes it'}; MLIR: {refusal or 'takes it'}"
        if not case:
            return "none", why
        self.say(at=seed, stage="ours")
        try:
            got = self.ours.run(case.text(), [v for _, v in case.args], case.results)
        except self.refused as error:
            if error.code != 12:
                return "refused", str(error)[:300]
            alike = self.xla_refuses(seed, case, skip)
            return "refused by both" if alike else "unimplemented", str(error)[:300]
        known = case.plain or case
        return self.compared(seed, known, known.text(), got, skip)

    def xla_refuses(self, seed, case, skip):
        """Or dies of it."""
        try:
            return self.oracle("xla", seed, skip, case.text(), case.args, case.results) is None
        except self.refused:
            return True

    def pairs(self, pairs, skip):
        rows = read_rows(self.build)
        for op, t in pairs:
            name = f"{op} {t}"
            self.say(at=name, stage="generate")
            cases = []
            try:
                cases = programs(op, rows[op], t)
                word, why = self.check(name, cases, skip.get(name, []))
            except Exception:
                word, why = "wrong", "harness: " + traceback.format_exc()[-600:]
            if word in ("wrong", "refused", "illegal") and cases:
                self.save(name.replace(" ", "_"), cases[0], word, why)
            self.say(pair=[op, t], word=word, why=why)


def work(options):
    with os.fdopen(options.worker, "w") as out:
        Worker(options.build, out, options.keep).pairs(
            json.loads(options.pairs), json.loads(options.skip))
    os._exit(0)


# ---- the parent ----


def run(pairs, build, keep="", told=None):
    """{(op, type): (word, why)}. Workers that die are started again behind what they died of."""
    done, skip, left = {}, {}, [tuple(p) for p in pairs]
    while left:
        before = len(left)
        receive, send = os.pipe()
        command = [sys.executable, __file__, "--build", str(build), "--keep", str(keep), "--worker",
                   str(send), "--pairs", json.dumps(left[:1500]), "--skip", json.dumps(skip)]
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(command, pass_fds=[send], stderr=errors)
            os.close(send)
            stage = ""
            for line in single.read_lines(process, receive):
                if "stage" in line:
                    stage = line["stage"]
                    continue
                at = tuple(line["pair"])
                done[at] = (line["word"], line["why"])
                left, stage = left[1:], ""
                if told:
                    told(at, *done[at])
            os.close(receive)
            code = process.wait()
            errors.seek(0)
            last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
        if not stage:
            if len(left) == before:
                raise RuntimeError(f"the worker does not start: exit status {code}: {last}")
            continue
        name = " ".join(left[0])
        if stage in ("interpreter", "xla") and stage not in skip.get(name, []):
            skip.setdefault(name, []).append(stage)
            continue
        done[left[0]] = ("crash", f"{stage}: {code}: {last}")
        if told:
            told(left[0], *done[left[0]])
        left = left[1:]
    return done


def all_pairs(build, op="", kind=""):
    rows = read_rows(build)
    return [(name, t) for name in rows if op in name and name not in rows_table.ELSEWHERE
            for t in TYPES if kind in ("", t)
            and (name, t.partition("<")[0]) not in rows_table.NO_MEANING]


def matrix(done):
    types = [t for t in TYPES if any(pair[1] == t for pair in done)]
    lines = [f"{i:2} {t}" for i, t in enumerate(types)]
    lines.append(" " * 40 + "".join(f"{i:3}" for i in range(len(types))))
    for op in dict.fromkeys(op for op, _ in done):
        lines.append(f"{op:40}" + "".join(
            f"  {WORDS[done[op, t][0]]}" if (op, t) in done else "   " for t in types))
    counts = collections.Counter(word for word, _ in done.values())
    lines.append(", ".join(f"{word} {n}" for word, n in counts.most_common()))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(single.HERE.parent.parent / "build"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--op", default="", help="only ops whose name contains this")
    parser.add_argument("--type", default="", help="only this element type")
    parser.add_argument("--keep", default=os.path.join(tempfile.gettempdir(), "terrazzo-rows"))
    for hidden in ("--worker", "--pairs", "--skip"):
        parser.add_argument(hidden, type=int if hidden == "--worker" else str,
                            help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        work(options)
    pairs = all_pairs(options.build, options.op, options.type)
    shown = lambda pair, word, why: WORDS[word] in "nWCo" and print(
        f"{' '.join(pair)}: {word}: {why}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        parts = pool.map(lambda share: run(share, options.build, options.keep, shown),
                         [pairs[i::options.jobs] for i in range(options.jobs)])
        done = {pair: how for part_of in parts for pair, how in part_of.items()}
    print(matrix({pair: done[pair] for pair in pairs}))
    return any(WORDS[word] in "WC" for word, _ in done.values())


if __name__ == "__main__":
    sys.exit(main())
