//===- RunFlags.cpp - The run of a trainer, and its data ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DataFiles.h"
#include "FlagGroups.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace gpuopt;

cl::OptionCategory &gpuopt::runCategory() {
  static cl::OptionCategory category("The run and the data (train)");
  return category;
}

namespace {
#define RUN cl::cat(runCategory()), cl::sub(trainCommand())
cl::list<std::string>
    data("data",
         cl::desc("file for an input; docs/training.md has the formats"),
         cl::value_desc("INPUT=FILE.npy"), RUN);
cl::list<std::string> evalData("eval-data", cl::desc("the same for validation"),
                               cl::value_desc("INPUT=FILE.npy"), RUN);
CheckedOpt<std::string> labels("labels", cl::desc("labels"),
                               cl::value_desc("FILE.npy"), RUN);
CheckedOpt<std::string> evalLabels("eval-labels",
                                   cl::desc("labels for validation"),
                                   cl::value_desc("FILE.npy"), RUN);
CheckedOpt<std::string>
    tokens("tokens",
           cl::desc("file of tokens, for the input that --data "
                    "does not name; the label is the next token"),
           cl::value_desc("FILE"), RUN);
CheckedOpt<std::string> evalTokens("eval-tokens",
                                   cl::desc("token file for validation"),
                                   cl::value_desc("FILE"), RUN);
Flag<std::string>
    tokenType("token-type", "uint16",
              "uint8, uint16 or uint32, for token files without a header", RUN);
Switch shuffling("shuffle", cl::init(true),
                 cl::desc("samples in random order (the default)"), RUN);
Switch noShuffle("no-shuffle", cl::desc("samples in the file's order"), RUN);
Flag<int64_t> loggingSteps("logging-steps", 1,
                           "steps between lines on the terminal; 0: none", RUN);
Flag<int64_t> evalSteps("eval-steps", 0,
                        "steps between validations; 0: at the end alone", RUN);
Flag<int64_t> saveSteps("save-steps", 0,
                        "steps between saves; 0: at the end alone", RUN);
CheckedOpt<std::string> profileCostsTo(
    "profile-costs-to",
    cl::desc("how long each op of a step takes, for --profile-costs"),
    cl::value_desc("FILE.json"), RUN);
Flag<int64_t> profileWarmup("profile-warmup", 3,
                            "steps before those that are timed", RUN);
Flag<int64_t> profileActive("profile-active", 10, "steps that are timed", RUN);
Flag<int64_t> numThreads("num-threads", 0,
                         "threads of the host target; 0: as many as cores",
                         RUN);
Flag<std::string>
    waitPolicy("wait-policy", "auto",
               "how threads of the host target wait for the next kernel: "
               "active (they spin), passive (they sleep) or auto, which "
               "measures what is faster",
               RUN);
Flag<int64_t> numWorkers("num-workers", 2, "threads that prepare batches", RUN);
Flag<int64_t> prefetchFactor("prefetch-factor", 2,
                             "batches ahead, for each of them", RUN);
} // namespace

/// What the trainer takes when it runs: given flags under their own names.
static std::vector<std::string> runArguments() {
  std::vector<std::string> arguments;
  auto pass = [&](const cl::Option &option, const std::string &value) {
    if (option.getNumOccurrences())
      arguments.push_back(("--" + option.ArgStr + "=" + value).str());
  };
  for (const std::string &value : data)
    pass(data, value);
  for (const std::string &value : evalData)
    pass(evalData, value);
  for (cl::opt<std::string> *option :
       {&labels, &evalLabels, &tokens, &evalTokens, &profileCostsTo})
    pass(*option, *option);
  pass(tokenType, tokenType);
  pass(waitPolicy, waitPolicy);
  for (Flag<int64_t> *option :
       {&loggingSteps, &evalSteps, &saveSteps, &profileWarmup, &profileActive,
        &numThreads, &numWorkers, &prefetchFactor})
    pass(*option, std::to_string(*option));
  // As everywhere, the last one counts.
  bool isShuffled = noShuffle.getPosition() > shuffling.getPosition()
                        ? !noShuffle
                        : shuffling;
  if (!isShuffled)
    arguments.push_back("--no-shuffle");
  return arguments;
}

static Error checkFiles(const cl::list<std::string> &option) {
  StringSet<> inputs;
  for (StringRef value : option) {
    auto [input, file] = value.split('=');
    if (input.empty() || file.empty())
      return createStringError("--" + option.ArgStr +
                               " needs INPUT=FILE.npy, but is '" + value + "'");
    if (!inputs.insert(input).second)
      return createStringError("--" + option.ArgStr + " gives '" + input +
                               "' twice");
    if (Error error = checkReadable(option.ArgStr, file))
      return error;
  }
  return Error::success();
}

static DataGiven dataGiven(ArrayRef<std::string> inputs, StringRef labels,
                           StringRef tokens) {
  return {inputs, labels.str(), tokens.str(), tokenType};
}

/// Files that the trainer will read: what is wrong with one is said before
/// anything is compiled.
static Error checkData() {
  if (Error error = joinErrors(checkFiles(data), checkFiles(evalData)))
    return error;
  for (cl::opt<std::string> *option :
       {&labels, &evalLabels, &tokens, &evalTokens})
    if (option->getNumOccurrences())
      if (Error error = checkReadable(option->ArgStr, *option))
        return error;
  if (data.empty() && labels.empty() && tokens.empty())
    return createStringError("there is no data: --data INPUT=FILE.npy and "
                             "--labels FILE.npy, or --tokens FILE");
  if (evalSteps > 0 && evalData.empty() && evalLabels.empty() &&
      evalTokens.empty())
    return createStringError("--eval-steps needs data to validate on: "
                             "--eval-data and --eval-labels, or --eval-tokens");
  return Error::success();
}

/// Of the trainer, which would say the same once it is built.
static Error checkRanges() {
  Error ranges[] = {
      checkRange<int64_t>(0, {&loggingSteps, &evalSteps, &saveSteps}),
      checkRange<int64_t>(0, {&numThreads}, 4096),
      checkRange<int64_t>(1, {&numWorkers, &prefetchFactor}, 1024),
      checkRange<int64_t>(0, {&profileWarmup}, 1e9),
      checkRange<int64_t>(1, {&profileActive}, 1e6),
  };
  Error all = Error::success();
  for (Error &range : ranges)
    all = joinErrors(std::move(all), std::move(range));
  return all;
}

/// Flags that mean nothing without others.
static Error checkTogether() {
  for (Flag<int64_t> *flag : {&profileWarmup, &profileActive})
    if (flag->isGiven() && !profileCostsTo.getNumOccurrences())
      return createStringError("--" + flag->ArgStr +
                               " is of --profile-costs-to");
  if (!is_contained({"auto", "active", "passive"}, waitPolicy.getValue()))
    return createStringError("--wait-policy must be auto, active or passive, "
                             "but is '" +
                             waitPolicy + "'");
  if (tokenType.isGiven() && tokens.empty() && evalTokens.empty())
    return createStringError(
        "--token-type is of files of tokens: --tokens or --eval-tokens");
  return Error::success();
}

Error gpuopt::collectRun(DriverOptions &options) {
  for (auto *check : {checkRanges, checkTogether})
    if (Error error = check())
      return error;
  if (trainCommand() && !options.compileTo)
    if (Error error = checkData())
      return error;
  options.runArguments = runArguments();
  options.data = dataGiven(data, labels, tokens);
  options.evalData = dataGiven(evalData, evalLabels, evalTokens);
  return Error::success();
}
