// One reader of options for all commands: values behind = or a blank, and what may have been meant.
// RUN: terrazzo partition %s --mesh=m=x=4 | FileCheck %s --check-prefix=MESH
// RUN: terrazzo partition %s --mesh m=x=4 --stats=false | FileCheck %s --check-prefix=MESH
// RUN: not terrazzo partition %s --devices=0 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not terrazzo run %s --repeat 2x 2>&1 | FileCheck %s --check-prefix=REPEAT
// RUN: not terrazzo run %s --repeat 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not terrazzo run %s --time=maybe 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: not terrazzo run %s --device 2 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not terrazzo run %s other.mlir 2>&1 | FileCheck %s --check-prefix=FILES
// RUN: not terrazzo layuot 2>&1 | FileCheck %s --check-prefix=COMMAND
// RUN: not terrazzo ops stablehlo.dot-general 2>&1 | FileCheck %s --check-prefix=OP
// RUN: not terrazzo opt %s --canonicalise 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: not terrazzo opt %s --mlir-print-debuginf 2>&1 | FileCheck %s --check-prefix=PRINT
// RUN: not terrazzo opt %s --canonicalize=topdown=true 2>&1 | FileCheck %s --check-prefix=INSIDE
// RUN: sed s/stablehlo.tanh/stablehlo.tanhh/ %s | not terrazzo opt - 2>&1 | FileCheck %s --check-prefix=CUSTOM
// RUN: sed s/stablehlo.tanh/stabelhlo.tanh/ %s | not terrazzo opt - 2>&1 | FileCheck %s --check-prefix=DIALECT
// RUN: not terrazzo run %s --dump propagat 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: not terrazzo run %s --input nowhere.npy 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not terrazzo run %s --op-priorities nowhere 2>&1 | FileCheck %s --check-prefix=PRIORITIES
// RUN: not terrazzo comms %s --topology nowhere 2>&1 | FileCheck %s --check-prefix=TOPOLOGY
// RUN: not terrazzo convert --from xlaa --to all x 2>&1 | FileCheck %s --check-prefix=NOTATION
// RUN: not terrazzo layout --device-matrix 2,x --alias a,b --map a,b 2>&1 | FileCheck %s --check-prefix=MATRIX

sdy.mesh @m = <["x"=2]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// MESH: stablehlo.tanh %{{.*}} : tensor<2xf32>
// NUMBER: terrazzo: partition: --devices: expected a number from 1 to 1048576, found '0'
// REPEAT: terrazzo: run: --repeat: expected a number from 1 to 1048576, found '2x'
// VALUE: terrazzo: run: --repeat wants a value
// FLAG: terrazzo: run: --time: expected true or false, found 'maybe'
// OPTION: terrazzo: run: unknown option '--device'; did you mean '--devices'? (terrazzo run --help lists them)
// FILES: terrazzo: run: expected one argument, found '{{.*}}options.mlir' and 'other.mlir'
// COMMAND: unknown command 'layuot'; did you mean 'layout'?
// OP: there is no op or dialect 'stablehlo.dot-general'; did you mean 'stablehlo.dot_general'?
// PASS: there is no pass or option '--canonicalise'; did you mean 'canonicalize'?
// PRINT: there is no pass or option '--mlir-print-debuginf'; did you mean 'mlir-print-debuginfo'?
// INSIDE: error: no such option topdown; did you mean 'top-down'?
// CUSTOM: error: custom op 'stablehlo.tanhh' is unknown
// CUSTOM: note: did you mean 'stablehlo.tanh'?
// DIALECT: error: Dialect `stabelhlo' not found
// DIALECT: note: did you mean 'stablehlo'?
// STAGE: terrazzo: run: --dump: there is no stage 'propagat'; did you mean 'propagate'? ('all' shows them by name)
// INPUT: terrazzo: --input: nowhere.npy: No such file or directory
// PRIORITIES: terrazzo: --op-priorities: nowhere: No such file or directory
// TOPOLOGY: terrazzo: --topology: nowhere: No such file or directory
// NOTATION: terrazzo: convert: --from: unknown notation 'xlaa'; did you mean 'xla'?
// MATRIX: terrazzo: --device-matrix: expected a whole number, found 'x'
