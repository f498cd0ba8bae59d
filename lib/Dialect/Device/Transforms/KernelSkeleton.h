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
  enum class Kind { Constant, Stride, Offset };

  mlir::Operation *op; ///< The op that has the number.
  Kind kind;
  unsigned index;        ///< Which stride it is.
  mlir::TypedAttr value; ///< An index or floating-point.
  std::string role;      ///< Such as "columns"; names the argument.
};

/// The part that kernels that differ only in numbers have in common.
struct KernelSkeleton {
  /// The text of the kernel without `numbers`. Two kernels have the same text
  /// if their ops differ in these numbers alone.
  std::string text;
  /// The numbers in the order of the ops, which is the same in all kernels of
  /// this form.
  std::vector<KernelNumber> numbers;
};

/// Returns the skeleton of a kernel. Some numbers stay in its text: the bound
/// of a loop over lanes if it is below `leastColumns`, and what must be known
/// when the kernel is compiled, as sizes that an index is divided by, memory
/// for rows, and strides from lane to lane.
KernelSkeleton skeletonOf(KernelOp kernel, int64_t leastColumns);

/// Replaces the number by `argument`, a value that is visible in the whole
/// kernel.
void replaceNumber(const KernelNumber &number, mlir::Value argument);

} // namespace gpuopt::device

#endif // GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_KERNELSKELETON_H
