//===- Finding.h - What gpuopt doctor has found -----------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_DOCTOR_FINDING_H
#define GPUOPT_LIB_DRIVER_DOCTOR_FINDING_H

#include "gpuopt/settings/target_table.h"
#include <string>
#include <vector>

namespace gpuopt {

/// One thing that gpuopt uses, and whether it is there.
struct Finding {
  enum class State {
    Found,
    Missing,
    Unfit, ///< It is there, but programs cannot be built with it or run on it.
  };
  State state;
  std::string name;
  /// Its version and where it is or, if it is not found or unfit, what is wrong
  /// and what to do.
  std::string text;
};

/// The findings for one purpose.
struct Findings {
  std::string title;
  /// The target that cannot be used if something is not found; null if nothing
  /// here is indispensable.
  const TargetInfo *target = nullptr;
  std::vector<Finding> list;

  bool areComplete() const {
    for (const Finding &finding : list)
      if (finding.state != Finding::State::Found)
        return false;
    return true;
  }
};

/// Looks at the processor, the memory and the disk. `cache` is the folder that
/// keeps executables.
Findings examineMachine(const std::string &cache);

/// Looks for what programs for `target` are built with and run on.
Findings examineTarget(const TargetInfo &target);

/// Looks for the library that times the kernels of a GPU.
Findings examineProfiling();

/// Looks for the libraries by which several GPUs or machines would train.
Findings examineRanks();

/// Looks for the libraries that read compressed data.
Findings examineData();

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_DOCTOR_FINDING_H
