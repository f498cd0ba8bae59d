//===- RunPage.h - Runs as a page -------------------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The page is one HTML file that needs no other and no network: it contains its
// styles, its data as JSON, and the scripts of the folder `page`, which draw
// it.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_RUNPAGE_H
#define GPUOPT_LIB_DRIVER_REPORT_RUNPAGE_H

#include "Files/RunFiles.h"

namespace gpuopt {

/// What is known of a run. What its folder lacks is told in `notes`.
struct ShownRun {
  std::string name;   ///< Tells the run from the others of the page.
  std::string folder; ///< As it was given.
  std::vector<std::string> notes;
  RunMetrics metrics;
  std::optional<RunDescription> description;
  std::optional<KeyAverages> profile;
  std::optional<llvm::json::Object> plan;
  llvm::json::Array curve; ///< What budgets cost; empty if that is not known.
  std::string verdict;     ///< Empty if too little is known.
};

/// Reads what there is of a run. Fails if the folder holds none, or if a file
/// is that of another version.
llvm::Expected<ShownRun> readRun(llvm::StringRef folder);

struct RunPage {
  std::vector<ShownRun> runs; ///< At least one.

  void print(llvm::raw_ostream &os) const;
};

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_RUNPAGE_H
