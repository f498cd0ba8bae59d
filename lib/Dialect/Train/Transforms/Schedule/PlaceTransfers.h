//===- PlaceTransfers.h - Transfers beside other work -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_PLACETRANSFERS_H
#define GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_PLACETRANSFERS_H

#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"

namespace gpuopt::train {

/// Moves transfers so that work hides them: copies back begin as early, and
/// copies out are awaited as late, as is needed for that and as far as the
/// bytes alive stay within the limit. Expects what applySchedule leaves: copies
/// back that begin where they are needed, and copies out that are awaited after
/// the last op that reads the tensor.
void placeTransfers(StepOp step, const DeviceModel &device,
                    int64_t limitInBytes);

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_PLACETRANSFERS_H
