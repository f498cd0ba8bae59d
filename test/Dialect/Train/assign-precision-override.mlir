// RUN: gpuopt-opt %s --train-assign-precision="half-type=bf16 device=h200 override=first=fp32" | FileCheck %s --check-prefix=NODE
// RUN: gpuopt-opt %s --train-assign-precision="half-type=bf16 device=h200 override=Mat.*=fp32" | FileCheck %s --check-prefix=OPERATOR
// RUN: gpuopt-opt %s --train-assign-precision="half-type=bf16 device=h200 override=Mat\w+=fp32" | FileCheck %s --check-prefix=OPERATOR
// RUN: gpuopt-opt %s --train-assign-precision="half-type=bf16 device=host override=first=bf16" | FileCheck %s --check-prefix=HALF
// RUN: echo '{"fp32": ["MatMul"]}' > %t.json
// RUN: gpuopt-opt %s --train-assign-precision="half-type=bf16 device=h200 policy=%t.json" | FileCheck %s --check-prefix=OPERATOR
// RUN: not gpuopt-opt %s --train-assign-precision="half-type=bf16 override=loss=bf16" 2>&1 | FileCheck %s --check-prefix=LOSS
// RUN: gpuopt-opt %s --train-assign-precision="half-type=bf16 device=host override=.*=bf16" | FileCheck %s --check-prefix=ALL
// RUN: not gpuopt-opt %s --train-assign-precision="half-type=bf16 override=nobody=bf16" 2>&1 | FileCheck %s --check-prefix=NOBODY
// RUN: not gpuopt-opt %s --train-assign-precision="half-type=bf16 override=nobody=bf16 override=first=fp32 override=nothing=fp32" 2>&1 | FileCheck %s --check-prefix=NOBODIES
// RUN: echo '{"half": ["Konv", "MatMul", 3], "quarter": ["Conv"], "fp32": ["Gem", "MatMul"], "eighth": 1}' > %t.wrong.json
// RUN: not gpuopt-opt %s --train-assign-precision="half-type=bf16 policy=%t.wrong.json" 2>&1 | FileCheck %s --check-prefix=POLICY
// RUN: gpuopt-opt %s --train-assign-precision="half-type=f16 device=host" --remarks-filter-passed=precision --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=STAYS

// Overrides match a node's whole name, or its operator.

// LOSS: error: 'loss' must stay in fp32: it is the loss
// NOBODY: error: override 'nobody=bf16' matches no ONNX node and no operator of the model; nothing is left of nodes that were folded away
// NOBODIES: error: overrides 'nobody=bf16', 'nothing=fp32' match no ONNX node and no operator of the model
// POLICY: error: '{{.*}}.wrong.json': expects the members half, fp32 and follow, each a list of operators, but got 'eighth', 'quarter'; expects ONNX operators that gpuopt supports, as `gpuopt operators` lists them, but got "Gem", "Konv", 3; expects each operator once, but got "MatMul"
// STAYS: a step: f16 does not pay on host; everything stays in fp32

// The loss is no node of the model: an expression that is not its name does not
// mean it.
// ALL-COUNT-2: nn.contract "ik,kj->ij" %{{.*}} {train.half_product, train.half_results = array<i1: true>}
// ALL: nn.fused "sum"
// ALL-NOT: train.half_results

// NODE: nn.contract "ik,kj->ij" %{{.*}} : tensor<512x512xf32>
// NODE: nn.contract "ik,kj->ij" %{{.*}} {train.half_product, train.half_results = array<i1: true>}
// OPERATOR-NOT: train.half_product
// HALF: nn.contract "ik,kj->ij" %{{.*}} {train.half_product
train.step @micro_step micro ("x" %x: tensor<512x512xf32>, "w" %w: tensor<512x512xf32>) {
  %1 = nn.contract "ik,kj->ij" %x, %w : tensor<512x512xf32>, tensor<512x512xf32> loc("first"("MatMul"))
  %2 = nn.contract "ik,kj->ij" %1, %w : tensor<512x512xf32>, tensor<512x512xf32> loc("first/second"("MatMul"))
  %3 = nn.fused "sum" %2 {nn.origins = #nn.origins<"loss">} : tensor<512x512xf32> -> tensor<1x1xf32> {
  ^bb0(%a: tensor<512x512xf32>):
    %0 = nn.reduce sum %a [0, 1] : tensor<512x512xf32> loc("loss")
    nn.yield %0 : tensor<1x1xf32>
  } loc("loss")
  train.report_loss %3, %3 : tensor<1x1xf32>, tensor<1x1xf32>
}
