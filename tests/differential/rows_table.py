"""How a program of each op looks, for rows.py: what a row of the op says of its operands, and here
what it does not.

A program is `body, arguments, results`: the body in MLIR's generic or custom form, $T being the
element type at hand, $P the type of its parts where it is complex. Arguments are %a0, %a1, ...;
those of $T get values by the table that the op is in, others stand behind `=`. Of several bodies
the first that the verifier takes is the program."""

COLLECTIVE = "replica_groups = dense<0> : tensor<1x1xi64>"
ADD = ("({\n  ^bb0(%x: tensor<$T>, %y: tensor<$T>):\n    %s = stablehlo.add %x, %y : tensor<$T>\n"
       "    stablehlo.return %s : tensor<$T>\n  })")
FIRST = "({\n  ^bb0(%x: tensor<$T>, %y: tensor<$T>):\n    stablehlo.return %y : tensor<$T>\n  })"
NORM = "epsilon = 1.0e-3 : f32, feature_index = 1 : i64"
RAGGED = ("ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], "
          "rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], "
          "rhs_group_dimensions = [0]>")
CONV = ("batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = "
        "#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>")
LESS = ("({{\n  ^bb0(%x: tensor<$T>, %y: tensor<$T>):\n    %c = stablehlo.compare {}, %x, %y : "
        "(tensor<$T>, tensor<$T>) -> tensor<i1>\n    stablehlo.return %c : tensor<i1>\n  }})")
GATHER = ("dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
          "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>")
SCATTER = ("scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
           "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>")


def q(name, operands, attrs, types, results, region=""):
    """An op in generic form."""
    left = "%0" if len(results.split(", ")) == 1 else f"%0:{len(results.split(', '))}"
    names = ", ".join(f"%a{i}" for i in range(operands))
    made = results if ", " not in results else f"({results})"
    attrs = f" <{{{attrs}}}>" if attrs else ""
    return f'{left} = "{name}"({names}){attrs} {region} : ({types}) -> {made}'


def t(dims, kind="$T"):
    return f"tensor<{dims}{'x' if dims else ''}{kind}>"


A, B, S = t("3x4"), t("4"), t("")
IDX, IDX2 = t("2x1", "i64"), t("", "i32")

# op: (body or bodies, arguments, results); an argument `type=values` has these
MOVES = {
    "stablehlo.concatenate": ("%0 = stablehlo.concatenate %a0, %a1, dim = 1 : "
                              f"({A}, {A}) -> {t('3x8')}", [A, A], [t("3x8")]),
    "stablehlo.reshape": (f"%0 = stablehlo.reshape %a0 : ({A}) -> {t('2x6')}", [A], [t("2x6")]),
    "stablehlo.transpose": (f"%0 = stablehlo.transpose %a0, dims = [1, 0] : ({A}) -> {t('4x3')}",
                            [A], [t("4x3")]),
    "stablehlo.reverse": (f"%0 = stablehlo.reverse %a0, dims = [1] : {A}", [A], [A]),
    "stablehlo.slice": (f"%0 = stablehlo.slice %a0 [0:2, 1:4:2] : ({A}) -> {t('2x2')}", [A],
                        [t("2x2")]),
    "stablehlo.pad": ("%0 = stablehlo.pad %a0, %a1, low = [1, -1], high = [0, 2], interior = "
                      f"[0, 1] : ({A}, {S}) -> {t('4x8')}", [A, S], [t("4x8")]),
    "stablehlo.broadcast": (q("stablehlo.broadcast", 1, "broadcast_sizes = array<i64: 2>", A,
                              t("2x3x4")), [A], [t("2x3x4")]),
    "stablehlo.broadcast_in_dim": (f"%0 = stablehlo.broadcast_in_dim %a0, dims = [1] : ({B}) -> "
                                   f"{A}", [B], [A]),
    "stablehlo.dynamic_slice": ("%0 = stablehlo.dynamic_slice %a0, %a1, %a2, sizes = [2, 2] : "
                                f"({A}, {IDX2}, {IDX2}) -> {t('2x2')}",
                                [A, IDX2 + "=1", IDX2 + "=7"], [t("2x2")]),
    "stablehlo.dynamic_update_slice": (
        f"%0 = stablehlo.dynamic_update_slice %a0, %a1, %a2, %a3 : ({A}, {t('2x2')}, {IDX2}, "
        f"{IDX2}) -> {A}", [A, t("2x2"), IDX2 + "=1", IDX2 + "=-1"], [A]),
    "stablehlo.real_dynamic_slice": (
        "%0 = stablehlo.constant dense<[0, 1]> : tensor<2xi32>\n"
        "%1 = stablehlo.constant dense<[2, 4]> : tensor<2xi32>\n"
        "%2 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n"
        f"%3 = stablehlo.real_dynamic_slice %a0, %0, %1, %2 : ({A}, tensor<2xi32>, tensor<2xi32>, "
        f"tensor<2xi32>) -> {t('2x2')}", [A], [t("2x2")]),
    "stablehlo.gather": (q("stablehlo.gather", 2, GATHER, f"{A}, {IDX}", t("2x3")),
                         [A, IDX + "=2,0"], [t("2x3")]),
    "stablehlo.dynamic_gather": (
        "%s = stablehlo.constant dense<[1, 3]> : tensor<2xi64>\n" + q(
            "stablehlo.dynamic_gather", 2, GATHER.partition(", slice_sizes")[0],
            f"{A}, {IDX}, tensor<2xi64>", t("2x3")).replace("%a1)", "%a1, %s)"),
        [A, IDX + "=2,0"], [t("2x3")]),
    "stablehlo.dynamic_reshape": (
        "%s = stablehlo.constant dense<[2, 6]> : tensor<2xi64>\n"
        f"%0 = stablehlo.dynamic_reshape %a0, %s : ({A}, tensor<2xi64>) -> {t('2x6')}", [A],
        [t("2x6")]),
    "stablehlo.dynamic_broadcast_in_dim": (
        "%s = stablehlo.constant dense<[3, 4]> : tensor<2xi64>\n"
        f"%0 = stablehlo.dynamic_broadcast_in_dim %a0, %s, dims = [1] : ({B}, tensor<2xi64>) -> "
        f"{A}", [B], [A]),
    "stablehlo.dynamic_pad": (
        "%l = stablehlo.constant dense<[1]> : tensor<1xi64>\n"
        "%h = stablehlo.constant dense<[0]> : tensor<1xi64>\n"
        f"%0 = stablehlo.dynamic_pad %a0, %a1, %l, %h, %h : ({B}, {S}, tensor<1xi64>, "
        f"tensor<1xi64>, tensor<1xi64>) -> {t('5')}", [B, S], [t("5")]),
    "stablehlo.torch_index_select": (
        q("stablehlo.torch_index_select", 2, "dim = 0 : i64, batch_dims = 0 : i64",
          f"{A}, tensor<2xi32>", t("2x4")), [A, "tensor<2xi32>=2,0"], [t("2x4")]),
    "stablehlo.scatter": (q("stablehlo.scatter", 3, SCATTER, f"{A}, {IDX}, {t('2x4')}", A, FIRST),
                          [A, IDX + "=2,0", t("2x4")], [A]),
    "stablehlo.case": ('%0 = "stablehlo.case"(%a0) ({\n  stablehlo.return %a1 : ' + A + "\n}, {\n"
                       f"  stablehlo.return %a2 : {A}\n}}) : (tensor<i32>) -> {A}",
                       [IDX2 + "=1", A, A], [A]),
    "stablehlo.if": ('%0 = "stablehlo.if"(%a0) ({\n  stablehlo.return %a1 : ' + A + "\n}, {\n"
                     f"  stablehlo.return %a2 : {A}\n}}) : (tensor<i1>) -> {A}",
                     ["tensor<i1>=0", A, A], [A]),
    "stablehlo.while": (
        f"%n = stablehlo.constant dense<3> : {IDX2}\n%one = stablehlo.constant dense<1> : {IDX2}\n"
        f"%0:2 = stablehlo.while(%i = %a0, %v = %a1) : {IDX2}, {A}\ncond {{\n"
        f"  %c = stablehlo.compare LT, %i, %n : ({IDX2}, {IDX2}) -> tensor<i1>\n"
        "  stablehlo.return %c : tensor<i1>\n} do {\n"
        f"  %j = stablehlo.add %i, %one : {IDX2}\n  %r = stablehlo.reverse %v, dims = [1] : {A}\n"
        f"  stablehlo.return %j, %r : {IDX2}, {A}\n}}", [IDX2 + "=0", A], [IDX2, A]),
    "stablehlo.select": (f"%0 = stablehlo.select %a0, %a1, %a2 : {t('3x4', 'i1')}, {A}",
                         [t("3x4", "i1") + "=1,0,0,1,1,0,1,0,0,0,1,1", A, A], [A]),
    "chlo.broadcast_select": (
        q("chlo.broadcast_select", 3, "", f"{t('', 'i1')}, {A}, {A}", A), ["tensor<i1>=0", A, A],
        [A]),
    "stablehlo.optimization_barrier": (f"%0 = stablehlo.optimization_barrier %a0 : {A}", [A], [A]),
    "stablehlo.tuple": (f"%t = stablehlo.tuple %a0 : tuple<{A}>\n%0 = stablehlo.get_tuple_element "
                        f"%t[0] : (tuple<{A}>) -> {A}", [A], [A]),
    "stablehlo.constant": ([f"%0 = stablehlo.constant dense<{v}> : {A}"
                            for v in ("1.0", "1", "true", "(1.0, 0.5)")], [], [A]),
    "chlo.constant": ([f"%0 = chlo.constant dense<{v}> : {A}"
                       for v in ("1.0", "1", "true", "(1.0, 0.5)")], [], [A]),
    "chlo.constant_like": ([f'%0 = "chlo.constant_like"(%a0) <{{value = {v}}}> : ({A}) -> {A}'
                            for v in ("1.0 : $T", "1 : $T", "true", "#complex.number<:$P 1.0, 2.0>"
                                      )], [A], [A]),
    "stablehlo.get_dimension_size": (f"%0 = stablehlo.get_dimension_size %a0, dim = 1 : ({A}) -> "
                                     f"{IDX2}", [A], [IDX2]),
    "stablehlo.all_gather": (q("stablehlo.all_gather", 1, "all_gather_dim = 0 : i64, " + COLLECTIVE,
                               A, A), [A], [A]),
    "stablehlo.all_to_all": (
        q("stablehlo.all_to_all", 1, "split_dimension = 0 : i64, concat_dimension = 0 : i64, "
          "split_count = 1 : i64, " + COLLECTIVE, A, A), [A], [A]),
    "stablehlo.collective_broadcast": (q("stablehlo.collective_broadcast", 1, COLLECTIVE, A, A),
                                       [A], [A]),
    "stablehlo.collective_permute": (
        q("stablehlo.collective_permute", 1,
          "source_target_pairs = dense<0> : tensor<1x2xi64>", A, A), [A], [A]),
    "stablehlo.uniform_quantize": (
        "%q = stablehlo.uniform_quantize %a0 : (tensor<3x4x$T>) -> "
        "tensor<3x4x!quant.uniform<i8:$T, 5.0e-01:3>>\n"
        "%0 = stablehlo.uniform_dequantize %q : (tensor<3x4x!quant.uniform<i8:$T, 5.0e-01:3>>) -> "
        + A, [A], [A]),
}
MOVES["stablehlo.async_start"] = (
    f'%h = "stablehlo.async_start"(%a0) ({{\n^bb0(%x: {A}):\n'
    f'  %s = stablehlo.slice %x [0:2, 1:4] : ({A}) -> {t("2x3")}\n'
    f'  stablehlo.return %s : {t("2x3")}\n}}) : ({A}) -> '
    f'!stablehlo.future<{t("2x3")}>\n%0 = "stablehlo.async_done"(%h) : '
    f'(!stablehlo.future<{t("2x3")}>) -> {t("2x3")}', [A], [t("2x3")])
MOVES["stablehlo.async_done"] = MOVES["stablehlo.async_start"]
MOVES["stablehlo.get_tuple_element"] = MOVES["stablehlo.tuple"]
MOVES["stablehlo.uniform_dequantize"] = MOVES["stablehlo.uniform_quantize"]

# Arithmetic: small values, whose sums and products are whole.
SUMS = {
    "stablehlo.reduce": (q("stablehlo.reduce", 2, "dimensions = array<i64: 1>", f"{A}, {S}",
                           t("3"), ADD), [A, S], [t("3")]),
    "stablehlo.reduce_window": (
        q("stablehlo.reduce_window", 2, "window_dimensions = array<i64: 1, 2>", f"{A}, {S}",
          t("3x3"), ADD), [A, S], [t("3x3")]),
    "stablehlo.select_and_scatter": (
        q("stablehlo.select_and_scatter", 3, "window_dimensions = array<i64: 1, 2>, "
          "window_strides = array<i64: 1, 2>", f"{A}, {t('3x2')}, {S}", A,
          LESS.format("GE") .replace("%c", "%w") [:-1] + ", " + ADD[1:]), [A, t("3x2"), S], [A]),
    "stablehlo.map": (q("stablehlo.map", 2, "dimensions = array<i64: 0, 1>", f"{A}, {A}", A, ADD),
                      [A, A], [A]),
    "stablehlo.all_reduce": (q("stablehlo.all_reduce", 1, COLLECTIVE, A, A, ADD), [A], [A]),
    "stablehlo.reduce_scatter": (
        q("stablehlo.reduce_scatter", 1, "scatter_dimension = 0 : i64, " + COLLECTIVE, A, A, ADD),
        [A], [A]),
    "stablehlo.cross-replica-sum": (q("stablehlo.cross-replica-sum", 1, COLLECTIVE, A, A), [A],
                                    [A]),
    "stablehlo.dot": (q("stablehlo.dot", 2, "", f"{A}, {t('4x2')}", t("3x2")), [A, t("4x2")],
                      [t("3x2")]),
    "stablehlo.dot_general": (
        f"%0 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : ({A}, {t('4x2')}) -> "
        f"{t('3x2')}", [A, t("4x2")], [t("3x2")]),
    "stablehlo.einsum": (q("stablehlo.einsum", 2, 'einsum_config = "ab,bc->ac"',
                           f"{A}, {t('4x2')}", t("3x2")), [A, t("4x2")], [t("3x2")]),
    "stablehlo.unary_einsum": (q("stablehlo.unary_einsum", 1, 'einsum_config = "ab->ba"', A,
                                 t("4x3")), [A], [t("4x3")]),
    "stablehlo.convolution": (q("stablehlo.convolution", 2, CONV, f"{t('1x5x2')}, {t('2x2x3')}",
                                t("1x4x3")), [t("1x5x2"), t("2x2x3")], [t("1x4x3")]),
    "stablehlo.dynamic_conv": (
        "%s = stablehlo.constant dense<0> : tensor<1x2xi64>\n" + q(
            "stablehlo.dynamic_conv", 2, CONV,
            f"{t('1x5x2')}, {t('2x2x3')}, tensor<1x2xi64>", t("1x4x3")).replace("%a1)", "%a1, %s)"),
        [t("1x5x2"), t("2x2x3")], [t("1x4x3")]),
    "chlo.ragged_dot": (q("chlo.ragged_dot", 3, RAGGED, f"{t('6x4')}, {t('3x4x5')}, tensor<3xi64>",
                          t("6x5")), [t("6x4"), t("3x4x5"), "tensor<3xi64>=2,3,1"], [t("6x5")]),
    "chlo.scan": (f"%0:2 = chlo.scan(%a0) inits (%a1) dimension = 1 {{\n"
                  f"^bb0(%x: {t('3')}, %y: {t('3')}):\n  %s = stablehlo.add %x, %y : {t('3')}\n"
                  f"  stablehlo.return %s, %s : {t('3')}, {t('3')}\n}} : ({A}, {t('3')}) -> "
                  f"({A}, {t('3')})", [A, t("3")], [A, t("3")]),
    "stablehlo.composite": (
        f'%0 = stablehlo.composite "my.op" %a0, %a1 {{decomposition = @part}} : ({A}, {A}) -> {A}',
        [A, A], [A]),
}
PART = ("func.func private @part(%x: {a}, %y: {a}) -> {a} {{\n  %s = stablehlo.add %x, %y : {a}\n"
        "  return %s : {a}\n}}\n").format(a=A)

# There and back: x / scale + zero point as an i8, and (storage - zero point) * scale.
UNIFORM = "".join(
    f"%{name} = stablehlo.constant dense<{v}> : {A if name in 'sz' else kind}\n"
    for name, v, kind in (("s", "5.0e-01", A), ("z", "3.0", A), ("l", "-128.0", S),
                          ("h", "127.0", S))) + f"""%q = stablehlo.divide %a0, %s : {A}
%w = stablehlo.add %q, %z : {A}
%c = stablehlo.clamp %l, %w, %h : ({S}, {A}, {S}) -> {A}
%r = stablehlo.round_nearest_even %c : {A}
%i = stablehlo.convert %r : ({A}) -> {t('3x4', 'i8')}
%j = stablehlo.convert %i : ({t('3x4', 'i8')}) -> {t('3x4', 'i32')}
%t = stablehlo.constant dense<3> : {t('3x4', 'i32')}
%d = stablehlo.subtract %j, %t : {t('3x4', 'i32')}
%f = stablehlo.convert %d : ({t('3x4', 'i32')}) -> {A}
%0 = stablehlo.multiply %f, %s : {A}"""
# Rows 0 and 1, 2 to 4, and 5 with a matrix each.
GROUPS = "".join(f"""%l{i} = stablehlo.slice %a0 [{a}:{b}, 0:4] : ({t('6x4')}) -> {t(f'{b-a}x4')}
%m{i} = stablehlo.slice %a1 [{i}:{i+1}, 0:4, 0:5] : ({t('3x4x5')}) -> {t('1x4x5')}
%r{i} = stablehlo.reshape %m{i} : ({t('1x4x5')}) -> {t('4x5')}
%d{i} = stablehlo.dot_general %l{i}, %r{i}, contracting_dims = [1] x [0] : ({t(f'{b-a}x4')}, \
{t('4x5')}) -> {t(f'{b-a}x5')}
""" for i, (a, b) in enumerate(((0, 2), (2, 5), (5, 6)))) + f"""%0 = stablehlo.concatenate \
%d0, %d1, %d2, dim = 0 : ({t('2x5')}, {t('3x5')}, {t('1x5')}) -> {t('6x5')}"""

WAYS = ("LT", "NE")  # complex numbers have no order, though verifiers take it
# Comparisons and what follows from them, on values of any kind.
VALUES = {
    "stablehlo.compare": ([f"%0 = stablehlo.compare {way}, %a0, %a1 : ({A}, {A}) -> "
                           f"{t('3x4', 'i1')}" for way in WAYS], [A, A],
                          [t("3x4", "i1")]),
    "chlo.broadcast_compare": (
        [q("chlo.broadcast_compare", 2, f"comparison_direction = #chlo<comparison_direction {way}>",
           f"{B}, {A}", t("3x4", "i1")) for way in WAYS], [B, A], [t("3x4", "i1")]),
    "stablehlo.clamp": (f"%0 = stablehlo.clamp %a0, %a1, %a2 : ({S}, {A}, {A}) -> {A}", [S, A, A],
                        [A]),
    "stablehlo.sort": ([q("stablehlo.sort", 1, "dimension = 1 : i64, is_stable = true", A, A,
                          LESS.format(way)) for way in WAYS], [A], [A]),
    "chlo.top_k": (f"%0:2 = chlo.top_k(%a0, k = 2) : {A} -> ({t('3x2')}, {t('3x2', 'i32')})", [A],
                   [t("3x2"), t("3x2", "i32")]),
    "stablehlo.reduce_precision": (f"%0 = stablehlo.reduce_precision %a0, format = e4m2 : {A}", [A],
                                   [A]),
    "stablehlo.iota": (f"%0 = stablehlo.iota dim = 1 : {A}", [], [A]),
    "stablehlo.dynamic_iota": ("%s = stablehlo.constant dense<[3, 4]> : tensor<2xi64>\n%0 = "
                               f"stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi64>) -> {A}", [],
                               [A]),
    "stablehlo.complex": (f"%0 = stablehlo.complex %a0, %a1 : {t('3x4', 'complex<$T>')}", [A, A],
                          [t("3x4", "complex<$T>")]),
    "chlo.broadcast_complex": (q("chlo.broadcast_complex", 2, "", f"{B}, {A}",
                                 t("3x4", "complex<$T>")), [B, A], [t("3x4", "complex<$T>")]),
}

# Formulas: some last places of the type.
FORMULAS = {
    "stablehlo.batch_norm_inference": (
        q("stablehlo.batch_norm_inference", 5, NORM, f"{A}, {B}, {B}, {B}, {B}", A),
        [A, B, B, B, "%s=1,2,3,4" % B], [A]),
    "stablehlo.batch_norm_training": (
        q("stablehlo.batch_norm_training", 3, NORM, f"{A}, {B}, {B}", f"{A}, {B}, {B}"),
        [A, B, B], [A, B, B]),
    "stablehlo.batch_norm_grad": (
        q("stablehlo.batch_norm_grad", 5, NORM, f"{A}, {B}, {B}, {B}, {A}", f"{A}, {B}, {B}"),
        [A, B, B, "%s=1,2,3,4" % B, A], [A, B, B]),
    "stablehlo.cholesky": (f"%0 = stablehlo.cholesky %a0, lower = true : {t('2x2')}",
                           [t("2x2") + "=4,0,2,2"], [t("2x2")]),
    "stablehlo.triangular_solve": (
        q("stablehlo.triangular_solve", 2, "left_side = true, lower = true, unit_diagonal = false, "
          "transpose_a = #stablehlo<transpose NO_TRANSPOSE>", f"{t('2x2')}, {t('2x3')}",
          t("2x3")), [t("2x2") + "=2,0,1,4", t("2x3")], [t("2x3")]),
    "stablehlo.fft": (
        [f"%0 = stablehlo.fft %a0, type = FFT, length = [4] : ({A}) -> {A}",
         f"%0 = stablehlo.fft %a0, type = RFFT, length = [4] : ({A}) -> "
         f"{t('3x3', 'complex<$T>')}"], [A], [A, t("3x3", "complex<$T>")]),
}
# What an op is in others, for oracles that lack it or a type: a program of the same results.
KEPT = f"%0 = stablehlo.optimization_barrier %a0 : {A}"  # one device's collective
SAME = {
    **dict.fromkeys([
        "stablehlo.all_gather", "stablehlo.all_to_all", "stablehlo.collective_broadcast",
        "stablehlo.collective_permute", "stablehlo.all_reduce", "stablehlo.reduce_scatter",
        "stablehlo.cross-replica-sum"], KEPT),
    **dict.fromkeys(["stablehlo.async_start", "stablehlo.async_done"],
                    f"%0 = stablehlo.slice %a0 [0:2, 1:4] : ({A}) -> {t('2x3')}"),
    **dict.fromkeys(["stablehlo.dot", "stablehlo.einsum"], SUMS["stablehlo.dot_general"][0]),
    **dict.fromkeys(["stablehlo.uniform_quantize", "stablehlo.uniform_dequantize"], UNIFORM),
    "stablehlo.unary_einsum": f"%0 = stablehlo.transpose %a0, dims = [1, 0] : ({A}) -> {t('4x3')}",
    "chlo.ragged_dot": GROUPS,
    ("stablehlo.cholesky", "f8E8M0FNU"):
        f'%0 = stablehlo.constant dense<"0x80FF7F7F"> : {t("2x2")}',
}
# Which verifiers take and nobody says what it means: an order of complex numbers, their remainder,
# fewer bits of a number without a sign, masks and zero points of one without a zero.
NO_MEANING = {("stablehlo.remainder", "complex"), ("stablehlo.select_and_scatter", "complex"),
              ("stablehlo.sort", "complex"), ("chlo.broadcast_remainder", "complex"),
              ("stablehlo.reduce_precision", "f8E8M0FNU"), ("chlo.ragged_dot", "f8E8M0FNU"),
              ("stablehlo.uniform_quantize", "f8E8M0FNU"),
              ("stablehlo.uniform_dequantize", "f8E8M0FNU"), ("chlo.top_k", "complex")}
# Whose types are not $T, or which make nothing of numbers: single.py and unit tests have them.
ELSEWHERE = {
    "stablehlo.return", "stablehlo.after_all", "stablehlo.create_token", "stablehlo.infeed",
    "stablehlo.outfeed", "stablehlo.send", "stablehlo.recv", "stablehlo.partition_id",
    "stablehlo.replica_id", "stablehlo.rng", "stablehlo.rng_bit_generator",
    "stablehlo.set_dimension_size", "stablehlo.custom_call", "stablehlo.collective_reduce",
    "stablehlo.convert", "stablehlo.bitcast_convert", "chlo._asin_acos_kernel",
}
