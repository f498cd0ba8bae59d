// Instructions by which a warpgroup, four warps in a row of which the first has
// a number that is a multiple of four, multiplies matrices in shared memory
// (PTX ISA 8.0, wgmma). Only GPUs of compute capability 9.0 have them, in code
// for sm_90a; in other code warpgroup_arrive ends the program. The emulated
// machine has its own functions of these names.
#pragma once

#include "gpuopt/kernels/ptx_cuda.h"

#ifndef GPUOPT_EMULATED

namespace gpuopt::ptx {

// The upper half of the descriptor of a matrix (PTX ISA, "Matrix Descriptor
// Format"), which is the same for all: 1024 bytes, in units of 16, are between
// groups of eight rows, and the swizzle is that of 128 bytes.
constexpr uint32_t kDescriptorHigh = 1024 / 16 | 1u << 30;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// A product reads registers and shared memory after its instruction. It may do
// so from warpgroup_arrive() on, and has done so, with its results in
// registers, when warpgroup_wait has returned. Registers must not be touched in
// between.
DEVICE void warpgroup_arrive() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
// Makes a group of the products since the last call.
DEVICE void warpgroup_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Waits for all groups but the last `Pending` ones.
template <int Pending>
DEVICE void warpgroup_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(Pending) : "memory");
}
// Lets products read what this thread has copied to shared memory. Those of
// other threads may do so after the next barrier.
DEVICE void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// c = A B + (adds ? c : 0), of 64 x 16 and 16 x N elements. A and B are given
// by the lower halves of descriptors. Of A 16 columns of 64 rows are read. Of
// B, in multiply_shared these are 16 columns of N rows, so it is the transpose
// that is multiplied; in multiply_held they are 16 rows of N columns, and A is
// in registers: warp w of the warpgroup has rows 16 w to 16 w + 15, as in
// mma_f16. c lies as strips do (matrix_cuda.h), one of each warp.
#define GPUOPT_FOUR(n)                                                         \
  "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])
#define GPUOPT_SIXTEEN(n)                                                      \
  GPUOPT_FOUR(n), GPUOPT_FOUR(n + 1), GPUOPT_FOUR(n + 2), GPUOPT_FOUR(n + 3)
#define GPUOPT_PRODUCTS_OF(type)                                               \
  DEVICE void multiply_shared_##type(float (&c)[4][4], uint32_t a, uint32_t b, \
                                     bool adds) {                              \
    asm volatile(                                                              \
        "{\n.reg .pred adds;\n.reg .b64 a, b;\nsetp.ne.b32 adds, %18, 0;\n"    \
        "mov.b64 a, {%16, %19};\nmov.b64 b, {%17, %19};\n"                     \
        "wgmma.mma_async.sync.aligned.m64n32k16.f32." #type "." #type " {"     \
        "%0, %1, %2, %3, %4, %5, %6, %7, "                                     \
        "%8, %9, %10, %11, %12, %13, %14, %15"                                 \
        "}, a, b, adds, 1, 1, 0, 0;\n}"                                        \
        : GPUOPT_SIXTEEN(0)                                                    \
        : "r"(a), "r"(b), "r"(int(adds)), "n"(kDescriptorHigh));               \
  }                                                                            \
  DEVICE void multiply_shared_##type(float (&c)[8][4], uint32_t a, uint32_t b, \
                                     bool adds) {                              \
    asm volatile(                                                              \
        "{\n.reg .pred adds;\n.reg .b64 a, b;\nsetp.ne.b32 adds, %34, 0;\n"    \
        "mov.b64 a, {%32, %35};\nmov.b64 b, {%33, %35};\n"                     \
        "wgmma.mma_async.sync.aligned.m64n64k16.f32." #type "." #type " {"     \
        "%0, %1, %2, %3, %4, %5, %6, %7, "                                     \
        "%8, %9, %10, %11, %12, %13, %14, %15, "                               \
        "%16, %17, %18, %19, %20, %21, %22, %23, "                             \
        "%24, %25, %26, %27, %28, %29, %30, %31"                               \
        "}, a, b, adds, 1, 1, 0, 0;\n}"                                        \
        : GPUOPT_SIXTEEN(0), GPUOPT_SIXTEEN(4)                                 \
        : "r"(a), "r"(b), "r"(int(adds)), "n"(kDescriptorHigh));               \
  }                                                                            \
  DEVICE void multiply_held_##type(float (&c)[8][4], const uint32_t (&a)[4],   \
                                   uint32_t b, bool adds) {                    \
    asm volatile(                                                              \
        "{\n.reg .pred adds;\n.reg .b64 b;\nsetp.ne.b32 adds, %37, 0;\n"       \
        "mov.b64 b, {%36, %38};\n"                                             \
        "wgmma.mma_async.sync.aligned.m64n64k16.f32." #type "." #type " {"     \
        "%0, %1, %2, %3, %4, %5, %6, %7, "                                     \
        "%8, %9, %10, %11, %12, %13, %14, %15, "                               \
        "%16, %17, %18, %19, %20, %21, %22, %23, "                             \
        "%24, %25, %26, %27, %28, %29, %30, %31"                               \
        "}, {%32, %33, %34, %35}, b, adds, 1, 1, 1;\n}"                        \
        : GPUOPT_SIXTEEN(0), GPUOPT_SIXTEEN(4)                                 \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "r"(int(adds)),  \
          "n"(kDescriptorHigh));                                               \
  }
GPUOPT_PRODUCTS_OF(f16)
GPUOPT_PRODUCTS_OF(bf16)
#undef GPUOPT_PRODUCTS_OF

// Keeps the compiler from moving what is computed of c over this place: it sees
// no connection between a product's registers and the wait for it.
DEVICE void fence_registers(float (&c)[4][4]) {
  asm volatile("" : GPUOPT_SIXTEEN(0)::"memory");
}
DEVICE void fence_registers(float (&c)[8][4]) {
  asm volatile("" : GPUOPT_SIXTEEN(0), GPUOPT_SIXTEEN(4)::"memory");
}
#undef GPUOPT_FOUR
#undef GPUOPT_SIXTEEN

#else // kernels that call these are compiled, but not launched

DEVICE void warpgroup_arrive() { asm volatile("trap;"); }
DEVICE void warpgroup_commit() {}
template <int Pending>
DEVICE void warpgroup_wait() {}
DEVICE void fence_proxy_async() {}
template <int N>
DEVICE void multiply_shared_f16(float (&)[N][4], uint32_t, uint32_t, bool) {}
template <int N>
DEVICE void multiply_shared_bf16(float (&)[N][4], uint32_t, uint32_t, bool) {}
DEVICE void multiply_held_f16(float (&)[8][4], const uint32_t (&)[4], uint32_t,
                              bool) {}
DEVICE void multiply_held_bf16(float (&)[8][4], const uint32_t (&)[4], uint32_t,
                               bool) {}
template <int N>
DEVICE void fence_registers(float (&)[N][4]) {}

#endif

} // namespace gpuopt::ptx

#endif
