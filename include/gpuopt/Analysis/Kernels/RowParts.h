//===- RowParts.h - Into how many parts rows are cut ------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_KERNELS_ROWPARTS_H
#define GPUOPT_ANALYSIS_KERNELS_ROWPARTS_H

#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include <optional>

namespace gpuopt {

/// Returns the number of blocks that share `rows` rows if each adds up those
/// that it works on: it divides the rows and takes the least time from the
/// first block to the last. It decides in which order numbers are added, so it
/// follows from the device model and from nothing that a run could change.
/// Returns nothing if the rows are too few.
std::optional<int64_t> rowPartsFor(int64_t rows, const DeviceModel &device);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_KERNELS_ROWPARTS_H
