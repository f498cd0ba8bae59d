//===- FolderContents.cpp - What lies in an output folder -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/FolderContents.h"

#include "gpuopt/predictor/result_folder.h"

using namespace gpuopt;

std::string gpuopt::contentsOfFolder(const std::string &folder) {
  if (holds_results(folder))
    return "the results of a training";
  if (holds_prediction(folder))
    return "the results of a prediction";
  return holds_program(folder) ? "a compiled program" : "";
}

std::string gpuopt::whyNotInData(const std::string &folder,
                                 const std::vector<NamedData> &data) {
  for (const NamedData &named : data)
    if (!named.value.empty())
      if (const std::string why =
              why_not_in_data(folder, named.flag, named.value);
          !why.empty())
        return why;
  return "";
}
