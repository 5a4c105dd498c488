// What each device runs, and what it sends: along which axes, how often, who asked for it.
// RUN: terrazzo partition %s | FileCheck %s
// RUN: terrazzo partition %s --stats | FileCheck %s --check-prefix=STATS
// RUN: not terrazzo partition %s --mesh mesh=x=4,y=2 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: terrazzo partition %s --json | FileCheck %s --check-prefix=JSON
// RUN: terrazzo run %s --dry-run --json | FileCheck %s --check-prefix=DRY
// RUN: terrazzo run %s --random-input --json | FileCheck %s --check-prefix=RUNS
// RUN: terrazzo partition --help | FileCheck %s --check-prefix=HELP

// CHECK: func.func @main(%arg0: tensor<4x4xf32>
// CHECK: stablehlo.dot_general
// CHECK: "stablehlo.all_reduce"
// CHECK: stablehlo.while
// CHECK: "stablehlo.collective_permute"

// STATS: collective {{.*}}devices {{.*}}axes {{.*}}bytes {{.*}}times {{.*}}asked by
// STATS-NEXT: all_reduce                 2  "y"                    128 B        1   partition  {{.*}}command.mlir:[[@LINE+19]]:
// STATS-NEXT: collective_permute         2  "x"                    128 B        5   program    {{.*}}command.mlir:[[@LINE+26]]:
// STATS-NEXT: 2 collectives, run 6 times; 768 B sent by a device
// JSON: [{"op": "stablehlo.all_reduce", "devices": 2, "axes": "\"y\"", "bytes": 128, "times": 1, "times_known": true, "asked": false, "file": "{{.*}}command.mlir", "line": [[#]], "column": 8},
// JSON-NEXT: {"op": "stablehlo.collective_permute", {{.*}}"times": 5, {{.*}}"asked": true
// DRY: {"devices": 4, "steps": {{[0-9]+}}, "arguments": 192, "results": 128, "workspace": {{[0-9]+}}, "constants": {{[0-9]+}},
// DRY-NEXT: "flops": {{[0-9]+}}, "transcendentals": {{[0-9]+}}, "bytes": {{[0-9]+}},
// DRY-NEXT: "collectives": [{"kind": "all_reduce", "count": 1, "bytes": {{[0-9]+}}}, {"kind": "collective_permute", "count": 1, "bytes": {{[0-9]+}}}],
// DRY-NEXT: "compile_ms": {{[0-9.]+}}}
// RUNS: "compile_ms": {{[0-9.]+}}, "run_ms": {{[0-9.]+}}}
// WRONG: command.mlir:{{.*}}: error: 'sdy.manual_computation' op is written for the sizes of mesh @mesh
// HELP: usage: terrazzo partition FILE

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %begin = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<10> : tensor<i32>
  %step = stablehlo.constant dense<2> : tensor<i32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  %2:2 = stablehlo.while(%i = %begin, %v = %1) : tensor<i32>, tensor<8x8xf32>
  cond {
    %3 = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %4 = sdy.manual_computation(%v) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%w: tensor<4x8xf32>) {
      %6 = "stablehlo.collective_permute"(%w) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [1, 3], [2, 0], [3, 1]]> : tensor<4x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
      sdy.return %6 : tensor<4x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %5 = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %5, %4 : tensor<i32>, tensor<8x8xf32>
  }
  return %2#1 : tensor<8x8xf32>
}
