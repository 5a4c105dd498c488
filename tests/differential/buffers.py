"""Random graphs as JAX runs them: parameters and results in other layouts, donated or kept, against
the same graph without all that. What the caller keeps has to be as it was.

    JAX_PLATFORMS=terrazzo JAX_ENABLE_X64=1 python tests/differential/buffers.py FIRST LAST

A seed is a graph of single.py's (graphs.py). It runs as it is, and three times with layouts,
donations and aliases drawn for it; results must be the same bits. At the end it prints how often
each of these was drawn, and exits with 1 if anything is wrong."""

import collections
import random
import re
import sys

import graphs
import jax
import numpy as np
from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib import xla_client
from jax.experimental.layout import Format, Layout
from jax.sharding import SingleDeviceSharding
from jaxlib.mlir import ir
from single_compare import is_nan, raw

TENSOR = r"tensor<(?:[^<>]|<[^>]*>)*>"
MAIN = re.compile(r"func.func public @main\((.*?)\) -> \((.*)\) \{\n")
ROUNDS = 3


class Jax:
    """Modules on the first device."""

    def __init__(self):
        self.device = jax.devices()[0]
        self.context = jax_mlir.make_ir_context()
        self.options = xla_client.CompileOptions()
        self.options.num_replicas = self.options.num_partitions = 1

    def compile(self, text):
        with self.context, ir.Location.unknown():
            module = jax_mlir.module_to_bytecode(ir.Module.parse(text))
        return self.device.client.compile_and_load(
            module, xla_client.DeviceList((self.device,)), self.options)

    def put(self, v, order=None):
        if order is None:
            return jax.device_put(v, self.device)
        return jax.device_put(v, Format(Layout(tuple(order)), SingleDeviceSharding(self.device)))

    @staticmethod
    def run(program, args):
        out = program.execute_sharded(args).disassemble_into_single_device_arrays()
        return [np.asarray(v[0]) for v in out]


def same(a, b):
    """Bit by bit, but that a NaN is a NaN."""
    if a.dtype.kind not in "fcV":
        return np.array_equal(a, b)
    equal = (raw(a) == raw(b)).reshape(*a.shape, 1 + (a.dtype.kind == "c")).all(-1)
    return bool((equal | (is_nan(a) & is_nan(b))).all())


class Wishes:
    """What is asked of a graph's parameters and results."""

    def __init__(self, seed, args, results, drawn):
        self.r, self.drawn = random.Random(seed), drawn
        self.orders, self.donated, self.taken = [], [], set()
        self.params = [self.of_parameter(a, results) for a in args]
        self.results = [self.of_result(a) for a in results]

    def order(self, rank):
        return self.r.sample(range(rank), rank)

    def of_parameter(self, a, results):
        wishes, order = [], None
        if a.ndim > 1 and self.r.random() < 0.4:
            order = self.order(a.ndim)
            wishes.append(f'mhlo.layout_mode = "{{{",".join(map(str, order[::-1]))}}}"')
        donated = self.r.random() < 0.4
        fits = [k for k, b in enumerate(results)
                if (b.dtype, b.size) == (a.dtype, a.size) and k not in self.taken]
        if donated and fits and self.r.random() < 0.5:
            self.taken.add(k := self.r.choice(fits))
            wishes.append(f"tf.aliasing_output = {k} : i32")
        elif donated:
            wishes.append("jax.buffer_donor = true")
        self.orders.append(order)
        self.donated.append(donated)
        self.drawn.update({"layouts": bool(order), "donated": donated, "kept": not donated})
        return wishes

    def of_result(self, a):
        if a.ndim < 2 or self.r.random() < 0.4:
            return []
        mode = "auto"
        if self.r.random() < 0.5:
            mode = f"{{{','.join(map(str, self.order(a.ndim)))}}}"
        self.drawn.update(["results anyhow" if mode == "auto" else "layouts of results"])
        return [f'mhlo.layout_mode = "{mode}"']

    def write(self, text):
        """The module with all of it."""
        head = MAIN.search(text)
        given = lambda found, wishes: ", ".join(
            t + (f" {{{', '.join(w)}}}" if w else "") for t, w in zip(found, wishes, strict=True))
        params = given(re.findall(rf"%arg\d+: {TENSOR}", head[1]), self.params)
        results = given(re.findall(TENSOR, head[2]), self.results)
        return text.replace(head[0], f"func.func public @main({params}) -> ({results}) {{\n")


def check(seed, on, drawn):
    """What is wrong, or None."""
    case = graphs.graph(seed)
    text, args = case.text(), [v for _, v in case.args]
    want = on.run(on.compile(text), [on.put(v) for v in args])
    wishes = Wishes(seed, args, want, drawn)
    program = on.compile(wishes.write(text))
    for _ in range(ROUNDS):
        given = [on.put(v, order) for v, order in zip(args, wishes.orders)]
        for i, (a, b) in enumerate(zip(want, on.run(program, given))):
            if not same(a, b):
                return f"result {i} of shape {a.shape} differs"
        for i, (v, a) in enumerate(zip(args, given)):
            if not wishes.donated[i] and not same(v, np.asarray(a)):
                return f"argument {i} is not what it was"
    return None


def main(first, last):
    on, drawn, wrong = Jax(), collections.Counter(), 0
    for seed in range(first, last):
        problem = check(seed, on, drawn)
        if problem:
            wrong += 1
            print(f"seed {seed}: {problem}", flush=True)
    print("drawn: " + ", ".join(f"{name} {n}" for name, n in sorted(drawn.items())))
    print(f"{last - first - wrong} right, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
