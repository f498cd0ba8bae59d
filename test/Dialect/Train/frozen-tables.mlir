// Kernels take rows of a frozen table in half precision, so that it needs no
// master, even if nothing but a view of it is read otherwise. An override that
// keeps the node in f32 keeps the master, and so does a product in f32.
// RUN: gpuopt-opt %s --train-assign-precision="half-type=bf16 override=y=bf16" --train-insert-casts --verify-precision | FileCheck %s
// RUN: gpuopt-opt %s --train-assign-precision="half-type=bf16 override=y=bf16 override=Gather=fp32" --train-insert-casts --verify-precision | FileCheck %s --check-prefix=FULL
// RUN: gpuopt-opt %s --train-assign-precision="half-type=bf16 override=y=fp32 override=z=bf16" --train-insert-casts --verify-precision | FileCheck %s --check-prefix=FULL-ALONE

// CHECK: train.variable @table frozen : tensor<8192x64xbf16>
// CHECK-NOT: @table.half
// FULL: train.variable @table frozen : tensor<8192x64xf32>
// FULL-ALONE: train.variable @table frozen : tensor<8192x64xf32>
// FULL-ALONE-NOT: @table.half
// FULL: train.variable @table.half half_copy : tensor<8192x64xbf16>
train.variable @table frozen : tensor<8192x64xf32> {file = "m.onnx", offset = 0 : i64, savedAs = ["table"], sizeInBytes = 2097152 : i64, isTable}

// CHECK-LABEL: train.step @micro_step
// CHECK: %[[TABLE:.*]] = train.read @table : tensor<8192x64xbf16>
// CHECK: nn.fused "embed" %[[TABLE]], %{{.*}} : tensor<8192x64xbf16>, tensor<4096xi64>
// CHECK: %[[ROWS:.*]] = nn.take %{{.*}} : tensor<8192x64xbf16>, tensor<4096xi64>
// CHECK: arith.extf %[[ROWS]]
// FULL-LABEL: train.step @micro_step
// FULL: nn.take %{{.*}} : tensor<8192x64xf32>, tensor<4096xi64>
train.step @micro_step micro ("ids" %ids: tensor<4096xi64>, "x" %x: tensor<4096x64xf32>) {
  %t = train.read @table : tensor<8192x64xf32>
  %rows = nn.fused "embed" %t, %ids : tensor<8192x64xf32>, tensor<4096xi64> -> tensor<4096x64xf32> {
  ^bb0(%a: tensor<8192x64xf32>, %b: tensor<4096xi64>):
    %0 = nn.take %a, %b : tensor<8192x64xf32>, tensor<4096xi64> loc("rows"("Gather"))
    %1 = arith.negf %0 : tensor<4096x64xf32>
    nn.yield %1 : tensor<4096x64xf32>
  }
  train.output "rows", %rows : tensor<4096x64xf32>
  %view = nn.reshape %t : tensor<8192x64xf32> to tensor<8192x64xf32>
  %y = nn.contract "ik,jk->ij" %x, %view : tensor<4096x64xf32>, tensor<8192x64xf32> loc("y"("MatMul"))
  %z = nn.contract "ik,jk->ij" %x, %x : tensor<4096x64xf32>, tensor<4096x64xf32> loc("z"("MatMul"))
  train.output "z", %z : tensor<4096x4096xf32>
  train.output "y", %y : tensor<4096x8192xf32>
}
