// Arguments keep their locations where one before them goes, and in copies of a function.
// RUN: terrazzo opt %s -canonicalize -sdy-flatten-call-graph -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

sdy.mesh @mesh = <["a"=2]>
// CHECK: sdy.manual_computation(%arg1) {{.*}} (%arg2: tensor<4xf32> loc("kept"))
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{"a"}]>, <@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%x: tensor<4xf32> loc("unused"), %y: tensor<4xf32> loc("kept")) {
    %1 = stablehlo.add %y, %y : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = call @g(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = call @g(%2) : (tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// CHECK: @g(%arg0: tensor<8xf32> loc("argument"))
// CHECK: @g_0(%arg0: tensor<8xf32> loc("argument"))
func.func private @g(%a: tensor<8xf32> loc("argument")) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
