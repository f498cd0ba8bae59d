//===- KernelSkeleton.h - A kernel without its numbers ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_KERNELSKELETON_H
#define GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_KERNELSKELETON_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include <string>
#include <vector>

namespace gpuopt::device {

/// A number in the body of a kernel that could be an argument instead.
struct KernelNumber {
  enum class Place { Constant, Stride, Offset };

  mlir::Operation *op; ///< That has the number.
  Place place;
  unsigned index;        ///< Of the stride.
  mlir::TypedAttr value; ///< Of type index or floating-point.
  std::string role;      ///< "columns", for a name.
};

/// What kernels have in common that differ in numbers alone.
struct KernelSkeleton {
  /// Equal for two kernels whose ops are equal up to `numbers`.
  std::string text;
  /// In the order of the ops, the same in all kernels of this form.
  std::vector<KernelNumber> numbers;
};

/// The bound of a loop over lanes below `leastColumns` is a part of the form,
/// and no number. So is what has to be known when the kernel is compiled: sizes
/// that an index is split by, memory for rows, strides from lane to lane.
KernelSkeleton skeletonOf(KernelOp kernel, int64_t leastColumns);

/// Replaces the number by `argument`, a value that all of the kernel sees.
void replaceNumber(const KernelNumber &number, mlir::Value argument);

} // namespace gpuopt::device

#endif // GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_KERNELSKELETON_H
