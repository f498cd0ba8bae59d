// Each pipeline goes on from where the one before it ends.
// RUN: gpuopt-opt %s -gpuopt-to-nn | FileCheck %s --check-prefix=NN
// NN: func.func @forward
// NN: nn.contract
// RUN: gpuopt-opt %s -gpuopt-to-train | FileCheck %s --check-prefix=TRAIN
// TRAIN: train.step @micro_step micro
// TRAIN: nn.cross_entropy
// RUN: gpuopt-opt %s -gpuopt-to-clusters | FileCheck %s --check-prefix=CLUSTERS
// CLUSTERS: train.step @micro_step micro
// CLUSTERS-NOT: nn.cross_entropy
// CLUSTERS: nn.fused
// RUN: gpuopt-opt %s -gpuopt-to-precision | FileCheck %s --check-prefix=CLUSTERS
// RUN: gpuopt-opt %s -gpuopt-to-schedule | FileCheck %s --check-prefix=SCHEDULE
// SCHEDULE: train.step @micro_step micro
// SCHEDULE-NOT: train.offsets
// RUN: gpuopt-opt %s -gpuopt-to-memory | FileCheck %s --check-prefix=MEMORY
// MEMORY: train.offsets = array<i64
// RUN: gpuopt-opt %s -gpuopt-to-device | FileCheck %s --check-prefix=DEVICE
// DEVICE: device.memory persistent
// DEVICE: device.step @micro_step micro
// DEVICE: device.call "gemm"
// DEVICE-NOT: device.check_finite
// RUN: gpuopt-opt %s -gpuopt-to-memory -convert-to-device=debug-overflow | FileCheck %s --check-prefix=OVERFLOW
// OVERFLOW: device.call "gemm"
// OVERFLOW-NEXT: device.address
// OVERFLOW: device.check_finite

// They have no options: what is given is a mistake.
// RUN: not gpuopt-opt %s -gpuopt-to-memory=nonsense 2>&1 | FileCheck %s --check-prefix=OPTIONS
// RUN: not gpuopt-opt %s -pass-pipeline='builtin.module(gpuopt-to-memory{nonsense})' 2>&1 | FileCheck %s --check-prefix=OPTIONS
// OPTIONS: 'gpuopt-to-memory' takes no options, but got 'nonsense'

onnx.graph @g(%x: tensor<4x8xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %w = onnx.initializer "w" at <"weights", offset = 0, size = 96> : tensor<8x3xf32>
  %0 = onnx.node "Relu"(%x) : (tensor<4x8xf32>) -> !onnx.unknown
  %1 = onnx.node "MatMul"(%0, %w) : (!onnx.unknown, tensor<8x3xf32>) -> !onnx.unknown
  onnx.return %1 : !onnx.unknown
}
