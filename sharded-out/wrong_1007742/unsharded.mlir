module {


func.func public @main(%arg0: tensor<4x12x1xi1>, %arg1: tensor<12x8x5xi1>, %arg2: tensor<12x8x5xi1>, %arg3: tensor<4x12x1xui4>, %arg4: tensor<12x8x5xi1>, %arg5: tensor<8xi1>) -> (tensor<12x8x5xi1>, tensor<4x12x1xi1>, tensor<4x12x1xui4>, tensor<120x4xi1>, tensor<12x8x5xi1>, tensor<8xi1>, tensor<120x4xi1>) {
%v2 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64, is_stable = true}> ({
^bb0(%l1_0: tensor<i1>, %r1_0: tensor<i1>):
%c1 = "stablehlo.compare"(%l1_0, %r1_0) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
"stablehlo.return"(%c1) : (tensor<i1>) -> ()
}) : (tensor<4x12x1xi1>) -> (tensor<4x12x1xi1>)
%v3 = "stablehlo.compare"(%arg1, %arg2) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<12x8x5xi1>, tensor<12x8x5xi1>) -> (tensor<12x8x5xi1>)
%v4 = "stablehlo.select"(%v3, %arg1, %arg2) : (tensor<12x8x5xi1>, tensor<12x8x5xi1>, tensor<12x8x5xi1>) -> (tensor<12x8x5xi1>)
%v6:2 = "stablehlo.sort"(%v2, %arg3) <{dimension = 1 : i64, is_stable = true}> ({
^bb0(%l5_0: tensor<i1>, %r5_0: tensor<i1>, %l5_1: tensor<ui4>, %r5_1: tensor<ui4>):
%c5 = "stablehlo.compare"(%l5_0, %r5_0) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
"stablehlo.return"(%c5) : (tensor<i1>) -> ()
}) : (tensor<4x12x1xi1>, tensor<4x12x1xui4>) -> (tensor<4x12x1xi1>, tensor<4x12x1xui4>)
%v7 = "stablehlo.reshape"(%arg1) : (tensor<12x8x5xi1>) -> (tensor<120x4xi1>)
%v8 = "stablehlo.compare"(%v3, %arg4) <{comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<12x8x5xi1>, tensor<12x8x5xi1>) -> (tensor<12x8x5xi1>)
%v9 = "stablehlo.select"(%v8, %v3, %arg4) : (tensor<12x8x5xi1>, tensor<12x8x5xi1>, tensor<12x8x5xi1>) -> (tensor<12x8x5xi1>)
%v10 = "stablehlo.broadcast_in_dim"(%arg5) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xi1>) -> (tensor<8xi1>)
return %v4, %v6#0, %v6#1, %v7, %v9, %v10, %v7 : tensor<12x8x5xi1>, tensor<4x12x1xi1>, tensor<4x12x1xui4>, tensor<120x4xi1>, tensor<12x8x5xi1>, tensor<8xi1>, tensor<120x4xi1>
}
}
