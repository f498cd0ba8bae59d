// The emulated machine's side of gpuopt/kernels/ptx_cuda.h: instructions that
// CUDA C++ has no words for.
#pragma once

#include "emulation/machine/approximation.h"
#include "emulation/machine/block.h"
#include "emulation/machine/matrix.h"
#include "emulation/machine/warpgroup.h"

#include <cmath>
#include <cstring>

namespace gpuopt::ptx {

inline void exchange_matrix(emulation::MatrixLane &mine) {
  emulation::Exchange exchange;
  exchange.kind = emulation::ExchangeKind::Matrix;
  exchange.mask = 0xffffffffu;
  exchange.matrix = &mine;
  emulation::exchange(exchange);
}

inline void multiply(emulation::MatrixWord word, float (&c)[4],
                     const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  emulation::MatrixLane mine{.word = word};
  memcpy(mine.a, a, sizeof a);
  mine.b[0] = b0;
  mine.b[1] = b1;
  memcpy(mine.c, c, sizeof c);
  exchange_matrix(mine);
  memcpy(c, mine.c, sizeof c);
}
inline void mma_f16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                    uint32_t b1) {
  multiply(emulation::MatrixWord::MultiplyF16, c, a, b0, b1);
}
inline void mma_bf16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                     uint32_t b1) {
  multiply(emulation::MatrixWord::MultiplyBF16, c, a, b0, b1);
}
inline void mma_tf32(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                     uint32_t b1) {
  multiply(emulation::MatrixWord::MultiplyTf32, c, a, b0, b1);
}

inline void load(emulation::MatrixWord word, uint32_t (&to)[4],
                 const void *row) {
  emulation::MatrixLane mine{.word = word};
  mine.row = row;
  exchange_matrix(mine);
  memcpy(to, mine.loaded, sizeof to);
}
inline void ldmatrix(uint32_t (&to)[4], const void *row) {
  load(emulation::MatrixWord::Load, to, row);
}
inline void ldmatrix_transposed(uint32_t (&to)[4], const void *row) {
  load(emulation::MatrixWord::LoadTransposed, to, row);
}

inline void cp_async(void *to, const void *from, int read) {
  emulation::copy_late(to, from, 16, size_t(read));
}
inline void cp_async_commit() { emulation::close_copy_group(); }
template <int Pending>
void cp_async_wait() {
  emulation::wait_for_copy_groups(Pending);
}

inline char *dynamic_memory() { return emulation::dynamic_memory(); }
// Addresses count from the beginning of the dynamic memory.
inline uint32_t shared_address(const void *p) {
  return uint32_t(static_cast<const char *>(p) - dynamic_memory());
}

// Products of warpgroups; see gpuopt/kernels/ptx_warpgroup_cuda.h.
inline void warpgroup_arrive() { emulation::arrive_for_products(); }
inline void warpgroup_commit() { emulation::close_product_group(); }
template <int Pending>
void warpgroup_wait() {
  emulation::wait_for_product_groups(Pending);
}
inline void fence_proxy_async() { emulation::show_copies_to_products(); }

// Kernels give the lower halves of descriptors. The upper ones are all the
// same: groups of eight rows are 1024 bytes apart, and the swizzle is that of
// 128 bytes.
inline uint64_t with_upper_half(uint32_t descriptor) {
  return uint64_t(1) << 62 | uint64_t(1024 / 16) << 32 | descriptor;
}

template <int N>
void multiply_shared(bool is_bf16, float (&c)[N][4], uint32_t a, uint32_t b,
                     bool adds) {
  emulation::WarpgroupOperands mine;
  mine.is_bf16 = is_bf16;
  mine.columns = 8 * N;
  mine.a = with_upper_half(a);
  mine.b = with_upper_half(b);
  mine.adds = adds;
  mine.c = &c[0][0];
  emulation::begin_warpgroup_product(mine);
}
template <int N>
void multiply_shared_f16(float (&c)[N][4], uint32_t a, uint32_t b, bool adds) {
  multiply_shared(false, c, a, b, adds);
}
template <int N>
void multiply_shared_bf16(float (&c)[N][4], uint32_t a, uint32_t b, bool adds) {
  multiply_shared(true, c, a, b, adds);
}

inline void multiply_held(bool is_bf16, float (&c)[8][4],
                          const uint32_t (&a)[4], uint32_t b, bool adds) {
  emulation::WarpgroupOperands mine;
  mine.is_bf16 = is_bf16;
  mine.holds_a = true;
  memcpy(mine.held, a, sizeof a);
  mine.b = with_upper_half(b);
  mine.reads_rows = true;
  mine.adds = adds;
  mine.c = &c[0][0];
  emulation::begin_warpgroup_product(mine);
}
template <int N>
void fence_registers(float (&)[N][4]) {
} // the compiler knows who has their address
inline void multiply_held_f16(float (&c)[8][4], const uint32_t (&a)[4],
                              uint32_t b, bool adds) {
  multiply_held(false, c, a, b, adds);
}
inline void multiply_held_bf16(float (&c)[8][4], const uint32_t (&a)[4],
                               uint32_t b, bool adds) {
  multiply_held(true, c, a, b, adds);
}

inline uint32_t pack_f16(float low, float high) {
  const _Float16 halves[] = {_Float16(low), _Float16(high)};
  uint32_t word;
  memcpy(&word, halves, sizeof word);
  return word;
}
// Rounds to nearest even; a NaN stays one.
inline uint32_t pack_bf16(float low, float high) {
  const auto upper_half = [](float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return x != x ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  };
  return upper_half(low) | upper_half(high) << 16;
}

// Rounds halves away from zero: the lowest 13 bits become zero. A NaN stays
// one, and an infinity too.
inline uint32_t round_to_tf32(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  return x != x ? 0x7fffe000u : (bits + 0x1000u) & ~0x1fffu;
}

inline float max_nan(float a, float b) {
  if (a != a || b != b)
    return std::bit_cast<float>(0x7fffffffu); // as the PTX ISA says
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}
inline float min_nan(float a, float b) { return -max_nan(-a, -b); }

inline float exp2(float x) {
  x = emulation::flushed(x);
  if (x == 0)
    return 1; // as the PTX ISA says of ex2.approx
  return emulation::off_by_ulp(::exp2(double(x)), std::bit_cast<uint32_t>(x),
                               2);
}
inline float reciprocal(float x) {
  x = emulation::flushed(x);
  return emulation::off_by_ulp(1 / double(x), std::bit_cast<uint32_t>(x), 1);
}
inline float rsqrt(float x) {
  return emulation::off_by_share(1 / ::sqrt(double(x)),
                                 std::bit_cast<uint32_t>(x),
                                 0x1.125fbee2p-23); // 2^-22.9
}

} // namespace gpuopt::ptx
