// In full every op is brought where its tensors agree: the larger of two candidates stays, factors
// that must be whole move their axes to batches, permutations keep theirs. An op without shardings
// that gets one for a result has open ones for the others.
// RUN: terrazzo opt %s -sdy-insert-explicit-reshards=enable-full-version=true | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=3]>

func.func @product(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<4x16xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

func.func @permuted(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.pad %arg0, %cst, low = [1, 0], high = [1, 0], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<10x8xf32>
  %1 = stablehlo.reverse %arg0, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x8xf32>
  return %0, %1 : tensor<10x8xf32>, tensor<8x8xf32>
}

func.func @whole(%arg0: tensor<8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> (tensor<8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0 = stablehlo.cholesky %arg0, lower = true {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : tensor<8x4x4xf32>
  return %0 : tensor<8x4x4xf32>
}

func.func @loop(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, %arg1: tensor<i32>) -> tensor<4x8xf32> {
  %0:2 = stablehlo.while(%a = %arg0, %b = %arg1) : tensor<4x8xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, []>]>}
  cond {
    %c = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.compare LT, %b, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<4x8xf32>
    stablehlo.return %1, %b : tensor<4x8xf32>, tensor<i32>
  }
  return %0#0 : tensor<4x8xf32>
}

func.func @pairs(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<4x8xi32>) -> (tensor<4x8xf32>, tensor<4x8xi32>) {
  %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4x8xf32>, tensor<4x8xi32>)
  return %0#0, %0#1 : tensor<4x8xf32>, tensor<4x8xi32>
}

// CHECK-LABEL: func.func @product
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}, {"x"}]> : tensor<4x8xf32>
// CHECK-NEXT: %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: %2 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{}, {"y"}]> : tensor<4x16xf32>
// CHECK-NEXT: %3 = sdy.reshard %2 <@mesh, [{"x"}, {"y"}]> : tensor<4x16xf32>
// CHECK-NEXT: %4 = sdy.reshard %3 <@mesh, [{}, {}]> : tensor<4x16xf32>
// CHECK-NEXT: return %4 : tensor<4x16xf32>

// CHECK-LABEL: func.func @permuted
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
// CHECK-NEXT: %1 = stablehlo.pad %0, %cst, low = [1, 0], high = [1, 0], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<10x8xf32>
// CHECK-NEXT: %2 = stablehlo.reverse %arg0, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x8xf32>
// CHECK-NEXT: return %1, %2 : tensor<10x8xf32>, tensor<8x8xf32>

// CHECK-LABEL: func.func @whole
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}, {}]> : tensor<8x4x4xf32>
// CHECK-NEXT: %1 = stablehlo.cholesky %0, lower = true {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : tensor<8x4x4xf32>
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{}, {"x"}, {}]> : tensor<8x4x4xf32>
// CHECK-NEXT: return %2 : tensor<8x4x4xf32>

// CHECK-LABEL: func.func @loop
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<4x8xf32>
// CHECK-NEXT: %1:2 = stablehlo.while(%iterArg = %0, %iterArg_0 = %arg1) : tensor<4x8xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, []>]>}
// CHECK-NEXT: cond {
// CHECK-NEXT: %c = stablehlo.constant dense<3> : tensor<i32>
// CHECK-NEXT: %3 = stablehlo.compare LT, %iterArg_0, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: stablehlo.return %3 : tensor<i1>
// CHECK-NEXT: } do {
// CHECK-NEXT: %3 = stablehlo.negate %iterArg {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<4x8xf32>
// CHECK-NEXT: %4 = sdy.reshard %3 <@mesh, [{}, {"y"}]> : tensor<4x8xf32>
// CHECK-NEXT: %5 = sdy.reshard %4 <@mesh, [{"x"}, {}]> : tensor<4x8xf32>
// CHECK-NEXT: stablehlo.return %5, %iterArg_0 : tensor<4x8xf32>, tensor<i32>
// CHECK-NEXT: }
// CHECK-NEXT: %2 = sdy.reshard %1#0 <@mesh, [{}, {}]> : tensor<4x8xf32>
// CHECK-NEXT: return %2 : tensor<4x8xf32>

// CHECK-LABEL: func.func @pairs
// CHECK-NEXT: %0 = sdy.reshard %arg1 <@mesh, [{}, {"x"}]> : tensor<4x8xi32>
// CHECK-NEXT: %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 0 : i64, is_stable = true}> ({
// CHECK-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
// CHECK-NEXT: %4 = stablehlo.compare LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: stablehlo.return %4 : tensor<i1>
// CHECK-NEXT: }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>, <@mesh, [{}, {"x"}]>]>} : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4x8xf32>, tensor<4x8xi32>)
// CHECK-NEXT: %2 = sdy.reshard %1#0 <@mesh, [{}, {}]> : tensor<4x8xf32>
// CHECK-NEXT: %3 = sdy.reshard %1#1 <@mesh, [{?}, {?}]> : tensor<4x8xi32>
// CHECK-NEXT: return %2, %3 : tensor<4x8xf32>, tensor<4x8xi32>
