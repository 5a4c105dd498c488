// A text that is none.
// RUN: not terrazzo opt %s -terrazzo-import-gspmd 2>&1 | FileCheck %s

// CHECK: error: 'func.func' op has an mhlo.sharding that cannot be read: "{devices=[4,2]<=[9]}"
func.func @main(%arg0: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,2]<=[9]}"}) -> tensor<8x8xf32> {
  return %arg0 : tensor<8x8xf32>
}

