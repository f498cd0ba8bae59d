// No optimizer changes a frozen weight. Where only products in half precision
// read it, it has no master: it is rounded as it is loaded. It keeps its master
// where a step reads that, where its file does not have it, and where rows of the
// copy would be moved apart. Short rows are not.
// RUN: gpuopt-opt %s --train-assign-precision="half-type=bf16 override=y=bf16" --train-insert-casts --verify-precision | FileCheck %s

// CHECK: train.variable @w frozen : tensor<8x16xbf16> {file = "m.onnx", offset = 64 : i64, savedAs = ["w"], sizeInBytes = 512 : i64, storedElementType = f32}
// CHECK-NOT: @w.half
train.variable @w frozen : tensor<8x16xf32> {file = "m.onnx", offset = 64 : i64, savedAs = ["w"], sizeInBytes = 512 : i64}
// CHECK: train.variable @inline frozen : tensor<16x8xf32>
// CHECK: train.variable @inline.half half_copy : tensor<16x8xbf16> {of = @inline}
train.variable @inline frozen : tensor<16x8xf32> {savedAs = ["inline"], value = dense<0.5> : tensor<16x8xf32>}
// CHECK: train.variable @odd frozen : tensor<8x132xf32>
// CHECK: train.variable @odd.half half_copy : tensor<8x132xbf16> {of = @odd}
train.variable @odd frozen : tensor<8x132xf32> {file = "m.onnx", offset = 640 : i64, savedAs = ["odd"], sizeInBytes = 4224 : i64}
// CHECK: train.variable @short frozen : tensor<8x6xbf16>
train.variable @short frozen : tensor<8x6xf32> {file = "m.onnx", offset = 8000 : i64, savedAs = ["short"], sizeInBytes = 192 : i64}
// CHECK: train.variable @both frozen : tensor<8x16xf32>
// CHECK: train.variable @both.half half_copy : tensor<8x16xbf16> {of = @both}
train.variable @both frozen : tensor<8x16xf32> {file = "m.onnx", offset = 832 : i64, savedAs = ["both"], sizeInBytes = 512 : i64}
// CHECK: train.variable @p parameter : tensor<16x8xf32>
// CHECK: train.variable @p.half half_copy : tensor<16x8xbf16> {of = @p}
train.variable @p parameter : tensor<16x8xf32> {file = "m.onnx", offset = 1344 : i64, savedAs = ["p"], sizeInBytes = 512 : i64}

// CHECK-LABEL: train.step @micro_step
// CHECK-DAG: train.read @w : tensor<8x16xbf16>
// CHECK-DAG: train.read @both : tensor<8x16xf32>
// CHECK-DAG: train.read @p.half : tensor<16x8xbf16>
train.step @micro_step micro ("x" %x: tensor<4096x8xf32>) {
  %w = train.read @w : tensor<8x16xf32>
  %i = train.read @inline : tensor<16x8xf32>
  %o = train.read @odd : tensor<8x132xf32>
  %s = train.read @short : tensor<8x6xf32>
  %b = train.read @both : tensor<8x16xf32>
  %p = train.read @p : tensor<16x8xf32>
  %0 = nn.contract "ik,kj->ij" %x, %w : tensor<4096x8xf32>, tensor<8x16xf32> loc("y"("MatMul"))
  train.output "0", %0 : tensor<4096x16xf32>
  %1 = nn.contract "ik,kj->ij" %0, %i : tensor<4096x16xf32>, tensor<16x8xf32> loc("y"("MatMul"))
  train.output "1", %1 : tensor<4096x8xf32>
  %2 = nn.contract "ik,kj->ij" %x, %o : tensor<4096x8xf32>, tensor<8x132xf32> loc("y"("MatMul"))
  train.output "2", %2 : tensor<4096x132xf32>
  %5 = nn.contract "ik,kj->ij" %x, %s : tensor<4096x8xf32>, tensor<8x6xf32> loc("y"("MatMul"))
  train.output "5", %5 : tensor<4096x6xf32>
  %3 = nn.contract "ik,kj->ij" %x, %b : tensor<4096x8xf32>, tensor<8x16xf32> loc("y"("MatMul"))
  train.output "3", %3 : tensor<4096x16xf32>
  train.output "b", %b : tensor<8x16xf32>
  %4 = nn.contract "ik,kj->ij" %0, %p : tensor<4096x16xf32>, tensor<16x8xf32> loc("y"("MatMul"))
  train.output "4", %4 : tensor<4096x8xf32>
}
// CHECK: train.step @prepare prepare
// CHECK-NOT: train.refresh @w
