// Shards of a sorted dimension are sorted, dealt out and sorted again, where that sends less than
// to gather them: what moves are parts of shards, and 98 elements across each border.
// RUN: terrazzo opt %s -terrazzo-reduce-in-parts | FileCheck %s

sdy.mesh @mesh = <["x"=8]>
func.func @integers(%arg0: tensor<131072xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<131072xi32> {
  %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
    %1 = stablehlo.compare LT, %arg1, %arg2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<131072xi32>) -> tensor<131072xi32>
  return %0 : tensor<131072xi32>
}
// CHECK-LABEL: @integers
// CHECK: %1 = "stablehlo.sort"(%0) <{dimension = 1 : i64
// CHECK: %2 = stablehlo.reshape %1 {{.*}} -> tensor<8x2048x8xi32>
// CHECK-NEXT: %3 = sdy.reshard %2 <@mesh, [{}, {}, {"x"}]> : tensor<8x2048x8xi32>
// CHECK-NEXT: %4 = stablehlo.transpose %3, dims = [2, 0, 1]
// CHECK: %6 = "stablehlo.sort"(%5)
// CHECK: terrazzo.runs = 8 : i64}
// CHECK: %7 = stablehlo.reshape %6 {{.*}} -> tensor<8x8x2048xi32>
// CHECK-NEXT: %8 = sdy.reshard %7 <@mesh, [{}, {"x"}, {}]> : tensor<8x8x2048xi32>
// CHECK-NEXT: %9 = stablehlo.transpose %8, dims = [1, 0, 2]
// CHECK: %11 = "stablehlo.sort"(%10)
// CHECK: %14 = stablehlo.pad %13, %c, low = [1, 0], high = [-1, 0]
// CHECK-NEXT: %15 = stablehlo.concatenate %14, %12, dim = 1
// CHECK-NEXT: %16 = "stablehlo.sort"(%15)
// CHECK: terrazzo.runs = 2 : i64}
// CHECK: %20 = stablehlo.select %19, %12, %17
// CHECK: %22 = stablehlo.pad %21, %c_1, low = [-1, 0], high = [1, 0]
// CHECK: %25 = stablehlo.select %24, %13, %22
// CHECK: %26 = stablehlo.slice %11 [0:8, 98:16286]
// CHECK-NEXT: %27 = stablehlo.concatenate %20, %26, %25, dim = 1
// CHECK: return %28 : tensor<131072xi32>

// What equal elements have beside them shows which is which: the places that they had go along from
// the first deal on. Padding has a flag, and comes last.
func.func @pairs(%arg0: tensor<100001xf32>, %arg1: tensor<100001xf32>) -> (tensor<100001xf32>, tensor<100001xf32>) {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}]> : tensor<100001xf32>
  %1:2 = "stablehlo.sort"(%0, %arg1) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>):
    %2 = stablehlo.compare GT, %arg2, %arg3, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>]>} : (tensor<100001xf32>, tensor<100001xf32>) -> (tensor<100001xf32>, tensor<100001xf32>)
  return %1#0, %1#1 : tensor<100001xf32>, tensor<100001xf32>
}
// CHECK-LABEL: @pairs
// CHECK: stablehlo.compare GE, {{.*}} tensor<100032xi1>
// CHECK: "stablehlo.sort"({{.*}}, {{.*}}, {{[^,]*}}) <{dimension = 1
// CHECK: "stablehlo.sort"({{.*}}, {{.*}}, {{.*}}, {{.*}}) <{dimension = 1
// CHECK: "stablehlo.sort"({{.*}}, {{.*}}, {{.*}}, {{.*}}) <{dimension = 1
// CHECK-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>, %arg6: tensor<i1>, %arg7: tensor<i1>, %arg8: tensor<i32>, %arg9: tensor<i32>):
// CHECK-NEXT:   %[[LESS:.*]] = stablehlo.compare GT, %arg2, %arg3, TOTALORDER
// CHECK-NEXT:   %[[PLACE:.*]] = stablehlo.compare LT, %arg8, %arg9
// CHECK-NEXT:   %[[SAME:.*]] = stablehlo.compare EQ, %arg2, %arg3, TOTALORDER
// CHECK-NEXT:   %[[TIE:.*]] = stablehlo.and %[[SAME]], %[[PLACE]]
// CHECK-NEXT:   %[[BOTH:.*]] = stablehlo.or %[[LESS]], %[[TIE]]
// CHECK-NEXT:   %[[ALIKE:.*]] = stablehlo.compare EQ, %arg6, %arg7
// CHECK-NEXT:   %[[REST:.*]] = stablehlo.and %[[ALIKE]], %[[BOTH]]
// CHECK-NEXT:   %[[FLAG:.*]] = stablehlo.compare LT, %arg6, %arg7
// CHECK-NEXT:   %[[ALL:.*]] = stablehlo.or %[[FLAG]], %[[REST]]
// CHECK-NEXT:   stablehlo.return %[[ALL]]

// All devices want the whole: they merge what each of them has sorted.
func.func @whole(%arg0: tensor<131072xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<131072xf32> {
  %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.compare LT, %arg1, %arg2, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<131072xf32>) -> tensor<131072xf32>
  return %0 : tensor<131072xf32>
}
// CHECK-LABEL: @whole
// CHECK: %1 = "stablehlo.sort"(%0) <{dimension = 1 : i64
// CHECK: {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x16384xf32>)
// CHECK: %3 = "stablehlo.sort"(%2) <{dimension = 0 : i64
// CHECK-NOT: "stablehlo.sort"

// Shards of a few elements are gathered, and nothing changes.
func.func @short(%arg0: tensor<1024xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<1024xi32> {
  %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
    %1 = stablehlo.compare LT, %arg1, %arg2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<1024xi32>) -> tensor<1024xi32>
  return %0 : tensor<1024xi32>
}
// CHECK-LABEL: @short
// CHECK-NEXT: %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64

// What nobody uses may be anywhere: only the places have to stay cut.
func.func @places(%arg0: tensor<131072xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<131072xi32> {
  %0 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<131072xi32>
  %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
    %2 = stablehlo.compare LT, %arg1, %arg2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{"x"}]>]>} : (tensor<131072xi32>, tensor<131072xi32>) -> (tensor<131072xi32>, tensor<131072xi32>)
  return %1#1 : tensor<131072xi32>
}
// CHECK-LABEL: @places
// CHECK: sdy.reshard {{.*}} <@mesh, [{}, {}, {"x"}]> : tensor<8x2048x8xi32>

// All devices want the places: those can be made anywhere, and are not sent.
func.func @whole_places(%arg0: tensor<131072xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<131072xi32> {
  %0 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<131072xi32>
  %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
    %2 = stablehlo.compare LT, %arg1, %arg2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<131072xi32>, tensor<131072xi32>) -> (tensor<131072xi32>, tensor<131072xi32>)
  return %1#1 : tensor<131072xi32>
}
// CHECK-LABEL: @whole_places
// CHECK-NEXT: %0 = stablehlo.iota
// CHECK-NEXT: "stablehlo.sort"(%arg0, %0) <{dimension = 0
