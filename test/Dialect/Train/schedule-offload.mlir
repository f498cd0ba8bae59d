// RUN: gpuopt-opt %s --pass-pipeline='builtin.module(train-schedule{activation-budget=81920 device=%S/Inputs/slow-products.json allow-offload})' | FileCheck %s
// RUN: gpuopt-opt %s --pass-pipeline='builtin.module(train-schedule{activation-budget=81920 device=%S/Inputs/slow-products.json allow-offload},canonicalize,cse,canonicalize)' | FileCheck %s
// RUN: gpuopt-opt %s --pass-pipeline='builtin.module(train-schedule{activation-budget=81920 device=%S/Inputs/slow-products.json allow-offload},train-plan-memory,convert-to-device)' | FileCheck %s --check-prefix=DEVICE
// RUN: gpuopt-opt %s --pass-pipeline='builtin.module(train-schedule{activation-budget=81920 device=%S/Inputs/slow-products.json})' | FileCheck %s --check-prefix=NEVER
// RUN: gpuopt-opt %s --pass-pipeline='builtin.module(train-schedule{activation-budget=81920 device=%S/Inputs/slow-products.json allow-offload offload-bandwidth=1e9})' | FileCheck %s --check-prefix=NEVER
// RUN: gpuopt-opt %s --pass-pipeline='builtin.module(train-schedule{activation-budget=81920 device=%S/Inputs/slow-products.json allow-offload})' --remarks-filter-passed=schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// y1, y3 and y4 have 16 KiB, y2 has 64. While y3 is made, all of y1, y2 and y3
// are alive: 96 KiB. Within 80, y1, which the backward reads again, has to go.
// The product that makes it takes 6.2 us (2 x 64^3 operations at 10^11 a second,
// and a launch). A transfer takes 1.3 us, and the forward and the backward
// hide all that may be offloaded: 1 us for the events. Over a link of 1 GB/s a
// transfer takes 17.4 us and all together more than the forward.

train.variable @w parameter : tensor<64x64xf32>
train.variable @up parameter : tensor<64x256xf32>
train.variable @down parameter : tensor<256x64xf32>

// CHECK-LABEL: train.step @micro_step
// CHECK-SAME: arenaBytes = 81920, plainArenaBytes = 98304
// CHECK-SAME: addedNanoseconds = 1.000000e+03
// CHECK-SAME: lowerBoundNanoseconds = 1.000000e+03
// CHECK-SAME: transfers = <bytes = 32768
// CHECK-SAME: waitedNanoseconds = {{0.0*e\+00|[0-9.]+e\+0[0-3]}}

// The copy begins where y1 is made, and has to be done before y3 takes memory.
// CHECK: %[[Y1:.*]] = nn.contract
// CHECK-NEXT: %[[HOST:.*]] = train.offload %[[Y1]]
// CHECK: %[[Y2:.*]] = nn.contract "ik,kj->ij" %[[Y1]]
// CHECK-NEXT: train.await_offload %[[HOST]] of %[[Y1]]
// CHECK: %[[Y3:.*]] = nn.contract
// The copy back begins one product early: that is longer than it takes.
// CHECK: train.report_loss
// CHECK: nn.contract "ik,jk->ij"
// CHECK: %[[BACK:.*]] = train.reload "frees 16.0 KiB for 1.00 us of transfers, its work takes 6.24 us" %[[HOST]]
// CHECK-NEXT: nn.contract "ik,jk->ij"
// CHECK-NEXT: train.await_reload %[[BACK]]
// CHECK-NEXT: nn.contract "ki,kj->ij" %[[BACK]]

// DEVICE: device.memory persistent {{[0-9]+}} arena 81920 host 16384
// DEVICE: device.buffer @contract_on_host host at 0 : tensor<64x64xf32> live 1 to 9 in @micro_step
// DEVICE: device.step @micro_step
// DEVICE: device.call "gemm"
// DEVICE: %[[TARGET:.*]] = device.address @contract_on_host
// DEVICE: device.offload %{{.*}} to %[[TARGET]] count 4096 event 0
// DEVICE: device.call "gemm"
// DEVICE-NEXT: device.await 0
// DEVICE: %[[SOURCE:.*]] = device.address @contract_on_host
// DEVICE: device.reload %[[SOURCE]] to %{{.*}} count 4096 event 1
// DEVICE: device.call "gemm"
// DEVICE-NEXT: device.await 1
// DEVICE: device.call "gemm"

// NEVER-LABEL: train.step @micro_step
// NEVER-NOT: train.offload
// NEVER: train.recompute "frees 16.0 KiB for 6.24 us"

// REMARK: remark: [Passed] offloaded | Category:schedule | {{.*}}contract reloaded: frees 16.0 KiB for 1.00 us of transfers

train.step @micro_step micro ("x" %x: tensor<64x64xf32>) {
  %w = train.read @w : tensor<64x64xf32>
  %up = train.read @up : tensor<64x256xf32>
  %down = train.read @down : tensor<256x64xf32>
  %y1 = nn.contract "ik,kj->ij" %x, %w : tensor<64x64xf32>, tensor<64x64xf32>
  %y2 = nn.contract "ik,kj->ij" %y1, %up : tensor<64x64xf32>, tensor<64x256xf32>
  %y3 = nn.contract "ik,kj->ij" %y2, %down : tensor<64x256xf32>, tensor<256x64xf32>
  %loss = nn.fused "sum" %y3 : tensor<64x64xf32> -> tensor<1x1xf32> {
  ^bb0(%a: tensor<64x64xf32>):
    %0 = nn.reduce sum %a [0, 1] : tensor<64x64xf32>
    nn.yield %0 : tensor<1x1xf32>
  }
  %n = arith.constant dense<1.0> : tensor<1x1xf32>
  train.report_loss %loss, %n : tensor<1x1xf32>, tensor<1x1xf32>
  %d3 = nn.contract "ik,jk->ij" %y3, %w : tensor<64x64xf32>, tensor<64x64xf32>
  %d2 = nn.contract "ik,jk->ij" %d3, %w : tensor<64x64xf32>, tensor<64x64xf32>
  %g = nn.contract "ki,kj->ij" %y1, %d2 : tensor<64x64xf32>, tensor<64x64xf32>
  train.output "g", %g : tensor<64x64xf32>
}
