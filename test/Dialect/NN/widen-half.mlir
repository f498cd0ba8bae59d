// RUN: gpuopt-opt %s --split-input-file --nn-widen-half --verify-diagnostics | FileCheck %s

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

// A model in f32 keeps the casts that it asks for.

// CHECK-LABEL: func.func @forward({{.*}}: tensor<4xf32>)
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: arith.truncf %{{.*}} : tensor<4xf32> to tensor<4xf16>
  %narrow = arith.truncf %x : tensor<4xf32> to tensor<4xf16>
  %wide = arith.extf %narrow : tensor<4xf16> to tensor<4xf32>
  return %wide : tensor<4xf32>
}
