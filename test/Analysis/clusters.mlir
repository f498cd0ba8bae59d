// RUN: gpuopt-opt %s --print-clusters --verify-diagnostics

train.variable @w parameter : tensor<16x16xf32>
// A softmax is one kernel, which reduces its rows; the product is a call; the two
// ops behind it are a second kernel, of which the last value alone is stored.
// expected-remark @below {{runs train.read, cluster 0, nn.contract, cluster 1, train.output}}
train.step @forward_step forward ("x" %x: tensor<8x16xf32>) {
  %w = train.read @w : tensor<16x16xf32>
  // expected-remark @below {{made by cluster 0, which iterates over [8, 16] and reduces [1]}}
  %0 = nn.reduce max %x [1] : tensor<8x16xf32>
  %1 = nn.broadcast %0 : tensor<8x1xf32> to tensor<8x16xf32>
  %2 = arith.subf %x, %1 : tensor<8x16xf32>
  %3 = math.exp %2 : tensor<8x16xf32>
  // expected-remark @below {{made by cluster 0, which iterates over [8, 16] and reduces [1]}}
  %4 = nn.reduce sum %3 [1] : tensor<8x16xf32>
  %5 = nn.broadcast %4 : tensor<8x1xf32> to tensor<8x16xf32>
  // expected-remark @below {{made by cluster 0, which iterates over [8, 16] and reduces [1]}}
  %6 = arith.divf %3, %5 : tensor<8x16xf32>
  %7 = nn.contract "ik,kj->ij" %6, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %8 = math.tanh %7 : tensor<8x16xf32>
  // expected-remark @below {{made by cluster 1, which iterates over [8, 16]}}
  %9 = arith.addf %8, %x : tensor<8x16xf32>
  train.output "y", %9 : tensor<8x16xf32>
}
