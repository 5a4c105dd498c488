// Every device runs a loop as often as its own number says; in each turn it adds half the sum over
// its row. Rows may differ. Within a row they must not: the one that goes on waits for ever.
module @loops attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["row"=4, "column"=2]>
  func.func public @main(%turns: tensor<4x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"row"}, {"column"}]>}, %start: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"row"}, {"column"}]>}) -> (tensor<8x4xf32>, tensor<4x2xi32>) {
    %0:2 = sdy.manual_computation(%turns, %start) in_shardings=[<@mesh, [{"row"}, {"column"}]>, <@mesh, [{"row"}, {"column"}]>] out_shardings=[<@mesh, [{"row"}, {"column"}]>, <@mesh, [{"row"}, {"column"}]>] manual_axes={"row", "column"} (%mine: tensor<1x1xi32>, %piece: tensor<2x2xf32>) {
      %limit = stablehlo.reshape %mine : (tensor<1x1xi32>) -> tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %half = stablehlo.constant dense<5.000000e-01> : tensor<2x2xf32>
      %1:2 = stablehlo.while(%turn = %zero, %value = %piece) : tensor<i32>, tensor<2x2xf32>
      cond {
        %more = stablehlo.compare LT, %turn, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %more : tensor<i1>
      } do {
        %next = stablehlo.add %turn, %one : tensor<i32>
        %sum = "stablehlo.all_reduce"(%value) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %c = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %c : tensor<f32>
        }) : (tensor<2x2xf32>) -> tensor<2x2xf32>
        %part = stablehlo.multiply %sum, %half : tensor<2x2xf32>
        %grown = stablehlo.add %part, %value : tensor<2x2xf32>
        stablehlo.return %next, %grown : tensor<i32>, tensor<2x2xf32>
      }
      %done = stablehlo.reshape %1#0 : (tensor<i32>) -> tensor<1x1xi32>
      sdy.return %1#1, %done : tensor<2x2xf32>, tensor<1x1xi32>
    } : (tensor<4x2xi32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4x2xi32>)
    return %0#0, %0#1 : tensor<8x4xf32>, tensor<4x2xi32>
  }
}
