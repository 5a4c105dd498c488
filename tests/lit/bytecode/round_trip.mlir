// Through bytecode and back: native in every version of the encoding, and as portable artifacts.
// RUN: terrazzo opt %s -o %t.mlir
// RUN: terrazzo opt %s --emit-bytecode --target=native | terrazzo opt | diff %t.mlir -
// RUN: terrazzo opt %s --emit-bytecode --target=native -emit-bytecode-version=4 | terrazzo opt | diff %t.mlir -
// RUN: terrazzo opt %s --emit-bytecode --target=native -emit-bytecode-version=2 | terrazzo opt | diff %t.mlir -
// RUN: terrazzo opt %s --emit-bytecode --target=native -emit-bytecode-version=1 | terrazzo opt | diff %t.mlir -
// RUN: terrazzo opt %s --emit-bytecode | terrazzo opt | diff %t.mlir -
// RUN: terrazzo opt %s --emit-bytecode --target=1.20.0 | terrazzo opt | diff %t.mlir -
// RUN: terrazzo opt %s --emit-bytecode --target=1.4.0 | terrazzo opt | diff %t.mlir -
// RUN: terrazzo opt %s --emit-bytecode --target=0.18.0 | terrazzo opt | diff %t.mlir -
// RUN: stablehlo-translate --serialize --target=1.17.0 --allow-other-dialects %s | stablehlo-translate --deserialize | diff %t.mlir -
// RUN: terrazzo opt %s -mlir-print-debuginfo -o %t.loc.mlir
// RUN: terrazzo opt %s --emit-bytecode --target=native | terrazzo opt -mlir-print-debuginfo | diff %t.loc.mlir -
module @example attributes {mhlo.num_partitions = 2 : i32, mhlo.frontend_attributes = {a = "b", c = "\00\FF"}} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  sdy.mesh @ids = <["x"=2], device_ids=[1, 0]>
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y":(1)2, ?}p1]>} loc("arg"), %arg1: tensor<16x4xf32> {jax.buffer_donor = true}) -> (tensor<8x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32> loc("dot"("model.py":3:4))
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}], replicated={"y"}> : tensor<8x4xf32>
    %cst = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<8x4xf32>
    %3 = stablehlo.add %1, %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {?}]>]>} : tensor<8x4xf32> loc(callsite("f"("a.py":1:2) at "b.py":3:4))
    %4 = call @more(%3) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %5 = sdy.manual_computation(%4) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%arg2: tensor<4x4xf32>) {
      %6 = "stablehlo.all_reduce"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
        %7 = stablehlo.add %arg3, %arg4 : tensor<f32>
        stablehlo.return %7 : tensor<f32>
      }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      sdy.return %6 : tensor<4x4xf32>
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %5 : tensor<8x4xf32>
  }
  func.func private @more(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<true> : tensor<3xi1>
    %c_1 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
    %c_2 = stablehlo.constant dense<[-1, 7]> : tensor<2xi4>
    %cst = stablehlo.constant dense<(1.0, -2.5)> : tensor<2xcomplex<f64>>
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_3 = %c) : tensor<8x4xf32>, tensor<i32>
    cond {
      %1 = stablehlo.compare LT, %iterArg_3, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.exponential %iterArg : tensor<8x4xf32>
      stablehlo.return %1, %iterArg_3 : tensor<8x4xf32>, tensor<i32>
    }
    %2 = stablehlo.custom_call @foo(%0#0) {api_version = 2 : i32, backend_config = "x", has_side_effect = true, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %3 = stablehlo.slice %2 [0:8, 1:4:2] : (tensor<8x4xf32>) -> tensor<8x2xf32>
    %4 = "stablehlo.sort"(%3) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %5 = stablehlo.compare LT, %arg1, %arg2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    }) : (tensor<8x2xf32>) -> tensor<8x2xf32>
    return %2 : tensor<8x4xf32>
  }
}
