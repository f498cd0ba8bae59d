//===- Diff.cpp - In what two runs, plans or checkpoints differ -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/Process.h"
#include "Files/JoinPath.h"
#include "Files/RunFiles.h"
#include "Files/WeightsDiff.h"
#include "Report/FlagDiff.h"
#include "Report/RunDiff.h"
#include "gpuopt/Driver/Runs.h"
#include "gpuopt/Target/Cxx/PlanVersion.h"
#include "gpuopt/device/missing_path.h"
#include "gpuopt/device/time_text.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"
#include "gpuopt/trainer/folder_marks.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace gpuopt;

namespace {

enum class Kind { Run, Program, Checkpoint, Weights, Plan };

/// What is compared; each of these prints, and notes whether there are
/// differences.
class Comparison {
public:
  Comparison(StringRef first, StringRef second)
      : first(first.str()), second(second.str()) {}

  Error compare(Kind kind) {
    switch (kind) {
    case Kind::Plan:
      return plans(first, second);
    case Kind::Weights:
      return weights(first, second);
    case Kind::Program:
      return plans(joinPath(first, kPlanFile), joinPath(second, kPlanFile));
    case Kind::Checkpoint:
      return weightsOf({kModelFile, kAveragesFile, "optimizer.safetensors"});
    case Kind::Run:
      return runs();
    }
    return Error::success();
  }
  bool differs = false;

private:
  bool both(StringRef name) const {
    return hasFile(first, name) && hasFile(second, name);
  }

  /// What the user chose comes first, then what a step takes, then numbers and
  /// tensors.
  Error runs() {
    Expected<RunMetrics> a = readMetrics(first);
    if (!a)
      return a.takeError();
    Expected<RunMetrics> b = readMetrics(second);
    if (!b)
      return b.takeError();
    json::Object planA, planB;
    bool havePlans = both(kPlanFile);
    if (havePlans)
      if (Error error = readPlans(joinPath(first, kPlanFile),
                                  joinPath(second, kPlanFile), planA, planB))
        return error;
    printFlagsDiff(givenFlags(planA, commandOf(first)),
                   givenFlags(planB, commandOf(second)), outs());
    bool isOther = printSourceDiff(planA, planB, outs());
    outs() << "step_ms: " << meanTimeOf(first, *a) << " and "
           << meanTimeOf(second, *b) << " on average, without the first step\n";
    isOther |= printMemoryDiff(planA, planB, outs());
    differs |= printMetricsDiff(*a, *b, outs());
    isOther |= printTensorsDiff(planA, planB, outs());
    tellPlans(isOther, havePlans);
    tellMissingWeights();
    return weightsOf({kModelFile, kAveragesFile});
  }

  /// Returns the words that started a run's trainer.
  static std::vector<std::string> commandOf(StringRef run) {
    Expected<RunDescription> description = readRunDescription(run);
    if (description)
      return description->command.arguments;
    consumeError(description.takeError()); // it ended before its first step
    return {};
  }

  /// Times of steps never agree, so only their means are told. As for advice,
  /// they are of the process that ran last.
  static std::string meanTimeOf(StringRef run, const RunMetrics &metrics) {
    int64_t begunAt = 0;
    if (Expected<RunDescription> description = readRunDescription(run))
      begunAt = description->traits.begun_at;
    else // a run that ended before its first step
      consumeError(description.takeError());
    if (Expected<RunFigures> figures = figuresOf(metrics, run, begunAt))
      return ms_text(figures->step_ms);
    else
      consumeError(figures.takeError());
    return "unknown (fewer than two steps)";
  }

  static Error readPlans(const std::string &a, const std::string &b,
                         json::Object &before, json::Object &after) {
    for (auto [file, plan] : {std::pair(&a, &before), std::pair(&b, &after)}) {
      Expected<json::Object> found = readPlanFile(*file);
      if (!found)
        return found.takeError();
      *plan = std::move(*found);
    }
    return Error::success();
  }

  void tellPlans(bool areOther, bool areThere) {
    if (areThere && !areOther)
      outs() << "plan: the same\n";
    differs |= areOther;
  }

  Error plans(const std::string &a, const std::string &b) {
    json::Object before, after;
    if (Error error = readPlans(a, b, before, after))
      return error;
    printFlagsDiff(givenFlags(before, {}), givenFlags(after, {}), outs());
    bool areOther = printSourceDiff(before, after, outs());
    areOther |= printMemoryDiff(before, after, outs());
    areOther |= printTensorsDiff(before, after, outs());
    tellPlans(areOther, /*areThere=*/true);
    return Error::success();
  }

  /// A run that was killed or has diverged has none.
  void tellMissingWeights() {
    differs |= hasFile(first, kModelFile) != hasFile(second, kModelFile);
    for (const std::string &run : {first, second}) {
      if (hasFile(run, kModelFile))
        continue;
      outs() << kModelFile << ": '" << run
             << "' has none: its run still goes on, was killed or has diverged";
      if (auto checkpoints = finished_checkpoints_in(run); !checkpoints.empty())
        outs() << "; compare checkpoints, the last of which is '"
               << checkpoints.back().path << "'";
      outs() << "\n";
    }
  }

  Error weightsOf(ArrayRef<StringRef> names) {
    for (StringRef name : names)
      if (both(name))
        if (Error error =
                weights(joinPath(first, name), joinPath(second, name)))
          return error;
    return Error::success();
  }

  Error weights(const std::string &a, const std::string &b) {
    WeightsDiff diff;
    if (std::string problem = diffWeights(a, b, diff); !problem.empty())
      return createStringError(problem);
    StringRef name = sys::path::filename(a);
    size_t all = diff.different.size() + size_t(diff.same);
    if (diff.different.empty()) {
      outs() << name << ": all " << all << " tensors are the same\n";
      return Error::success();
    }
    differs = true;
    outs() << name << ": " << diff.different.size() << " of " << all
           << " tensors differ\n";
    constexpr size_t kMostLines = 20;
    for (const TensorDifference &one :
         ArrayRef(diff.different).take_front(kMostLines)) {
      outs() << "  " << one.name;
      if (one.form.empty())
        outs() << formatv(": {0} of {1} elements, by at most {2} at {3}: {4} "
                          "and {5}\n",
                          one.differing, one.elements, format("%.6g", one.most),
                          one.at, format("%.9g", one.first),
                          format("%.9g", one.second));
      else
        outs() << " " << one.form << "\n";
    }
    if (diff.different.size() > kMostLines)
      outs() << "  and " << diff.different.size() - kMostLines << " more\n";
    return Error::success();
  }

  std::string first, second;
};

} // namespace

static constexpr StringLiteral kWhatIsCompared =
    "give two runs, two programs, two checkpoints (folders), two plans "
    "(plan.json) or two files of weights (.safetensors)";

static Expected<Kind> kindOf(StringRef path) {
  if (!sys::fs::exists(path))
    return createStringError(describe_missing(path.str()));
  if (!sys::fs::is_directory(path)) {
    if (path.ends_with(".safetensors"))
      return Kind::Weights;
    if (path.ends_with(".json"))
      return Kind::Plan;
    return createStringError("'" + path +
                             "' is neither a plan (.json) nor a file of "
                             "weights (.safetensors); " +
                             kWhatIsCompared);
  }
  if (hasFile(path, "trainer_state.json"))
    return Kind::Checkpoint;
  if (holds_program(path.str()))
    return Kind::Program;
  if (Error error = checkIsRun(path))
    return std::move(error);
  return Kind::Run;
}

static StringRef wordFor(Kind kind) {
  switch (kind) {
  case Kind::Run:
    return "a run";
  case Kind::Program:
    return "a program";
  case Kind::Checkpoint:
    return "a checkpoint";
  case Kind::Weights:
    return "a file of weights";
  case Kind::Plan:
    return "a plan";
  }
  return "";
}

int gpuopt::diffRuns(const DiffOptions &options) {
  auto trouble = [](Error error) {
    failure(std::move(error));
    return kNotCompared;
  };
  Expected<Kind> first = kindOf(options.first);
  if (!first)
    return trouble(first.takeError());
  Expected<Kind> second = kindOf(options.second);
  if (!second)
    return trouble(second.takeError());
  if (*first != *second)
    return trouble(createStringError(
        "'" + options.first + "' is " + wordFor(*first) + ", but '" +
        options.second + "' is " + wordFor(*second) + "; " + kWhatIsCompared));
  Comparison comparison(options.first, options.second);
  if (Error error = comparison.compare(*first))
    return trouble(std::move(error));
  return comparison.differs;
}
