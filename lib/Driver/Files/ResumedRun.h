//===- ResumedRun.h - The checkpoint that a run goes on from ----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The trainer refuses a checkpoint of another run when it starts. Its own code
// says the same here, before anything is compiled or built. That code does not
// use LLVM, so this header avoids LLVM, too.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_RESUMEDRUN_H
#define GPUOPT_LIB_DRIVER_FILES_RESUMEDRUN_H

#include <cstdint>
#include <map>
#include <string>

namespace gpuopt {

/// The things that a run must have in common with the checkpoint that it goes
/// on from.
struct ResumingRun {
  std::string resume;    ///< The value of --resume.
  std::string outputDir; ///< In which --resume=auto looks.
  std::string optimizer;
  int64_t accumulationSteps = 1;
  int64_t batchSize = 0; ///< 0: not known yet.
  std::string model;     ///< Its hash; empty: not known.
  std::string source; ///< The file of the checkpoint's model; empty: not known.
  std::string classNames; ///< Of the labels, a line each; empty: none.
  std::map<std::string, std::string> settings; ///< Those that are known.
};

/// Returns the checkpoint that the trainer would look at first; nothing if
/// there is none.
std::string firstCheckpoint(const ResumingRun &run);

/// Returns why the trainer would refuse to go on, as far as it can be told;
/// else nothing. A damaged checkpoint is left to the trainer, which takes an
/// earlier one where it may.
std::string whyNotResumed(const ResumingRun &run);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_RESUMEDRUN_H
