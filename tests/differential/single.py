"""Random modules of one op, or of up to 30: Terrazzo against StableHLO's reference interpreter and
XLA:CPU.

    python tests/differential/single.py FIRST LAST [--build DIR] [--jobs N] [--keep DIR] [--op NAME]

Each seed is one op with random attributes, element types and values, from 5 10^8 on of tensors of
up to half a million elements, from 10^9 on a graph of up to 30 ops (graphs.py); the arguments are
given at run time and, for some seeds, also as constants that our passes may fold. Results must be
those of the interpreter, by the rule of the op (single_compare.py); where they are not, or it lacks
the op, those of XLA:CPU will do, and it is counted that the two differ. A module that we refuse is
wrong as well.
Work is done in processes that may die, as the interpreter does at what it lacks.

--keep  a folder that each disagreement's module and arguments go to, with what is wrong; by default
        one in the folder for temporary files
At the end it prints how often each op, element type and feature was drawn, and exits with 1 if
anything is wrong."""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback

import graphs
import single_elementwise
import single_linear
import single_made
import single_matrix
import single_region
import single_shape
from single_values import TYPES, Draw, LargeDraw

HERE = pathlib.Path(__file__).resolve().parent
BATCH = 2000  # seeds a worker is given at once: they are arguments
TIME_LIMIT = 300  # seconds of silence after which a worker is given up

# A pattern of generators, seed by seed; each op's share is how often it is in it.
e, s, n, g = single_elementwise, single_shape, single_linear, single_region
m, o = single_matrix, single_made
PATTERN = [
    e.elementwise, n.dot_general, e.elementwise, g.reduce, e.convert, s.gather, e.elementwise,
    n.convolution, e.elementwise, g.scatter, e.chlo, s.pad, e.elementwise, g.reduce_window,
    e.elementwise, n.dot_general, e.bitcast_convert, s.dynamic_slice, e.elementwise, g.sort,
    e.compare, n.convolution, e.elementwise, g.reduce, e.convert, s.slice_op, e.elementwise,
    s.dynamic_update_slice, e.elementwise, g.while_op, e.chlo, s.concatenate, e.elementwise,
    g.reduce_window, e.select, s.gather, e.elementwise, g.scatter, e.clamp, n.dot, e.elementwise,
    s.reverse, e.reduce_precision, s.transpose, s.map_op, g.rng_bit_generator, e.convert,
    s.reshape, s.broadcast, s.broadcast_in_dim, e.top_k, s.iota, e.elementwise, g.case_op,
    e.complex_op, s.constant, e.elementwise, g.if_op, e.chlo, g.composite, g.select_and_scatter,
    m.fft, e.elementwise, m.cholesky, e.elementwise, m.triangular_solve, o.dynamic, o.broadcasts,
    o.batch_norm, o.dynamic, o.einsum, o.unary_einsum, o.broadcasts, o.ragged_dot, o.scan,
    o.dynamic, o.index_select, o.sizes, o.broadcasts, o.quantized, o.constant_like,
]
LARGE = 5 * 10**8  # from this seed on, up to graphs, tensors of many elements
GRAPHS = 10**9  # from this seed on
LONG = 1999  # every so often a sum of ten million terms
OCCURRENCE = [PATTERN[:i].count(f) for i, f in enumerate(PATTERN)]
FEATURES = [f"type {t}" for t in TYPES] + [
    "size 0", "size 1", "edge values", "every value", "every pair of values", "total order",
    "negative padding", "interior padding", "strides", "base dilation", "window dilation",
    "window reversal", "feature groups", "batch groups", "permuted convolution",
    "permuted contraction", "batch dims anywhere", "preferred type", "mixed types", "precision",
    "algorithm", "sum", "long sum", "batching dims", "implicit index vector", "out-of-range index",
    "permuted broadcast", "non-commuting body", "argmax body", "arbitrary body", "variadic",
    "init not identity", "long reduction", "cumulative window", "long window", "stable sort",
    "lexicographic sort", "promoted operands", "THREE_FRY bits", "PHILOX bits", "DEFAULT bits",
    "folded", "transform", "factor", "not positive definite", "solve",
]
FOLDS = "stablehlo-aggressive-simplification,canonicalize,cse"


def drawn_ops():
    return e.names() | s.names() | n.names() | g.names() | m.names() | o.names()


def generate(seed):
    if seed >= GRAPHS:
        return graphs.graph(seed)
    d = Draw(seed) if seed < LARGE else LargeDraw(seed)
    at = seed % len(PATTERN)
    if seed % LONG == LONG - 1 and seed < LARGE:
        return g.long_sum(d, seed // LONG).note()
    turn = seed // len(PATTERN) * PATTERN.count(PATTERN[at]) + OCCURRENCE[at]
    case = PATTERN[at](d, turn).note()
    if d.chance(0.3 if seed < LARGE else 0.05):
        case.folded = tuple(i for i in case.constants if d.chance(0.7))
    if case.folded:
        case.features.add("folded")
    return case


# ---- a worker: a process that says what it is at, a line of JSON each ----


class Worker:
    def __init__(self, build, out, keep):
        os.environ["JAX_PLATFORMS"] = "cpu"
        os.environ.setdefault("JAX_ENABLE_X64", "1")
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        import single_compare
        import single_exact
        import single_run
        self.exact = single_exact.exact
        self.compare, self.refused = single_compare, single_run.Refused
        self.evaluator = single_run.Evaluator()  # forks before there are threads
        self.ours = single_run.Terrazzo(build)
        self.interpreter, self.xla = single_run.Interpreter(), None
        self.make_xla = single_run.Xla
        self.build, self.out, self.keep = build, out, keep

    def say(self, **what):
        self.out.write(json.dumps(what) + "\n")
        self.out.flush()

    def oracle(self, name, seed, skip, text, args, results, legalize=""):
        """The oracle's results; None where it is not to be asked, or dies of this."""
        if name in skip:
            return None
        self.say(at=seed, stage=name)
        if name == "interpreter":
            values = self.evaluator.run(text, args, results, legalize)
            if values is None:
                skip.append(name)
            return values
        self.xla = self.xla or self.make_xla()
        return self.xla.run(text, [v for _, v in args], results)

    def check(self, seed, case, skip):
        """One seed: a word for how it went, and what is wrong."""
        text = case.text()
        self.say(at=seed, stage="legal")
        try:
            if "!quant" not in text:  # a dialect that jaxlib does not register
                self.interpreter.legal(text)
        except self.refused as error:
            return "illegal", str(error)
        self.say(at=seed, stage="ours")
        try:
            got = self.ours.run(text, [v for _, v in case.args], case.results)
        except self.refused as error:
            return "refused", str(error)[:400]
        if case.known:
            bad = self.compare.known_problem(got, case.known, case.results, case.rule)
            return ("wrong", bad) if bad else ("right", "")
        known = case.plain or case
        word, why = self.compared(seed, known, known.text(), got, skip)
        if word != "wrong" and case.folded:
            self.say(at=seed, stage="folded")
            bad = self.folds(case, got)
            if bad:
                return "wrong", "folded: " + bad
        return word, why

    def compared(self, seed, case, text, got, skip):
        """Asks one oracle after the other until each element is that of one of them."""
        good, notes = None, []
        sums = case.rule[0] == "sum"
        for name in ("interpreter", "xla"):
            if not (case.interpreter or sums if name == "interpreter" else case.xla):
                continue
            try:
                if sums:
                    size = ask = None
                    wide = self.wide(case)
                    ask = self.oracle(name, seed, skip, *wide[0], case.legalize)
                    size = ask and self.oracle(name, seed, skip, *wide[1], case.legalize)
                    want = ask
                    these = ask and self.compare.sum_masks(got, ask, size, case.results, case.rule)
                else:
                    want = self.oracle(name, seed, skip, text, case.args, case.results,
                                       case.legalize)
                    these = want and self.compare.masks(got, want, case.results, case.rule)
                    if want and case.nudge and name == "interpreter":
                        these = self.nudged(seed, case, skip, text, got, want, these)
            except self.refused as error:
                notes.append(f"{name} refuses: {error}")
                continue
            if want is None:
                continue
            bad = self.compare.describe(these, got, want)
            if bad:
                notes.append(f"{name}: {bad}")
            good = these if good is None else [a | b for a, b in zip(good, these)]
            if all(mask.all() for mask in good):
                differ = any(" refuses: " not in note for note in notes)
                return ("oracles differ" if differ else "right"), "; ".join(notes)
        if case.nudge and good is not None and "interpreter" not in skip:
            try:  # the formula in f64
                exact = self.oracle("interpreter", seed, skip, *self.wide(case)[0], case.legalize)
                if exact is None:
                    raise self.refused("it dies")
                near = [v.astype(w.dtype) for v, w in zip(exact, got)]
                these = self.compare.masks(got, near, case.results, case.rule)
                good = [a | b for a, b in zip(good, these)]
                if all(mask.all() for mask in good):
                    return "oracles differ", "; ".join(notes)
            except self.refused as error:
                notes.append(f"in f64: {error}")
        if case.rule[0] in ("ulps", "exact"):
            near, known = self.exact(case, got)
            these = self.compare.masks(got, near, case.results, case.rule)
            these = [b & k.reshape(k.shape + (1,) * (b.ndim - k.ndim))
                     for b, k in zip(these, known)]
            if good is not None:
                good = [a | b for a, b in zip(good, these)]
            elif all(k.all() for k in known):
                good = these
            if good and all(mask.all() for mask in good):
                return "oracles differ", "; ".join(notes)
        if sums and good is not None:  # what the types round to, and where they overflow
            for name in ("interpreter", "xla"):
                if name == "interpreter" and not case.interpreter:
                    continue
                try:
                    want = self.oracle(name, seed, skip, text, case.args, case.results,
                                       case.legalize)
                except self.refused as error:
                    notes.append(f"{name} refuses: {error}")
                    continue
                if want:
                    these = self.compare.masks(got, want, case.results, ("ulps", 1))
                    good = [a | b for a, b in zip(good, these)]
                    if all(mask.all() for mask in good):
                        return "oracles differ", "; ".join(notes)
                    notes.append(f"{name}, narrow: {self.compare.describe(these, got, want)}")
        return ("no oracle" if good is None else "wrong"), "; ".join(notes)

    def wide(self, case):
        """A case of sums in f64, and with the arguments' absolute values: texts, arguments, result
        types."""
        import numpy as np
        text = re.sub(r", algorithm = #stablehlo.dot_algorithm<[^>]*>", "", case.text())
        text = re.sub(r"(tensor<[0-9x]*)(?:f32|f16|bf16|f8\w+|f4\w+)>", r"\1f64>",
                      text.replace("complex<f32>", "complex<f64>"))
        to = {"c": "complex<f64>", "f": "f64", "b": "f64"}
        kinds = {"c": np.complex128, "f": np.float64, "b": np.float64}
        args = [(to.get(t[0], t), v.astype(kinds.get(t[0], v.dtype))) for t, v in case.args]
        least = np.finfo(np.float64).tiny  # XLA takes less as 0, and its product with inf as NaN
        known = lambda v: np.nan_to_num(v, nan=0, posinf=np.inf, neginf=-np.inf)  # part by part
        size = lambda v: np.where(v == 0, 0, np.maximum(np.abs(known(v)), least)).astype(v.dtype)
        sizes = [(t, size(v) if t[0] in to else v) for t, v in args]
        results = [(to.get(t[0], t), dims) for t, dims in case.results]
        return (text, args, results), (text, sizes, results)

    def nudged(self, seed, case, skip, text, got, want, these):
        """Also right: what a function has nearby, where a last place of its argument matters."""
        import numpy as np
        if all(mask.all() for mask in these):
            return these
        variants = [want]
        for way in (np.inf, -np.inf):
            args = [(t, self.compare.nudge(v, way) if i in case.nudge else v)
                    for i, (t, v) in enumerate(case.args)]
            variants.append(self.oracle("interpreter", seed, skip, text, args, case.results,
                                        case.legalize) or want)
        near = self.compare.between(got, variants, case.results, case.rule)
        return [a | b for a, b in zip(these, near)]

    def folds(self, case, got):
        """What constants instead of arguments change, or None."""
        text = case.text(case.folded)
        values = [v for i, (_, v) in enumerate(case.args) if i not in case.folded]
        rule = ("ulps", case.rule[1] + 2) if case.rule[0] == "sum" else case.rule
        try:
            for source in (text, self.ours.passes(text, FOLDS)):
                again = self.ours.run(source, values, case.results)
                bad = self.compare.describe(
                    self.compare.masks(again, got, case.results, rule), again, got)
                if bad:
                    return bad
        except self.refused as error:
            return "refused: " + str(error)[:400]
        return None

    def save(self, seed, case, word, why):
        if not self.keep:
            return
        import numpy as np
        folder = pathlib.Path(self.keep) / str(seed)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "module.mlir").write_text(case.text())
        if case.folded:
            (folder / "folded.mlir").write_text(case.text(case.folded))
        (folder / "why.txt").write_text(f"{case.op}: {word}: {why}\n")
        for i, (_, v) in enumerate(case.args):
            np.save(folder / f"in_{i}.npy", v)

    def seeds(self, seeds, skip):
        for seed in seeds:
            self.say(at=seed, stage="generate")
            case = generate(seed)
            try:
                word, why = self.check(seed, case, skip.get(str(seed), []))
            except Exception:
                word, why = "wrong", "harness: " + traceback.format_exc()[-800:]
            if word in ("wrong", "refused", "illegal"):
                self.save(seed, case, word, why)
            self.say(seed=seed, op=case.op, word=word, why=why, features=sorted(case.features))


def worker_main(options):
    with os.fdopen(options.worker, "w") as out:
        Worker(options.build, out, options.keep).seeds(
            json.loads(options.seeds), json.loads(options.skip))
    os._exit(0)  # the libraries' own ends need not be waited for


# ---- the parent ----


class Tally:
    def __init__(self):
        self.words, self.ops, self.features = (collections.Counter() for _ in range(3))
        self.by_op = collections.defaultdict(collections.Counter)
        self.bad, self.differ = [], []

    def add(self, record):
        word, op = record["word"], record["op"]
        self.words[word] += 1
        self.ops[op] += 1
        self.by_op[word][op] += 1
        self.features.update(record["features"])
        line = f"{record['seed']}: {op}: {word}: {record['why']}"
        if word in ("wrong", "refused", "illegal", "crash"):
            self.bad.append(line)
        elif word != "right":
            self.differ.append(line)

    def report(self):
        counts = lambda c: ", ".join(f"{k} {v}" for k, v in sorted(c.items()))
        lines = ["ops: " + counts(self.ops),
                 "features: " + ", ".join(f"{f} {self.features[f]}" for f in FEATURES)]
        lines += [f"{word}, by op: {counts(ops)}" for word, ops in sorted(self.by_op.items())
                  if word != "right"]
        never = sorted(drawn_ops() - set(self.ops)) + [f for f in FEATURES if not self.features[f]]
        lines.append("never drawn: " + (", ".join(never) or "nothing"))
        lines.append(f"{sum(self.words.values())} modules: " + counts(self.words))
        return "\n".join(lines)


def read_lines(process, stream):
    """What a worker says, until it ends or is silent for too long."""
    import select
    buffer = b""
    while True:
        ready, _, _ = select.select([stream], [], [], TIME_LIMIT)
        chunk = os.read(stream, 1 << 16) if ready else b""
        if not chunk:
            process.kill()
            return
        buffer += chunk
        *whole, buffer = buffer.split(b"\n")
        yield from map(json.loads, whole)


def run(seeds, build, keep="", told=None):
    """The tally of these seeds; `told` is called with every record."""
    tally, skip, seeds = Tally(), {}, list(seeds)
    while seeds:
        batch = seeds[:BATCH]
        rest = len(seeds) - len(batch)
        receive, send = os.pipe()
        command = [sys.executable, __file__, "0", "0", "--build", str(build), "--keep", str(keep),
                   "--worker", str(send), "--seeds", json.dumps(batch), "--skip", json.dumps(skip)]
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(command, pass_fds=[send], stderr=errors)
            os.close(send)
            at, stage = None, ""
            for line in read_lines(process, receive):
                if "stage" in line:
                    at, stage = line["at"], line["stage"]
                else:
                    tally.add(line)
                    if told:
                        told(line)
                    seeds = seeds[1:]
            os.close(receive)
            code = process.wait()
            errors.seek(0)
            last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
        if len(seeds) == rest:
            continue
        if at != seeds[0]:
            raise RuntimeError(f"the worker does not start: exit status {code}: {last}")
        if stage in ("interpreter", "xla") and stage not in skip.get(str(at), []):
            skip.setdefault(str(at), []).append(stage)
            continue
        case = generate(at)
        tally.add(dict(seed=at, op=case.op, word="crash", why=f"{stage}: {code}: {last}",
                       features=sorted(case.features)))
        seeds = seeds[1:]
    return tally


def merged(tallies):
    total = Tally()
    for t in tallies:
        total.words += t.words
        total.ops += t.ops
        total.features += t.features
        for word, ops in t.by_op.items():
            total.by_op[word] += ops
        total.bad += t.bad
        total.differ += t.differ
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--build", default=str(HERE.parent.parent / "build"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", default=os.path.join(tempfile.gettempdir(), "terrazzo-single"))
    parser.add_argument("--op", default="", help="only seeds of ops whose name contains this")
    parser.add_argument("--show", action="store_true", help="print the modules; run nothing")
    parser.add_argument("--differ", action="store_true", help="list where the oracles differ")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--seeds", help=argparse.SUPPRESS)
    parser.add_argument("--skip", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        worker_main(options)
    seeds = [i for i in range(options.first, options.last)
             if not options.op or options.op in generate(i).op]
    if options.show:
        print("".join(f"// {i}: {sorted(generate(i).features)}\n{generate(i).text()}"
                      for i in seeds))
        return 0
    import concurrent.futures
    shares = [seeds[i::options.jobs] for i in range(options.jobs)]
    shown = lambda r: r["word"] in ("wrong", "refused", "illegal", "crash") and print(
        f"{r['seed']}: {r['op']}: {r['word']}: {r['why']}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        total = merged(pool.map(lambda share: run(share, options.build, options.keep, shown),
                                shares))
    if options.differ:
        print("\n".join(total.differ))
    if total.bad:
        print(f"modules and arguments are in {options.keep}")
    report = total.report()
    print(report.splitlines()[-1] if options.op else report)
    return len(total.bad) != 0


if __name__ == "__main__":
    sys.exit(main())
