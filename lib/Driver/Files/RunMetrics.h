//===- RunMetrics.h - What a run has measured of its steps ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_RUNMETRICS_H
#define GPUOPT_LIB_DRIVER_FILES_RUNMETRICS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gpuopt {

constexpr llvm::StringLiteral kMetricsFile = "metrics.jsonl";

/// What metrics.jsonl has of each step, by its names there.
enum class StepMetric {
  Loss,
  LearningRate,
  GradNorm,
  LossScale,
  SkippedSteps,
  StepMilliseconds,
  DataWaitMilliseconds,
};
constexpr size_t kStepMetricCount = 7;
llvm::StringRef nameOf(StepMetric metric);

/// A number that belongs to a step.
struct AtStep {
  double step = 0, value = 0;
};

/// metrics.jsonl of a run. A number that is null in the file is NaN here.
struct RunMetrics {
  std::vector<double> steps; ///< The numbers of the steps, which ascend.
  /// By StepMetric, a value for each of `steps`.
  std::array<std::vector<double>, kStepMetricCount> values;
  std::vector<AtStep> evaluations; ///< The losses of validations.
  /// What else validations measured, by its name (--eval-metrics).
  std::map<std::string, std::vector<AtStep>> evalMetrics;
  std::vector<AtStep> stalls; ///< Milliseconds of each checkpoint.
  /// What the run tells of its memory at its end, in bytes; empty if it has not
  /// ended.
  std::map<std::string, double> memory;
  /// What has ended the run in place of its last step, and after which step
  /// (trainer/advice.h); empty if nothing has.
  std::string endedBy;
  double endedAt = 0;
  /// Lines that are no JSON, as the last one of a run that was killed may be.
  int64_t unreadLines = 0;

  bool hasEnded() const { return !memory.empty() || !endedBy.empty(); }
  const std::vector<double> &of(StepMetric metric) const {
    return values[size_t(metric)];
  }
};

/// Returns "diverged in step 5: ..." and what helps; empty if the run has not.
std::string describeDivergence(const RunMetrics &metrics);

/// Returns "an error has ended the run after step 5; ..."; empty if none has.
std::string describeError(const RunMetrics &metrics);

/// Reads the metrics of a run, whose folder is `run`.
llvm::Expected<RunMetrics> readMetrics(llvm::StringRef run);

/// Adds a line of metrics.jsonl.
void addLine(llvm::StringRef line, RunMetrics &metrics);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_RUNMETRICS_H
