//===- LaunchShape.h - How a kernel is spread over a device -----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that decides how many blocks a kernel has, how many threads a
// block has, and what each block works on. It asks the device model, and so is
// the same wherever a program is compiled for one device.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_LAUNCHSHAPE_H
#define GPUOPT_ANALYSIS_LAUNCHSHAPE_H

#include "gpuopt/Analysis/DeviceModel.h"
#include "gpuopt/Analysis/KernelShape.h"

namespace gpuopt {

/// What a block works on, which follows from the loops that reduce.
enum class KernelForm {
  Flat,           ///< Nothing is reduced, and there is one loop: a span of it.
  Rows,           ///< Nothing is reduced: some turns of the outer loops.
  RowReduction,   ///< The last loop is reduced: one row.
  ColumnReduction ///< Other loops are reduced: some columns, all of their rows.
};

struct LaunchShape {
  KernelForm form = KernelForm::Flat;
  int64_t blocks = 1, threads = 1;
  /// What one block takes: elements of Flat, rows of Rows, columns of
  /// ColumnReduction; 1 row of RowReduction.
  int64_t span = 1;
};

/// `lanes` is the number of elements that a thread of a GPU has in step.
LaunchShape launchShapeOf(const KernelShape &shape, int64_t lanes,
                          const DeviceModel &device);

/// Returns the product of the sizes of the loops before the last one that are
/// reduced, or of those that are not.
int64_t turnsOf(const KernelShape &shape, bool isReduced);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_LAUNCHSHAPE_H
