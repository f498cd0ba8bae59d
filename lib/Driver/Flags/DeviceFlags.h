//===- DeviceFlags.h - Whose times are estimated ----------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FLAGS_DEVICEFLAGS_H
#define GPUOPT_LIB_DRIVER_FLAGS_DEVICEFLAGS_H

#include "gpuopt/Driver/Driver.h"
#include "gpuopt/Pipelines/Pipelines.h"
#include "gpuopt/settings/target_table.h"
#include "llvm/Support/Error.h"

namespace gpuopt {

/// Returns the target that --device asks for: cuda if it names a GPU, host if
/// it names a processor. Returns nothing without the flag, or if the device
/// cannot be read, which collectTimes reports.
std::optional<TargetChoice> targetOfDevice();

/// Reads the device whose times are estimated, and the times that were
/// measured, from --device, --profile-costs and what gpuopt calibrate has
/// measured. Where kernels are described, the device must be a GPU.
llvm::Error collectTimes(const TargetInfo &target, bool describesKernels,
                         train::ScheduleOptions &options);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FLAGS_DEVICEFLAGS_H
