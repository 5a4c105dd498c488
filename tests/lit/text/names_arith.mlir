// How values of arith and tensor are named: %c5_i32, %c5, %true, %cst, %dim; any of them again.
// RUN: terrazzo opt -allow-unregistered-dialect %s | FileCheck %s --strict-whitespace --match-full-lines
// RUN: terrazzo opt -allow-unregistered-dialect -mlir-print-op-generic %s | FileCheck %s --check-prefix=GENERIC
// RUN: terrazzo opt -allow-unregistered-dialect -mlir-use-nameloc-as-prefix %s | FileCheck %s --strict-whitespace --match-full-lines

func.func @f(%i: index, %a: i32, %t: tensor<?x4xf32>, %u: tensor<*xf32>, %b: i1, %v : vector<4xi32>) {
  %0 = arith.constant 5 : i32
  %1 = arith.constant 5 : index
  %2 = arith.constant -5 : i64
  %3 = arith.constant true
  %4 = arith.constant false
  %14 = arith.constant false
  %5 = arith.constant 1.5 : f32
  %6 = arith.constant dense<1> : tensor<2xi32>
  %7 = arith.constant dense<1> : vector<2xi32>
  %9 = arith.constant -1 : index
  %10 = arith.constant 5 : i32
  %11 = arith.constant 5 : i32
  %12 = arith.constant 123456789012345678901234567890 : i128
  %c = stablehlo.constant dense<1> : tensor<i32>
  "stablehlo.while"(%c) ({
  ^bb0(%x: tensor<i32>):
    %20 = arith.constant 5 : i32
    %21 = arith.constant 6 : i32
    %cc = stablehlo.constant dense<1> : tensor<i32>
    %22 = "a.b"() : () -> tensor<i1>
    stablehlo.return %22 : tensor<i1>
  }, {
  ^bb0(%x: tensor<i32>):
    %20 = arith.constant 5 : i32
    %21 = arith.constant 6 : i32
    stablehlo.return %x : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  %30 = tensor.cast %t : tensor<?x4xf32> to tensor<4x4xf32>
  %31 = tensor.dim %t, %i : tensor<?x4xf32>
  %32 = tensor.dim %t, %i : tensor<?x4xf32>
  %33 = tensor.from_elements %i, %i : tensor<2xindex>
  %34 = tensor.extract %t[%i, %i] : tensor<?x4xf32>
  %35 = tensor.from_elements : tensor<0xindex>
  return
}
func.func @g() {
  %0 = arith.constant 5 : i32
  %3 = arith.constant true
  return
}

// CHECK:module {
// CHECK-NEXT:  func.func @f(%arg0: index, %arg1: i32, %arg2: tensor<?x4xf32>, %arg3: tensor<*xf32>, %arg4: i1, %arg5: vector<4xi32>) {
// CHECK-NEXT:    %c5_i32 = arith.constant 5 : i32
// CHECK-NEXT:    %c5 = arith.constant 5 : index
// CHECK-NEXT:    %c-5_i64 = arith.constant -5 : i64
// CHECK-NEXT:    %true = arith.constant true
// CHECK-NEXT:    %false = arith.constant false
// CHECK-NEXT:    %false_0 = arith.constant false
// CHECK-NEXT:    %cst = arith.constant 1.500000e+00 : f32
// CHECK-NEXT:    %cst_1 = arith.constant dense<1> : tensor<2xi32>
// CHECK-NEXT:    %cst_2 = arith.constant dense<1> : vector<2xi32>
// CHECK-NEXT:    %c-1 = arith.constant -1 : index
// CHECK-NEXT:    %c5_i32_3 = arith.constant 5 : i32
// CHECK-NEXT:    %c5_i32_4 = arith.constant 5 : i32
// CHECK-NEXT:    %c123456789012345678901234567890_i128 = arith.constant 123456789012345678901234567890 : i128
// CHECK-NEXT:    %c = stablehlo.constant dense<1> : tensor<i32>
// CHECK-NEXT:    %0 = stablehlo.while(%iterArg = %c) : tensor<i32>
// CHECK-NEXT:    cond {
// CHECK-NEXT:      %c5_i32_7 = arith.constant 5 : i32
// CHECK-NEXT:      %c6_i32 = arith.constant 6 : i32
// CHECK-NEXT:      %c_8 = stablehlo.constant dense<1> : tensor<i32>
// CHECK-NEXT:      %1 = "a.b"() : () -> tensor<i1>
// CHECK-NEXT:      stablehlo.return %1 : tensor<i1>
// CHECK-NEXT:    } do {
// CHECK-NEXT:      %c5_i32_7 = arith.constant 5 : i32
// CHECK-NEXT:      %c6_i32 = arith.constant 6 : i32
// CHECK-NEXT:      stablehlo.return %iterArg : tensor<i32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %cast = tensor.cast %arg2 : tensor<?x4xf32> to tensor<4x4xf32>
// CHECK-NEXT:    %dim = tensor.dim %arg2, %arg0 : tensor<?x4xf32>
// CHECK-NEXT:    %dim_5 = tensor.dim %arg2, %arg0 : tensor<?x4xf32>
// CHECK-NEXT:    %from_elements = tensor.from_elements %arg0, %arg0 : tensor<2xindex>
// CHECK-NEXT:    %extracted = tensor.extract %arg2[%arg0, %arg0] : tensor<?x4xf32>
// CHECK-NEXT:    %from_elements_6 = tensor.from_elements  : tensor<0xindex>
// CHECK-NEXT:    return
// CHECK-NEXT:  }
// CHECK-NEXT:  func.func @g() {
// CHECK-NEXT:    %c5_i32 = arith.constant 5 : i32
// CHECK-NEXT:    %true = arith.constant true
// CHECK-NEXT:    return
// CHECK-NEXT:  }
// CHECK-NEXT:}

// GENERIC: %2 = "arith.constant"() <{value = 5 : i32}>
// GENERIC: %18 = "tensor.dim"
