// Large tensors whose elements are seen as others of another width stay where they are: bytes are
// turned around in one copy, and what is computed lives as long as it is seen.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s
// RUN: terrazzo run %s

// CHECK: dynamic view %{{[0-9]+}}[] %[[BYTES:[0-9]+]][] at
// CHECK-NEXT: copy [8192,4] %[[BYTES]]+3[4,-1] ->
// CHECK-NEXT: dynamic view %{{[0-9]+}}[] %[[WORDS:[0-9]+]][] at
// CHECK-NEXT: in %[[WORDS]][1]
func.func @swapped(%x: tensor<8192xui32>) -> tensor<8192xui32> {
  %0 = stablehlo.bitcast_convert %x : (tensor<8192xui32>) -> tensor<8192x4xui8>
  %1 = stablehlo.reverse %0, dims = [1] : tensor<8192x4xui8>
  %2 = stablehlo.bitcast_convert %1 : (tensor<8192x4xui8>) -> tensor<8192xui32>
  return %2 : tensor<8192xui32>
}
func.func @main() {
  %n = stablehlo.iota dim = 0 : tensor<8192xui32>
  %by = stablehlo.constant dense<2654435761> : tensor<8192xui32>
  %product = stablehlo.multiply %n, %by : tensor<8192xui32>
  %x = stablehlo.optimization_barrier %product : tensor<8192xui32>
  %0 = func.call @swapped(%x) : (tensor<8192xui32>) -> tensor<8192xui32>
  %3 = stablehlo.not %0 : tensor<8192xui32>
  %c8 = stablehlo.constant dense<8> : tensor<8192xui32>
  %c24 = stablehlo.constant dense<24> : tensor<8192xui32>
  %low = stablehlo.constant dense<0xFF00> : tensor<8192xui32>
  %4 = stablehlo.shift_left %x, %c24 : tensor<8192xui32>
  %5 = stablehlo.and %x, %low : tensor<8192xui32>
  %6 = stablehlo.shift_left %5, %c8 : tensor<8192xui32>
  %7 = stablehlo.shift_right_logical %x, %c8 : tensor<8192xui32>
  %8 = stablehlo.and %7, %low : tensor<8192xui32>
  %9 = stablehlo.shift_right_logical %x, %c24 : tensor<8192xui32>
  %10 = stablehlo.or %4, %6 : tensor<8192xui32>
  %11 = stablehlo.or %8, %9 : tensor<8192xui32>
  %12 = stablehlo.or %10, %11 : tensor<8192xui32>
  %13 = stablehlo.not %12 : tensor<8192xui32>
  check.expect_eq %3, %13 : tensor<8192xui32>
  return
}
