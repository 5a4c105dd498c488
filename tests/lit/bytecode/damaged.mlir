// What only the text's reader would refuse, and names of VHLO that are not its.
// RUN: terrazzo opt %s --emit-bytecode -o %t.mlirbc
// RUN: env LC_ALL=C sed 's/create_token_v1/greate_token_v1/' %t.mlirbc > %t.name.mlirbc
// RUN: not terrazzo opt -allow-unregistered-dialect %t.name.mlirbc 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: unregistered operation 'vhlo.greate_token_v1' found in dialect ('vhlo') that does not allow unknown operations
// RUN: env LC_ALL=C sed 's/\x0d\(\x00\xff\{8\}\)/\1\x0d/' %t.mlirbc > %t.bounds.mlirbc
// RUN: not terrazzo opt %t.bounds.mlirbc 2>&1 | FileCheck %s --check-prefix=BOUNDS
// BOUNDS: Static dimension 1 cannot have a bound, use ShapedType::kDynamic to indicate a missing bound in tensor 'tensor<?x4xf32>'
func.func @main(%arg0: tensor<?x4xf32, #stablehlo.bounds<3, ?>>) {
  %0 = stablehlo.create_token : !stablehlo.token
  return
}
