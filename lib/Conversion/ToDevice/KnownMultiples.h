//===- KnownMultiples.h - What places are multiples of ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where bounds of loops and places in memory are known to be multiples of a
// vector, kernels move vectors without tests at run time.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_TODEVICE_KNOWNMULTIPLES_H
#define GPUOPT_LIB_CONVERSION_TODEVICE_KNOWNMULTIPLES_H

#include "gpuopt/Analysis/Kernels/KernelShape.h"
#include "gpuopt/Analysis/Kernels/LaunchShape.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"

namespace gpuopt {

/// No target has more lanes.
inline constexpr int64_t kMostLanes = 16;

/// Returns a power of two that the bounds of a loop over lanes are multiples
/// of, which goes over `size` elements in `count` spans.
int64_t multipleOf(int64_t size, int64_t span = 0, int64_t count = 1);

/// Returns the same where groups have rows of their own, and where threads hold
/// rows in registers: all threads take each iteration, those behind the end of
/// the row too.
int64_t multipleOfIterations(int64_t columns, const LaunchShape &launch);

/// Returns how lanes reach memory whose elements are `laneStride` apart.
device::AccessPattern patternOf(int64_t laneStride);

/// Returns a power of two that what an access adds up to, without the lanes'
/// index, is a multiple of.
int64_t commonFactor(const AffineAccess &access);

/// Returns a power of two that the place of an access of a kernel's argument,
/// without the index of the lanes, is a multiple of. Buffers are aligned for
/// any vector; `rowStride` is added any number of times.
int64_t alignmentOf(const KernelShape &shape, unsigned argument,
                    const AffineAccess &access, int64_t rowStride = 0);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_TODEVICE_KNOWNMULTIPLES_H
