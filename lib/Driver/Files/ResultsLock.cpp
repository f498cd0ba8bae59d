//===- ResultsLock.cpp - One training at a time in a folder ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/ResultsLock.h"

#include "gpuopt/trainer/earlier_results.h"
#include "gpuopt/trainer/output_folder.h"

using namespace gpuopt;

std::string gpuopt::lockResults(const std::string &folder,
                                std::shared_ptr<void> &lock) {
  try {
    lock = std::make_shared<OutputFolder>(folder);
    if (settle_earlier_results(folder, /*discards=*/false))
      fprintf(stderr, "gpuopt: note: %s\n",
              describe_putting_back(folder, "the run that was to replace them")
                  .c_str());
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

bool gpuopt::areResultsLocked(const std::string &folder) {
  return OutputFolder::is_locked(folder);
}
