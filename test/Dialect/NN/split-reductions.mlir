// RUN: gpuopt-opt %s -nn-split-reductions=minimum-elements=64 | FileCheck %s
// RUN: gpuopt-opt %s -nn-split-reductions="minimum-elements=64 device=h200" | FileCheck %s --check-prefix=GPU

// CHECK-LABEL: func.func @large
// CHECK: %[[PART:.*]] = nn.reduce sum %arg0 [1] : tensor<4x8x16xf32>
// CHECK: nn.reduce sum %[[PART]] [0] : tensor<4x1x16xf32>
func.func @large(%x: tensor<4x8x16xf32>) -> tensor<1x1x16xf32> {
  %0 = nn.reduce sum %x [0, 1] : tensor<4x8x16xf32>
  return %0 : tensor<1x1x16xf32>
}

// CHECK-LABEL: func.func @small
// CHECK: nn.reduce sum %arg0 [0, 1] : tensor<2x2x4xf32>
func.func @small(%x: tensor<2x2x4xf32>) -> tensor<1x1x4xf32> {
  %0 = nn.reduce sum %x [0, 1] : tensor<2x2x4xf32>
  return %0 : tensor<1x1x4xf32>
}

// 16 images with one block for each 64 of the 96 channels are 32 blocks, for the 132 multiprocessors of an H200. So their
// 256 rows are kept as well. The 4096 parts are more than one block adds up, so that the images are kept once more.
// CHECK-LABEL: func.func @images
// CHECK: %[[PART:.*]] = nn.reduce sum %arg0 [1, 2] : tensor<16x256x256x96xf32>
// CHECK: nn.reduce sum %[[PART]] [0] : tensor<16x1x1x96xf32>
// GPU-LABEL: func.func @images
// GPU: %[[ROWS:.*]] = nn.reduce sum %arg0 [2] : tensor<16x256x256x96xf32>
// GPU: %[[IMAGES:.*]] = nn.reduce sum %[[ROWS]] [1] : tensor<16x256x1x96xf32>
// GPU: nn.reduce sum %[[IMAGES]] [0] : tensor<16x1x1x96xf32>
func.func @images(%x: tensor<16x256x256x96xf32>) -> tensor<1x1x1x96xf32> {
  %0 = nn.reduce sum %x [0, 1, 2] : tensor<16x256x256x96xf32>
  return %0 : tensor<1x1x1x96xf32>
}

// 16 images and 32 rows are 512 parts, which one kernel adds up.
// GPU-LABEL: func.func @small_images
// GPU: %[[ROWS:.*]] = nn.reduce sum %arg0 [2] : tensor<16x32x32x512xf32>
// GPU: nn.reduce sum %[[ROWS]] [0, 1] : tensor<16x32x1x512xf32>
func.func @small_images(%x: tensor<16x32x32x512xf32>) -> tensor<1x1x1x512xf32> {
  %0 = nn.reduce sum %x [0, 1, 2] : tensor<16x32x32x512xf32>
  return %0 : tensor<1x1x1x512xf32>
}

// 256 images are blocks enough, as on the host.
// GPU-LABEL: func.func @many_images
// GPU: %[[PART:.*]] = nn.reduce sum %arg0 [1, 2] : tensor<256x14x14x64xf32>
// GPU: nn.reduce sum %[[PART]] [0] : tensor<256x1x1x64xf32>
func.func @many_images(%x: tensor<256x14x14x64xf32>) -> tensor<1x1x1x64xf32> {
  %0 = nn.reduce sum %x [0, 1, 2] : tensor<256x14x14x64xf32>
  return %0 : tensor<1x1x1x64xf32>
}

// Without columns, each part is a row of its own.
// GPU-LABEL: func.func @total
// GPU: %[[ROWS:.*]] = nn.reduce sum %arg0 [2] : tensor<64x1024x768xf32>
// GPU: %[[PART:.*]] = nn.reduce sum %[[ROWS]] [1] : tensor<64x1024x1xf32>
// GPU: nn.reduce sum %[[PART]] [0] : tensor<64x1x1xf32>
func.func @total(%x: tensor<64x1024x768xf32>) -> tensor<1x1x1xf32> {
  %0 = nn.reduce sum %x [0, 1, 2] : tensor<64x1024x768xf32>
  return %0 : tensor<1x1x1xf32>
}
