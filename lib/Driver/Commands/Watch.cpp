//===- Watch.cpp - A run in the terminal, while it runs -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads what metrics.jsonl has got since the last look, once a second, and
// draws the curves anew. It ends when the run does.
//
//===----------------------------------------------------------------------===//

#include "Commands/Process.h"
#include "Files/JoinPath.h"
#include "Files/ResultsLock.h"
#include "Files/RunFiles.h"
#include "Report/TextChart.h"
#include "gpuopt/Driver/Runs.h"
#include "gpuopt/device/loss_text.h"
#include "gpuopt/trainer/advice.h"
#include "gpuopt/trainer/folder_marks.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace gpuopt;

namespace {

/// The metrics of a run, of which more is read at each look.
class FollowedMetrics {
public:
  explicit FollowedMetrics(std::string file) : file(std::move(file)) {}

  /// Reads the lines that are new. Returns whether there are any. A file that
  /// is shorter than before is that of a new run.
  bool look() {
    uint64_t size = 0;
    if (sys::fs::file_size(file, size) || size == done)
      return false;
    if (size < done) {
      metrics = RunMetrics();
      done = 0;
    }
    auto slice = MemoryBuffer::getFileSlice(file, size - done, done);
    if (!slice)
      return false;
    StringRef text = (*slice)->getBuffer();
    // The last line may not be whole yet.
    text = text.take_front(text.rfind('\n') + 1);
    done += text.size();
    SmallVector<StringRef> lines;
    text.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef line : lines)
      addLine(line, metrics);
    return !lines.empty();
  }

  RunMetrics metrics;

private:
  std::string file;
  uint64_t done = 0; ///< Bytes of whole lines.
};

struct Screen {
  int columns = 80, rows = 24;
};

} // namespace

static Screen findScreen() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
    return {};
  return {size.ws_col, size.ws_row};
}

/// Returns the numbers above the curves.
static std::string headline(StringRef run, const RunMetrics &metrics,
                            const RunTraits &traits) {
  std::string text = run.str();
  if (metrics.steps.empty())
    return text + ": no step has ended yet\n";
  text += formatv(": step {0}", int64_t(metrics.steps.back()));
  if (!metrics.evaluations.empty()) {
    const AtStep &last = metrics.evaluations.back();
    text += ", validation loss " + loss_text(last.value);
    for (const auto &[name, values] : metrics.evalMetrics)
      if (values.back().step == last.step)
        text += ", " + name + " " + loss_text(values.back().value);
    if (last.step != metrics.steps.back())
      text += formatv(" at step {0}", int64_t(last.step));
  }
  Expected<RunFigures> figures = figuresOf(metrics, run, traits.begun_at);
  if (!figures) {
    consumeError(figures.takeError());
    return text + "\n";
  }
  return text +
         formatv(
             ", {0} samples/s, {1} a step, {2:f1} % of it for data\n",
             gpuopt::detail::per_second_text(
                 1000 * double(traits.batch_size * traits.accumulation_steps) /
                 figures->step_ms),
             ms_text(figures->step_ms),
             100 * figures->data_wait_ms / figures->step_ms)
             .str();
}

static std::string drawRun(StringRef run, const RunMetrics &metrics,
                           const RunTraits &traits, Screen screen) {
  std::string text = headline(run, metrics, traits);
  if (metrics.steps.empty())
    return text;
  std::pair<StringLiteral, StepMetric> curves[] = {
      {"loss", StepMetric::Loss},
      {"gradient norm", StepMetric::GradNorm},
      {"learning rate", StepMetric::LearningRate}};
  // Each curve has a title and its abscissas besides; a line stays free.
  int rows = std::clamp((screen.rows - 3) / int(std::size(curves)) - 2, 2, 12);
  for (auto [title, metric] : curves)
    text += textChart(title, metrics.steps, metrics.of(metric), screen.columns,
                      rows);
  return text;
}

static std::string describeEnd(const RunMetrics &metrics) {
  if (std::string text = describeDivergence(metrics); !text.empty())
    return "the run has " + text;
  std::string text = describeError(metrics);
  return text.empty() ? "the run has ended" : text;
}

int gpuopt::watchRun(const WatchOptions &options) {
  if (Error error = checkIsRun(options.run))
    return failure(std::move(error));
  constexpr std::chrono::seconds kPause(1);
  constexpr int kLooksBeforeDoubt = 5;
  bool follows = !options.once && isatty(STDOUT_FILENO);
  FollowedMetrics followed(joinPath(options.run, kMetricsFile));
  int quietLooks = 0;
  for (bool isFirst = true;; isFirst = false) {
    bool isNew = followed.look();
    quietLooks = isNew ? 0 : quietLooks + 1;
    if (isNew || isFirst) {
      RunTraits traits;
      if (Expected<RunDescription> run = readRunDescription(options.run))
        traits = run->traits;
      else // its first step has not ended
        consumeError(run.takeError());
      outs() << (follows ? "\x1b[H\x1b[2J" : "")
             << drawRun(options.run, followed.metrics, traits, findScreen());
      outs().flush();
    }
    // A run that is resumed has the last line of the one before until its first
    // step ends.
    if (followed.metrics.hasEnded() && !areResultsLocked(options.run)) {
      outs() << describeEnd(followed.metrics) << "\n";
      return 0;
    }
    if ((!follows || quietLooks >= kLooksBeforeDoubt) &&
        hasFile(options.run, kResultsMark) && !areResultsLocked(options.run)) {
      outs() << "no trainer runs in this folder: the run was interrupted or "
                "killed\n";
      return 0;
    }
    if (!follows)
      return 0;
    std::this_thread::sleep_for(kPause);
  }
}
