"""Arguments for functions.py, by the names of parameters; OWN has whole lists where names do not
say enough."""
import inspect

import numpy as np

# Not of arrays, or of what has no equal: names, files, random numbers, states of the process.
NO_FUNCTIONS = {
    "array_repr", "array_str", "can_cast", "composite", "custom_linear_solve", "custom_root",
    "default_matmul_precision", "dtype", "einsum_path", "finfo", "from_dlpack", "fromfile",
    "fromfunction", "fromiter", "frompyfunc", "fromstring", "get_printoptions", "iinfo",
    "issubdtype", "isdtype", "iterable", "load", "np", "printoptions", "promote_types",
    "register_jax_array_methods", "result_type", "save", "savez", "set_printoptions", "vectorize",
    "ndim", "shape", "size", "rng_uniform", "empty", "empty_like", "optimization_barrier",
    "create_token", "after_all", "infeed", "outfeed", "jit", "partial", "annotations",
    # need an axis of a mesh, or other memory
    "all_gather", "all_gather_invariant", "all_gather_reduced", "all_to_all", "axis_index",
    "axis_size", "pall", "pany", "pbroadcast", "pcast", "pgather", "pmax", "pmean", "pmin",
    "ppermute", "precv", "preduced", "psend", "pshuffle", "psum", "psum_scatter", "pswapaxes",
    "pvary", "ragged_all_to_all", "unreduced_psum",
    "unreduced_psum_scatter", "with_sharding_constraint",
    # of shapes and names only
    "ConvGeneralDilatedDimensionNumbers", "PrecisionLike", "conv_dimension_numbers",
    "conv_general_permutations", "conv_general_shape_tuple", "conv_shape_tuple",
    "conv_transpose_shape_tuple", "padtype_to_pads", "reduce_window_shape_tuple",
    "get_scaled_dot_general_config",
}

SHAPES = [(4, 4), (6,), (2, 4, 4), (3, 5), (), (1, 6, 6, 2)]
INDICES = {"i", "indices", "ind", "idx", "multi_index", "start_indices"}
TRUTH = {"condition", "pred", "cond", "which", "where"}
LISTS = {"arrays", "tup", "operands", "seq", "condlist", "choices", "choicelist"}
PAIRS = {"permutation", "axes"}
FIXED = {
    "axis": 0, "axis1": 0, "axis2": 1, "dimension": 0, "axis_name": None, "num": 5, "k": 2, "n": 2,
    "N": 4, "M": 5, "m": None, "repeats": 2, "reps": 2, "decimals": 1, "ord": 2, "deg": 2,
    "source": 0, "destination": -1, "shift": 2, "num_classes": 4, "num_segments": 4, "nb": 4,
    "indices_or_sections": 2, "pad_width": 1, "index": 1, "size": 4, "number": 2, "bins": 4,
    "exponent_bits": 5, "mantissa_bits": 7, "start": 0, "stop": 3, "step": 1, "limit_index": 2,
    "start_index": 1, "slice_size": 2, "jump": 1, "count": 2, "num_iters": 2, "upper": 4,
    "lower": 1, "p": 2, "method": "bilinear", "order": 1,
}
DTYPES = {"dtype": np.float32, "new_dtype": np.float32}
SIZES = {"shape", "newshape", "new_sizes", "out_shape"}


def array(rng, dtype, shape):
    """Numbers around 0, or between 0 and 1, or far apart."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        low = 0 if dtype.kind == "u" else -5
        return rng.integers(low, 9, shape).astype(dtype)
    manner = rng.integers(0, 3)
    v = [rng.normal(0, 2, shape), rng.uniform(0, 1, shape), rng.normal(0, 9, shape)][manner]
    if dtype.kind == "c":
        v = v + 1j * rng.normal(0, 2, shape)
    return np.asarray(v).astype(dtype)


def one(name, rng, dtype, shape):
    if name in DTYPES:
        return DTYPES[name]
    if name in SIZES:
        return (int(np.prod(shape, dtype=int)),)
    if name in INDICES:
        return rng.integers(0, 3, (3,)).astype(np.int32)
    if name in TRUTH:
        return rng.integers(0, 2, shape).astype(bool)
    if name in LISTS:
        kind = bool if name == "condlist" else dtype
        return [array(rng, kind, shape) for _ in range(3)]
    if name in PAIRS:
        return tuple(reversed(range(len(shape))))
    if FIXED.get(name) is not None:
        return FIXED[name]
    return array(rng, dtype, shape)


def required(function):
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ["x"], False
    names = [p.name for p in parameters if p.kind in kinds and p.default is p.empty]
    return names, any(p.kind == p.VAR_POSITIONAL for p in parameters)


def candidates(name, function, rng, dtype):
    """Lists of arguments, (args, kwargs) each; what does not fit, nobody takes."""
    own = OWN.get(name) or OWN.get(name.split(".")[-1])
    if own:
        for _ in range(2):
            args = own(lambda *dims, of=dtype: array(rng, of, dims))
            yield (args[:-1], args[-1]) if isinstance(args[-1], dict) else (args, {})
        return
    names, more = required(function)
    names = names or ["x", "y"] * more
    for shape in SHAPES:
        yield tuple(one(p, rng, dtype, shape) for p in names), {}
        if any(p in FIXED for p in names):  # a number there may be an array here
            yield tuple(array(rng, dtype, shape) if p in FIXED and p != "axis" else
                        one(p, rng, dtype, shape) for p in names), {}


def shown(arguments):
    def text(v):
        if isinstance(v, np.ndarray):
            return str(list(v.shape))
        if isinstance(v, (list, tuple)):
            return "(" + ", ".join(map(text, v)) + ")"
        return getattr(v, "__name__", None) or str(v)
    args, kwargs = arguments
    return " ".join([text(a) for a in args] + [f"{k}={text(v)}" for k, v in kwargs.items()])


# Of functions of functions, the functions given.
def add(x, y):
    return x + y


def twice(x):
    return x + x


def carry(c, x):
    return c + x, c


def numbers(*v):
    return np.array(v, np.int32)


SCATTER = dict(update_window_dims=(1,), inserted_window_dims=(0,),
               scatter_dims_to_operand_dims=(0,))


def scattered(d):
    from jax import lax
    return d(6, 3), numbers([0], [4], [0]), d(3, 3), lax.ScatterDimensionNumbers(**SCATTER)


def gathered(d):
    from jax import lax
    dims = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,),
                                      start_index_map=(0,))
    return d(6, 3), numbers([5], [0], [2], [9]), dims, (1, 3)


def reducing(of):
    return lambda d: (d(3, 4, of=of), [0])


def regular(matrices):
    """Not singular, as whole numbers often are; with nothing to divide by there is no answer."""
    return matrices + (20 * np.eye(matrices.shape[-1])).astype(matrices.dtype)


def some(d):  # counted between edges that no number is on
    return (d(30, of=np.float32),)


# What names do not say: name, or last part of it -> the arguments, made of draw(*dims, of=type); a
# dictionary at the end are those given by name.
OWN = {
    "histogram": some, "histogram_bin_edges": some,
    "histogram2d": lambda d: some(d) + some(d),
    "histogramdd": lambda d: (d(20, 2, of=np.float32), 3),
    "jnp.apply_along_axis": lambda d: (lambda v: v.sum(), 1, d(3, 4)),
    "jnp.apply_over_axes": lambda d: (lambda v, a: v.sum(a, keepdims=True), d(3, 4), (0,)),
    "argpartition": lambda d: (d(12), 3), "jnp.partition": lambda d: (d(12), 3),
    "bincount": lambda d: (d(20, of=np.uint8), {"length": 9}),
    "jnp.broadcast_shapes": lambda d: ((3, 1), (1, 4)),
    "lax.broadcast_shapes": lambda d: ((3, 1), (1, 4)),
    "jnp.choose": lambda d: (d(4, of=np.uint8) % 3, [d(4), d(4), d(4)]),
    "jnp.clip": lambda d: (d(3, 4), d(3, 1), d(4)), "jnp.delete": lambda d: (d(6), 2),
    "jnp.einsum": lambda d: ("abc,cd->dab", d(2, 3, 4), d(4, 5)),
    "betaln": lambda d: (abs(d(6)) + 2, abs(d(6)) + 3),  # at 1 it is what rounding left
    "scipy.stats.beta.logpdf": lambda d: (abs(d(6)) / 99, abs(d(6)) + 2, abs(d(6)) + 3),
    "expn": lambda d: (numbers(0, 1, 2, 7), abs(d(4))),
    "fill_diagonal": lambda d: (d(4, 4), d(), {"inplace": False}),
    "jnp.indices": lambda d: ((2, 3),), "jnp.insert": lambda d: (d(5), 2, d()),
    "jnp.ldexp": lambda d: (d(6), d(6, of=np.int32)),
    "jnp.linalg.cross": lambda d: (d(4, 3), d(4, 3)),
    "mask_indices": lambda d: (4, np.triu), "jnp.negative": lambda d: (d(3, 4),),
    "packbits": lambda d: (d(13, of=bool),), "unpackbits": lambda d: (d(3, of=np.uint8),),
    "jnp.piecewise": lambda d: (d(8), [d(8, of=bool), d(8, of=bool)], [twice, 1, 2]),
    "jnp.place": lambda d: (d(8), d(8, of=bool), d(3), {"inplace": False}),
    "jnp.put": lambda d: (d(8), numbers(1, 5), d(2), {"inplace": False}),
    "put_along_axis": lambda d: (d(3, 4), numbers([1], [0], [3]), d(3, 1), 1, {"inplace": False}),
    "ravel_multi_index": lambda d: ((numbers(1, 2), numbers(0, 3)), (3, 4)),
    "jnp.resize": lambda d: (d(5), (3, 4)),
    "lax.argmax": lambda d: (d(3, 4), 1, np.int32), "lax.argmin": lambda d: (d(3, 4), 0, np.int32),
    "associative_scan": lambda d: (add, d(9, 2)),
    "lax.broadcast": lambda d: (d(3), (2, 4)), "lax.squeeze": lambda d: (d(1, 3, 1), (0,)),
    "lax.broadcast_in_dim": lambda d: (d(3, 1), (2, 3, 4), (1, 2)),
    "broadcast_to_rank": lambda d: (d(3, 2), 4), "lax.collapse": lambda d: (d(2, 3, 4), 1, 3),
    "lax.cond": lambda d: (d(of=bool), twice, abs, d(5)),
    "lax.conv": lambda d: (d(2, 3, 8, 9), d(4, 3, 3, 2), (2, 1), "SAME"),
    "conv_general_dilated": lambda d: (d(2, 4, 8, 9), d(6, 2, 3, 2), (1, 2), "VALID",
                                       {"rhs_dilation": (2, 1), "feature_group_count": 2}),
    "conv_general_dilated_local": lambda d: (d(2, 3, 4), d(5, 6, 3), (1,), "VALID", (2,)),
    "conv_general_dilated_patches": lambda d: (d(2, 3, 6, 5), (2, 2), (1, 1), "SAME"),
    "conv_transpose": lambda d: (d(2, 5, 3), d(3, 3, 4), (2,), "SAME",
                                 {"dimension_numbers": ("NWC", "WIO", "NWC")}),
    "conv_with_general_padding": lambda d: (d(2, 3, 8), d(4, 3, 3), (1,), [(1, 2)], (2,), (1,)),
    "lax.dot_general": lambda d: (d(2, 3, 4), d(2, 5, 4), (((2,), (2,)), ((0,), (0,)))),
    "lax.dynamic_slice": lambda d: (d(5, 6), (np.int32(7), np.int32(1)), (2, 3)),
    "lax.dynamic_update_slice": lambda d: (d(5, 6), d(2, 3), (np.int32(1), np.int32(7))),
    "lax.expand_dims": lambda d: (d(3, 4), (0, 3)), "lax.fft": lambda d: (d(3, 8), "fft", (8,)),
    "lax.fori_loop": lambda d: (0, 5, lambda i, c: c + c, d(4)), "lax.gather": gathered,
    "lax.index_take": lambda d: (d(4, 3), (numbers(0, 3),), (0,)),
    "integer_pow": lambda d: (d(6), 3), "lax.map": lambda d: (twice, d(4, 3)),
    "lax.pad": lambda d: (d(3, 4), d(), [(1, 2, 1), (-1, 0, 0)]),
    "platform_dependent": lambda d: (d(4), {"cpu": twice, "default": twice}),
    "ragged_dot": lambda d: (d(8, 3), d(2, 3, 4), numbers(3, 5)),
    "lax.reduce": lambda d: (d(3, 4), np.asarray(d() * 0), add, (1,)),
    "reduce_and": reducing(bool), "reduce_or": reducing(bool),
    "reduce_xor": reducing(np.int32),
    "lax.reduce_window": lambda d: (d(7, 6), np.asarray(d() * 0), add, (3, 2), (2, 1), "SAME"),
    "lax.rev": lambda d: (d(3, 4), (1,)), "lax.scan": lambda d: (carry, d(3), d(4, 3)),
    "rng_bit_generator": lambda d: (d(4, of=np.uint8).astype(np.uint32), (5,)),
    "lax.select_n": lambda d: (d(4, of=bool), d(4), d(4)),
    **{f"lax.{name}": scattered for name in ("scatter", "scatter_add", "scatter_max", "scatter_min",
                                            "scatter_mul", "scatter_sub")},
    "scatter_apply": lambda d: (scattered(d)[0], scattered(d)[1], twice, scattered(d)[3],
                                {"update_shape": (3, 3)}),
    "lax.slice": lambda d: (d(5, 6), (1, 0), (5, 6), (2, 3)),
    "lax.split": lambda d: (d(7, 2), (3, 4)), "lax.tile": lambda d: (d(2, 3), (2, 1)),
    "lax.switch": lambda d: (np.int32(1), [twice, abs, twice], d(4)),
    "lax.while_loop": lambda d: (lambda c: c[0] < 4, lambda c: (c[0] + 1, c[1] + c[1]),
                                 (np.int32(0), d(3))),
    "scipy.linalg.cho_solve": lambda d: ((np.tril(d(3, 3)), True), d(3, 2)),
    "scipy.linalg.lu_solve": lambda d: ((d(3, 3), numbers(1, 2, 2)), d(3)),
    "solve_triangular": lambda d: (regular(d(2, 4, 4)), d(2, 4, 3)),
    "scipy.linalg.leslie": lambda d: (d(4), d(3)), "scipy.linalg.funm": lambda d: (d(3, 3), np.exp),
    "map_coordinates": lambda d: (d(5, 6), [d(7), d(7)], 1),
    "bessel_jn": lambda d: (d(6), {"v": 3, "n_iter": 20}),
    "sph_harm_y": lambda d: (numbers(2, 3), numbers(1, 2), d(2), d(2), {"n_max": 4}),
    "zeta": lambda d: (abs(d(6)) + 2, abs(d(6)) + 1),
    "approx_max_k": lambda d: (d(3, 16), 4), "approx_min_k": lambda d: (d(3, 16), 4),
    "lax.sort": lambda d: (d(4, 9),), "top_k": lambda d: (d(3, 9), 4),
    "reduce_precision": lambda d: (d(9), 5, 7), "lax.sort_key_val": lambda d: (d(9), d(9)),
}
