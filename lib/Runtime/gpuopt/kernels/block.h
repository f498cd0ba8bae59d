// A block: its place in the grid, the way a thread strides over a row, and
// reductions over the whole block, which always combine in the same order.
//
//   for (int64_t i = first_lane(); i < n; i += lane_step())
//     store(y + i, f(load(x + i, n - i)), n - i);
#pragma once

#include "gpuopt/kernels/memory.h"
#include "gpuopt/kernels/rounding.h"
#ifndef __CUDACC__
#include "gpuopt/kernels/tile_host.h"
#endif

namespace gpuopt {

// Memory of the block: an array that all its threads see.
#ifdef __CUDACC__
#define ROW_MEMORY alignas(16) __shared__
#else
#define ROW_MEMORY alignas(64)
#endif

#ifdef __CUDACC__
DEVICE int64_t block() { return blockIdx.x; }
DEVICE int64_t first_lane() { return int64_t(threadIdx.x) * kLanes; }
DEVICE int64_t lane_step() { return int64_t(blockDim.x) * kLanes; }
DEVICE bool first_thread() { return threadIdx.x == 0; }
#else
namespace detail {
inline thread_local constinit int64_t current_block = 0; // set by launch
} // namespace detail
// Returns the number of this block. A kernel reads it once, at its top.
DEVICE int64_t block() { return detail::current_block; }
constexpr int64_t first_lane() { return 0; }
constexpr int64_t lane_step() { return kLanes; }
constexpr bool first_thread() { return true; }
#endif

// A block may load several vectors of a thread at once: whole_batches<2>(n) is
// how many of the first n elements are taken so, by all of its threads alike.
//
//   for (int64_t i = first_lane(); i < whole_batches<2>(n); i += 2 *
//   lane_step())
//     // vectors at i and at i + lane_step(), all lanes of which are there
//   for (int64_t i = whole_batches<2>(n) + first_lane(); i < n; i +=
//   lane_step())
//     // the rest, with n - i elements left
template <int Vectors>
DEVICE int64_t whole_batches(int64_t n) {
  const uint32_t batch = uint32_t(Vectors * lane_step());
  return n / batch * batch;
}

// The threads of a block may stand in groups of `Width` neighbours, a power of
// two up to 32. Each group walks over columns of its own, and takes every
// groups-th row:
//
//   for (int64_t r = group<8>(); r < rows; r += groups<16>())
//     for (int64_t i = first_lane<8>(); i < n; i += lane_step<8>())
//
// A row of n elements takes iterations<Width>(n) iterations of a group:
//
//   for (int64_t t = 0; t < iterations<8>(n); t++)
//     const int64_t i = t * lane_step<8>() + first_lane<8>();
//
// The host's one thread is one group.
#ifdef __CUDACC__
template <int Width>
DEVICE int64_t group() {
  return threadIdx.x / Width;
}
template <int Groups>
constexpr DEVICE int64_t groups() {
  return Groups;
}
template <int Width>
DEVICE int64_t first_lane() {
  return int64_t(threadIdx.x % Width) * kLanes;
}
template <int Width>
constexpr DEVICE int64_t lane_step() {
  return int64_t(Width) * kLanes;
}
#else
template <int Width>
constexpr int64_t group() {
  return 0;
}
template <int Groups>
constexpr int64_t groups() {
  return 1;
}
template <int Width>
constexpr int64_t first_lane() {
  return 0;
}
template <int Width>
constexpr int64_t lane_step() {
  return kLanes;
}
#endif

template <int Width>
constexpr DEVICE int64_t iterations(int64_t n) {
  return (n + lane_step<Width>() - 1) / lane_step<Width>();
}

struct Sum {
  template <class T>
  static DEVICE T identity() {
    return T(0);
  }
  template <class X>
  static DEVICE X apply(X a, X b) {
    return a + b;
  }
};
struct Product {
  template <class T>
  static DEVICE T identity() {
    return T(1);
  }
  template <class X>
  static DEVICE X apply(X a, X b) {
    return a * b;
  }
};
struct Maximum {
  template <class X>
  static DEVICE X apply(X a, X b) {
    return max(a, b);
  }
};
struct Minimum {
  template <class X>
  static DEVICE X apply(X a, X b) {
    return min(a, b);
  }
};

#ifndef __CUDACC__
namespace detail {
// Returns x moved by Distance lanes: lane k gets lane k + Distance. What comes
// after the last lane does not matter.
template <int Distance, class T, size_t... I>
DEVICE Lanes<T> shifted(const Lanes<T> &x, std::index_sequence<I...>) {
  constexpr int width = sizeof...(I), parts = Lanes<T>::kParts;
  Lanes<T> r;
  UNROLL
  for (int i = 0; i < parts; i++)
    if constexpr (Distance >= width)
      r.part[i] = x.part[(i + Distance / width) % parts];
    else
      r.part[i] = __builtin_shufflevector(x.part[i], x.part[i],
                                          ((int(I) + Distance) % width)...);
  return r;
}
template <int Distance, class Op, class T>
DEVICE Lanes<T> fold(Lanes<T> x) {
  constexpr std::make_index_sequence<kLanes / Lanes<T>::kParts> lanes;
  return Op::apply(x, shifted<Distance>(x, lanes));
}
} // namespace detail
#endif

// Combines all lanes of x: lane k with lane k + kLanes / 2, and then the lower
// half in the same way.
template <class Op, class T>
DEVICE T reduce(Lanes<T> x) {
#ifdef __CUDACC__
  UNROLL
  for (int half = kLanes / 2; half > 0; half /= 2) {
    UNROLL
    for (int k = 0; k < half; k++)
      x.part[k] = Op::apply(x.part[k], x.part[k + half]);
  }
  return x.part[0];
#else
  static_assert(kLanes == 16, "four folds");
  x = detail::fold<8, Op>(x);
  x = detail::fold<4, Op>(x);
  x = detail::fold<2, Op>(x);
  x = detail::fold<1, Op>(x);
  return lane(x, 0);
#endif
}
template <class T>
DEVICE T reduce_sum(Lanes<T> x) {
  return reduce<Sum>(x);
}
template <class T>
DEVICE T reduce_prod(Lanes<T> x) {
  return reduce<Product>(x);
}
template <class T>
DEVICE T reduce_max(Lanes<T> x) {
  return reduce<Maximum>(x);
}
template <class T>
DEVICE T reduce_min(Lanes<T> x) {
  return reduce<Minimum>(x);
}

// Combines x over all threads of the block; every thread gets the result. The
// block has 1 thread (host) or a multiple of 32 up to 1024.
template <class Op, class T>
DEVICE T block_reduce(Lanes<T> x) {
#ifdef __CUDACC__
  __shared__ T of_warp[32];
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  T v = reduce<Op>(x);
  UNROLL
  for (int distance = 16; distance > 0; distance /= 2)
    v = Op::apply(v, __shfl_xor_sync(0xffffffffu, v, distance));
  if (warps == 1)
    return v;
  __syncthreads(); // of_warp may still be read by the reduction before
  if (threadIdx.x % 32 == 0)
    of_warp[warp] = v;
  __syncthreads();
  T total = of_warp[0];
  for (int k = 1; k < warps; k++)
    total = Op::apply(total, of_warp[k]);
  return total;
#else
  return reduce<Op>(x);
#endif
}
template <class T>
DEVICE T block_sum(Lanes<T> x) {
  return block_reduce<Sum>(x);
}
template <class T>
DEVICE T block_prod(Lanes<T> x) {
  return block_reduce<Product>(x);
}
template <class T>
DEVICE T block_max(Lanes<T> x) {
  return block_reduce<Maximum>(x);
}
template <class T>
DEVICE T block_min(Lanes<T> x) {
  return block_reduce<Minimum>(x);
}

// Over the threads of a group, which is a warp or a part of it; every thread
// gets the result. All threads of the warp call it.
template <class Op, int Width, class T>
DEVICE T group_reduce(Lanes<T> x) {
  T v = reduce<Op>(x);
#ifdef __CUDACC__
  UNROLL
  for (int distance = Width / 2; distance > 0; distance /= 2)
    v = Op::apply(v, __shfl_xor_sync(0xffffffffu, v, distance));
#endif
  return v;
}
template <int Width, class T>
DEVICE T group_sum(Lanes<T> x) {
  return group_reduce<Sum, Width>(x);
}
template <int Width, class T>
DEVICE T group_prod(Lanes<T> x) {
  return group_reduce<Product, Width>(x);
}
template <int Width, class T>
DEVICE T group_max(Lanes<T> x) {
  return group_reduce<Maximum, Width>(x);
}
template <int Width, class T>
DEVICE T group_min(Lanes<T> x) {
  return group_reduce<Minimum, Width>(x);
}

// Lane by lane over the groups of a block: thread t of the first group gets
// what the threads t of all groups have, in the order of the warps. All threads
// of the block call it.
template <class Op, int Width, int Groups, class T>
DEVICE Lanes<T> reduce_groups(Lanes<T> x) {
#ifdef __CUDACC__
  UNROLL
  for (int distance = Width; distance < 32; distance *= 2) {
    UNROLL
    for (int k = 0; k < kLanes; k++)
      x.part[k] = Op::apply(x.part[k],
                            __shfl_xor_sync(0xffffffffu, x.part[k], distance));
  }
  constexpr int kWarps = Width * Groups / 32;
  if constexpr (kWarps > 1) {
    alignas(16) __shared__ T of_warps[kWarps][Width * kLanes];
    const int warp = threadIdx.x / 32, thread = threadIdx.x % 32;
    __syncthreads(); // of_warps may still be read by the reduction before
    if (thread < Width) {
      UNROLL
      for (int k = 0; k < kLanes; k++)
        of_warps[warp][thread * kLanes + k] = x.part[k];
    }
    __syncthreads();
    if (threadIdx.x < Width) {
      for (int other = 1; other < kWarps; other++) {
        UNROLL
        for (int k = 0; k < kLanes; k++)
          x.part[k] =
              Op::apply(x.part[k], of_warps[other][thread * kLanes + k]);
      }
    }
  }
#endif
  return x;
}
template <int Width, int Groups, class T>
DEVICE Lanes<T> sum_of_groups(Lanes<T> x) {
  return reduce_groups<Sum, Width, Groups>(x);
}
template <int Width, int Groups, class T>
DEVICE Lanes<T> prod_of_groups(Lanes<T> x) {
  return reduce_groups<Product, Width, Groups>(x);
}
template <int Width, int Groups, class T>
DEVICE Lanes<T> max_of_groups(Lanes<T> x) {
  return reduce_groups<Maximum, Width, Groups>(x);
}
template <int Width, int Groups, class T>
DEVICE Lanes<T> min_of_groups(Lanes<T> x) {
  return reduce_groups<Minimum, Width, Groups>(x);
}

} // namespace gpuopt
