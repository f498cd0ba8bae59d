train.variable @w parameter : tensor<16x8xf32>
func.func @forward(%x: tensor<4x3x8xf32> {nn.name = "x"}) -> (tensor<12x16xf32> {nn.name = "logits"}) {
  %w = train.read @w : tensor<16x8xf32>
  %p = nn.contract "bik,jk->bij" %x, %w : tensor<4x3x8xf32>, tensor<16x8xf32>
  %rows = nn.reshape %p : tensor<4x3x16xf32> to tensor<12x16xf32>
  return %rows : tensor<12x16xf32>
}
