// Every method of a data flow that answers wrongly is a diagnostic with the op and the method.
// RUN: terrazzo opt %s --load-dialect %broken_dialect -sdy-propagation-pipeline -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'broken.flow' op method 'owner_of_target' of its dialect answers with a value that cannot own an edge of the op}}
  %0:2 = "broken.flow"(%arg0, %arg1) ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>):
    %c = stablehlo.add %a, %a : tensor<4x4xf32>
    "broken.yield"(%c, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> ()
  }) {break = "foreign owner"} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'broken.flow' op method 'owner_of_target' of its dialect puts values of different rank on one edge}}
  %0:2 = "broken.flow"(%arg0, %arg1) ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>):
    %c = stablehlo.add %a, %a : tensor<4x4xf32>
    "broken.yield"(%c, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> ()
  }) {break = "not its own owner"} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'broken.flow' op method 'owner_of_target' of its dialect answers with a value that is not its own owner}}
  %0:2 = "broken.flow"(%arg0, %arg1) ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>):
    %c = stablehlo.add %a, %a : tensor<4x4xf32>
    "broken.yield"(%c, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> ()
  }) {break = "owners in a ring"} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'broken.flow' op method 'owner_of_target' of its dialect puts values of different rank on one edge}}
  %0:2 = "broken.flow"(%arg0, %arg1) ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>):
    %c = stablehlo.add %a, %a : tensor<4x4xf32>
    "broken.yield"(%c, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> ()
  }) {break = "rank"} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'broken.flow' op method 'owner_of_source' of its dialect does not answer with the owner whose source it is}}
  %0:2 = "broken.flow"(%arg0, %arg1) ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>):
    %c = stablehlo.add %a, %a : tensor<4x4xf32>
    "broken.yield"(%c, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> ()
  }) {break = "no owner of source"} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'broken.flow' op method 'sources' of its dialect answers with a number beyond all bounds}}
  %0:2 = "broken.flow"(%arg0, %arg1) ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>):
    %c = stablehlo.add %a, %a : tensor<4x4xf32>
    "broken.yield"(%c, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> ()
  }) {break = "many sources"} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'broken.flow' op method 'sources' of its dialect answers with what is no operand of the op or its terminators}}
  %0:2 = "broken.flow"(%arg0, %arg1) ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>):
    %c = stablehlo.add %a, %a : tensor<4x4xf32>
    "broken.yield"(%c, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> ()
  }) {break = "no sources written"} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'broken.flow' op method 'sources' of its dialect answers with what is no operand of the op or its terminators}}
  %0:2 = "broken.flow"(%arg0, %arg1) ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>):
    %c = stablehlo.add %a, %a : tensor<4x4xf32>
    "broken.yield"(%c, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> ()
  }) {break = "strange source"} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'broken.flow' op method 'sources' of its dialect has a source twice}}
  %0:2 = "broken.flow"(%arg0, %arg1) ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>):
    %c = stablehlo.add %a, %a : tensor<4x4xf32>
    "broken.yield"(%c, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> ()
  }) {break = "source twice"} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'broken.flow' op method 'other_targets' of its dialect answers with a value that is no other target of the op}}
  %0:2 = "broken.flow"(%arg0, %arg1) ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>):
    %c = stablehlo.add %a, %a : tensor<4x4xf32>
    "broken.yield"(%c, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> ()
  }) {break = "other target is the owner"} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'broken.flow' op method 'other_targets' of its dialect answers with a target that another owner has}}
  %0:2 = "broken.flow"(%arg0, %arg1) ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>):
    %c = stablehlo.add %a, %a : tensor<4x4xf32>
    "broken.yield"(%c, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> ()
  }) {break = "other target of another"} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'broken.flow' op method 'get_shardings' of its dialect answers with what is no sdy.sharding_per_value}}
  %0:2 = "broken.flow"(%arg0, %arg1) ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>):
    %c = stablehlo.add %a, %a : tensor<4x4xf32>
    "broken.yield"(%c, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> ()
  }) {break = "shardings"} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'broken.flow' op method 'set_shardings' of its dialect fails: a handle is NULL or was freed}}
  %0:2 = "broken.flow"(%arg0, %arg1) ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>):
    %c = stablehlo.add %a, %a : tensor<4x4xf32>
    "broken.yield"(%c, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> ()
  }) {break = "set fails"} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'broken.flow' op method 'get_shardings' of its dialect answers otherwise than was set}}
  %0:2 = "broken.flow"(%arg0, %arg1) ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>):
    %c = stablehlo.add %a, %a : tensor<4x4xf32>
    "broken.yield"(%c, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> ()
  }) {break = "set forgets"} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'broken.flow' op method 'transform' of its dialect answers with what is no sharding of the same rank}}
  %0:2 = "broken.flow"(%arg0, %arg1) ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>):
    %c = stablehlo.add %a, %a : tensor<4x4xf32>
    "broken.yield"(%c, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> ()
  }) {break = "transform"} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}
