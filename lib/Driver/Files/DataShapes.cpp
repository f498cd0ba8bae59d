//===- DataShapes.cpp - What lies in the files of a training --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/DataShapes.h"

#include "Files/ParseType.h"
#include "gpuopt/data/check_ahead.h"
#include "gpuopt/data/mix.h"
#include "gpuopt/data/sources.h"
#include "gpuopt/predictor/prompts.h"
#include "gpuopt/trainer/class_names.h"

using namespace gpuopt;

static bool describe(const InputShape &input, InputInfo &info) {
  info.tensor.name = input.name.c_str();
  info.tensor.rank = int(input.shape.size());
  info.is_label = input.isLabels;
  if (input.shape.size() > size_t(kMaxDims) ||
      !parseType(input.type, info.tensor.type))
    return false;
  for (size_t dim = 0; dim < input.shape.size(); ++dim)
    info.tensor.shape[dim] = input.shape[dim];
  if (input.indices) {
    info.index_lowest = input.indices->lowest;
    info.index_limit = input.indices->limit;
    info.ignore_index = input.indices->ignored;
  }
  return true;
}

std::vector<std::string> gpuopt::filesNamedBy(const std::string &text) {
  return files_of(text);
}

bool gpuopt::isParquet(const std::string &text) {
  return parse_data_path(text).extension == ".parquet";
}

bool gpuopt::namesPictures(const std::string &text) {
  const DataPath path = parse_data_path(text);
  const std::string ending = path.member.substr(path.member.rfind('.') + 1);
  return path.extension == ".tar"
             ? ending.rfind("jp", 0) == 0 || ending.rfind("png", 0) == 0
             : is_folder(text);
}

std::optional<int64_t> gpuopt::samplesNamedBy(const std::string &text) {
  try {
    if (!parse_data_path(text).extension.empty())
      return std::nullopt;
    if (is_folder(text))
      return ImageFolder(text).count();
    const MappedFile file(text);
    if (!begins_like_npy(file))
      return std::nullopt;
    const NpyHeader header(file);
    if (!header.shape.empty())
      return header.shape[0];
  } catch (const std::exception &) {
    // Whoever opens the data says what is wrong with them.
  }
  return std::nullopt;
}

PromptCount gpuopt::countPrompts(const std::string &file) {
  try {
    return {int64_t(read_prompts(file, /*limit=*/-1).size()), ""};
  } catch (const std::exception &error) {
    return {0, error.what()};
  }
}

/// Opens data and checks them; throws an error of the trainer's.
static DataSources openSources(Table<InputInfo> table, const DataPaths &paths,
                               int64_t batchSize, bool padsLast) {
  DataFlags flags;
  for (const std::string &input : paths.inputs)
    flags.add(paths.prefix + "data", input);
  flags.labels = paths.labels;
  flags.tokens = paths.tokens;
  flags.transform = paths.transform;
  flags.training_transform = paths.trainingTransform;
  flags.eval_transform = paths.evalTransform;
  DataSources sources =
      SourceOpener(table, flags, paths.tokenType, paths.prefix).open();
  check_samples(sources, batchSize, padsLast);
  check_mix(table, batchSize, {paths.mixup, paths.cutmix});
  for (size_t i = 0; i < sources.size() && !paths.skipsBadRecords; ++i) {
    check_indices(table.data[i], *sources[i]);
    if (sources[i]->samples() > 0)
      sources[i]->check(0);
  }
  return sources;
}

DataFindings gpuopt::lookAtData(const std::vector<InputShape> &inputs,
                                const std::optional<DataPaths> &paths,
                                const std::optional<DataPaths> &evalPaths,
                                int64_t batchSize, bool padsLast) {
  std::vector<InputInfo> described(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!describe(inputs[i], described[i]))
      return {}; // the trainer will say what it makes of it
  Table<InputInfo> table;
  table.data = described.data();
  table.count = int(described.size());
  DataFindings found;
  try {
    DataSources sources, evalSources;
    if (paths)
      sources = openSources(table, *paths, batchSize, padsLast);
    if (evalPaths)
      evalSources =
          openSources(table, *evalPaths, batchSize, /*padsLast=*/true);
    match_classes(table, sources, evalSources);
    found.note = describe_fewer_classes(table, sources);
    found.classNames = class_names_text(sources);
  } catch (const std::exception &error) {
    found.problem = error.what();
  }
  return found;
}
