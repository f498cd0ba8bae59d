// Instructions of the GPU that CUDA C++ has no words for, one function each
// (PTX ISA 8, sm_80 and later). The emulated machine has its own functions of
// these names.
#pragma once

#include "gpuopt/kernels/types.h"

#ifndef GPUOPT_EMULATED

namespace gpuopt::ptx {

// ---- Products of matrices within a warp ------------------------------------

// c += A B, of 16 x 16 and 16 x 8 elements. Lane 4 g + t holds
//   A  rows g, g + 8, g, g + 8; columns 2 t + {0, 1}, + 8 in the last two words
//   B  rows 2 t + {0, 1}, + 8 in b1; column g
//   c  rows g, g, g + 8, g + 8; columns 2 t, 2 t + 1, 2 t, 2 t + 1
DEVICE void mma_f16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                    uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
DEVICE void mma_bf16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                     uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// c += A B, of 16 x 8 and 8 x 8 elements in TF32: floats whose lowest 13 bits
// are zero. Lane 4 g + t holds
//   A  rows g, g + 8, g, g + 8; column t, t + 4 in the last two words
//   B  row t, t + 4 in b1; column g
//   c  as above
DEVICE void mma_tf32(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                     uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

DEVICE uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// Four matrices of 8 x 8 halves from shared memory: lane 8 m + r names row r of
// matrix m, at a multiple of 16 bytes, and word m of lane 4 g + t gets the
// elements 2 t and 2 t + 1 of row g, or of column g.
DEVICE void ldmatrix(uint32_t (&to)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
               "{%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row))
               : "memory");
}
DEVICE void ldmatrix_transposed(uint32_t (&to)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
               "{%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row))
               : "memory");
}

// ---- Asynchronous copies to shared memory ------------------------------

// Copies 16 bytes: the first `read` (0 or 16) are read, and the others are
// zero. Both addresses are multiples of 16.
DEVICE void cp_async(void *to, const void *from, int read) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(shared_address(to)), "l"(from), "r"(read)
               : "memory");
}
// Makes a group of the copies that a thread has begun since its last call.
DEVICE void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Waits for all groups of this thread but the last `Pending` ones. What other
// threads copy is there after the next barrier.
template <int Pending>
DEVICE void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" : : "n"(Pending) : "memory");
}

// ---- Memory and numbers ----------------------------------------------------

// Returns the shared memory whose size the launch gives. It is aligned as
// matrices of warpgroups have to be.
DEVICE char *dynamic_memory() {
  extern __shared__ __align__(1024) uint4 words[];
  return reinterpret_cast<char *>(words);
}

// Packs two numbers, rounded to half precision, into a word.
DEVICE uint32_t pack_f16(float low, float high) {
  uint32_t word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
DEVICE uint32_t pack_bf16(float low, float high) {
  uint32_t word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
// Rounds a number to the nearest one of TF32, and one in the middle away from 0.
DEVICE uint32_t round_to_tf32(float x) {
  uint32_t word;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(x));
  return word;
}

// The larger and the smaller number; NaN if either is NaN. +0 is larger than
// -0.
DEVICE float max_nan(float a, float b) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
DEVICE float min_nan(float a, float b) {
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}

// The multifunction unit's approximations, with the errors that the PTX ISA
// states. Subnormal arguments and results are zero but for rsqrt, whose
// arguments may be subnormal.

// 2^x to 2 ulp.
DEVICE float exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// 1 / x to 1 ulp.
DEVICE float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// 1 / sqrt(x) with a relative error of at most 2^-22.9.
DEVICE float rsqrt(float x) {
  float y;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

} // namespace gpuopt::ptx

#endif
