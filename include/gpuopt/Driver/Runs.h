//===- Runs.h - The commands that look at runs ------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run is the folder of the results of a training. This header knows nothing
// of MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DRIVER_RUNS_H
#define GPUOPT_DRIVER_RUNS_H

#include <cstdint>
#include <string>
#include <vector>

namespace gpuopt {

/// What `gpuopt profile` is asked for.
struct ProfileOptions {
  std::string folder; ///< Of a run, or of a program that is built.
  std::vector<std::string> arguments; ///< Flags of the trainer.
};

/// What `gpuopt advise` is asked for.
struct AdviseOptions {
  std::string run;     ///< The folder of its results.
  int64_t seconds = 0; ///< How long other flags are planned; 0: not at all.
  /// Whether to print the plans alone. The end of a run asks for that, where
  /// nobody has asked for plans: whatever fails says nothing.
  bool plansOnly = false;
};

/// What `gpuopt report` is asked for.
struct ReportOptions {
  std::vector<std::string> runs; ///< The folders of their results.
  std::string file;              ///< The page to write.
  /// What `gpuopt plan --curve --json` printed; empty: each run's program is
  /// planned within other budgets.
  std::string plan;
  int64_t seconds = 0; ///< How long the planning may take; 0: there is none.
};

/// What `gpuopt watch` is asked for.
struct WatchOptions {
  std::string run;   ///< The folder of its results.
  bool once = false; ///< Whether to print the curves once, and not to follow.
};

/// What `gpuopt diff` compares: two runs, programs, checkpoints, plans or files
/// of weights.
struct DiffOptions {
  std::string first, second;
};

// Each of these prints what is wrong and returns the exit status: 0, 1 or,
// where its comment says so, 2.

/// Prints what each kernel and call of a step takes: of a run with a profile,
/// what was measured, else of some steps, which it runs.
int profileRun(const ProfileOptions &options);

/// Prints what limits a run, what would help, and how much by plans with other
/// flags.
int adviseRun(const AdviseOptions &options);

/// Writes a page that shows runs: their curves, and the plan, the memory and
/// the profile of each.
int reportRuns(const ReportOptions &options);

/// Draws the curves of a run in the terminal until the run ends.
int watchRun(const WatchOptions &options);

/// The exit status where two cannot be compared, as that of diff(1).
constexpr int kNotCompared = 2;

/// Prints in what two runs, programs, checkpoints, plans or files of weights
/// differ. Returns 1 if they do, and `kNotCompared` if they cannot be compared.
int diffRuns(const DiffOptions &options);

} // namespace gpuopt

#endif // GPUOPT_DRIVER_RUNS_H
