// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device=device=h200 | FileCheck %s

// The sums of a block's rows outlive the rows, in registers. In the walk that has
// the summands they are added to before a result is written, which may lie where
// they are read from. The groups are combined when the rows are done, and each
// block writes its own part.
// CHECK: device.kernel @fused_sum_sub blocks 16 threads 256 groups 8
// CHECK: %[[BLOCK:.*]] = device.block_index
// CHECK: %[[TOTALS:.*]] = device.row 128 registers : <f32>
// CHECK: device.loop lanes
// CHECK: device.store %{{.*}}, %[[TOTALS]][%{{.*}} : index]
// CHECK: device.loop row_groups
// CHECK: %[[ROW:.*]] = device.row 128 registers
// CHECK: device.loop lanes {{.*}}<sum>
// CHECK-NOT: %[[TOTALS]]
// CHECK: device.loop lanes
// CHECK: %[[X:.*]] = device.load %[[ROW]]
// CHECK: %[[DX:.*]] = arith.subf %[[X]],
// CHECK: %[[OLD:.*]] = device.load %[[TOTALS]]
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[DX]]
// CHECK: device.store %[[NEW]], %[[TOTALS]]
// CHECK: device.store %[[DX]],
// CHECK: device.loop lanes
// CHECK: %[[OWN:.*]] = device.load %[[TOTALS]]
// CHECK: %[[ALL:.*]] = device.combine_groups <sum> %[[OWN]]
// CHECK: device.store %[[ALL]], %{{.*}}[%[[BLOCK]], %{{.*}} : index, index] strides [128, 1] offset 0 contiguous aligned 16
train.step @norm forward ("x" %x: tensor<1024x128xf32>) {
  %0:2 = nn.fused "sum_sub" %x : tensor<1024x128xf32> -> tensor<1024x128xf32>, tensor<16x128xf32> {
  ^bb0(%a: tensor<1024x128xf32>):
    %1 = nn.reduce sum %a [1] : tensor<1024x128xf32>
    %2 = nn.broadcast %1 : tensor<1024x1xf32> to tensor<1024x128xf32>
    %3 = arith.subf %a, %2 : tensor<1024x128xf32>
    %4 = nn.partial_sum %3 parts 16 : tensor<1024x128xf32>
    nn.yield %3, %4 : tensor<1024x128xf32>, tensor<16x128xf32>
  }
  train.output "centred", %0#0 : tensor<1024x128xf32>
  train.output "sums", %0#1 : tensor<16x128xf32>
}
