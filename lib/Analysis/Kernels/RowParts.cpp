//===- RowParts.cpp - Into how many parts rows are cut --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Kernels/RowParts.h"

#include "llvm/Support/MathExtras.h"

using namespace gpuopt;

/// The blocks of a multiprocessor that run in one wave: it has two at once
/// where rows are short, and one after the other where sums of long rows fill
/// its registers.
static constexpr int64_t kResidentBlocks = 2;
/// A block with fewer rows would write half as many bytes of sums as of rows
/// or more.
static constexpr int64_t kLeastRows = 32;
/// The time that a block takes when its rows are done, in rows: its groups
/// combine their sums, and another kernel adds these to those of the other
/// blocks.
static constexpr int64_t kRowsOfEnd = 8;

std::optional<int64_t> gpuopt::rowPartsFor(int64_t rows,
                                           const DeviceModel &device) {
  const auto atOnce = kResidentBlocks * int64_t(device.multiprocessors);
  std::optional<int64_t> best;
  int64_t leastRows = 0;
  for (int64_t parts = std::max<int64_t>(2, atOnce / 2);
       parts * kLeastRows <= rows; ++parts) {
    if (rows % parts != 0)
      continue;
    int64_t rowsInWave =
        llvm::divideCeil(parts, atOnce) * (rows / parts + kRowsOfEnd);
    if (best && rowsInWave >= leastRows)
      continue;
    best = parts;
    leastRows = rowsInWave;
  }
  return best;
}
