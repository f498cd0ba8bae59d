// Where nothing but a forward is computed, a weight that only products in half
// precision read has no master: it is rounded as it is loaded. One that is read
// in both types has one.
// RUN: gpuopt-opt %s --train-assign-precision="half-type=f16 override=y=fp16" --train-insert-casts --verify-precision | FileCheck %s

// CHECK: train.variable @w parameter : tensor<8x2xf16> {file = "m.onnx", offset = 64 : i64, savedAs = ["w"], sizeInBytes = 64 : i64, storedElementType = f32}
train.variable @w parameter : tensor<8x2xf32> {file = "m.onnx", offset = 64 : i64, savedAs = ["w"], sizeInBytes = 64 : i64}
// CHECK: train.variable @inline parameter : tensor<2x2xf16> {savedAs = ["inline"], value = dense<{{\[}}[1.000000e+00, 0x7C00], [-2.000000e+00, 3.332520e-01]]> : tensor<2x2xf16>}
train.variable @inline parameter : tensor<2x2xf32> {savedAs = ["inline"], value = dense<[[1.0, 1.0e+09], [-2.0, 0.33333334]]> : tensor<2x2xf32>}
// CHECK: train.variable @both parameter : tensor<8x2xf32>
// CHECK: train.variable @both.half half_copy : tensor<8x2xf16> {of = @both}
train.variable @both parameter : tensor<8x2xf32> {savedAs = ["both"]}

// CHECK-LABEL: train.step @forward
// CHECK-DAG: train.read @w : tensor<8x2xf16>
// CHECK-DAG: train.read @inline : tensor<2x2xf16>
// CHECK-DAG: train.read @both.half : tensor<8x2xf16>
// CHECK-DAG: train.read @both : tensor<8x2xf32>
train.step @forward forward ("x" %x: tensor<4096x8xf32>, "u" %u: tensor<4096x2xf32>) {
  %w = train.read @w : tensor<8x2xf32>
  %i = train.read @inline : tensor<2x2xf32>
  %b = train.read @both : tensor<8x2xf32>
  %0 = nn.contract "ik,kj->ij" %x, %w : tensor<4096x8xf32>, tensor<8x2xf32> loc("y"("MatMul"))
  train.output "y", %0 : tensor<4096x2xf32>
  %1 = nn.contract "ik,kj->ij" %u, %i : tensor<4096x2xf32>, tensor<2x2xf32> loc("y"("MatMul"))
  train.output "i", %1 : tensor<4096x2xf32>
  %2 = nn.contract "ik,kj->ij" %x, %b : tensor<4096x8xf32>, tensor<8x2xf32> loc("y"("MatMul"))
  train.output "z", %2 : tensor<4096x2xf32>
  train.output "b", %b : tensor<8x2xf32>
}
// CHECK: train.step @prepare prepare
// CHECK-NEXT: train.refresh @both.half from @both
// CHECK-NOT: train.refresh
