"""Random manual computations on many devices, compared with a simulation of every device.

    python tests/differential/manual.py FIRST LAST [--jobs N] [--keep DIR] [--forms a,b]

Seeds FIRST to LAST - 1 each make a module (manual_module.py); all numbers in it are whole, so the
results must be equal. It goes in as text, as the bytecode that a plugin receives, or in the form
with custom calls that JAX exports. Prints each module that is wrong, refused or ends its process
(--keep keeps it), how often each op and feature was drawn, and `N passed, N failed, N skipped`."""

import argparse
import collections
import pathlib
import random
import sys

import numpy as np
from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib import _jax
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from ml_dtypes import bfloat16

from inprocess import Died, Refused, Terrazzo, in_children, table
from manual_module import Maker
from manual_ops import Ops
from manual_values import EXACT, GROUPINGS, REDUCERS

FORMS = ("text", "bytecode", "custom calls")


def serialized(text, mixed):
    """What JAX hands to a plugin; sdy as it is, or (not mixed) as custom calls."""
    version = stablehlo.get_version_from_compatibility_requirement(
        stablehlo.StablehloCompatibilityRequirement.WEEK_12)
    with jax_mlir.make_ir_context():
        return _jax.mlir.serialize_portable_artifact(ir.Module.parse(text), version, mixed)


def as_element(array, element):
    return array.astype({"bf16": bfloat16, "f16": np.float16}.get(element, array.dtype))


class Answer(collections.namedtuple("Answer", "problem form ops features")):
    """problem: None, or what is wrong."""


class Runner:
    """What a child keeps from job to job."""

    def __init__(self, forms=FORMS):
        self.terrazzo, self.forms = None, forms

    def seed(self, seed, note):
        maker = Maker(seed)
        form = random.Random(-seed).choices(FORMS, [6, 1, 2])[0]
        form = form if form in self.forms else self.forms[0]
        return Answer(self.problem(maker, form, note), form, maker.ops, maker.features)

    def problem(self, maker, form, note):
        self.terrazzo = self.terrazzo or Terrazzo()
        text, inputs = maker.text(), maker.inputs()
        note("in jaxlib")
        source = text if form == "text" else serialized(text, form == "bytecode")
        note(f"as {form}")
        given = [as_element(a, v.element) for a, v in zip(inputs, maker.arguments)]
        try:
            got = self.terrazzo.run(source, given)
        except Refused as error:
            return f"as {form}: {str(error)[:400]}"
        wrong = [f"result {k} ({v.type}): {count} of {w.size} differ"
                 for k, (v, w, g) in enumerate(zip(maker.results, maker.expected(inputs), got))
                 if (count := int((w != g.astype(w.dtype)).sum()))]
        return f"as {form}: {', '.join(wrong)}" if wrong else None


class Totals:
    def __init__(self, keep=None):
        self.keep, self.passed, self.failed = keep and pathlib.Path(keep), 0, 0
        self.ops, self.features, self.forms = (collections.Counter() for _ in range(3))

    def add(self, seed, answer):
        died = isinstance(answer, Died)
        if not died:
            self.ops.update(answer.ops)
            self.features.update(answer.features)
            self.forms[answer.form] += 1
        if not died and answer.problem is None:
            self.passed += 1
            return
        self.failed += 1
        print(f"seed {seed}: {answer if died else answer.problem}", flush=True)
        if self.keep:
            self.keep.mkdir(exist_ok=True)
            (self.keep / f"manual_{seed}.mlir").write_text(Maker(seed).text())

    def __str__(self):
        features = [f"groups: {g}" for g in GROUPINGS] + [f"reducer: {r}" for r in REDUCERS]
        features += [*EXACT, *(f"{n} devices" for n in range(2, 13)), "free axes", "sub-axes",
                     "shuffled devices", "manual at depth 2", "permutes to a few",
                     "broadcasts to a few", "reducer by select",
                     "no groups listed", "several operands", "another mesh", "while inside manual",
                     "call inside manual"]
        return "\n".join([table("ops", self.ops, Ops.STEPS),
                          table("features", self.features, features),
                          table("forms", self.forms, FORMS),
                          f"{self.passed} passed, {self.failed} failed, 0 skipped"])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--forms", default=",".join(FORMS))
    options = parser.parse_args()
    totals = Totals(options.keep)
    runner = Runner(options.forms.split(","))
    for seed, answer in in_children(runner.seed, range(options.first, options.last), options.jobs):
        totals.add(seed, answer)
    print(totals)
    return totals.failed != 0


if __name__ == "__main__":
    sys.exit(main())
