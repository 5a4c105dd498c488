// What ops of mpmd refuse.
// RUN: mpmd_opt %s -verify-diagnostics -split-input-file

// expected-error@+1 {{TopologyAttr must have at least one mesh.}}
func.func @main() attributes {topology = #mpmd.topology<>} {
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
func.func @main(%a: tensor<8xf32>) attributes {topology = #mpmd.topology<<"n": <["x"=2]>>>} {
  // expected-error@+1 {{Topology doesn't have a mesh with name: m}}
  %0 = mpmd.assign %a : (tensor<8xf32>) -> !m
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
func.func @main(%a: tensor<8xf32>) {
  // expected-error@+1 {{Function does not have a topology attribute: main}}
  %0 = mpmd.assign %a : (tensor<8xf32>) -> !m
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>, sharding=<@mesh, [{"x"}]>>
func.func @main(%a: tensor<8xf32>) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // expected-error@+1 {{MeshTensorType should be fully replicated: '!mpmd.mesh_tensor<"m", tensor<8xf32>, sharding=<@mesh, [{"x"}]>>'}}
  %0 = mpmd.assign %a : (tensor<8xf32>) -> !m
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
func.func @main(%a: !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // expected-error@+1 {{expected the mesh name of the operand to match that of the fragment op: m != n}}
  %0 = mpmd.fragment<mesh="n", origin=[]> (%a) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !mpmd.mesh_tensor<"n", tensor<8xf32>>
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
func.func @main(%a: !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // expected-error@+1 {{expected the type of the block argument to be global tensor type operand: 'tensor<8xf32>', got: 'tensor<4xf32>'}}
  %0 = mpmd.fragment<mesh="m", origin=[]> (%a) (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m) -> !m
  return
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
func.func @main(%a: !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // expected-error@+1 {{number of iterations 5 isn't divisible by unroll factor 2}}
  %0 = mpmd.for (%a) {iterations = 5 : ui32, unroll_factor = 2 : ui32} (%x: !m, %i: tensor<ui32>) {
    mpmd.return %x : !m
  } : !m
  return
}

// -----

// expected-error@+1 {{unknown attribute `meshes` in dialect `mpmd`}}
func.func private @f() attributes {a = #mpmd.meshes<"m">}

// -----

func.func @main(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected one of none, add, max, min, mul, or, and}}
  %0 = mpmd.reduce<sub> %a : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @main(%a: tensor<8xf32>) {
  // expected-error@+1 {{'f' does not reference a valid function}}
  %0 = mpmd.call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return
}
