// What a version of StableHLO has no words for is named, at the op that has it.
// RUN: not terrazzo opt %s --emit-bytecode --target=1.3.0 2>&1 | FileCheck %s --check-prefix=TAN
// RUN: not stablehlo-translate --serialize --target=1.17.0 %s 2>&1 | FileCheck %s --check-prefix=STRICT
// RUN: not terrazzo opt %s --emit-bytecode --target=1.99.0 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not terrazzo opt %s --emit-bytecode --target=x 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not terrazzo opt %s --emit-bytecode -emit-bytecode-version=7 2>&1 | FileCheck %s --check-prefix=VERSION
// TAN: errors.mlir:[[# @LINE + 10]]:10: error: 'stablehlo.tan' op cannot be expressed in StableHLO 1.3.0
// STRICT: errors.mlir:[[# @LINE + 7]]:3: error: 'sdy.mesh' op cannot be expressed in StableHLO 1.17.0
// RANGE: error: --target: version 1.99.0 is not between 0.9.0 and 1.20.0
// FORM: error: --target: invalid target version 'x': it must be of the form `#.#.#`
// VERSION: error: --emit-bytecode-version: bytecode version 7 is not known
// RUN: echo '"a.b"() <{c}> : () -> ()' | not terrazzo opt -allow-unregistered-dialect --emit-bytecode --target=native -emit-bytecode-version=4 2>&1 | FileCheck %s --check-prefix=PROPERTIES
// PROPERTIES: error: 'a.b' op uses properties in version 4 of the encoding, which cannot be expressed in bytecode
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.tan %arg0 : tensor<f32>
    return %0 : tensor<f32>
  }
}
