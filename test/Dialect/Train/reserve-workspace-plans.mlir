// What cuDNN has said of convolutions decides how large their workspace is. The
// file follows behind "PLANS:".

// RUN: sed -n 's|^// PLANS: ||p' %s > %t.json
// RUN: gpuopt-opt %s --split-input-file --train-reserve-workspace=convolution-plans=%t.json 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARNING < %t.err
// RUN: gpuopt-opt %s --split-input-file --train-reserve-workspace=convolution-plans=%t.json 2>&1 | grep -c warning | FileCheck %s --check-prefix=ONCE

// PLANS: {"device": "h200", "convolutions": [
// PLANS:   {"call": "conv_forward", "type": "f16", "workspace_bytes": 1000, "engine": 62, "plan": "...",
// PLANS:    "shape": {"n": 8, "h": 56, "w": 56, "c": 64, "oh": 56, "ow": 56, "oc": 64, "kh": 3, "kw": 3, "pad_begin": [1, 1], "pad_end": [1, 1]}},
// PLANS:   {"call": "conv_forward", "type": "f32", "workspace_bytes": 5000, "engine": 28, "plan": "...",
// PLANS:    "shape": {"kw": 3, "kh": 3, "n": 8, "h": 56, "w": 56, "c": 64, "oh": 56, "ow": 56, "oc": 64, "pad_begin": [1, 1], "pad_end": [1, 1]}},
// PLANS:   {"call": "conv_forward", "type": "f16", "workspace_bytes": 3000, "engine": 62, "plan": "...",
// PLANS:    "shape": {"n": 8, "h": 8, "w": 8, "c": 4, "oh": 8, "ow": 8, "oc": 4, "kh": 3, "kw": 3, "pad_begin": [1, 1], "pad_end": [1, 1], "groups": 4}},
// PLANS:   {"call": "conv_forward", "type": "f32", "fallback": "cuDNN proposes no engine",
// PLANS:    "shape": {"n": 8, "h": 8, "w": 8, "c": 4, "oh": 8, "ow": 8, "oc": 4, "kh": 3, "kw": 3, "pad_begin": [1, 1], "pad_end": [1, 1], "groups": 4}},
// PLANS:   {"call": "conv_backward_weights", "type": "f32", "workspace_bytes": 200, "engine": 1, "plan": "...",
// PLANS:    "shape": {"n": 8, "h": 8, "w": 8, "c": 5, "oh": 4, "ow": 4, "oc": 7, "kh": 3, "kw": 3, "stride": [2, 2], "pad_begin": [1, 1], "pad_end": [1, 1]}}
// PLANS: ]}

// 64 x 64 x 3 x 3 filters of 4 bytes in cuDNN's order, and the most that one of
// the types needs: 147456 + 5000.

// CHECK: train.variable @library_workspace workspace : tensor<152456xi8>
train.variable @w parameter : tensor<64x64x3x3xf32>
train.step @micro_step micro ("x" %x: tensor<8x56x56x64xf32>) {
  %w = train.read @w : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
    : tensor<8x56x56x64xf32>, tensor<64x64x3x3xf32>
  train.output "y", %y : tensor<8x56x56x64xf32>
}

// -----

// The filters, 7 x 5 x 3 x 3 of 4 bytes, take 1280 bytes, a multiple of 256; the
// workspace comes behind them.

// CHECK: train.variable @library_workspace workspace : tensor<1480xi8>
train.step @micro_step micro ("x" %x: tensor<8x8x8x5xf32>, "dy" %dy: tensor<8x4x4x7xf32>) {
  %dw = nn.conv_weight_grad %x, %dy strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 1
    : tensor<8x8x8x5xf32>, tensor<8x4x4x7xf32> to tensor<7x5x3x3xf32>
  train.output "dw", %dw : tensor<7x5x3x3xf32>
}

// -----

// In one of its types, the first has no plan; the second is not in the file.
// Both are estimated: 16 MiB, and filters of 288 bytes.
// CHECK: train.variable @library_workspace workspace : tensor<16777728xi8>
// Planning again helps with the second alone.

// WARNING: warning: '{{.*}}.json' does not list 1 of 2 convolutions, whose workspace is estimated; plan them: gpuopt-plan-convolutions PROGRAM/plan.json
// WARNING: warning: '{{.*}}.json' says that cuDNN has no plan for 1 of 2 convolutions; cuDNN's older calls compute them, in a workspace that is estimated
// ONCE: {{^2$}}
train.step @micro_step micro ("x" %x: tensor<8x8x8x4xf32>, "w" %w: tensor<4x1x3x3xf32>, "v" %v: tensor<4x2x3x3xf32>) {
  %y = nn.conv %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 4
    : tensor<8x8x8x4xf32>, tensor<4x1x3x3xf32>
  %z = nn.conv %y, %v strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 2
    : tensor<8x8x8x4xf32>, tensor<4x2x3x3xf32>
  train.output "z", %z : tensor<8x8x8x4xf32>
}
