// The keywords and functions of CUDA kernels, for a C++ compiler. The functions
// act on the running thread of the emulated block.
#pragma once

#include "emulation/machine/block.h"

#include <cuda_runtime_api.h>

#include <cstring>
#include <type_traits>

// The toolkit's headers define these keywords as nothing if no CUDA compiler
// reads them.
#undef __launch_bounds__
#define __launch_bounds__(...)

// Threads see one copy of an array, and blocks take turns with it. All such
// arrays lie in one section, which is filled with NaNs between blocks; g++
// leaves out those of templates. AddressSanitizer guards what lies around an
// array, but not in a section of this kind.
#undef __shared__
#if defined(__SANITIZE_ADDRESS__)
#define __shared__ static
#else
#define __shared__ static __attribute__((section("gpuopt_shared")))
#endif

constexpr int warpSize = gpuopt::emulation::kWarpSize;

#define __syncthreads() ::gpuopt::emulation::wait_for_block(__FILE__, __LINE__)

namespace gpuopt::emulation {

// Warps of 64 lanes take masks of 64 bits. A mask of 32 names the same lanes in
// the half of the warp that calls.
inline uint64_t named_lanes(uint64_t mask) {
  const bool is_half = kWarpSize == 64 && mask >> 32 == 0;
  return is_half && lane_in_warp() >= 32 ? mask << 32 : mask;
}

template <class T>
T shuffle(uint64_t mask, T value, int source) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8,
                "lanes exchange up to eight bytes");
  Exchange mine{ExchangeKind::Shuffle, named_lanes(mask), 0, source};
  memcpy(&mine.value, &value, sizeof value);
  const uint64_t received = exchange(mine);
  memcpy(&value, &received, sizeof value);
  return value;
}

// Returns the first lane of the group of `width` lanes that the running lane
// belongs to.
inline int group_begin(int width) { return lane_in_warp() / width * width; }

} // namespace gpuopt::emulation

template <class T>
T __shfl_sync(uint64_t mask, T value, int source, int width = warpSize) {
  using namespace gpuopt::emulation;
  return shuffle(mask, value, group_begin(width) + (source & (width - 1)));
}
// Outside of its group, a lane reads its own value.
template <class T>
T __shfl_xor_sync(uint64_t mask, T value, int lane_mask, int width = warpSize) {
  using namespace gpuopt::emulation;
  const int source = lane_in_warp() ^ lane_mask;
  const bool is_near = source < group_begin(width) + width;
  return shuffle(mask, value, is_near ? source : lane_in_warp());
}
template <class T>
T __shfl_up_sync(uint64_t mask, T value, unsigned delta, int width = warpSize) {
  using namespace gpuopt::emulation;
  const int source = lane_in_warp() - int(delta);
  return shuffle(mask, value,
                 source >= group_begin(width) ? source : lane_in_warp());
}
template <class T>
T __shfl_down_sync(uint64_t mask, T value, unsigned delta,
                   int width = warpSize) {
  using namespace gpuopt::emulation;
  const int source = lane_in_warp() + int(delta);
  return shuffle(mask, value,
                 source < group_begin(width) + width ? source : lane_in_warp());
}

inline uint64_t ballot(uint64_t mask, bool vote) {
  using namespace gpuopt::emulation;
  return exchange({ExchangeKind::Ballot, named_lanes(mask), vote, 0});
}
using BallotWord =
    std::conditional_t<gpuopt::emulation::kWarpSize == 64, uint64_t, unsigned>;
inline BallotWord __ballot_sync(uint64_t mask, int vote) {
  return BallotWord(ballot(mask, vote != 0));
}
inline int __any_sync(uint64_t mask, int vote) {
  return ballot(mask, vote != 0) != 0;
}
inline int __all_sync(uint64_t mask, int vote) {
  return ballot(mask, vote == 0) == 0;
}
inline void __syncwarp(uint64_t mask = ~0u) {
  using namespace gpuopt::emulation;
  exchange({ExchangeKind::Barrier, named_lanes(mask), 0, 0});
}

// One thread runs at a time, so a plain access is atomic. Only the types that
// the GPU has atomics for are allowed.
template <class T>
constexpr bool kHasAtomics =
    std::is_same_v<T, int> || std::is_same_v<T, unsigned> ||
    std::is_same_v<T, unsigned long long> || std::is_same_v<T, float> ||
    std::is_same_v<T, double>;

template <class T>
T atomicAdd(T *p, std::type_identity_t<T> value) {
  static_assert(kHasAtomics<T>, "CUDA has no atomicAdd of this type");
  const T old = *p;
  *p = old + value;
  return old;
}
template <class T>
T atomicExch(T *p, std::type_identity_t<T> value) {
  static_assert(kHasAtomics<T>, "CUDA has no atomicExch of this type");
  const T old = *p;
  *p = value;
  return old;
}
template <class T>
T atomicMax(T *p, std::type_identity_t<T> value) {
  static_assert((kHasAtomics<T> && std::is_integral_v<T>) ||
                    std::is_same_v<T, long long>,
                "CUDA has no atomicMax of this type");
  const T old = *p;
  *p = old < value ? value : old;
  return old;
}
template <class T>
T atomicCAS(T *p, std::type_identity_t<T> expected,
            std::type_identity_t<T> value) {
  static_assert(kHasAtomics<T> && std::is_integral_v<T>,
                "CUDA has no atomicCAS of this type");
  const T old = *p;
  if (old == expected)
    *p = value;
  return old;
}
