//===- MeasuredCosts.h - Times that a trainer has measured ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file that a trainer writes with --profile-costs-to, and that
// --profile-costs reads: docs/profile-costs.schema.json.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_MEASUREDCOSTS_H
#define GPUOPT_ANALYSIS_MEASUREDCOSTS_H

#include "gpuopt/Analysis/CostKey.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>

namespace gpuopt {

class MeasuredCosts {
public:
  /// Errors name the file and say what is wrong with it.
  static llvm::Expected<std::shared_ptr<const MeasuredCosts>>
  load(llvm::StringRef file);

  /// Nanoseconds of one execution.
  std::optional<double> lookup(const CostKey &key) const;

  std::string model;  ///< Of the program that was measured.
  std::string target; ///< host or cuda.
  std::string device; ///< What it ran on, in its own words.
  bool allowsTf32 = false; ///< Whether its products of f32 were in TF32.

private:
  llvm::Error read(llvm::StringRef text);

  llvm::StringMap<double> nanoseconds;
};

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_MEASUREDCOSTS_H
