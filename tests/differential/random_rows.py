"""Ops that random_ops.py writes as they stand here, with random decoration."""

GROUPS = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
F4 = "tensor<4xf32>"
NHWC = "tensor<2x3x4x5xf32>"
F5 = "tensor<5xf32>"
NORM = "epsilon = 1.0e-3 : f32, feature_index = 3 : i64"
# op, operands, results, properties, optional properties, region
OTHERS = [
    ("stablehlo.batch_norm_inference", [NHWC, F5, F5, F5, F5], [NHWC], NORM, [], ""),
    ("stablehlo.batch_norm_training", [NHWC, F5, F5], [NHWC, F5, F5], NORM, [], ""),
    ("stablehlo.batch_norm_grad", [NHWC, F5, F5, F5, NHWC], [NHWC, F5, F5], NORM, [], ""),
    (
        "stablehlo.all_gather",
        ["tensor<2x2xf32>"],
        ["tensor<4x2xf32>"],
        "all_gather_dim = 0 : i64, " + GROUPS,
        [CHANNEL],
        "",
    ),
    (
        "stablehlo.all_to_all",
        ["tensor<4x2xf32>"],
        ["tensor<2x4xf32>"],
        "concat_dimension = 1 : i64, split_count = 2 : i64, split_dimension = 0 : i64, " + GROUPS,
        [CHANNEL],
        "",
    ),
    (
        "stablehlo.reduce_scatter",
        ["tensor<4x2xf32>"],
        ["tensor<2x2xf32>"],
        "scatter_dimension = 0 : i64, " + GROUPS,
        [CHANNEL],
        "add",
    ),
    ("stablehlo.collective_broadcast", [F4], [F4], GROUPS, [CHANNEL], ""),
    ("stablehlo.cross-replica-sum", [F4], [F4], GROUPS, [], ""),
    (
        "stablehlo.dynamic_gather",
        ["tensor<3x4x2xi32>", "tensor<2x3x2xi64>", "tensor<3xi32>"],
        ["tensor<2x3x?x?xi32>"],
        (
            "dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims"
            " = [0], start_index_map = [1, 0], index_vector_dim = 2>"
        ),
        ["indices_are_sorted = true"],
        "",
    ),
    (
        "stablehlo.scatter",
        ["tensor<3x4x2xf32>", "tensor<2x3x2xi64>", "tensor<2x3x2x2xf32>"],
        ["tensor<3x4x2xf32>"],
        (
            "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3],"
            " inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim"
            " = 2>"
        ),
        ["indices_are_sorted = true", "unique_indices = true"],
        "add",
    ),
    (
        "stablehlo.select_and_scatter",
        ["tensor<4x4xf32>", "tensor<2x2xf32>", "tensor<f32>"],
        ["tensor<4x4xf32>"],
        "window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>",
        [],
        "two",
    ),
    (
        "stablehlo.triangular_solve",
        ["tensor<4x4xf32>", "tensor<4x3xf32>"],
        ["tensor<4x3xf32>"],
        (
            "left_side = true, lower = true, unit_diagonal = false, transpose_a ="
            " #stablehlo<transpose NO_TRANSPOSE>"
        ),
        [],
        "",
    ),
    (
        "stablehlo.rng",
        ["tensor<f32>", "tensor<f32>", "tensor<2xi64>"],
        ["tensor<2x3xf32>"],
        "rng_distribution = #stablehlo<rng_distribution NORMAL>",
        [],
        "",
    ),
    ("stablehlo.create_token", [], ["!stablehlo.token"], "", [], ""),
    (
        "stablehlo.infeed",
        ["!stablehlo.token"],
        [F4, "!stablehlo.token"],
        "",
        ['infeed_config = "x"', "layout = [[0]]"],
        "",
    ),
    (
        "stablehlo.outfeed",
        [F4, "!stablehlo.token"],
        ["!stablehlo.token"],
        "",
        ['outfeed_config = ""'],
        "",
    ),
    (
        "stablehlo.send",
        [F4, "!stablehlo.token"],
        ["!stablehlo.token"],
        "channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true",
        [],
        "",
    ),
    (
        "stablehlo.recv",
        ["!stablehlo.token"],
        [F4, "!stablehlo.token"],
        "channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true",
        [],
        "",
    ),
    (
        "stablehlo.set_dimension_size",
        [F4, "tensor<i32>"],
        ["tensor<?xf32, #stablehlo.bounds<4>>"],
        "dimension = 0 : i64",
        [],
        "",
    ),
    (
        "stablehlo.dynamic_iota",
        ["tensor<2xi32>"],
        ["tensor<?x?xf32>"],
        "iota_dimension = 1 : i64",
        [],
        "",
    ),
    ("stablehlo.dynamic_reshape", [F4, "tensor<2xi32>"], ["tensor<?x?xf32>"], "", [], ""),
    (
        "stablehlo.dynamic_broadcast_in_dim",
        [F4, "tensor<2xindex>"],
        ["tensor<?x?xf32>"],
        "broadcast_dimensions = array<i64: 1>",
        [
            "known_expanding_dimensions = array<i64: 0>",
            "known_nonexpanding_dimensions = array<i64>",
        ],
        "",
    ),
    (
        "stablehlo.dynamic_pad",
        [F4, "tensor<f32>", "tensor<1xi32>", "tensor<1xi32>", "tensor<1xi32>"],
        ["tensor<?xf32>"],
        "",
        [],
        "",
    ),
    (
        "stablehlo.real_dynamic_slice",
        [F4, "tensor<1xi32>", "tensor<1xi32>", "tensor<1xi32>"],
        ["tensor<?xf32>"],
        "",
        [],
        "",
    ),
    (
        "stablehlo.dot",
        ["tensor<2x3xf32>", "tensor<3x4xf32>"],
        ["tensor<2x4xf32>"],
        "",
        ["precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]"],
        "",
    ),
    ("stablehlo.broadcast", [F4], ["tensor<2x4xf32>"], "broadcast_sizes = array<i64: 2>", [], ""),
    (
        "stablehlo.einsum",
        ["tensor<2x3xf32>", "tensor<3x4xf32>"],
        ["tensor<2x4xf32>"],
        'einsum_config = "ab,bc->ac"',
        [],
        "",
    ),
    (
        "stablehlo.unary_einsum",
        ["tensor<2x3xf32>"],
        ["tensor<3x2xf32>"],
        'einsum_config = "ab->ba"',
        [],
        "",
    ),
    (
        "stablehlo.torch_index_select",
        ["tensor<5x1x5xi32>", "tensor<2xi32>"],
        ["tensor<2x1x5xi32>"],
        "batch_dims = 0 : i64, dim = 0 : i64",
        [],
        "",
    ),
    (
        "stablehlo.uniform_quantize",
        [F4],
        ["tensor<4x!quant.uniform<i8:f32, 5.0e-01:3>>"],
        "",
        [],
        "",
    ),
    (
        "stablehlo.uniform_dequantize",
        ["tensor<4x!quant.uniform<i8:f32, 5.0e-01:3>>"],
        [F4],
        "",
        [],
        "",
    ),
    ("stablehlo.is_finite", [F4], ["tensor<4xi1>"], "", [], ""),
    (
        "stablehlo.dynamic_conv",
        ["tensor<1x8x8x3xf32>", "tensor<1x1x3x4xf32>", "tensor<2x2xi64>"],
        ["tensor<1x?x?x4xf32>"],
        (
            "batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = "
            "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>"
        ),
        ["window_strides = array<i64: 1, 1>"],
        "",
    ),
    ("chlo.constant_like", [F4], [F4], "value = 1.5 : f32", [], ""),
    ("chlo.constant", [], ["tensor<2xi32>"], "value = dense<[1, 2]> : tensor<2xi32>", [], ""),
    ("chlo.mulhi", ["tensor<4xi32>", "tensor<4xi32>"], ["tensor<4xi32>"], "", [], ""),
    (
        "chlo.broadcast_compare",
        [F4, F4],
        ["tensor<4xi1>"],
        "comparison_direction = #chlo<comparison_direction LT>",
        ["compare_type = #chlo<comparison_type FLOAT>"],
        "",
    ),
    ("chlo.broadcast_select", ["tensor<4xi1>", F4, F4], [F4], "", [], ""),
    ("chlo.broadcast_complex", [F4, F4], ["tensor<4xcomplex<f32>>"], "", [], ""),
    ("chlo.broadcast_and", ["tensor<4xi1>", "tensor<4xi1>"], ["tensor<4xi1>"], "", [], ""),
    ("chlo._asin_acos_kernel", ["tensor<4xcomplex<f32>>"], ["tensor<4xcomplex<f32>>"], "", [], ""),
    (
        "chlo.ragged_dot",
        ["tensor<6x4xf32>", "tensor<3x4x5xf32>", "tensor<3xi64>"],
        ["tensor<6x5xf32>"],
        (
            "ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1],"
            " rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions ="
            " [0]>"
        ),
        ["precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGH>]"],
        "",
    ),
]
