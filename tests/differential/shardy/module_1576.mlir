module @fuzz {
  sdy.mesh @mesh = <["model"=4, "w"=2, "y"=2]>
  func.func public @main(%arg0: tensor<f32>, %arg1: tensor<6x16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"w"}p0]>}) -> (tensor<bf16>, tensor<i32>) {
    %0 = stablehlo.sine %arg0 : tensor<f32>
    %1 = call @f0(%arg0) : (tensor<f32>) -> tensor<f32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %2 = stablehlo.add %cst, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<16x12xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4:4 = stablehlo.while(%iterArg = %arg0, %iterArg_5 = %3, %iterArg_6 = %0, %iterArg_7 = %c) : tensor<f32>, tensor<16x12xf32>, tensor<f32>, tensor<i32>
    cond {
      %c_8 = stablehlo.constant dense<3> : tensor<i32>
      %13 = stablehlo.compare LT, %iterArg_7, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %13 : tensor<i1>
    } do {
      %c_8 = stablehlo.constant dense<0> : tensor<i32>
      %13:2 = stablehlo.while(%iterArg_10 = %arg0, %iterArg_11 = %c_8) : tensor<f32>, tensor<i32>
      cond {
        %c_12 = stablehlo.constant dense<3> : tensor<i32>
        %16 = stablehlo.compare LT, %iterArg_11, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %16 : tensor<i1>
      } do {
        %cst_12 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
        %16 = stablehlo.add %iterArg_10, %cst_12 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], replicated={"y"}>]>} : tensor<f32>
        %17 = stablehlo.tanh %16 : tensor<f32>
        %c_13 = stablehlo.constant dense<1> : tensor<i32>
        %18 = stablehlo.add %iterArg_11, %c_13 : tensor<i32>
        stablehlo.return %17, %18 : tensor<f32>, tensor<i32>
      }
      %14 = stablehlo.tanh %iterArg_5 : tensor<16x12xf32>
      %c_9 = stablehlo.constant dense<1> : tensor<i32>
      %15 = stablehlo.add %iterArg_7, %c_9 : tensor<i32>
      stablehlo.return %13#0, %14, %13#0, %15 : tensor<f32>, tensor<16x12xf32>, tensor<f32>, tensor<i32>
    }
    %cst_0 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %5 = stablehlo.clamp %cst_0, %4#2, %cst_1 : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %6 = stablehlo.add %cst_2, %2 : tensor<f32>
    %7 = call @f1(%6) : (tensor<f32>) -> tensor<f32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %8:3 = stablehlo.while(%iterArg = %5, %iterArg_5 = %0, %iterArg_6 = %c_3) : tensor<f32>, tensor<f32>, tensor<i32>
    cond {
      %c_7 = stablehlo.constant dense<3> : tensor<i32>
      %13 = stablehlo.compare LT, %iterArg_6, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %13 : tensor<i1>
    } do {
      %13 = stablehlo.multiply %iterArg_5, %iterArg : tensor<f32>
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %14 = stablehlo.add %iterArg_6, %c_7 : tensor<i32>
      stablehlo.return %13, %13, %14 : tensor<f32>, tensor<f32>, tensor<i32>
    }
    %9 = stablehlo.convert %8#0 : (tensor<f32>) -> tensor<bf16>
    %10 = sdy.sharding_constraint %4#1 <@mesh, [{"model", "w", "y"}p0, {}]> : tensor<16x12xf32>
    %11 = sdy.sharding_constraint %4#0 <@mesh, []> : tensor<f32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %12:3 = stablehlo.while(%iterArg = %9, %iterArg_5 = %9, %iterArg_6 = %c_4) : tensor<bf16>, tensor<bf16>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, []>, <@mesh, []>]>}
    cond {
      %c_7 = stablehlo.constant dense<3> : tensor<i32>
      %13 = stablehlo.compare LT, %iterArg_6, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %13 : tensor<i1>
    } do {
      %13 = stablehlo.tanh %iterArg : tensor<bf16>
      %14 = stablehlo.tanh %iterArg_5 : tensor<bf16>
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %15 = stablehlo.add %iterArg_6, %c_7 : tensor<i32>
      stablehlo.return %13, %14, %15 : tensor<bf16>, tensor<bf16>, tensor<i32>
    }
    return %12#1, %12#2 : tensor<bf16>, tensor<i32>
  }
  func.func private @f0(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.cosine %arg0 : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @f1(%arg0: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> tensor<f32> {
    %0 = stablehlo.maximum %arg0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : tensor<f32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<f32>
    %2 = sdy.sharding_constraint %0 <@mesh, []> : tensor<f32>
    return %1 : tensor<f32>
  }
}
