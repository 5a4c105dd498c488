// Pieces without elements, in more dimensions than a plane has.
// RUN: terrazzo run %s --output %t | FileCheck %s --allow-empty
// CHECK-NOT: error

module attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 2 : i32} {
  func.func @main() -> tensor<0x2x4x3xf32> {
    %x = stablehlo.constant dense<1.0> : tensor<0x4x2x3xf32>
    %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 2 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<0x4x2x3xf32>) -> tensor<0x2x4x3xf32>
    return %0 : tensor<0x2x4x3xf32>
  }
}
