// RUN: gpuopt-translate --device-to-cxx %s | FileCheck %s

// A tied tensor has as many names as there are, with a null behind them.
// CHECK: static const char *const kSavedAs[] = {
// CHECK-NEXT: "0.weight",
// CHECK-NEXT: "1.weight",
// CHECK-NEXT: "2.weight",
// CHECK-NEXT: "3.weight",
// CHECK-NEXT: "4.weight",
// CHECK-NEXT: "5.weight",
// CHECK-NEXT: "6.weight",
// CHECK-NEXT: "7.weight",
// CHECK-NEXT: "8.weight",
// CHECK-NEXT: "9.weight",
// CHECK-NEXT: "10.weight",
// CHECK-NEXT: "11.weight",
// CHECK-NEXT: "12.weight",
// CHECK-NEXT: "13.weight",
// CHECK-NEXT: "14.weight",
// CHECK-NEXT: "15.weight",
// CHECK-NEXT: "16.weight",
// CHECK-NEXT: nullptr,
// CHECK-NEXT: "b",
// CHECK-NEXT: nullptr,
// CHECK-NEXT: };
// CHECK: StateKind::Parameter, kSavedAs + 0}
// CHECK: StateKind::Parameter, kSavedAs + 18}

train.variable @w parameter : tensor<4xf32> {savedAs = ["0.weight", "1.weight", "2.weight", "3.weight", "4.weight", "5.weight", "6.weight", "7.weight", "8.weight", "9.weight", "10.weight", "11.weight", "12.weight", "13.weight", "14.weight", "15.weight", "16.weight"]}
train.variable @b parameter : tensor<4xf32> {savedAs = ["b"]}
device.memory persistent 8192 arena 0
device.buffer @w_0 state at 2048 : tensor<4xf32> {origin = "w", variable = @w}
device.buffer @b_0 state at 2304 : tensor<4xf32> {origin = "b", variable = @b}
