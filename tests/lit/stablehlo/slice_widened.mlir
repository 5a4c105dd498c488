// Slices of something made wider are read as what is narrower, and nothing is written between: rows
// only, as single elements are better taken apart once.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: program: 1 x 1 devices, workspace 0
// CHECK: %[[X:[0-9]+]] = param 0 : ui8 x 1000
// CHECK: loop [998] in %[[X]][1] %[[X]]+1[1] %[[X]]+2[1] out
// CHECK-SAME: load 0
// CHECK-SAME: ui16=convert
// CHECK-NOT: @1
func.func @main(%x: tensor<1000xui8>) -> tensor<998xui16> {
  %wide = stablehlo.convert %x : (tensor<1000xui8>) -> tensor<1000xui16>
  %a = stablehlo.slice %wide [0:998] : (tensor<1000xui16>) -> tensor<998xui16>
  %b = stablehlo.slice %wide [1:999] : (tensor<1000xui16>) -> tensor<998xui16>
  %c = stablehlo.slice %wide [2:1000] : (tensor<1000xui16>) -> tensor<998xui16>
  %ab = stablehlo.add %a, %b : tensor<998xui16>
  %sum = stablehlo.add %ab, %c : tensor<998xui16>
  return %sum : tensor<998xui16>
}
