//===- DeviceDescriptions.h - GPUs as cuDNN describes them ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TOOLS_PLANCONVOLUTIONS_DEVICEDESCRIPTIONS_H
#define GPUOPT_TOOLS_PLANCONVOLUTIONS_DEVICEDESCRIPTIONS_H

#include "llvm/Support/Error.h"
#include <string>

namespace gpuopt {

/// Returns the description of a device that cuDNN reads (its attribute
/// CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION). `device` is a name, such as
/// "h200", or a file with a description, which has to be JSON.
llvm::Expected<std::string> describeDevice(llvm::StringRef device);

/// Returns "h200, h100, a100".
std::string describedDeviceNames();

} // namespace gpuopt

#endif // GPUOPT_TOOLS_PLANCONVOLUTIONS_DEVICEDESCRIPTIONS_H
