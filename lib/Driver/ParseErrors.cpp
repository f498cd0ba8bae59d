//===- ParseErrors.cpp - What is wrong with a command line ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParseErrors.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace gpuopt;

/// What the flag is called here; empty where others have none of this name.
static StringRef nameOfOthers(StringRef name) {
  return StringSwitch<StringRef>(name)
      .Case("lr", "learning-rate")
      .Cases({"epochs", "num-epochs"}, "num-train-epochs")
      .Cases({"per-device-train-batch-size", "train-batch-size", "batch"},
             "batch-size")
      .Cases({"steps", "num-steps"}, "max-steps")
      .Case("optim", "optimizer")
      .Case("wd", "weight-decay")
      .Cases({"scheduler", "lr-scheduler"}, "lr-scheduler-type")
      .Case("warmup", "warmup-steps")
      .Case("betas", "adam-beta1")
      .Case("eps", "adam-epsilon")
      .Cases({"max-norm", "clip-grad-norm", "grad-clip"}, "max-grad-norm")
      .Cases({"amp", "fp16", "bf16", "tf32", "dtype"}, "precision")
      .Cases({"accumulation-steps", "grad-accumulation-steps"},
             "gradient-accumulation-steps")
      .Cases({"dataloader-num-workers", "workers"}, "num-workers")
      .Cases({"budget", "memory"}, "memory-budget")
      .Case("output", "output-dir")
      .Default("");
}

/// The closest of the command's flags, if it is a slip of the hand away.
static StringRef closestFlag(StringRef name, cl::SubCommand &command) {
  std::pair<unsigned, StringRef> closest(name.size() / 3 + 1, "");
  for (auto &[flag, option] : cl::getRegisteredOptions(command))
    closest = std::min(closest, {name.edit_distance(flag), flag});
  return closest.second;
}

static std::string describeUnknownFlag(StringRef name,
                                       cl::SubCommand &command) {
  StringRef meant = nameOfOthers(name);
  if (!cl::getRegisteredOptions(command).count(meant))
    meant = closestFlag(name, command);
  std::string error = "there is no flag --" + name.str();
  return meant.empty() ? error + "; --help lists those that there are"
                       : error + "; did you mean --" + meant.str() + "?";
}

std::string gpuopt::describeParseErrors(StringRef errors,
                                        cl::SubCommand &command) {
  auto [text, rest] = errors.split('\n');
  text.consume_front("gpuopt: ");
  text = text.split(".  Try:").first; // the help of all commands
  if (text.consume_front("Unknown command line argument '"))
    return describeUnknownFlag(text.drop_back().split('=').first.ltrim('-'),
                               command);
  if (text.consume_front("Unknown subcommand "))
    return "there is no command " + text.str() +
           (rest.contains("Did you mean")
                ? "; did you mean " +
                      rest.split("Did you mean ").second.split('\n').first.str()
                : "");
  if (text.starts_with("Not enough positional"))
    return "a model is needed: MODEL.onnx";
  if (text.starts_with("Too many positional"))
    return "one model is enough, but there are several arguments without a "
           "flag";
  return text.str();
}
