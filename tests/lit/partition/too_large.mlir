// What has no parts that could be told, or more than can be listed.
// RUN: terrazzo opt %s -split-input-file -verify-diagnostics -sdy-convert-global-to-local

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @dynamic(%a: tensor<8x?xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) {
  // expected-error @+1 {{has a sharding that does not divide its type}}
  %0 = sdy.all_gather [{}, {"b"}] %a out_sharding=<@mesh, [{"a"}, {}]> : tensor<8x?xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=1073741824]>
func.func @devices(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  // expected-error @+1 {{expected a mesh of at most 1048576 devices, found 2147483648}}
  %0 = sdy.all_gather [{"a"}] %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}
