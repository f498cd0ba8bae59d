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
                                const std::string &resume,
                                std::shared_ptr<void> &lock, bool &restarts) {
  try {
    lock = std::make_shared<OutputFolder>(folder);
    const Recovery recovery = recover_results(folder, resume);
    restarts = recovery.restarts;
    if (!recovery.text.empty())
      fprintf(stderr, "gpuopt: note: %s\n", recovery.text.c_str());
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

bool gpuopt::areResultsLocked(const std::string &folder) {
  return OutputFolder::is_locked(folder);
}

std::string gpuopt::createNextFolder(const std::string &results, bool restarts,
                                     std::shared_ptr<void> &created,
                                     std::string &problem) {
  try {
    auto earlier = std::make_shared<EarlierResults>(results, "", "", "gpuopt");
    earlier->begin(restarts);
    created = std::move(earlier);
  } catch (const std::exception &error) {
    problem = error.what();
  }
  return detail::next_folder(results);
}
