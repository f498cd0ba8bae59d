//===- LoraConfig.h - How strong the matrices of an adapter are -*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// adapter_config.json, as PEFT writes it beside adapter_model.safetensors.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_LORACONFIG_H
#define GPUOPT_LIB_DRIVER_FILES_LORACONFIG_H

#include <cstdint>
#include <map>
#include <string>

namespace gpuopt {

struct LoraConfig {
  double alpha = 8;
  bool usesRslora = false;   ///< Divides by the rank's root, not by the rank.
  bool isTransposed = false; ///< PEFT's fan_in_fan_out: weights are [in, out].
  std::map<std::string, double>
      alphaOf; ///< By a regular expression of modules.

  /// Reads a file; returns what is wrong with it, or nothing. What is no LoRA,
  /// or is not merged by adding a product, is an error.
  std::string load(const std::string &path);

  /// Returns the factor of the product for a module whose matrices have a rank.
  double scaleOf(const std::string &module, int64_t rank) const;
};

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_LORACONFIG_H
