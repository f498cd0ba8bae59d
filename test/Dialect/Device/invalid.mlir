// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics

device.kernel @empty_row blocks 1 threads 32 [] {
  // expected-error @below {{expects at least one element, but got 0}}
  %row = device.row 0 : !device.ptr<f32>
}
