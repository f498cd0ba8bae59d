// RUN: gpuopt-opt %s --print-precision-graph --verify-diagnostics
// RUN: not gpuopt-opt %s --print-precision-graph=device=tpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: expects one of host, {{.*}} or a JSON file, but got 'tpu'

train.variable @w parameter : tensor<1000x1000xf32>
// Inputs, parameters and tensors that products read have copies in half
// precision. Making that of %x reads 4 MB and writes 2 MB in 0.3 ms, and takes a
// launch; the optimizer writes that of @w along with the parameter, 2 MB. The
// kernel that makes %1 writes it in either precision or both.
// A product in half precision reads copies in half precision, and its result is
// in the same precision.
// Writing 2 MB more, or reading 4 MB as well, takes 0.1 or 0.2 ms.
// expected-remark @below {{choice 5: copy of input x, 302000000 in half precision, 0 in full}}
// expected-remark @below {{choice 6: copy of read, 100000000 in half precision, 0 in full}}
// expected-remark @below {{choice 7: copy of fused, 0 in half precision, 0 in full}}
// expected-remark @below {{choice 8: copy of fused, 0 in half precision, 0 in full}}
// expected-remark @below {{half precision for choice 0 and full precision for choice 1 exclude each other}}
// expected-remark @below {{half precision for choice 1 and full precision for choice 0 cost 0}}
// expected-remark @below {{half precision for choice 1 and full precision for choice 5 exclude each other}}
// expected-remark @below {{half precision for choice 1 and full precision for choice 6 exclude each other}}
// expected-remark @below {{half precision for choice 3 and full precision for choice 4 exclude each other}}
// expected-remark @below {{half precision for choice 4 and full precision for choice 3 cost 0}}
// expected-remark @below {{half precision for choice 7 and full precision for choice 2 cost 100000000}}
// expected-remark @below {{half precision for choice 2 and full precision for choice 8 cost 200000000}}
// expected-remark @below {{half precision for choice 4 and full precision for choice 7 exclude each other}}
// expected-remark @below {{half precision for choice 8 and full precision for choice 4 exclude each other}}
// expected-remark @below {{half precision for choice 4 and full precision for choice 6 exclude each other}}
train.step @micro_step micro ("x" %x: tensor<1000x1000xf32>) {
  %w = train.read @w : tensor<1000x1000xf32>
  // 2e9 operations at 150 GFLOP/s in f16 and at 200 in f32, and a launch.
  // expected-remark @below {{choice 0: tensor, 0 in half precision, 0 in full}}
  // expected-remark @below {{choice 1: product, 13335333333 in half precision, 10002000000 in full}}
  %0 = nn.contract "ik,kj->ij" %x, %w : tensor<1000x1000xf32>, tensor<1000x1000xf32>
  // expected-remark @below {{choice 2: tensor, 0 in half precision, 0 in full}}
  %1 = nn.fused "tanh" %0 : tensor<1000x1000xf32> -> tensor<1000x1000xf32> {
  ^bb0(%a: tensor<1000x1000xf32>):
    %5 = math.tanh %a : tensor<1000x1000xf32>
    nn.yield %5 : tensor<1000x1000xf32>
  }
  // In full precision the update reads 2 MB more.
  // expected-remark @below {{choice 3: tensor, 0 in half precision, 100000000 in full}}
  // expected-remark @below {{choice 4: product, 13335333333 in half precision, 10002000000 in full}}
  %2 = nn.contract "ik,kj->ij" %1, %w : tensor<1000x1000xf32>, tensor<1000x1000xf32>
  train.update "sgd" @w, %2 : tensor<1000x1000xf32>
}
