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
#include <optional>
#include <string>

namespace gpuopt {

struct LoraConfig {
  double alpha = 8;
  bool usesRslora = false;   ///< Divides by the rank's root, not by the rank.
  bool isTransposed = false; ///< PEFT's fan_in_fan_out: weights are [in, out].

  /// Reads a file; returns what is wrong with it, or nothing. An adapter that
  /// is not LoRA, or that is not merged by adding a product, is an error.
  std::string load(const std::string &file);

  /// Computes the factor of the product for a module whose matrices have a
  /// rank. Returns what is wrong, or nothing.
  std::string scaleOf(const std::string &module, int64_t rank,
                      double &scale) const;

private:
  struct Pattern {
    std::string expression; ///< It matches whole names of modules.
    double alpha = 0;       ///< It replaces that of all modules.
  };
  std::string addPattern(const std::string &key, std::optional<double> own);

  std::string path;
  std::map<std::string, Pattern> patterns; ///< They are found by PEFT's key.
};

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_LORACONFIG_H
