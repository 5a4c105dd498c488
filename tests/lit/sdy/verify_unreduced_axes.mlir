// Parts of a sum become whole by a reshard or a reduction across devices; anything else is named.
// RUN: terrazzo opt %s -split-input-file -sdy-verify-unreduced-axes -verify-diagnostics

// An error in each function that has one; barriers hide nothing.
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @dropped(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y":(2)2}>}) -> tensor<8xf32> {
  %0 = sdy.propagation_barrier %arg0 allowed_direction=FORWARD : tensor<8xf32>
  // expected-error @+1 {{'stablehlo.abs' op dropped unreduced axis 'y' without a blessed operation}}
  %1 = stablehlo.abs %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"y":(1)2}>]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func @resharded(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x", "y"}>}) -> tensor<8xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}], unreduced={"y"}> : tensor<8xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=FORWARD : tensor<8xf32>
  %2 = stablehlo.abs %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %2 : tensor<8xf32>
}
func.func @returned(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x", "y"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  // expected-error @+1 {{'func.return' op has unreduced axes mismatch for 'x, y' at return value 0 without a blessed operation (e.g., sdy.reshard). This is an invalid transition from unreduced to reduced.}}
  return %arg0 : tensor<8xf32>
}

// -----

// The body of a reduction says in which way its result may be parts.
sdy.mesh @mesh = <["x"=2]>
func.func @product(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<f32>) -> tensor<8xf32> {
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.multiply across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=mul{"x"}>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @difference(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<f32>) -> tensor<8xf32> {
  // expected-error @+1 {{'stablehlo.reduce' op cannot add new unreduced axis 'x'.}}
  %0 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
   reducer(%arg2: tensor<f32>, %arg3: tensor<f32>) {
    %1 = stablehlo.subtract %arg2, %arg3 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  return %0 : tensor<8xf32>
}

// -----

// What a manual computation returns is looked at without its manual axes.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @manual(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}], replicated={"x"}>] out_shardings=[<@mesh, [{}], unreduced={"x", "y"}>] manual_axes={"x"} (%arg1: tensor<8xf32>) {
    // expected-error @+1 {{'sdy.return' op has unreduced axes mismatch for 'y' at return value 0}}
    sdy.return %arg1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Both sides of a call say the same.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func private @f(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{}], unreduced={"y"}> : tensor<8xf32>
  %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @+1 {{'func.call' op has unreduced axes mismatch for 'x' at call argument 0.}}
  %2 = call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
