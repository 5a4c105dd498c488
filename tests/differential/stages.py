"""What a program computes after each stage of real Shardy: the same.

    python tests/differential/stages.py FOLDER...

A FOLDER holds a program as tests/corpus does. jaxlib's passes bring it to each stage, Terrazzo runs
that, and the results must be the recorded ones. A stage that Shardy refuses, or dies of, is left
out. Prints every difference, and what was run how often."""

import argparse
import collections
import json
import pathlib
import sys

import numpy as np

from inprocess import Died, Refused, Terrazzo, in_children, table

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


class Totals:
    def __init__(self):
        self.passed, self.failed, self.refused = 0, 0, 0
        self.ran = collections.Counter()

    def add(self, job, answer):
        """Whether it is right."""
        if answer == "refused" or isinstance(answer, Died) and answer.endswith("in Shardy"):
            self.refused += 1
            return True
        if answer is None:
            self.passed += 1
            self.ran[job[1]] += 1
            return True
        self.failed += 1
        print(f"{job[0]}, {job[1]}: {answer}", flush=True)
        return False

    def __str__(self):
        return (table("stages", self.ran, STAGES) + "\n" +
                f"{self.passed} passed, {self.failed} failed, {self.refused} skipped")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--stages", default=",".join(STAGES))
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    options = parser.parse_args()
    totals = Totals()
    jobs = [(path, stage) for path in options.folders for stage in options.stages.split(",")]
    for job, answer in in_children(Runner().folder, jobs, options.jobs):
        totals.add(job, answer)
    print(totals)
    return totals.failed != 0


if __name__ == "__main__":
    sys.exit(main())
