//===- CalibrateFlags.cpp - The flags of gpuopt calibrate -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/CompileFlags.h"
#include "gpuopt/Support/CheckOutput.h"

using namespace llvm;
using namespace gpuopt;

cl::OptionCategory &gpuopt::calibrateCategory() {
  static cl::OptionCategory category("The measurement");
  return category;
}

namespace {
CheckedOpt<std::string> deviceFile(
    "o",
    cl::desc("device file to write (default: one in the cache, which "
             "train takes on this machine)"),
    cl::value_desc("FILE"), cl::cat(calibrateCategory()),
    cl::sub(calibrateCommand()));
Flag<std::string>
    calibrated("target", "auto",
               "the target whose device is measured; auto: cuda if there are "
               "a GPU and nvcc, else host",
               cl::value_desc("TARGET"), cl::cat(calibrateCategory()),
               cl::sub(calibrateCommand()));
Switch force("force",
             cl::desc("write the file although something else kept the device "
                      "busy"),
             cl::cat(calibrateCategory()), cl::sub(calibrateCommand()));
} // namespace

Expected<CalibrateOptions> gpuopt::collectCalibrate() {
  CalibrateOptions options;
  StringRef name = calibrated;
  if (name == "auto")
    name = chooseTarget().target;
  options.target = find_target(name);
  if (!options.target)
    return createStringError(errorOf(*find_compile_setting("target"), name));
  options.file = deviceFile;
  options.force = force;
  if (!options.file.empty()) {
    if (Error error = checkOutput(options.file, {}))
      return std::move(error);
    if (Error error = checkReplaced(options.file, ".json"))
      return std::move(error);
  }
  return options;
}
