"""What is wrong with an op, compared with MLIR: a valid op is changed a little at random (a type, a
number, an attribute or an operand left out), and both say why it is not valid any more.

    python tests/differential/verify.py [--bin PROGRAM] [--seed N] [--count N]

Prints each kind of difference with how often it came up, an example of it, and the share of ops on
which both agree."""

import argparse
import collections
import pathlib
import random
import re
import tempfile

import errors
import text
from random_rows import OTHERS

F23, F24, F34, SCALAR = "tensor<2x3xf32>", "tensor<2x4xf32>", "tensor<3x4xf32>", "tensor<f32>"
I32 = "tensor<i32>"
DOT = "dot_dimension_numbers = #stablehlo.dot<%s>"
CONV = ("dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, "
        "feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = "
        "array<i64: 1, 2>, padding = dense<[[1, 1], [0, 1]]> : tensor<2x2xi64>")
ROWS = OTHERS + [
    ("stablehlo.abs", [F23], [F23], "", [], ""),
    ("stablehlo.add", [F23, F23], [F23], "", [], ""),
    ("stablehlo.and", ["tensor<2xi1>", "tensor<2xi1>"], ["tensor<2xi1>"], "", [], ""),
    ("stablehlo.atan2", [F23, F23], [F23], "", [], ""),
    ("stablehlo.is_finite", [F23], ["tensor<2x3xi1>"], "", [], ""),
    ("stablehlo.complex", [F23, F23], ["tensor<2x3xcomplex<f32>>"], "", [], ""),
    ("stablehlo.real", ["tensor<2x3xcomplex<f32>>"], [F23], "", [], ""),
    ("stablehlo.convert", [F23], ["tensor<2x3xi8>"], "", [], ""),
    ("stablehlo.compare", [F23, F23], ["tensor<2x3xi1>"],
     "comparison_direction = #stablehlo<comparison_direction LT>", [], ""),
    ("stablehlo.select", ["tensor<2x3xi1>", F23, F23], [F23], "", [], ""),
    ("stablehlo.clamp", [SCALAR, F23, SCALAR], [F23], "", [], ""),
    ("stablehlo.iota", [], [F23], "iota_dimension = 1 : i64", [], ""),
    ("stablehlo.transpose", [F23], ["tensor<3x2xf32>"], "permutation = array<i64: 1, 0>", [], ""),
    ("stablehlo.reshape", [F23], ["tensor<6xf32>"], "", [], ""),
    ("stablehlo.broadcast", [F23], ["tensor<4x2x3xf32>"], "broadcast_sizes = array<i64: 4>", [],
     ""),
    ("stablehlo.broadcast_in_dim", [F23], ["tensor<4x2x3xf32>"],
     "broadcast_dimensions = array<i64: 1, 2>", [], ""),
    ("stablehlo.bitcast_convert", ["tensor<2xf32>"], ["tensor<2x4xi8>"], "", [], ""),
    ("stablehlo.concatenate", [F23, F24], ["tensor<2x7xf32>"], "dimension = 1 : i64", [], ""),
    ("stablehlo.slice", [F34], ["tensor<2x2xf32>"],
     "start_indices = array<i64: 0, 1>, limit_indices = array<i64: 2, 4>, "
     "strides = array<i64: 1, 2>",
     [], ""),
    ("stablehlo.dynamic_slice", [F34, I32, I32], ["tensor<2x2xf32>"],
     "slice_sizes = array<i64: 2, 2>", [], ""),
    ("stablehlo.dynamic_update_slice", [F34, "tensor<2x2xf32>", I32, I32], [F34], "", [], ""),
    ("stablehlo.pad", [F23, SCALAR], ["tensor<4x7xf32>"],
     "edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 1, 2>, "
     "interior_padding = array<i64: 0, 1>", [], ""),
    ("stablehlo.reverse", [F23], [F23], "dimensions = array<i64: 1>", [], ""),
    ("stablehlo.gather", ["tensor<3x4x2xf32>", "tensor<2x3x2xi64>"], ["tensor<2x3x2x2xf32>"],
     "dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], "
     "start_index_map = [1, 0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 2>", [], ""),
    ("stablehlo.scatter", ["tensor<3x4x2xf32>", "tensor<2x3x2xi64>", "tensor<2x3x2x2xf32>"],
     ["tensor<3x4x2xf32>"],
     "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], "
     "inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>", [],
     "add"),
    ("stablehlo.dot_general", ["tensor<2x3x4xf32>", "tensor<2x4x5xf32>"], ["tensor<2x3x5xf32>"],
     DOT % "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
     "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]", [], ""),
    ("stablehlo.dot", [F23, F34], [F24], "", [], ""),
    ("stablehlo.convolution", ["tensor<1x8x8x3xf32>", "tensor<3x3x3x16xf32>"],
     ["tensor<1x8x4x16xf32>"], CONV, [], ""),
    ("stablehlo.reduce", [F23, SCALAR], ["tensor<2xf32>"], "dimensions = array<i64: 1>", [], "add"),
    ("stablehlo.reduce_window", [F34, SCALAR], ["tensor<2x2xf32>"],
     "window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>", [], "add"),
    ("stablehlo.all_reduce", [F23], [F23], "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>", [],
     "add"),
    ("stablehlo.cholesky", ["tensor<2x3x3xf32>"], ["tensor<2x3x3xf32>"], "lower = true", [], ""),
    ("stablehlo.triangular_solve", ["tensor<3x3xf32>", "tensor<3x2xf32>"], ["tensor<3x2xf32>"],
     "left_side = true, lower = true, unit_diagonal = false, transpose_a = "
     "#stablehlo<transpose NO_TRANSPOSE>", [], ""),
    ("stablehlo.fft", ["tensor<3x9xf32>"], ["tensor<3x5xcomplex<f32>>"],
     "fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 9>", [], ""),
    ("stablehlo.get_dimension_size", [F23], [I32], "dimension = 1 : i64", [], ""),
    ("stablehlo.set_dimension_size", [F23, I32], ["tensor<2x?xf32>"], "dimension = 1 : i64", [],
     ""),
    ("stablehlo.dynamic_reshape", [F23, "tensor<1xi32>"], ["tensor<?xf32>"], "", [], ""),
    ("stablehlo.dynamic_broadcast_in_dim", [F23, "tensor<3xi32>"], ["tensor<?x2x3xf32>"],
     "broadcast_dimensions = array<i64: 1, 2>", [], ""),
    ("stablehlo.dynamic_iota", ["tensor<2xi32>"], ["tensor<?x?xf32>"], "iota_dimension = 1 : i64",
     [], ""),
    ("stablehlo.dynamic_pad", [F23, SCALAR, "tensor<2xi32>", "tensor<2xi32>", "tensor<2xi32>"],
     ["tensor<?x?xf32>"], "", [], ""),
    ("stablehlo.real_dynamic_slice", [F23, "tensor<2xi32>", "tensor<2xi32>", "tensor<2xi32>"],
     ["tensor<?x?xf32>"], "", [], ""),
    ("stablehlo.reduce_precision", [F23], [F23],
     "exponent_bits = 5 : i32, mantissa_bits = 10 : i32", [], ""),
    ("stablehlo.get_tuple_element", [f"tuple<{F23}, {F34}>"], [F34], "index = 1 : i32", [], ""),
    ("stablehlo.tuple", [F23, F34], [f"tuple<{F23}, {F34}>"], "", [], ""),
    ("stablehlo.after_all", ["!stablehlo.token"], ["!stablehlo.token"], "", [], ""),
    ("stablehlo.rng", [SCALAR, SCALAR, "tensor<2xi32>"], ["tensor<?x?xf32>"],
     "rng_distribution = #stablehlo<rng_distribution UNIFORM>", [], ""),
    ("stablehlo.rng_bit_generator", ["tensor<2xui64>"], ["tensor<2xui64>", F23],
     "rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>", [], ""),
    ("stablehlo.optimization_barrier", [F23, F34], [F23, F34], "", [], ""),
    ("stablehlo.torch_index_select", [F23, "tensor<2xi32>"], [F23],
     "dim = 0 : i64, batch_dims = 0 : i64", [], ""),
]
# not the op that jaxlib has: it takes several operands now
ROWS = [r for r in ROWS if r[0] != "stablehlo.collective_broadcast"]
ELEMENTS = ["f32", "f64", "bf16", "i1", "i8", "i32", "i64", "ui32", "complex<f32>", "f8E4M3FN"]
VALUES = ["1 : i32", "-1 : i64", "0 : i64", '"x"', "true", "unit", "[1]", "1.0 : f32", "array<i64>",
          "array<i64: 7, -1>", "dense<1> : tensor<2xi64>", "@x", "{}", "f32"]
SIZES = ["0", "1", "2", "3", "4", "7", "?"]


def other_type(t, rng):
    kind = rng.randrange(5)
    shape = re.fullmatch(r"tensor<((?:[\d?]+x)*)(.*)>", t)
    if not shape or kind == 4:
        return rng.choice([F23, SCALAR, "tensor<4x3x2xf32>", "!stablehlo.token", "tensor<*xf32>",
                           "tensor<2xi64>"])
    dims, element = shape[1].split("x")[:-1], shape[2]
    if kind == 0:
        element = rng.choice(ELEMENTS)
    elif kind == 1 and dims:
        dims[rng.randrange(len(dims))] = rng.choice(SIZES)
    elif kind == 2 and dims:
        dims.pop(rng.randrange(len(dims)))
    else:
        dims.insert(rng.randrange(len(dims) + 1), rng.choice(SIZES))
    return f"tensor<{''.join(d + 'x' for d in dims)}{element}>"


def other_number(props, rng):
    numbers = list(re.finditer(r"(?<![\w<])-?\d+(?!\w|>)", props))
    if not numbers:
        return props
    m = rng.choice(numbers)
    return props[:m.start()] + rng.choice(["-1", "0", "1", "2", "3", "10"]) + props[m.end():]


def other_value(props, rng):
    """An attribute of another kind."""
    parts = re.split(r", (?=\w+ = )(?![^<]*>)", props)
    k = rng.randrange(len(parts))
    parts[k] = parts[k].split(" = ")[0] + " = " + rng.choice(VALUES) if parts[k] else parts[k]
    return ", ".join(parts)


def region(kind, element):
    if not kind:
        return ""
    t = f"tensor<{element}>"
    return (f"({{\n  ^bb0(%x: {t}, %y: {t}):\n    %z = stablehlo.add %x, %y : {t}\n"
            f"    stablehlo.return %z : {t}\n  }})")


def changed(row, rng):
    """The text of a function around the op, with one or two things that are not as they were."""
    op, ins, outs, props, _, kind = row
    ins, outs, element = list(ins), list(outs), "f32"
    for _ in range(rng.choice([1, 1, 1, 2])):
        what = rng.randrange(8)
        if what < 3 and ins + outs:
            k = rng.randrange(len(ins) + len(outs))
            where = (ins, k) if k < len(ins) else (outs, k - len(ins))
            where[0][where[1]] = other_type(where[0][where[1]], rng)
        elif what < 5:
            props = other_number(props, rng)
        elif what == 7:
            props = other_value(props, rng)
        elif what == 5 and ins:
            ins.pop(rng.randrange(len(ins)))
        elif what == 6 and rng.random() < .5 and kind:
            element = rng.choice(ELEMENTS)
        else:
            parts = re.split(r", (?=\w+ = )(?![^<]*>)", props)
            parts.pop(rng.randrange(len(parts)))
            props = ", ".join(parts)
    args = ", ".join(f"%a{i}: {t}" for i, t in enumerate(ins))
    names = ", ".join(f"%a{i}" for i in range(len(ins)))
    results = f"%r:{len(outs)} = " if outs else ""
    body, held = region(kind, element), f"{{{props}}}"
    inner = f"<{held}> {body}" if props and rng.random() < .3 else f"{body} {held}"
    return (f"func.func @f({args}) {{\n  {results}\"{op}\"({names}) {inner} : ("
            f"{', '.join(ins)}) -> ({', '.join(outs)})\n  return\n}}\n")


def known(theirs, ours):
    """Those of known.md that random ops run into."""
    return theirs is None and ours is not None and (
        ours[1].startswith("incompatible shapes for broadcasting") or
        ours[1].startswith("operand and result shapes must match except for the innermost"))


def compare(binary, seed, count):
    """Yields (source, their error, our error)."""
    context = text.make_context()
    context.enable_multithreading(False)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "changed.mlir"
        for _ in range(count):
            source = changed(rng.choice(ROWS), rng)
            a, b = errors.theirs(context, source), errors.ours(binary, path, source)
            yield source, a, a if known(a, b) else b


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/bin/terrazzo")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    options = parser.parse_args()
    kinds, examples, same, total = collections.Counter(), {}, 0, 0
    for source, a, b in compare([options.bin], options.seed, options.count):
        total += 1
        if a == b:
            same += 1
            continue
        kinds[errors.kind_of(a, b)] += 1
        examples[errors.kind_of(a, b)] = source
    for kind, n in kinds.most_common():
        print(f"{n:4d}  {kind}\n{examples[kind]}")
    print(f"{same} of {total} alike")


if __name__ == "__main__":
    main()
