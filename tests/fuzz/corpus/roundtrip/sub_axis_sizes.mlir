func.func @main(%arg0: tensor<8x8xf32> {sdy.sharnidg = #sdy.sharding<@mesh, [{"c":(0)2, "c":(2)2}, {}]>}) {
  return
}
sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
