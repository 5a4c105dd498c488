// RUN: terrazzo opt %s -cse | FileCheck %s
// RUN: terrazzo opt %s -cse -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s --check-prefix=LOC

// Bodies see what is outside; what is inside does not get out. Equal bodies count as equal.
// CHECK-LABEL: func @regions
// CHECK-NEXT:    %[[Z:.*]] = stablehlo.constant dense<0.0
// CHECK-NEXT:    %[[N:.*]] = stablehlo.negate %arg0
// CHECK-NEXT:    %[[R:.*]] = stablehlo.reduce(%arg0 init: %[[Z]])
// CHECK:         stablehlo.reduce(%arg0 init: %[[Z]]) applies stablehlo.maximum
// CHECK-NOT:     reduce
// CHECK:         "stablehlo.case"
// CHECK-NEXT:      stablehlo.return %[[N]]
// CHECK:           %[[S:.*]] = stablehlo.sine
// CHECK-NEXT:      stablehlo.return %[[S]]
// CHECK:         %[[S2:.*]] = stablehlo.sine
// CHECK-NEXT:    return
func.func @regions(%x: tensor<4xf32>, %i: tensor<i32>)
    -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.negate %x : tensor<4xf32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %3 = "stablehlo.case"(%i) ({
    %again = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %again : tensor<4xf32>
  }, {
    %s = stablehlo.sine %x : tensor<4xf32>
    stablehlo.return %s : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  %4 = stablehlo.sine %x : tensor<4xf32>
  return %0, %1, %2, %3, %4, %n : tensor<f32>, tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// One run erases the end of a chain of dead ops only.
// CHECK-LABEL: func @chain
// CHECK-NEXT:    stablehlo.sine
// CHECK-NEXT:    return
func.func @chain(%x: tensor<f32>) {
  %0 = stablehlo.sine %x : tensor<f32>
  %1 = stablehlo.cosine %0 : tensor<f32>
  return
}

// A dead op goes as it is: nothing inside is merged, so %k keeps its unknown location.
// LOC-LABEL: func @inside_dead
// LOC-NEXT:    %[[K:.*]] = stablehlo.constant dense<1.0{{.*}} loc(unknown)
// LOC-NEXT:    return %[[K]]
func.func @inside_dead(%x: tensor<f32>, %i: tensor<i1>) -> tensor<f32> {
  %k = stablehlo.constant dense<1.0> : tensor<f32> loc(unknown)
  %0 = "stablehlo.if"(%i) ({
    %again = stablehlo.constant dense<1.0> : tensor<f32> loc("again")
    stablehlo.return %again : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %k : tensor<f32>
}
