// RUN: gpuopt-opt %s --nn-expand-attention --mlir-print-debuginfo | FileCheck %s
// RUN: gpuopt-opt %s --nn-expand-attention --remarks-filter=expand-attention --remark-format=emitRemark -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// RUN: gpuopt-opt %s --nn-expand-attention=inference | FileCheck %s --check-prefix=INFERENCE

// Where nothing is trained, a mask has no gradient.
// INFERENCE-LABEL: func.func @masks
// INFERENCE-COUNT-2: nn.attention
// INFERENCE-LABEL: func.func @shapes

// What the runtime has a call for stays, and is known by the node of its result.
// CHECK-LABEL: func.func @stays
// CHECK: nn.attention {{.*}} loc(#[[LOC:loc[0-9]+]])
func.func @stays(%q: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0:2 = nn.attention %q, %q, %q scale 0.25 dropout 0.1 stream 3 : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>
      loc(fused<{product = loc("values"), scores = loc("keys")}>["keys", "values"])
  return %0#0 : tensor<2x4x8x16xf32>
}

train.variable @table parameter : tensor<8x8xf32>
train.variable @slopes frozen : tensor<8x8xf32>

// CHECK-LABEL: func.func @masks
// CHECK: nn.attention
// CHECK: nn.softmax
// REMARK: attention is expanded, with its matrix of probabilities in memory: its mask depends on parameters that are trained
func.func @masks(%q: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %slopes = train.read @slopes : tensor<8x8xf32>
  %0:2 = nn.attention %q, %q, %q mask %slopes scale 0.25 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x8xf32>
  %table = train.read @table : tensor<8x8xf32>
  %mask = arith.addf %table, %slopes : tensor<8x8xf32>
  %1:2 = nn.attention %q, %q, %q mask %mask scale 0.25 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x8xf32>
  return %0#0, %1#0 : tensor<8x16xf32>, tensor<8x16xf32>
}

// CHECK-LABEL: func.func @shapes
// CHECK-NOT: nn.attention
// REMARK: in memory: its elements are f64
// REMARK: in memory: it has no elements
// REMARK: in memory: it has more than three batch dimensions
// REMARK: in memory: its heads are larger than 256
// REMARK: in memory: it has more than 2^30 queries or keys
// REMARK: in memory: its heads share keys, and it has more than two batch dimensions
func.func @shapes(%d: tensor<8x16xf64>, %d0: tensor<0x16xf32>, %r: tensor<2x2x2x2x8x16xf32>, %h: tensor<8x257xf32>, %long: tensor<1073741825x16xf32>,
    %q: tensor<2x2x4x8x16xf32>, %k: tensor<2x2x2x8x16xf32>) {
  %0:2 = nn.attention %d, %d, %d scale 0.25 : tensor<8x16xf64>, tensor<8x16xf64>, tensor<8x16xf64>
  %e:2 = nn.attention %d0, %d0, %d0 scale 0.25 : tensor<0x16xf32>, tensor<0x16xf32>, tensor<0x16xf32>
  %1:2 = nn.attention %r, %r, %r scale 0.25 : tensor<2x2x2x2x8x16xf32>, tensor<2x2x2x2x8x16xf32>, tensor<2x2x2x2x8x16xf32>
  %2:2 = nn.attention %h, %h, %h scale 0.25 : tensor<8x257xf32>, tensor<8x257xf32>, tensor<8x257xf32>
  %l:2 = nn.attention %long, %long, %long scale 0.25 : tensor<1073741825x16xf32>, tensor<1073741825x16xf32>, tensor<1073741825x16xf32>
  %3:2 = nn.attention %q, %k, %k scale 0.25 : tensor<2x2x4x8x16xf32>, tensor<2x2x2x8x16xf32>, tensor<2x2x2x8x16xf32>
  return
}

// CHECK: {{^}}#[[VALUES:loc[0-9]+]] = loc("values")
// CHECK: {{^}}#[[LOC]] = loc(fused[#[[VALUES]], #{{.*}}])
