// Spellings that MLIR prefers.
// RUN: terrazzo opt -allow-unregistered-dialect %s | FileCheck %s --strict-whitespace
// RUN: terrazzo opt -allow-unregistered-dialect -mlir-print-debuginfo -mlir-print-local-scope %s | FileCheck %s --check-prefix=LOC

// CHECK: module attributes {t.a = #foo.bar, t.b = #foo.bar<x>, t.c = #foo<"a b">, t.d = !foo.t, t.e = !foo<"x y">}
module attributes {t.a = #foo<bar>, t.b = #foo<bar<x>>, t.c = #foo<"a b">, t.d = !foo<t>, t.e = !foo<"x y">} {
  func.func @f() {
    // CHECK: stablehlo.optimization_barrier()
    // LOC: stablehlo.optimization_barrier() loc("-":1:2)
    stablehlo.optimization_barrier() loc("":1:2)
    // CHECK-NEXT: stablehlo.optimization_barrier {foo.a}()
    // LOC: stablehlo.optimization_barrier {foo.a}() loc("":1:2 to 3:0)
    stablehlo.optimization_barrier {foo.a}() loc("":1:2 to 3:0)
    // CHECK-NEXT: %0 = stablehlo.create_token : !stablehlo.token
    // LOC: stablehlo.create_token : !stablehlo.token loc("a":0:2 to :3)
    %0 = stablehlo.create_token : !stablehlo.token loc("a":0:2 to :3)
    // CHECK-NEXT: %1:2 = "stablehlo.infeed"(%0) <{infeed_config = ""}>
    %1:2 = "stablehlo.infeed"(%0) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
    return
  }
}
