train.variable @w parameter : tensor<160000x8xf32>
func.func @forward(%x: tensor<4096x8xf32> {nn.name = "x"}) -> (tensor<4096x160000xf32> {nn.name = "logits"}) {
  %w = train.read @w : tensor<160000x8xf32>
  %p = nn.contract "ik,jk->ij" %x, %w : tensor<4096x8xf32>, tensor<160000x8xf32>
  return %p : tensor<4096x160000xf32>
}
