// RUN: gpuopt-opt %s --print-step-graph --verify-diagnostics
// RUN: not gpuopt-opt %s --print-step-graph=device=tpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: expects one of host, {{.*}} or a JSON file, but got 'tpu'

train.variable @w parameter : tensor<1000x1000xf32>
train.step @micro_step micro ("x" %x: tensor<1000x1000xf32>) {
  %w = train.read @w : tensor<1000x1000xf32>
  // 2e9 operations take 10 ms at 200 GFLOP/s, and a launch takes 2 us.
  // expected-remark @below {{node 0: 4000000 bytes, 10002000 ns}}
  %0 = nn.contract "ik,kj->ij" %x, %w : tensor<1000x1000xf32>, tensor<1000x1000xf32>
  // A tanh counts for 16 operations: 16e6 take 0.533 ms at 30 GFLOP/s.
  // expected-remark @below {{node 1: 4000000 bytes, 535333 ns, reads [0]}}
  %1 = nn.fused "tanh" %0 : tensor<1000x1000xf32> -> tensor<1000x1000xf32> {
  ^bb0(%a: tensor<1000x1000xf32>):
    %5 = math.tanh %a : tensor<1000x1000xf32>
    nn.yield %5 : tensor<1000x1000xf32>
  }
  // 8 MB are read and written, in 0.4 ms at 20 GB/s; the result needs no bytes.
  // expected-remark @below {{node 2: 0 bytes, 402000 ns, reads [1], overwrites 1}}
  %2 = nn.fused "neg" %1 {in_place = array<i64: 0>} : tensor<1000x1000xf32> -> tensor<1000x1000xf32> {
  ^bb0(%a: tensor<1000x1000xf32>):
    %5 = arith.negf %a : tensor<1000x1000xf32>
    nn.yield %5 : tensor<1000x1000xf32>
  }
  %3 = nn.transpose %2 [1, 0] : tensor<1000x1000xf32>
  // The transpose is a view, and so no node.
  // expected-remark @below {{node 3: 4000000 bytes, 10002000 ns, reads [2]}}
  %4 = nn.contract "ik,kj->ij" %3, %x : tensor<1000x1000xf32>, tensor<1000x1000xf32>
  // The gradient is read, and the parameter is read and written: 12 MB. To run
  // again would change the parameter twice.
  // expected-remark @below {{node 4: 0 bytes, 602000 ns, reads [3], runs once}}
  train.update "sgd" @w, %4 : tensor<1000x1000xf32>
}

// What reads a variable can run again if all work that depends on it stands
// before the variable is written. Other work may follow.
train.variable @v parameter : tensor<1000x1000xf32>
train.step @update update ("x" %x: tensor<1000x1000xf32>) {
  %w = train.read @w : tensor<1000x1000xf32>
  // expected-remark @below {{node 0: 4000000 bytes, 10002000 ns}}
  %0 = nn.contract "ik,kj->ij" %x, %w : tensor<1000x1000xf32>, tensor<1000x1000xf32>
  // expected-remark @below {{node 1: 4000000 bytes, 535333 ns, reads [0]}}
  %1 = nn.fused "tanh" %0 : tensor<1000x1000xf32> -> tensor<1000x1000xf32> {
  ^bb0(%a: tensor<1000x1000xf32>):
    %5 = math.tanh %a : tensor<1000x1000xf32>
    nn.yield %5 : tensor<1000x1000xf32>
  }
  // What reads this one stands behind the update, and could not have it again.
  // expected-remark @below {{node 2: 4000000 bytes, 10002000 ns, runs once}}
  %2 = nn.contract "ik,jk->ij" %x, %w : tensor<1000x1000xf32>, tensor<1000x1000xf32>
  // expected-remark @below {{node 3: 0 bytes, 602000 ns, reads [1], runs once}}
  train.update "sgd" @w, %1 : tensor<1000x1000xf32>
  // expected-remark @below {{node 4: 4000000 bytes, 535333 ns, reads [2]}}
  %3 = nn.fused "tanh" %2 : tensor<1000x1000xf32> -> tensor<1000x1000xf32> {
  ^bb0(%a: tensor<1000x1000xf32>):
    %5 = math.tanh %a : tensor<1000x1000xf32>
    nn.yield %5 : tensor<1000x1000xf32>
  }
  // expected-remark @below {{node 5: 0 bytes, 602000 ns, reads [4], runs once}}
  train.update "sgd" @v, %3 : tensor<1000x1000xf32>
}

// A result that is a part of a concatenation is written into the whole, and a
// second reader would take it out of there. So what is made of it is computed
// again from the kernel's operand.
train.step @parts micro ("x" %x: tensor<1000x1000xf32>) {
  // expected-remark @below {{node 0: 4000000 bytes, 10002000 ns}}
  %0 = nn.contract "ik,kj->ij" %x, %x : tensor<1000x1000xf32>, tensor<1000x1000xf32>
  // expected-remark @below {{node 1: 8000000 bytes, 402000 ns, reads [0], workspace of 4000000 bytes}}
  // expected-remark @below {{node 2: 4000000 bytes, 568667 ns, reads [0]}}
  %1:2 = nn.fused "neg_tanh" %0 : tensor<1000x1000xf32> -> tensor<1000x1000xf32>, tensor<1000x1000xf32> {
  ^bb0(%a: tensor<1000x1000xf32>):
    %5 = arith.negf %a : tensor<1000x1000xf32>
    %6 = math.tanh %5 : tensor<1000x1000xf32>
    nn.yield %5, %6 : tensor<1000x1000xf32>, tensor<1000x1000xf32>
  }
  // expected-remark @below {{node 3: 0 bytes, 10002000 ns, reads [1, 2], lies in 1}}
  %2 = nn.contract "ik,kj->ij" %1#1, %x : tensor<1000x1000xf32>, tensor<1000x1000xf32>
  // expected-remark @below {{node 4: 0 bytes, 0 ns, reads [1, 3], lies in 3}}
  %3 = nn.concat %1#0, %2 dim 0 : tensor<1000x1000xf32>, tensor<1000x1000xf32>
  // expected-remark @below {{node 5: 8000000 bytes, 20002000 ns, reads [2, 4]}}
  %4 = nn.contract "ik,jk->ij" %3, %1#1 : tensor<2000x1000xf32>, tensor<1000x1000xf32>
  // expected-remark @below {{node 6: 0 bytes, 402000 ns, reads [5], runs once}}
  train.output "y", %4 : tensor<2000x1000xf32>
}
