"""Values of manual_module.py, and how a program of them is simulated."""
import functools
from typing import NamedTuple

import numpy as np


class Element(NamedTuple):
    dtype: type  # that the simulation uses
    limit: int   # whole numbers up to here are exact; 0: arithmetic wraps around


EXACT = {"i1": Element(np.bool_, 0), "i8": Element(np.int8, 0), "i32": Element(np.int32, 0),
         "i64": Element(np.int64, 0), "ui8": Element(np.uint8, 0), "ui32": Element(np.uint32, 0),
         "bf16": Element(np.float32, 1 << 8), "f16": Element(np.float32, 1 << 11),
         "f32": Element(np.float32, 1 << 24), "f64": Element(np.float64, 1 << 53)}

REDUCERS = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
            "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
GROUPINGS = ("axes", "shuffled", "uneven", "replicas", "everyone")


def tensor(shape, element):
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


def signature(operands, results, shapes):
    """Of an op whose results are like these but for the shapes."""
    outs = [tensor(s, v.element) for s, v in zip(shapes, results)]
    outs = f"({', '.join(outs)})" if len(outs) > 1 else outs[0]
    return f"({', '.join(v.type for v in operands)}) -> {outs}"


class Value(NamedTuple):
    name: str
    shape: tuple
    element: str
    vary: frozenset
    limit: int

    @property
    def type(self):
        return tensor(self.shape, self.element)


def grown(limit, by, times, kind):
    """The bound after `times` numbers below `limit` were combined."""
    if kind == "add":
        return limit * times
    return limit ** times if kind == "multiply" else limit


class Groups(NamedTuple):
    kind: str
    lists: list        # of places
    same: frozenset    # axes along which what everyone of a group has does not differ
    text: str          # attributes
    global_ids: bool   # and use_global_device_ids with them


def execute(program, env):
    for function, inputs, outputs in program:
        env.update(zip(outputs, function([env[n] for n in inputs])))


def shared(x, lists, function):
    """What a function makes of all of a group's rows, for everyone in it."""
    out = [None] * len(x)
    for group in lists:
        made = function([x[p] for p in group])
        for p in group:
            out[p] = made
    return np.stack(out)


def reduced(x, lists, kind):
    return shared(x, lists, lambda rows: functools.reduce(REDUCERS[kind], rows))
