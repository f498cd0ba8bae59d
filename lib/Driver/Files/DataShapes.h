//===- DataShapes.h - What lies in the files of a training ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files are opened by the trainer's own code, so that they are refused for the
// same reasons and in the same words, before the trainer is built. That code
// knows nothing of LLVM, nor has its words: so neither does this header.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_DATASHAPES_H
#define GPUOPT_LIB_DRIVER_FILES_DATASHAPES_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuopt {

/// An input of the program.
struct InputShape {
  std::string name;
  std::string type; ///< As in MLIR: "f32", "i64".
  std::vector<int64_t> shape;
  bool isLabels = false;
  /// Its integers lie from `lowest` up to `limit`, or are the one to ignore.
  struct Range {
    int64_t lowest, limit, ignored;
  };
  std::optional<Range> indices = std::nullopt;
};

/// What the trainer's flags say about data, of training or of validation.
struct DataPaths {
  std::vector<std::string> inputs; ///< "INPUT=FILE"
  std::string labels, tokens, tokenType;
};

/// Why the trainer would refuse the files: names, types, shapes, the number of
/// samples, indices and labels in the first GiB of each. Empty where it would
/// not. The flags begin with `prefix`.
std::string problemOfFiles(const std::vector<InputShape> &inputs,
                           const DataPaths &paths, const std::string &prefix,
                           int64_t batchSize, bool padsLast);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_DATASHAPES_H
