module @fuzz {
  sdy.mesh @mesh = <["model"=4, "y"=3, "x"=1]>
  func.func public @main(%arg0: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "model":(1)2, ?}p0]>}, %arg1: tensor<12x12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model", ?}p2, {?}, {"x", ?}], replicated={"y"}>}, %arg2: tensor<8x16xf32>) -> (tensor<12xf32>, tensor<f32>, tensor<8x16xf32>) {
    %0 = stablehlo.optimization_barrier %arg0 : tensor<12xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"model", "x", ?}]> : tensor<12xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %2 = stablehlo.select %c, %arg0, %arg0 : tensor<i1>, tensor<12xf32>
    %3 = stablehlo.concatenate %arg0, %1, dim = 0 : (tensor<12xf32>, tensor<12xf32>) -> tensor<24xf32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<8x16xf32>
    %4 = stablehlo.complex %arg2, %cst : tensor<8x16xcomplex<f32>>
    %5 = stablehlo.fft %4, type = FFT, length = [16] : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
    %6 = stablehlo.real %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"model", ?}, {}]>]>} : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xf32>
    %7 = stablehlo.iota dim = 0 : tensor<24xi32>
    %8:2 = "stablehlo.sort"(%3, %7) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<i32>, %arg6: tensor<i32>):
      %11 = stablehlo.compare LT, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %11 : tensor<i1>
    }) : (tensor<24xf32>, tensor<24xi32>) -> (tensor<24xf32>, tensor<24xi32>)
    %9 = stablehlo.exponential %2 : tensor<12xf32>
    %10 = stablehlo.dot_general %8#0, %3, contracting_dims = [0] x [0] : (tensor<24xf32>, tensor<24xf32>) -> tensor<f32>
    return %9, %10, %6 : tensor<12xf32>, tensor<f32>, tensor<8x16xf32>
  }
}
