// What a device has besides what the fragment takes.
// RUN: mpmd_opt %s -mpmd-mark-fragment-reserved-memory -split-input-file -verify-diagnostics | FileCheck %s

// 32 bytes, 16 bytes of it on a device, 3 bytes in bits; 5 bits.
!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
!cut = !mpmd.mesh_tensor<"m", tensor<8xf32>, sharding=<@mesh, [{"x"}]>>
!half = !mpmd.mesh_tensor<"m", tensor<5xi1>>

// CHECK-LABEL: func.func @main
func.func @main(%a: !m, %b: !cut, %c: !half, %d: !m {mhlo.memory_kind = "pinned_host"}) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // CHECK: mpmd.fragment{{.*}} (%arg0, %arg0) {reserved_hbm_bytes = 17 : i64}
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a, %a) (%x: tensor<8xf32>, %y: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m, !m) -> !m
  // %arg0 belongs to the caller.
  // CHECK: mpmd.fragment{{.*}} (%0, %arg1) {reserved_hbm_bytes = 33 : i64}
  %1 = mpmd.fragment<mesh="m", origin=["g"]> (%0, %b) (%x: tensor<8xf32>, %y: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m, !cut) -> !m
  // %0 is gone.
  // CHECK: mpmd.fragment{{.*}} (%1) {reserved_hbm_bytes = 49 : i64}
  %2 = mpmd.fragment<mesh="m", origin=["h"]> (%1) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  return %2 : !m
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
func.func @main(%a: !m) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // expected-error@+1 {{Expected only TransferOp, FragmentOp, FragmentCallOp and ReturnOp in the function body.}}
  %0 = mpmd.call @g(%a) : (!m) -> !m
  return %0 : !m
}
func.func private @g(%a: !m) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  return %a : !m
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4294967296x4294967296xf32>>
// expected-error@+1 {{values on mesh 'm' have no size that is known}}
func.func @main(%a: !m) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  return %a : !m
}
