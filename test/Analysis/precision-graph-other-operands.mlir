// RUN: gpuopt-opt %s --print-precision-graph 2>&1 | FileCheck %s

// The input of the GELU has the type of the gradient, choice 3. Where the kernel
// makes it in the other precision, choice 2, it makes a copy as well: writing
// 2 MB more, or reading 4 MB, takes 0.1 or 0.2 ms.
// CHECK-DAG: remark: choice 2: tensor, 0 in half precision, 0 in full
// CHECK-DAG: remark: choice 3: tensor, 0 in half precision, 100000000 in full
// CHECK-DAG: remark: choice 7: copy of fused, 0 in half precision, 0 in full
// CHECK-DAG: remark: choice 8: copy of fused, 0 in half precision, 0 in full
// CHECK-DAG: remark: half precision for choice 7 and full precision for choice 2 cost 100000000
// CHECK-DAG: remark: half precision for choice 2 and full precision for choice 8 cost 200000000
// CHECK-DAG: remark: half precision for choice 3 and full precision for choice 7 exclude each other
// CHECK-DAG: remark: half precision for choice 8 and full precision for choice 3 exclude each other
train.variable @w parameter : tensor<1000x1000xf32>
train.step @micro_step micro ("x" %x: tensor<1000x1000xf32>) {
  %w = train.read @w : tensor<1000x1000xf32>
  %0 = nn.contract "ik,kj->ij" %x, %w : tensor<1000x1000xf32>, tensor<1000x1000xf32>
  %1 = nn.fused "tanh" %0 : tensor<1000x1000xf32> -> tensor<1000x1000xf32> {
  ^bb0(%a: tensor<1000x1000xf32>):
    %5 = math.tanh %a : tensor<1000x1000xf32>
    nn.yield %5 : tensor<1000x1000xf32>
  }
  %2 = nn.contract_gelu_grad "ik,kj->ij" %x, %w at %1 : tensor<1000x1000xf32>, tensor<1000x1000xf32> at tensor<1000x1000xf32>
  train.update "sgd" @w, %2 : tensor<1000x1000xf32>
}
