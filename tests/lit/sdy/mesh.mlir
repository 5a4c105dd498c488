// Meshes: axes, explicit device order, one device, none.
// RUN: terrazzo opt %s | FileCheck %s

sdy.mesh @axes = <["a"=2, "b"=4]>
sdy.mesh @order = <["a"=2, "b"=2], device_ids=[3, 2, 1, 0]>
sdy.mesh @one = <[], device_ids=[5]>
sdy.mesh @none = <[]>

// CHECK: sdy.mesh @axes = <["a"=2, "b"=4]>
// CHECK-NEXT: sdy.mesh @order = <["a"=2, "b"=2], device_ids=[3, 2, 1, 0]>
// CHECK-NEXT: sdy.mesh @one = <[], device_ids=[5]>
// CHECK-NEXT: sdy.mesh @none = <[]>
