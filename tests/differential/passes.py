"""Generic passes compared with real MLIR (jaxlib's bindings), text for text.

    python tests/differential/passes.py [--bin PROGRAM] [--passes a,b] [--seeds N] [FILE...]

Every FILE, or N random modules, goes through each pass in both, and the printed modules must be
identical. What MLIR refuses is left out. Calls are not compared under -inline: jaxlib does not
register what makes func.call inlinable."""

import argparse
import os
import random
import subprocess
import sys

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import stablehlo

from shardy import first_difference

stablehlo.register_stablehlo_passes()
PASSES = {
    "canonicalize": "canonicalize",
    "nested": "func.func(canonicalize)",
    "cse": "cse",
    "both": "cse,canonicalize,cse",
    "bottom-up": "canonicalize{top-down=false}",
    "once": "canonicalize{max-iterations=1}",
    "symbol-dce": "symbol-dce",
    "strip": "strip-debuginfo",
    "inline": "inline",
    "chlo": "func.func(chlo-legalize-to-stablehlo)",
    "complex": "func.func(stablehlo-complex-math-expander)",
    "deprecated": "func.func(stablehlo-legalize-deprecated-ops{fail-on-unused=false})",
}


def theirs(source, pipeline, debuginfo=False):
    """The printed module, or None where MLIR reports an error."""
    context = jax_mlir.make_ir_context()
    context.attach_diagnostic_handler(lambda diagnostic: True)
    with context:
        try:
            module = ir.Module.parse(source)
            passmanager.PassManager.parse(f"builtin.module({pipeline})").run(module.operation)
        except Exception:
            return None
        return module.operation.get_asm(enable_debug_info=debuginfo).rstrip("\n") + "\n"


def ours(binary, source, pipeline, debuginfo=False):
    """The printed module, or what went wrong."""
    command = [binary, "opt", "-", f"--pass-pipeline=builtin.module({pipeline})"]
    run = subprocess.run(command + ["-mlir-print-debuginfo"] * debuginfo, input=source,
                         capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else f"error: {run.stderr}"


class Writer:
    """A random function of tensors <4xf32>: constants, equal ops, dead ops, regions, calls."""

    UNARY = ["negate", "abs", "tanh", "sine"]
    BINARY = ["add", "multiply", "subtract", "maximum"]
    TYPE = "tensor<4xf32>"

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0
        self.lines = []

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def emit(self, depth, text):
        self.lines.append("  " * depth + text)

    def op(self, depth, values):
        pick, t = self.random.choice, self.TYPE
        kind = self.random.randrange(100)
        v, a, b = self.name(), pick(values), pick(values)
        if kind < 25:
            self.emit(depth, f"{v} = stablehlo.{pick(self.UNARY)} {a} : {t}")
        elif kind < 50:
            self.emit(depth, f"{v} = stablehlo.{pick(self.BINARY)} {a}, {b} : {t}")
        elif kind < 70:
            self.emit(depth, f"{v} = stablehlo.constant dense<{pick([1, 2, 3])}.0> : {t}")
        elif kind < 74:
            effect = pick(["", " {has_side_effect = true}"])
            self.emit(depth, f"{v} = stablehlo.custom_call @f({a}){effect} : ({t}) -> {t}")
        elif kind < 78:
            self.emit(depth, f"{v} = sdy.constant dense<{pick([1, 2])}.0> : {t}")
        elif kind < 82:
            self.emit(depth, f"{v} = stablehlo.optimization_barrier {a} : {t}")
        elif kind < 86:
            self.emit(depth, f"{v} = func.call @callee({a}) : ({t}) -> {t}")
        elif kind < 92:
            self.reduce(depth, v, a)
        elif depth < 4:
            self.region(depth, v, values)
        else:
            return
        values.append(v)

    def reduce(self, depth, v, a):
        k, r = self.name(), self.name()
        self.emit(depth, f"{k} = stablehlo.constant dense<0.0> : tensor<f32>")
        self.emit(depth, f"{r} = stablehlo.reduce({a} init: {k}) applies "
                  f"stablehlo.{self.random.choice(['add', 'maximum'])} across dimensions = [0]"
                  f" : (tensor<4xf32>, tensor<f32>) -> tensor<f32>")
        self.emit(depth, f"{v} = stablehlo.broadcast_in_dim {r}, dims = [] : "
                  f"(tensor<f32>) -> {self.TYPE}")

    def body(self, depth, values):
        inner = list(values)
        for _ in range(self.random.randrange(5)):
            self.op(depth, inner)
        self.emit(depth, f"stablehlo.return {self.random.choice(inner)} : {self.TYPE}")

    def region(self, depth, v, values):
        t, kind = self.TYPE, self.random.randrange(3)
        if kind == 2:  # while
            x, y = self.name(), self.name()
            self.emit(depth, f"{v} = stablehlo.while({x} = {self.random.choice(values)}) : {t}")
            self.emit(depth, " cond {")
            self.emit(depth + 1, f"{y} = stablehlo.constant dense<false> : tensor<i1>")
            self.emit(depth + 1, f"stablehlo.return {y} : tensor<i1>")
            self.emit(depth, "} do {")
            self.body(depth + 1, values + [x])
            self.emit(depth, "}")
            return
        index = "%index" if self.random.random() < 0.7 else self.name()
        if index != "%index":
            k = self.random.randrange(-1, 4)
            self.emit(depth, f"{index} = stablehlo.constant dense<{k}> : tensor<i32>")
        self.emit(depth, f'{v} = "stablehlo.case"({index}) ({{')
        for k in range(2):
            self.body(depth + 1, values)
            self.emit(depth, "}, {" if k == 0 else f"}}) : (tensor<i32>) -> {t}")

    def function(self, head, args):
        values = list(args)
        self.emit(1, head)
        for _ in range(self.random.randrange(4, 30)):
            self.op(2, values)
        self.emit(2, f"return {self.random.choice(values)} : {self.TYPE}")
        self.emit(1, "}")


def random_module(seed):
    w, t = Writer(seed), Writer.TYPE
    w.function(f"func.func public @main(%a: {t}, %b: {t}, %index: tensor<i32>) -> {t} {{",
               ["%a", "%b"])
    for name in "callee", "unused":
        w.emit(1, f"func.func private @{name}(%a: {t}) -> {t} {{")
        w.emit(2, f"%k = stablehlo.constant dense<1.0> : {t}")
        w.emit(2, f"%r = stablehlo.add %k, %a : {t}")
        w.emit(2, f"return %r : {t}")
        w.emit(1, "}")
    return "\n".join(["module {"] + w.lines + ["}", ""])


UNARY = ("acos acosh asin asinh atan atanh bessel_i1e conj cosh digamma erf erf_inv erfc is_inf "
         "is_neg_inf is_pos_inf lgamma sinh square tan").split()
REAL_ONLY = {"bessel_i1e", "digamma", "erf", "erf_inv", "erfc", "is_inf", "is_neg_inf",
             "is_pos_inf", "lgamma"}
BINARY = "next_after polygamma zeta".split()
BROADCAST = ("add atan2 divide maximum minimum multiply next_after polygamma power remainder "
             "subtract zeta").split()
SHAPES = [("4x", "4x", "4x"), ("3x4x", "4x", "3x4x"), ("", "4x", "4x"), ("3x1x", "1x4x", "3x4x")]


def function(name, args, result, body):
    head = ", ".join(f"%a{k}: {t}" for k, t in enumerate(args))
    return f"func.func @{name}({head}) -> ({result}) {{\n  {body}\n}}"


def chlo_functions():
    """Every op of chlo that is a formula, for every type that it has one for; and others."""
    for t in "f32", "f64", "f16", "bf16", "complex<f32>", "complex<f64>":
        for op in UNARY:
            if t.startswith("complex") and op in REAL_ONLY:
                continue
            x = f"tensor<3x{t}>"
            r = "tensor<3xi1>" if op.startswith("is_") else x
            yield function(op, [x], r, f"%0 = chlo.{op} %a0 : {x} -> {r}\n  return %0 : {r}")
        for op in BINARY if not t.startswith("complex") else []:
            x = f"tensor<{t}>"
            yield function(op, [x, x], x,
                           f"%0 = chlo.{op} %a0, %a1 : {x}, {x} -> {x}\n  return %0 : {x}")
    for op in BROADCAST:
        for shapes in SHAPES:
            x, y, r = (f"tensor<{d}f32>" for d in shapes)
            yield function(op, [x, y], r, f"%0 = chlo.broadcast_{op} %a0, %a1 : ({x}, {y}) -> {r}"
                           f"\n  return %0 : {r}")
    for t in "f32", "i32":
        x, r = f"tensor<3x8x{t}>", f"tensor<3x2x{t}>, tensor<3x2xi32>"
        yield function("top_k", [x], r, f"%0:2 = chlo.top_k(%a0, k = 2) : {x} -> ({r})"
                       f"\n  return %0#0, %0#1 : {r}")


def complex_functions():
    for t in "f32", "f64":
        x = f"tensor<2xcomplex<{t}>>"
        for op in "log", "log_plus_one", "sqrt", "exponential":
            yield function(op, [x], x, f"%0 = stablehlo.{op} %a0 : {x}\n  return %0 : {x}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("TERRAZZO_BIN", "build/bin") + "/terrazzo")
    parser.add_argument("--passes", default=",".join(PASSES))
    parser.add_argument("--seeds", type=int, default=0, metavar="N", help="N random modules")
    parser.add_argument("--debuginfo", action="store_true", help="compare locations as well")
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()
    sources = [(f, open(f).read()) for f in options.files]
    sources += [(f"seed {k}", random_module(k)) for k in range(options.seeds)]
    same = different = refused = 0
    for where, source in sources:
        for name in options.passes.split(","):
            pipeline = PASSES.get(name, name)
            if "call @" in source and "inline" in pipeline:
                continue
            want = theirs(source, pipeline, options.debuginfo)
            if want is None:
                refused += 1
                continue
            got = ours(options.bin, source, pipeline, options.debuginfo)
            same += want == got
            if want != got:
                different += 1
                print(f"{where}, {name}: {first_difference(want, got)}", flush=True)
    print(f"{same} passed, {different} failed, {refused} skipped")
    return different != 0


if __name__ == "__main__":
    sys.exit(main())
