//===- MeasuredCosts.h - Times that a trainer has measured ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measured times of ops: the file that a trainer writes with --profile-costs-to
// and that --profile-costs reads (docs/profile-costs.schema.json).
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_COSTS_MEASUREDCOSTS_H
#define GPUOPT_ANALYSIS_COSTS_MEASUREDCOSTS_H

#include "gpuopt/Analysis/Costs/CostKey.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>

namespace gpuopt {

class MeasuredCosts {
public:
  /// Reads a file. Errors name it and say what is wrong with it.
  static llvm::Expected<std::shared_ptr<const MeasuredCosts>>
  load(llvm::StringRef file);

  /// Returns the nanoseconds that one execution takes.
  std::optional<double> lookup(const CostKey &key) const;

  std::string model;       ///< The model that was measured.
  std::string target;      ///< host or cuda.
  std::string device;      ///< The name that the device gives itself.
  bool allowsTf32 = false; ///< Whether f32 products were in TF32.

private:
  llvm::Error read(llvm::StringRef text);

  llvm::StringMap<double> nanoseconds;
};

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_COSTS_MEASUREDCOSTS_H
