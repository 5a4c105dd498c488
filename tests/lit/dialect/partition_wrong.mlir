// What a foreign dialect leaves out, or gets wrong, when its ops are made local: named by op and method.
// RUN: terrazzo opt %s --load-dialect %demo_dialect --load-dialect %broken_dialect -split-input-file -verify-diagnostics -terrazzo-partition

sdy.mesh @mesh = <["x"=2]>
func.func @collective(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error@+1 {{'demo.gather' op is not implemented: cannot be partitioned along dimension 0 of its operand 0: its dialect has no make_local for it}}
  %0 = "demo.gather"(%arg0) <{out_sharding = #sdy.sharding<@mesh, [{}]>}> : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @fails(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error@+1 {{'broken.local' op method 'make_local' of its dialect fails: a value of rank 1 has no dimension 7}}
  %0 = "broken.local"(%arg0) {break = "make_local fails", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @stands_for(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error@+1 {{'broken.local' op method 'make_local' of its dialect answers with what cannot stand for its result}}
  %0 = "broken.local"(%arg0) {break = "stands for it", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
