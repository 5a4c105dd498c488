// A program over several meshes is not run as it is, and that is said; the parts for one mesh are.
// RUN: split-file %s %t
// RUN: not terrazzo run %t/whole.mlir --devices 2 2>&1 | FileCheck %s
// RUN: not terrazzo partition %t/whole.mlir --devices 2 2>&1 | FileCheck %s
// RUN: not terrazzo why %t/whole.mlir --devices 2 2>&1 | FileCheck %s
// RUN: mpmd_opt %t/whole.mlir -emit-bytecode -o %t/whole.mlirbc
// RUN: mpmd_opt %t/whole.mlirbc | mpmd_opt | FileCheck %s --check-prefix=BYTECODE
// RUN: not terrazzo mem %t/whole.mlirbc --devices 2 2>&1 | FileCheck %s
// RUN: mpmd_opt %t/whole.mlir -mpmd-lower-to-fragment-calls | FileCheck %s --check-prefix=CALLS
// RUN: terrazzo partition %t/part.mlir --devices 2 | FileCheck %s --check-prefix=PART

// CHECK-NOT: warning
// CHECK: whole.mlir:4:8: error: 'mpmd.fragment' op is not implemented: it is of a program over several meshes, and only what mpmd_opt makes for each of them can run

// BYTECODE: #mpmd.topology<<"m" : <["x"=2]>>>
// BYTECODE: mpmd.fragment<mesh="m", origin=["f"(1)], stage=3> (%arg0) {call_counter = 2 : ui32} (%arg1: tensor<8xf32>) {
// BYTECODE: !mpmd.mesh_tensor<"m", tensor<8xf32>, sharding=<@mesh, [{"x"}]>, memory_kind="pinned_host">

// CALLS: func.func @p0_stage3_bwd_call2.main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32>

// PART: func.func @main(%arg0: tensor<4xf32>

//--- whole.mlir
!m = !mpmd.mesh_tensor<"m", tensor<8xf32>, sharding=<@mesh, [{"x"}]>, memory_kind="pinned_host">
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: !m) -> !mpmd.mesh_tensor<"m", tensor<8xf32>> attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=["f"(1)], stage=3> (%a) {call_counter = 2 : ui32} (%x: tensor<8xf32>) {
    %y = stablehlo.negate %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !mpmd.mesh_tensor<"m", tensor<8xf32>>
  return %0 : !mpmd.mesh_tensor<"m", tensor<8xf32>>
}

//--- part.mlir
sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>, reserved_hbm_bytes = 0 : i64} {
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
