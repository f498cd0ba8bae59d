train.variable @w parameter : tensor<16x8xf32>
func.func @forward(%x: tensor<8xf32> {nn.name = "x"}) -> (tensor<16xf32> {nn.name = "logits"}) {
  %w = train.read @w : tensor<16x8xf32>
  %p = nn.contract "k,jk->j" %x, %w : tensor<8xf32>, tensor<16x8xf32>
  return %p : tensor<16xf32>
}
