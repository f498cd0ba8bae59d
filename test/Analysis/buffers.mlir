// RUN: gpuopt-opt %s --print-buffers --verify-diagnostics

train.variable @w parameter : tensor<8x4xf32>
train.step @forward_step forward ("x" %x: tensor<8x4xf32>) {
  %w = train.read @w : tensor<8x4xf32>
  // Rows and columns are exchanged: the strides are, and nothing moves.
  // expected-remark @below {{a view of %x at 0, strides [1, 4]}}
  %0 = nn.transpose %x [1, 0] : tensor<8x4xf32>
  // Rows 2 to 6 begin behind 2 * 4 elements.
  // expected-remark @below {{a view of @w at 8, strides [4, 1]}}
  %1 = nn.slice %w [2, 0] [4, 4] [1, 1] : tensor<8x4xf32>
  // A column of x lies at steps of 4, and a row of 32 elements has no stride.
  // expected-remark @below {{no view: a reshape on the way needs a copy}}
  %2 = nn.reshape %0 : tensor<4x8xf32> to tensor<32xf32>
  // 4 times 4 floats of 4 bytes.
  // expected-remark @below {{owns 64 bytes}}
  %3 = nn.contract "ik,kj->ij" %0, %w : tensor<4x8xf32>, tensor<8x4xf32>
  // The second product is added to the first, in its place.
  // expected-remark @below {{takes the place of the result of nn.contract}}
  %5 = nn.contract "ik,kj->ij" %0, %w plus %3 : tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x4xf32>
  // A view of the sum is one of the memory of the first product.
  // expected-remark @below {{a view of the result of nn.contract at 0, strides [1]}}
  %4 = nn.reshape %5 : tensor<4x4xf32> to tensor<16xf32>
  // Both parts of a concatenation are written where it lies: the second begins
  // behind the 16 elements of the first.
  // expected-remark @below {{written into the result of nn.concat at 0, strides [4, 1]}}
  %6 = nn.contract "ik,jk->ij" %1, %1 : tensor<4x4xf32>, tensor<4x4xf32>
  // expected-remark @below {{written into the result of nn.concat at 16, strides [4, 1]}}
  %7 = nn.contract "ki,kj->ij" %1, %1 : tensor<4x4xf32>, tensor<4x4xf32>
  // expected-remark @below {{owns 128 bytes}}
  %8 = nn.concat %6, %7 dim 0 : tensor<4x4xf32>, tensor<4x4xf32>
  train.output "a", %5 : tensor<4x4xf32>
  train.output "b", %8 : tensor<8x4xf32>
}
