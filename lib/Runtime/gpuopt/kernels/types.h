// The element types of a program's memory, and the words that let one source
// be CUDA (nvcc) or plain C++ (g++, clang).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#ifdef __CUDACC__
#include <cuda_fp16.h>
#define KERNEL [[maybe_unused]] static __global__
#define EXPORTED_KERNEL __global__ // that other files launch
#define DEVICE __device__ __forceinline__
#define HOST_DEVICE __host__ __device__ __forceinline__
// Tells a kernel's largest number of threads in a block, and for how many
// blocks at once a multiprocessor shall have registers.
// The blocks are planned for the device that a program is made for. ptxas
// refuses more blocks, or more threads in them all, than a multiprocessor of
// the device that it compiles for can hold.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || \
    (__CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1100)
#define GPUOPT_MOST_BLOCKS 32
#define GPUOPT_MOST_THREADS 2048
#elif __CUDA_ARCH__ >= 890
#define GPUOPT_MOST_BLOCKS 24
#define GPUOPT_MOST_THREADS 1536
#else
#define GPUOPT_MOST_BLOCKS 16
#define GPUOPT_MOST_THREADS (__CUDA_ARCH__ < 800 ? 1024 : 1536)
#endif
#define GPUOPT_LEAST(a, b) ((a) < (b) ? (a) : (b))
#define GPUOPT_BOUNDS(threads, blocks, ...)                                    \
  __launch_bounds__(                                                           \
      threads,                                                                 \
      GPUOPT_LEAST(blocks, GPUOPT_LEAST(GPUOPT_MOST_BLOCKS,                    \
                                        GPUOPT_MOST_THREADS / (threads))))
#define LAUNCH_BOUNDS(...) GPUOPT_BOUNDS(__VA_ARGS__, 0, )
// Promises that no other parameter reaches what this one points at, if any of
// them writes to it.
#define RESTRICT __restrict__
#define DEVICE_TABLE static __device__ constexpr // an array that kernels read
#else
#define KERNEL [[maybe_unused]] static
#define EXPORTED_KERNEL
#define DEVICE inline __attribute__((always_inline))
#define HOST_DEVICE inline __attribute__((always_inline))
#define LAUNCH_BOUNDS(...)
#define RESTRICT
#define DEVICE_TABLE inline constexpr
#endif

namespace gpuopt {

// Half precision as it lies in memory; arithmetic is always done in float.
struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};

// A float whose products are in TF32: a matrix unit reads ten bits of its
// fraction. Kernels that have such products see floats as elements of this
// type.
struct tf32 {
  float value;
};

enum class Type {
  F64,
  F32,
  F16,
  BF16,
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
  Bool
};

constexpr size_t size_of(Type type) {
  switch (type) {
  case Type::F64:
  case Type::I64:
  case Type::U64:
    return 8;
  case Type::F32:
  case Type::I32:
  case Type::U32:
    return 4;
  case Type::F16:
  case Type::BF16:
  case Type::I16:
  case Type::U16:
    return 2;
  default:
    return 1;
  }
}

constexpr const char *name_of(Type type) {
  constexpr const char *names[] = {"f64", "f32", "f16", "bf16", "i64",
                                   "i32", "i16", "i8",  "u64",  "u32",
                                   "u16", "u8",  "bool"};
  return names[static_cast<int>(type)];
}

// The type that a kernel computes in when memory holds T.
template <class T>
struct ComputeType {
  using type = T;
};
template <>
struct ComputeType<f16> {
  using type = float;
};
template <>
struct ComputeType<bf16> {
  using type = float;
};
template <class T>
using Compute = typename ComputeType<T>::type;

template <class To, class From>
HOST_DEVICE To bit_cast(const From &from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast keeps the size");
  To to;
  memcpy(static_cast<void *>(&to), &from, sizeof to);
  return to;
}

HOST_DEVICE float widen(bf16 x) {
  return bit_cast<float>(uint32_t(x.bits) << 16);
}

// Rounds to nearest even; a NaN stays a NaN.
HOST_DEVICE bf16 narrow_bf16(float x) {
  const uint32_t bits = bit_cast<uint32_t>(x);
  const uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return {uint16_t((x != x ? bits | 0x400000u : rounded) >> 16)};
}

#ifdef __CUDACC__
HOST_DEVICE float widen(f16 x) { return __half2float(bit_cast<__half>(x)); }
HOST_DEVICE f16 narrow_f16(float x) {
  return bit_cast<f16>(__float2half_rn(x));
}
#else
inline float widen(f16 x) { return static_cast<float>(bit_cast<_Float16>(x)); }
inline f16 narrow_f16(float x) {
  return bit_cast<f16>(static_cast<_Float16>(x));
}
#endif

// The type of one element as a kernel sees it.
template <class T>
HOST_DEVICE T load_scalar(const T *p) {
  return *p;
}
HOST_DEVICE float load_scalar(const f16 *p) { return widen(*p); }
HOST_DEVICE float load_scalar(const bf16 *p) { return widen(*p); }
HOST_DEVICE float load_scalar(const tf32 *p) { return p->value; }
template <class T>
HOST_DEVICE void store_scalar(T *p, T x) {
  *p = x;
}
HOST_DEVICE void store_scalar(f16 *p, float x) { *p = narrow_f16(x); }
HOST_DEVICE void store_scalar(bf16 *p, float x) { *p = narrow_bf16(x); }
HOST_DEVICE void store_scalar(tf32 *p, float x) { p->value = x; }

} // namespace gpuopt
