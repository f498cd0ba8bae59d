// RUN: gpuopt-opt %s --split-input-file --train-widen-half --verify-diagnostics | FileCheck %s

// Weights in half precision become f32 masters, and everything with them but
// the inputs.

// expected-remark @+1 {{2 tensors of the file are in half precision; they are trained as f32}}
module {
// CHECK: train.variable @w parameter : tensor<4xf32> {file = "model.onnx", offset = 64 : i64, sizeInBytes = 8 : i64, storedElementType = f16}
train.variable @w parameter : tensor<4xf16> {file = "model.onnx", offset = 64 : i64, sizeInBytes = 8 : i64}
// CHECK: train.variable @b parameter : tensor<2xf32> {value = dense<[5.000000e-01, -6.550400e+04]> : tensor<2xf32>}
train.variable @b parameter : tensor<2xf16> {value = dense<[0.5, -65504.0]> : tensor<2xf16>}
// CHECK: func.func @forward(%[[X:.*]]: tensor<4xf16>) -> tensor<4xf32>
func.func @forward(%x: tensor<4xf16>) -> tensor<4xf16> {
  // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[X]] : tensor<4xf16> to tensor<4xf32>
  // CHECK-NEXT: %[[W:.*]] = train.read @w : tensor<4xf32>
  %w = train.read @w : tensor<4xf16>
  // CHECK-NEXT: %[[C:.*]] = arith.constant dense<1.500000e+00> : tensor<4xf32>
  %c = arith.constant dense<1.5> : tensor<4xf16>
  // CHECK-NEXT: %[[A:.*]] = math.absf %[[WIDE]] : tensor<4xf32>
  %direct = arith.extf %x : tensor<4xf16> to tensor<4xf32>
  %abs = math.absf %direct : tensor<4xf32>
  // CHECK-NEXT: %[[P:.*]] = arith.mulf %[[A]], %[[W]] : tensor<4xf32>
  %back = arith.truncf %abs : tensor<4xf32> to tensor<4xf16>
  %p = arith.mulf %back, %w : tensor<4xf16>
  %wide = arith.extf %p : tensor<4xf16> to tensor<4xf32>
  // CHECK-NEXT: %[[E:.*]] = math.exp %[[P]] : tensor<4xf32>
  %e = math.exp %wide : tensor<4xf32>
  %narrow = arith.truncf %e : tensor<4xf32> to tensor<4xf16>
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[E]], %[[C]] : tensor<4xf32>
  %s = arith.addf %narrow, %c : tensor<4xf16>
  // CHECK-NEXT: return %[[S]] : tensor<4xf32>
  return %s : tensor<4xf16>
}
}

// -----

// A model that was exported under autocast: f32 weights, and casts of what
// products read. What is in half precision is not the file's to say.

// expected-remark @+1 {{the file casts 3 values to half precision, the first at 'fc/cast_x'; they stay f32, and --precision=fp16 or bf16 chooses what is in half precision}}
module {
train.variable @w parameter : tensor<4x2xf32> {value = dense<0.5> : tensor<4x2xf32>}
// CHECK: func.func @forward(%[[X:.*]]: tensor<3x4xf32>, %[[N:.*]]: tensor<3x2xi64>) -> tensor<3x2xf32>
func.func @forward(%x: tensor<3x4xf32>, %n: tensor<3x2xi64>) -> tensor<3x2xf32> {
  // CHECK-NEXT: %[[W:.*]] = train.read @w
  %w = train.read @w : tensor<4x2xf32>
  %x16 = arith.truncf %x : tensor<3x4xf32> to tensor<3x4xf16> loc("fc/cast_x")
  %w16 = arith.truncf %w : tensor<4x2xf32> to tensor<4x2xf16>
  // CHECK-NEXT: %[[Y:.*]] = nn.contract "ik,kj->ij" %[[X]], %[[W]] : tensor<3x4xf32>, tensor<4x2xf32>
  %y = nn.contract "ik,kj->ij" %x16, %w16 : tensor<3x4xf16>, tensor<4x2xf16>
  // CHECK-NEXT: %[[F:.*]] = arith.sitofp %[[N]] : tensor<3x2xi64> to tensor<3x2xf32>
  %f = arith.sitofp %n : tensor<3x2xi64> to tensor<3x2xf16>
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[Y]], %[[F]] : tensor<3x2xf32>
  %s = arith.addf %y, %f : tensor<3x2xf16>
  %wide = arith.extf %s : tensor<3x2xf16> to tensor<3x2xf32>
  // CHECK-NEXT: return %[[S]]
  return %wide : tensor<3x2xf32>
}
}

// -----

// Inputs in half precision that are cast at once: nothing to change, and to say.

// CHECK-LABEL: func.func @cast_at_once(%{{.*}}: tensor<4xf16>)
func.func @cast_at_once(%x: tensor<4xf16>) -> tensor<4xf32> {
  // CHECK-NEXT: arith.extf
  // CHECK-NEXT: return
  %wide = arith.extf %x : tensor<4xf16> to tensor<4xf32>
  return %wide : tensor<4xf32>
}

// -----

// A loop of the file's, in half precision: its iterations become f32 as what is
// around it.

// expected-remark @+1 {{1 tensors of the file are in half precision; they are trained as f32}}
module {
train.variable @w parameter : tensor<3x3xf16> {value = dense<0.5> : tensor<3x3xf16>}
// CHECK: func.func @forward(%[[X:.*]]: tensor<65x2x3xf16>) -> tensor<66x2x3xf32>
func.func @forward(%x: tensor<65x2x3xf16>) -> tensor<66x2x3xf16> {
  // CHECK: %[[WIDE:.*]] = arith.extf %[[X]]
  %w = train.read @w : tensor<3x3xf16>
  %zero = arith.constant dense<0.0> : tensor<2x3xf16>
  // CHECK: nn.scan 65 slices(%[[WIDE]]) states(%{{.*}}) invariants(%{{.*}}) : (tensor<65x2x3xf32>, tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<66x2x3xf32>
  %h = nn.scan 65 slices(%x) states(%zero) invariants(%w) : (tensor<65x2x3xf16>, tensor<2x3xf16>, tensor<3x3xf16>) -> tensor<66x2x3xf16> {
  // CHECK-NEXT: ^bb0(%[[XI:.*]]: tensor<2x3xf32>, %[[HI:.*]]: tensor<2x3xf32>, %[[WI:.*]]: tensor<3x3xf32>):
  ^bb0(%xi: tensor<2x3xf16>, %hi: tensor<2x3xf16>, %wi: tensor<3x3xf16>):
    // CHECK-NEXT: %[[C:.*]] = arith.constant dense<1.500000e+00> : tensor<2x3xf32>
    %c = arith.constant dense<1.5> : tensor<2x3xf16>
    // CHECK-NEXT: %[[P:.*]] = nn.contract "bh,gh->bg" %[[HI]], %[[WI]] : tensor<2x3xf32>, tensor<3x3xf32>
    %p = nn.contract "bh,gh->bg" %hi, %wi : tensor<2x3xf16>, tensor<3x3xf16>
    // CHECK-NEXT: %[[S:.*]] = arith.addf %[[P]], %[[XI]] : tensor<2x3xf32>
    %wide = arith.extf %p : tensor<2x3xf16> to tensor<2x3xf32>
    %back = arith.truncf %wide : tensor<2x3xf32> to tensor<2x3xf16>
    %s = arith.addf %back, %xi : tensor<2x3xf16>
    // CHECK-NEXT: %[[M:.*]] = arith.mulf %[[S]], %[[C]] : tensor<2x3xf32>
    %m = arith.mulf %s, %c : tensor<2x3xf16>
    // CHECK-NEXT: nn.yield %[[M]] : tensor<2x3xf32>
    nn.yield %m : tensor<2x3xf16>
  }
  return %h : tensor<66x2x3xf16>
}
}
