//===- SelfTest.cpp - A training that shows whether all works -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Doctor/SelfTest.h"

#include "Files/JoinPath.h"
#include "Files/RuntimeFiles.h"
#include "Files/ScratchFolder.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <chrono>

using namespace llvm;
using namespace gpuopt;

using State = Finding::State;

static constexpr int kSteps = 80;
/// A build takes half a minute, and several on a slow or busy machine.
static constexpr unsigned kSecondsToWait = 600;

static std::string textOf(StringRef file) {
  auto buffer = MemoryBuffer::getFile(file);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

/// Returns the loss in a line of metrics.jsonl; nothing if it is of no step.
static std::optional<double> lossIn(StringRef line) {
  Expected<json::Value> value = json::parse(line);
  if (!value) {
    consumeError(value.takeError());
    return std::nullopt;
  }
  const json::Object *object = value->getAsObject();
  return object ? object->getNumber("loss") : std::nullopt;
}

/// Returns the last line that tells of an error or, without one, the last line.
static StringRef causeIn(StringRef log) {
  SmallVector<StringRef> lines;
  log.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : llvm::reverse(lines))
    if (line.contains("error"))
      return line;
  return lines.empty() ? "it printed nothing" : lines.back();
}

/// Runs `gpuopt train` and returns its exit status.
static int runTraining(const TargetInfo &target, const std::string &results,
                       const std::string &log) {
  static int anchor;
  std::string gpuopt = sys::fs::getMainExecutable("gpuopt", &anchor);
  std::string folder = selfTestFolder();
  std::string command[] = {gpuopt,
                           "train",
                           joinPath(folder, "mlp.onnx"),
                           "-o",
                           results,
                           "--target=" + std::string(target.name),
                           "--data=x=" + joinPath(folder, "x.npy"),
                           "--labels=" + joinPath(folder, "labels.npy"),
                           "--batch-size=32",
                           "--max-steps=" + std::to_string(kSteps),
                           "--learning-rate=1e-2"};
  SmallVector<StringRef> arguments(std::begin(command), std::end(command));
  return sys::ExecuteAndWait(gpuopt, arguments, std::nullopt,
                             {StringRef(""), StringRef(log), StringRef(log)},
                             kSecondsToWait);
}

/// Says what a run has shown that ended with exit status 0.
static Finding judge(StringRef name, StringRef metrics, double seconds) {
  SmallVector<StringRef> lines;
  metrics.split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::optional<double> first, last;
  for (StringRef line : lines)
    if (std::optional<double> loss = lossIn(line)) {
      first = first ? first : loss;
      last = loss;
    }
  if (!first)
    return {State::Unfit, name.str(), "the run has left no metrics.jsonl"};
  std::string text =
      formatv("a perceptron was compiled, built and trained for {0} steps in "
              "{1:f0} s; its loss went from {2:f2} to {3:f2}",
              kSteps, seconds, *first, *last);
  if (*last < *first / 2)
    return {State::Found, name.str(), text};
  return {State::Unfit, name.str(), text + ", but less than half was expected"};
}

Finding gpuopt::trainPerceptron(const TargetInfo &target) {
  std::string name(target.name);
  SmallString<128> temporary;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, temporary);
  Expected<ScratchFolder> scratch =
      ScratchFolder::create(joinPath(temporary, "gpuopt-doctor"));
  if (!scratch)
    return {State::Unfit, name, toString(scratch.takeError())};
  std::string results = scratch->pathOf("run"), log = scratch->pathOf("log");
  auto begin = std::chrono::steady_clock::now();
  int status = runTraining(target, results, log);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  if (status == -2)
    return {State::Unfit, name,
            formatv("gpuopt train did not end within {0} s", kSecondsToWait)};
  if (status != 0)
    return {State::Unfit, name,
            ("gpuopt train failed: " + causeIn(textOf(log))).str()};
  return judge(name, textOf(joinPath(results, "metrics.jsonl")),
               seconds.count());
}
