// RUN: gpuopt-opt %s -kernels-form-clusters -train-plan-memory -convert-to-device=device=h200 \
// RUN:   | gpuopt-translate --device-to-cxx | FileCheck %s

// A thread has four vectors of 16 bytes under way, where rows are that long and
// nothing else is loaded.
// CHECK-LABEL: void fused_max(
// CHECK: for (int64_t start = first_lane(); start < whole_batches<4>(20000); start += 4 * lane_step()) {
// CHECK-NEXT: Lanes<float> x_i[4];
// CHECK-NEXT: UNROLL for (int64_t k = 0; k < 4; k++) {
// CHECK: for (int64_t i = whole_batches<4>(20000) + first_lane(); i < 20000; i += lane_step()) {
// CHECK-LABEL: void fused_max_2(
// CHECK: whole_batches<2>(20000)
// CHECK-LABEL: void fused_max_3(
// CHECK: whole_batches<2>(16000)
train.step @longer forward ("x" %x: tensor<4x20000xf16>, "y" %y: tensor<5x20000xf32>, "z" %z: tensor<6x16000xf16>) {
  %m = nn.reduce max %x [1] : tensor<4x20000xf16>
  %n = nn.reduce max %y [1] : tensor<5x20000xf32>
  %o = nn.reduce max %z [1] : tensor<6x16000xf16>
  train.output "halves", %m : tensor<4x1xf16>
  train.output "floats", %n : tensor<5x1xf32>
  train.output "shorter_halves", %o : tensor<6x1xf16>
}
