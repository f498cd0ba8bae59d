//===- DataShapes.h - What lies in the files of a training ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The files are opened by the trainer's own code, so that they are refused for
// the same reasons and in the same words, but before the trainer is built. That
// code does not use LLVM and its names differ, so this header avoids LLVM, too.
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
  /// The integers of the input are at least `lowest` and below `limit`, or the
  /// one that is ignored.
  struct Range {
    int64_t lowest, limit, ignored;
  };
  std::optional<Range> indices = std::nullopt;
};

/// The things that the flags of the trainer say about the data of training or
/// of validation.
struct DataPaths {
  std::string prefix; ///< With which these flags begin: "--" or "--eval-".
  std::vector<std::string> inputs; ///< "INPUT=FILE"
  std::string labels, tokens, tokenType, transform;
  bool skipsBadRecords = false; ///< Bad ones are not looked for.
  double mixup = 0, cutmix = 0; ///< The flags of these names.
  /// The transform of training, which that of validations follows from. Data of
  /// training have none.
  std::string trainingTransform;
  /// The --eval-transform of a run without validations, which is only checked.
  std::string evalTransform;
};

/// Returns the files that a value of --data or --labels names: it may name a
/// part of one.
std::vector<std::string> filesNamedBy(const std::string &text);

/// Returns whether such a value names a column of Parquet files.
bool isParquet(const std::string &text);

/// Returns whether such a value names pictures: a folder of them, or members of
/// tar files.
bool namesPictures(const std::string &text);

/// Returns how many samples such a value names; nothing if that is not known
/// without the program that reads them.
std::optional<int64_t> samplesNamedBy(const std::string &text);

/// Returns the prompts that a file has, or why it has none.
struct PromptCount {
  int64_t count = 0;
  std::string problem;
};
PromptCount countPrompts(const std::string &file);

/// What a trainer would say of its data.
struct DataFindings {
  std::string problem;    ///< Why it would refuse them; empty: it would not.
  std::string note;       ///< Empty: none.
  std::string classNames; ///< Of the labels, a line each; empty: none.
};

/// Looks at the data of training and of validation, where they are given.
/// Checks names, types, shapes, the number of samples, the size of the first
/// picture, and indices and labels in the first GiB of each file. `padsLast` is
/// whether the last sample is repeated where too few are there for a batch;
/// validations do so in any case.
DataFindings lookAtData(const std::vector<InputShape> &inputs,
                        const std::optional<DataPaths> &paths,
                        const std::optional<DataPaths> &evalPaths,
                        int64_t batchSize, bool padsLast);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_DATASHAPES_H
