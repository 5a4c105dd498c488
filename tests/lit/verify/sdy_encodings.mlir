// Types of one encoding, where Shardy's ops have one type: what is printed is read again.
// RUN: terrazzo opt %s -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=6]>
func.func @reshard(%a: tensor<?xf32>) {
  // expected-error@+1 {{'sdy.reshard' op requires the same encoding for all operands and results}}
  %0 = "sdy.reshard"(%a) <{sharding = #sdy.sharding<@mesh, [{}]>}> : (tensor<?xf32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  return
}

// -----

sdy.mesh @mesh = <["x"=6]>
func.func @slice(%a: tensor<?xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  // expected-error@+1 {{'sdy.all_slice' op requires the same encoding for all operands and results}}
  %0 = "sdy.all_slice"(%a) <{out_sharding = #sdy.sharding<@mesh, [{"x"}]>, slicing_axes = #sdy<list_of_axis_ref_lists[{"x"}]>}> : (tensor<?xf32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  return
}
