train.variable @w parameter : tensor<16x8xf32>
func.func @forward(%x: tensor<1x8xf32> {nn.name = "x"}) -> (tensor<1x16xf32> {nn.name = "logits"}) {
  %w = train.read @w : tensor<16x8xf32>
  %p = nn.contract "ik,jk->ij" %x, %w : tensor<1x8xf32>, tensor<16x8xf32>
  return %p : tensor<1x16xf32>
}
