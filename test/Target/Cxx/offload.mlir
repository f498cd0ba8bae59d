// RUN: gpuopt-translate --device-to-cxx %s | FileCheck %s

// CHECK: constexpr size_t kHostBytes = 2048; // in the memory of the host, where offloaded tensors wait
// CHECK: // The arena in micro_step. Live [a, b): in use from call a of the step until before call b.
// CHECK-NEXT: constexpr Buffer<float> kY{8192}; // f32[4,128] "/relu" live [0, 3)
// CHECK-NEXT: constexpr Buffer<float> kZ{8192}; // f32[4,128] "/relu" live [3, 5)
// CHECK: // The host's memory in micro_step. Live [a, b): in use from call a of the step until before call b.
// CHECK-NEXT: constexpr Buffer<float> kYOnHost{0}; // f32[4,128] "/relu" live [1, 4)
device.memory persistent 8192 arena 2048 host 2048
device.buffer @y arena at 8192 : tensor<4x128xf32> live 0 to 3 in @micro_step {origin = "/relu"}
device.buffer @z arena at 8192 : tensor<4x128xf32> live 3 to 5 in @micro_step {origin = "/relu"}
device.buffer @y_on_host host at 0 : tensor<4x128xf32> live 1 to 4 in @micro_step {origin = "/relu"}

// CHECK: static void micro_step(Context &context, char *memory) {
// CHECK-NEXT: const Calls ctx{context};
// CHECK-NEXT: const Memory m{memory};
// CHECK-NEXT: const Memory host{context.host_memory};
device.step @micro_step micro {
  %y = device.address @y : !device.ptr<f32>
  %z = device.address @z : !device.ptr<f32>
  %h = device.address @y_on_host : !device.ptr<f32>
  // CHECK: // /relu to the host
  // CHECK-NEXT: offload(ctx, 0, host[kYOnHost], m[kY], 512 * sizeof(float));
  device.offload %y to %h count 512 event 0 {comment = "/relu to the host"} : !device.ptr<f32>, !device.ptr<f32>
  // CHECK-NEXT: await(ctx, 0);
  device.await 0
  // CHECK-NEXT: // /relu from the host: why
  // CHECK-NEXT: reload(ctx, 1, m[kZ], host[kYOnHost], 512 * sizeof(float));
  device.reload %h to %z count 512 event 1 {comment = "/relu from the host: why"} : !device.ptr<f32>, !device.ptr<f32>
  // CHECK-NEXT: await(ctx, 1);
  device.await 1
}

// CHECK: p.host_bytes = kHostBytes;
