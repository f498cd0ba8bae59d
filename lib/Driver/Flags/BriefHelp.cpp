//===- BriefHelp.cpp - What --help shows first ----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/BriefHelp.h"

#include "Flags/FlagGroups.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace gpuopt;

/// The flags of the commands that compile which most users need.
static constexpr StringLiteral kCommon[] = {
    "o",
    "target",
    "batch-size",
    "dim",
    "data",
    "labels",
    "tokens",
    "token-type",
    "transform",
    "mixup",
    "cutmix",
    "eval-data",
    "eval-labels",
    "eval-tokens",
    "loss",
    "optimizer",
    "learning-rate",
    "lr-scheduler-type",
    "warmup-steps",
    "weight-decay",
    "max-steps",
    "num-train-epochs",
    "gradient-accumulation-steps",
    "seed",
    "precision",
    "memory-budget",
    "allow-offload",
    "device",
    "eval-steps",
    "eval-metrics",
    "save-steps",
    "logging-steps",
    "resume",
    "num-workers",
    "num-threads",
    "report-to",
    "quiet",
    "profile",
    "inference",
    "weights",
    "outputs",
    "top-k",
    "generate",
    "prompts",
    "html",
    "json",
    "curve",
    "find-batch-size",
    "memory-timeline",
};

static cl::SubCommand *const *commandsWithManyFlags() {
  static cl::SubCommand *const commands[] = {&compileCommand(), &trainCommand(),
                                             &planCommand(), &predictCommand(),
                                             nullptr};
  return commands;
}

void gpuopt::hideRareFlags() {
  for (auto *command = commandsWithManyFlags(); *command; ++command)
    for (auto &[name, option] : cl::getRegisteredOptions(**command))
      if (!is_contained(kCommon, name) && name != "help" && name != "version")
        option->setHiddenFlag(cl::Hidden);
}

void gpuopt::nameHelpFlags() {
  auto word = [](cl::SubCommand &command) {
    for (auto &[name, option] : cl::getRegisteredOptions(command))
      if (name == "help")
        option->setDescription("show this help (--help-all: with all flags)");
      else if (name == "version")
        option->setDescription("show the version");
      else if (name == "help-list") // LLVM shows it in any case
        option->setDescription("show the flags without their groups");
      else if (name.starts_with("help-"))
        option->setHiddenFlag(cl::ReallyHidden);
  };
  word(cl::SubCommand::getTopLevel());
  for (cl::SubCommand *command : allCommands())
    word(*command);
}

StringRef gpuopt::exampleOf(StringRef command) {
  return StringSwitch<StringRef>(command)
      .Case("compile", "gpuopt compile model.onnx -o program --batch-size 32")
      .Case("train", "gpuopt train model.onnx -o result --batch-size 32 --data "
                     "x=x.npy --labels y.npy --memory-budget 8GiB")
      .Case("plan", "gpuopt plan model.onnx --batch-size 32 --curve")
      .Case("predict", "gpuopt predict result -o predictions --data x=x.npy")
      .Case("tokenize", "gpuopt tokenize *.txt --tokenizer tokenizer.json -o "
                        "train.bin")
      .Case("calibrate", "gpuopt calibrate --target host")
      .Case("export", "gpuopt export result -o trained.onnx")
      .Case("doctor", "gpuopt doctor")
      .Case("profile", "gpuopt profile result")
      .Case("advise", "gpuopt advise result")
      .Case("report", "gpuopt report result -o report.html")
      .Case("watch", "gpuopt watch result")
      .Case("diff", "gpuopt diff result other-result")
      .Case("completion", "gpuopt completion bash > ~/.local/share/"
                          "bash-completion/completions/gpuopt")
      .Default("");
}

/// Keeps out of help what `plan` takes only to say that it does not need it.
static void hideFolderOfPlan() {
  for (auto &[name, option] : cl::getRegisteredOptions(planCommand()))
    if (name == "o" || name == "output-dir")
      option->setHiddenFlag(cl::ReallyHidden);
}

std::vector<const char *> gpuopt::prepareHelp(int argc, char **argv) {
  std::vector<const char *> arguments(argv, argv + argc);
  for (const char *&argument : arguments)
    if (StringRef(argument) == "--help-all")
      argument = "--help-hidden";
  StringRef command = argc > 1 ? argv[1] : "";
  if (command == planCommand().getName())
    hideFolderOfPlan(); // other commands have the same options
  static std::string text;
  if (StringRef example = exampleOf(command); !example.empty())
    text = "\nExample: " + example.str() + "\n";
  for (auto *many = commandsWithManyFlags(); *many; ++many)
    if ((*many)->getName() == command)
      text += "All flags: gpuopt " + command.str() + " --help-all\n";
  static cl::extrahelp extra(text);
  return arguments;
}
