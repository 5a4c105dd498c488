// What the verifier says of a foreign dialect's ops: its own words, counts, traits, collectives.
// RUN: terrazzo opt %s --load-dialect %demo_dialect -split-input-file -verify-diagnostics

func.func @own_words(%arg0: tensor<2x3xf32>) -> tensor<2x2xf32> {
  // expected-error@+1 {{'demo.matmul' op multiplies tensor<MxK> by tensor<KxN>}}
  %0 = demo.matmul %arg0, %arg0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

func.func @inferred(%arg0: tensor<2x2xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{'demo.matmul' op result #0 must be 'tensor<2x2xf32>', but is 'tensor<2x4xf32>'}}
  %0 = demo.matmul %arg0, %arg0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @count(%arg0: tensor<2x2xf32>) {
  // expected-error@+1 {{'demo.relu' op requires a single operand}}
  %0 = "demo.relu"(%arg0, %arg0) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @same_type(%arg0: tensor<2x2xf32>) {
  // expected-error@+1 {{'demo.relu' op requires}}
  %0 = "demo.relu"(%arg0) : (tensor<2x2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @no_value() {
  // expected-error@+1 {{'demo.constant' op requires attribute 'value'}}
  %0 = "demo.constant"() : () -> tensor<2xf32>
  return
}

// -----

func.func @value_of_another_type() {
  // expected-error@+1 {{'demo.constant' op needs a dense constant of its result's type as attribute 'value'}}
  %0 = demo.constant dense<1> : tensor<2xi32> -> tensor<2xf32>
  return
}

// -----

func.func @no_terminator(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'demo.apply' op expects blocks of region #0 to end in a terminator}}
  %0 = "demo.apply"(%arg0) ({
  ^bb0(%a: tensor<2xf32>):
    %r = demo.relu %a : tensor<2xf32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @no_block(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'demo.apply' op expects region #0 to have one block}}
  %0 = "demo.apply"(%arg0) ({}) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @shardings_of_owners(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{shardings don't match number of values: 2 shardings vs 1 values}}
  %0 = "demo.apply"(%arg0) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}]>]>}> ({
  ^bb0(%a: tensor<2xf32>):
    "demo.yield"(%a) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @collective(%arg0: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<2xf32> {
  %0 = "demo.gather"(%arg0) <{out_sharding = #sdy.sharding<@mesh, [{}]>}> : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @collective_without_input(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{'demo.gather' op collective on operand without sharding}}
  %0 = "demo.gather"(%arg0) <{out_sharding = #sdy.sharding<@mesh, [{}]>}> : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @other = <["x"=4]>
// expected-note@+1 {{operand mesh: #sdy.mesh<["x"=2]>}}
func.func @collective_meshes(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  // expected-error@+1 {{'demo.gather' op result mesh does not match operand mesh}}
  %0 = "demo.gather"(%arg0) <{out_sharding = #sdy.sharding<@other, [{}]>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @collective_sharding(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  // expected-error@+1 {{unknown axis name: "z"}}
  %0 = "demo.gather"(%arg0) <{out_sharding = #sdy.sharding<@mesh, [{"z"}]>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
