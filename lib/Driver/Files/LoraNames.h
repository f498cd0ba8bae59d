//===- LoraNames.h - Where a model has an adapter's weights -----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names of a model may differ from those of an adapter by what modules
// around the model put in front of all of them.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_LORANAMES_H
#define GPUOPT_LIB_DRIVER_FILES_LORANAMES_H

#include <map>
#include <string>
#include <vector>

namespace gpuopt {

struct MatchedNames {
  /// By the own name of an initializer, what the adapter would call it: the
  /// name of one of its weights at least, and further names of a tied weight.
  std::map<std::string, std::vector<std::string>> byInitializer;

  /// The adapter's weights that no initializer is found for, under the
  /// renaming that finds most of them; all if it does not find most.
  std::vector<std::string> missing;

  /// What is not certain; empty if all is well, or where some are missing.
  std::string problem;
};

/// Finds the initializers of an adapter's weights, of which there is one at
/// least. Each initializer has all its names, its own first.
MatchedNames
matchNames(const std::vector<std::string> &weights,
           const std::vector<std::vector<std::string>> &initializers);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_LORANAMES_H
