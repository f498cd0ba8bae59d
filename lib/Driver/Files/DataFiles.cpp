//===- DataFiles.cpp - The files that a training reads --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/DataFiles.h"

#include "Files/DataShapes.h"
#include "Files/JoinPath.h"
#include "Files/RunFiles.h"
#include "Flags/Notes.h"
#include "gpuopt/Dialect/Device/IR/BatchSize.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/device/list_text.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace gpuopt;

Error gpuopt::checkReadable(StringRef flag, StringRef path) {
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path);
  if (!file)
    return createStringError(
        "--" + flag + ": " +
        toString(unreadable(path, errorToErrorCode(file.takeError()))));
  sys::fs::closeFile(*file);
  if (sys::fs::is_directory(path))
    return createStringError(
        "--" + flag + ": '" + path + "' is a folder" +
        (hasFile(path, kModelFile)
             ? ", but a file is needed: '" + joinPath(path, kModelFile) + "'"
             : ""));
  return Error::success();
}

/// Returns whether an input can be fed windows of tokens, of shape [batch, T].
static bool canTakeTokens(device::BufferOp buffer) {
  auto type = cast<mlir::RankedTensorType>(buffer.getType());
  return type.getRank() == 2 && type.getElementType().isInteger(64);
}

Error gpuopt::checkInputs(mlir::ModuleOp module, const DataGiven &data,
                          StringRef prefix) {
  SmallVector<std::string> names, given, labels;
  bool takesTokens = false;
  for (StringRef file : data.files)
    given.push_back(file.split('=').first.str());
  for (device::BufferOp buffer : module.getOps<device::BufferOp>())
    if (buffer.getKind() == device::BufferKind::Labels)
      labels.push_back(buffer.getExternalName()->str());
  bool hasSeveral = labels.size() > 1;
  Error missing = Error::success();
  for (device::BufferOp buffer : module.getOps<device::BufferOp>()) {
    bool isLabels = buffer.getKind() == device::BufferKind::Labels;
    if (!isLabels && buffer.getKind() != device::BufferKind::Input)
      continue;
    std::string name = buffer.getExternalName()->str();
    if (!isLabels)
      names.push_back("'" + name + "'");
    takesTokens |= !isLabels && canTakeTokens(buffer);
    if (is_contained(given, name) ||
        (isLabels && !hasSeveral && !data.labels.empty()) ||
        (!data.tokens.empty() && canTakeTokens(buffer)))
      continue;
    missing = joinErrors(
        std::move(missing),
        isLabels && hasSeveral
            ? createStringError("labels are missing: " + prefix + "data " +
                                name + "=FILE")
        : isLabels ? createStringError("the labels are missing: " + prefix +
                                       "labels FILE")
                   : createStringError("input '" + name + "' is missing: " +
                                       prefix + "data " + name + "=FILE"));
  }
  for (StringRef name : given)
    if (name != "labels" && !is_contained(labels, name) &&
        !is_contained(names, ("'" + name + "'").str()))
      return joinErrors(
          createStringError(
              prefix + "data " + name +
              "=...: the model has no input of that name; its "
              "inputs are " +
              join(names, ", ") +
              (hasSeveral ? ", and its labels are " + join(labels, ", ") : "")),
          std::move(missing));
  if (!data.tokens.empty() && !takesTokens)
    return joinErrors(
        createStringError(prefix +
                          "tokens finds no integer input of two "
                          "dimensions; the inputs of the model are " +
                          join(names, ", ")),
        std::move(missing));
  return missing;
}

Error gpuopt::checkOutputs(mlir::ModuleOp module, StringRef chosen) {
  if (chosen.empty())
    return Error::success();
  std::vector<std::string_view> outputs;
  for (device::BufferOp buffer : module.getOps<device::BufferOp>())
    if (buffer.getKind() == device::BufferKind::Output)
      outputs.push_back(*buffer.getExternalName());
  for (StringRef name : split(chosen, ','))
    if (!is_contained(outputs, std::string_view(name)))
      return createStringError(
          "--outputs names '" + name +
          "', which is no output of the model; its outputs are '" +
          join(outputs, "', '") + "'" +
          choice_hint(name.str(), outputs.data(), outputs.size()));
  return Error::success();
}

bool gpuopt::namesParquet(const DataGiven &data) {
  return isParquet(data.labels) || any_of(data.files, [](StringRef file) {
           return isParquet(file.split('=').second.str());
         });
}

static std::optional<InputShape::Range> indicesOf(device::BufferOp buffer) {
  train::IndexRangeAttr range = buffer.getIndicesAttr();
  if (!range)
    return std::nullopt;
  return InputShape::Range{range.getLowest(), range.getLimit(),
                           range.getIgnored().value_or(INT64_MIN)};
}

static std::vector<InputShape> inputsOf(mlir::ModuleOp module) {
  std::vector<InputShape> inputs;
  for (device::BufferOp buffer : module.getOps<device::BufferOp>()) {
    bool isLabels = buffer.getKind() == device::BufferKind::Labels;
    if (!isLabels && buffer.getKind() != device::BufferKind::Input)
      continue;
    auto type = cast<mlir::RankedTensorType>(buffer.getType());
    std::string element;
    raw_string_ostream(element) << type.getElementType();
    inputs.push_back({buffer.getExternalName()->str(), element, type.getShape(),
                      isLabels, indicesOf(buffer)});
  }
  return inputs;
}

/// Returns what the flags say about data; nothing if there are none, or if some
/// are Parquet files, which the program looks at when it starts.
static std::optional<DataPaths> readablePathsOf(const DataGiven &data,
                                                const std::string &prefix) {
  if (data.isEmpty() || namesParquet(data))
    return std::nullopt;
  return DataPaths{prefix,
                   data.files,
                   data.labels,
                   data.tokens,
                   data.tokenType,
                   data.transform,
                   data.skipsBadRecords,
                   data.mixup,
                   data.cutmix,
                   data.trainingTransform,
                   data.evalTransform};
}

Expected<std::string> gpuopt::checkContents(mlir::ModuleOp module,
                                            const DataGiven &data,
                                            const DataGiven &evalData,
                                            bool fillsLast) {
  DataFindings found = lookAtData(inputsOf(module), readablePathsOf(data, "--"),
                                  readablePathsOf(evalData, "--eval-"),
                                  device::batchSizeOf(module), fillsLast);
  if (!found.problem.empty())
    return createStringError(found.problem);
  if (!found.note.empty())
    addNote(found.note);
  return found.classNames;
}
