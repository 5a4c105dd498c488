"""What a program computes after each stage of real Shardy: the same.

    python tests/differential/stages.py FOLDER...
    python tests/differential/stages.py --seeds FIRST:LAST [--jobs N] [--keep DIR]

jaxlib's passes bring a program to a stage, and Terrazzo runs that. A FOLDER holds a program as
tests/corpus does: it goes through all stages, and the results must be the recorded ones. A seed is
a random module at one stage, each seed at another: of manual_module.py, and of sharded.py, whose
unsharded form then says what is right. What Shardy refuses, or dies of, is left out. Prints every
difference (--keep keeps the module), and how often each stage, op and collective occurred."""

import argparse
import collections
import json
import pathlib
import re
import sys

import numpy as np

import manual_module
import sharded
from inprocess import Died, Refused, Terrazzo, in_children, table
from manual import as_element
from sharded_values import differs

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "corpus"))
from compare import difference  # noqa: E402

IMPORT = ("sdy-import-pipeline,sdy-flatten-call-graph,symbol-dce,"
          "sdy-import-func-calls{add-data-flow-edges-on-named-computations=true},symbol-dce,"
          "sdy-apply-sharding-constraints,sdy-sharding-group-import")
PROPAGATE = (f"{IMPORT},sdy-pre-order-funcs,"
             "sdy-user-priority-propagate{keep-sharding-rules=true},"
             "sdy-export-named-computations,sdy-propagate-to-func-results,sdy-unflatten-call-graph,"
             "symbol-dce,sdy-insert-func-call-reshards")
RESHARD = "func.func(sdy-insert-explicit-reshards{enable-full-version=true})"
STAGES = {
    "source": "",
    "imported": IMPORT,
    "propagated": "sdy-propagation-pipeline",
    "basic": f"{IMPORT},sdy-basic-propagate",
    "aggressive": f"{IMPORT},sdy-aggressive-propagate",
    "resharded": f"sdy-propagation-pipeline,{RESHARD}",
    "collectives": f"sdy-propagation-pipeline,{RESHARD},func.func(sdy-reshard-to-collectives)",
    "exported": f"{PROPAGATE},sdy-export-pipeline{{enable-insert-explicit-collectives=true}}",
    "left": f"{PROPAGATE},sdy-export-pipeline{{avoid-export-for-partitioning=true}}",
}


def at_stage(source, stage):
    """The module's text there; None where Shardy reports an error."""
    from jax._src.interpreters import mlir as jax_mlir
    from jaxlib.mlir import ir, passmanager
    context = jax_mlir.make_ir_context()
    context.attach_diagnostic_handler(lambda diagnostic: True)
    with context:
        try:
            module = ir.Module.parse(source)
            passes = passmanager.PassManager.parse(f"builtin.module({STAGES[stage]})")
            passes.run(module.operation)
            module.operation.verify()
        except Exception:
            return None
        return module.operation.get_asm(large_elements_limit=None)


def takes_parts(text):
    """Whether an argument of main is parts of a sum. Shardy moves the unreduced axes of a
    constraint on it there; who calls that stage's program brings parts, and not whole arrays."""
    head = re.search(r"func\.func (?:public )?@main\((.*)\) ->", text)
    return bool(head) and "unreduced=" in head[1]


SDY = re.compile(r"\bsdy\.(?!sharding |sharding_rule|mesh|return)[a-z_]+(?= |\()")
SHOWN = ["sdy.all_gather", "sdy.all_reduce", "sdy.all_slice", "sdy.all_to_all",
         "sdy.collective_permute", "sdy.reduce_scatter", "sdy.reshard", "sdy.manual_computation",
         "sdy.sharding_constraint", "sdy.constant"]


def stage_of(seed):
    return list(STAGES)[seed % len(STAGES)]


class Runner:
    """What a child keeps from job to job."""

    def __init__(self):
        self.terrazzo = None

    def run(self, text, inputs, devices):
        self.terrazzo = self.terrazzo or Terrazzo()
        return self.terrazzo.run(text, inputs, devices)

    def folder(self, job, note):
        """"refused", None, or what is wrong with a program of the corpus."""
        path, stage = pathlib.Path(job[0]), job[1]
        note("in Shardy")
        text = at_stage((path / "global.mlir").read_text(), stage)
        if text is None:
            return "refused"
        note("in Terrazzo")
        meta = json.loads((path / "meta.json").read_text())
        try:
            got = self.run(text, [np.load(path / i["file"]) for i in meta["inputs"]], 8)
        except Refused as error:
            return str(error)
        for entry, value in zip(meta["outputs"], got):
            if entry["dtype"] == "bfloat16":
                value = value.view(np.uint16)
            problem = difference(entry, np.load(path / entry["file"]), value)
            if problem:
                return f"{entry['file']}: {problem}"
        return None


    def random(self, seed):
        """Text, inputs, how many devices; a function from results to what is wrong, ops."""
        if seed % 3 == 0:
            m = manual_module.Maker(seed)
            arrays = m.inputs()
            given = [as_element(a, v.element) for a, v in zip(arrays, m.arguments)]

            def wrong(got):
                return [f"result {k} ({v.type})"
                        for k, (v, w, g) in enumerate(zip(m.results, m.expected(arrays), got))
                        if (w != g.astype(w.dtype)).any()]
            return m.text(), given, m.devices, wrong, m.ops
        tally = sharded.Tally()
        m = sharded.make(seed, None, tally)
        while m.wild:  # of any numbers, whose sums are not the same in another order
            seed += 1 << 40
            tally = sharded.Tally()
            m = sharded.make(seed, None, tally)
        text, whole = m.texts()
        inputs = m.inputs()

        def wrong(got):
            want = self.run(whole, inputs, 1)
            return [f"result {k} ({v.type})"
                    for k, (v, w, g) in enumerate(zip(m.results, want, got))
                    if len(differs(w, g, v.element, v.near))]
        return text, inputs, m.devices, wrong, tally.ops

    def seed(self, job, note):
        """"refused", or what is wrong, the ops drawn and those of sdy that Shardy made of them."""
        seed, stage = job
        note("before")
        text, inputs, devices, wrong, ops = self.random(seed)
        note("in Shardy")
        source, text = text, at_stage(text, stage)
        if text is None or takes_parts(text) and not takes_parts(source):
            return "refused"
        note("in Terrazzo")
        try:
            problem = ", ".join(wrong(self.run(text, inputs, devices)))
        except Refused as error:
            problem = str(error)[:400]
        return problem, ops, collections.Counter(SDY.findall(text)), text if problem else None


class Totals:
    def __init__(self, keep=None):
        self.passed, self.failed, self.refused = 0, 0, 0
        self.keep = keep and pathlib.Path(keep)
        self.ran, self.ops, self.sdy = (collections.Counter() for _ in range(3))

    def add(self, job, answer):
        """Whether it is right."""
        if answer == "refused" or isinstance(answer, Died) and answer.endswith("in Shardy"):
            self.refused += 1
            return True
        text = None
        if isinstance(answer, tuple):
            problem, ops, sdy, text = answer
            self.ops.update(ops)
            self.sdy.update(sdy)
            answer = problem or None
        if answer is None:
            self.passed += 1
            self.ran[job[1]] += 1
            return True
        self.failed += 1
        print(f"{job[0]}, {job[1]}: {answer}", flush=True)
        if text and self.keep:
            self.keep.mkdir(exist_ok=True)
            (self.keep / f"stage_{job[0]}.mlir").write_text(text)
        return False

    def __str__(self):
        more = [table("ops", self.ops), table("in the text", self.sdy, SHOWN)] * bool(self.ops)
        return "\n".join([table("stages", self.ran, STAGES), *more, ""]) + (
                f"{self.passed} passed, {self.failed} failed, {self.refused} skipped")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--stages", help="some only, with commas between")
    parser.add_argument("--seeds", metavar="FIRST:LAST")
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    options = parser.parse_args()
    totals, runner = Totals(options.keep), Runner()
    wanted = options.stages.split(",") if options.stages else list(STAGES)
    jobs = [(path, stage) for path in options.folders for stage in wanted]
    for job, answer in in_children(runner.folder, jobs, options.jobs):
        totals.add(job, answer)
    if options.seeds:
        first, last = map(int, options.seeds.split(":"))
        jobs = ((seed, stage_of(seed)) for seed in range(first, last) if stage_of(seed) in wanted)
        for job, answer in in_children(runner.seed, jobs, options.jobs):
            totals.add(job, answer)
    print(totals)
    return totals.failed != 0


if __name__ == "__main__":
    sys.exit(main())
