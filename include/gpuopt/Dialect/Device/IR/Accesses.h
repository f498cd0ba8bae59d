//===- Accesses.h - What calls read and write -------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_DEVICE_IR_ACCESSES_H
#define GPUOPT_DIALECT_DEVICE_IR_ACCESSES_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include <array>
#include <map>

namespace gpuopt::device {

/// The bytes of several buffers, on the host and on the device.
class ByteRanges {
public:
  void insert(BufferOp buffer);
  /// Whether one of the buffers has bytes in common with `buffer`: those of the
  /// arena may use the same bytes one after the other.
  bool overlaps(BufferOp buffer) const;

private:
  using Ranges = std::map<int64_t, int64_t>; ///< Ends by begins, disjoint.
  std::array<Ranges, 2> ranges;              ///< Of the device and the host.
};

/// Whether one of `buffers` has bytes in common with `buffer`: those of the
/// arena may use the same bytes one after the other.
bool anyOverlaps(llvm::ArrayRef<BufferOp> buffers, BufferOp buffer);

/// Whether a kernel writes what its argument with this number points to: a
/// pointer, or the state of the step.
bool isWritten(KernelOp kernel, unsigned argument);

} // namespace gpuopt::device

#endif // GPUOPT_DIALECT_DEVICE_IR_ACCESSES_H
