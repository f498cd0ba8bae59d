// How kernels describe to products of warpgroups (kernels/warpgroup_cuda.h)
// where a matrix lies in shared memory. The emulated machine reads it as well.
#pragma once

#include <cstdint>

namespace gpuopt {

// The upper half of a descriptor (PTX ISA, "Matrix Descriptor Format"), which
// is the same for all: 1024 bytes, in units of 16, are between groups of eight
// rows, and the swizzle is that of 128 bytes.
constexpr uint32_t kDescriptorHigh = 1024 / 16 | 1u << 30;

} // namespace gpuopt
