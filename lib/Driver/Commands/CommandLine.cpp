//===- CommandLine.cpp - The gpuopt command -------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/Process.h"
#include "Flags/BriefHelp.h"
#include "Flags/FlagGroups.h"
#include "Flags/Notes.h"
#include "Flags/ParseErrors.h"
#include "Flags/SettingFlags.h"
#include "Report/Completion.h"
#include "Report/SettingsPage.h"
#include "gpuopt/Analysis/Precision/PrecisionPolicy.h"
#include "gpuopt/Version.h"
#include "gpuopt/device/missing_path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace gpuopt;

cl::SubCommand &gpuopt::compileCommand() {
  static cl::SubCommand command("compile",
                                "write the trainer's sources to a folder");
  return command;
}
cl::SubCommand &gpuopt::trainCommand() {
  static cl::SubCommand command("train", "compile, build and run the trainer");
  return command;
}
cl::SubCommand &gpuopt::planCommand() {
  static cl::SubCommand command(
      "plan", "say what a program would allocate, and what a memory budget "
              "costs");
  return command;
}
cl::SubCommand &gpuopt::calibrateCommand() {
  static cl::SubCommand command("calibrate",
                                "measure this machine's device, for --device");
  return command;
}
cl::SubCommand &gpuopt::exportCommand() {
  static cl::SubCommand command("export",
                                "write the ONNX file with trained weights");
  return command;
}
cl::SubCommand &gpuopt::predictCommand() {
  static cl::SubCommand command(
      "predict", "compile and run the forward, and write what it computes");
  return command;
}
cl::SubCommand &gpuopt::doctorCommand() {
  static cl::SubCommand command(
      "doctor", "say what of all that gpuopt uses is there, and try it");
  return command;
}
cl::SubCommand &gpuopt::profileCommand() {
  static cl::SubCommand command(
      "profile", "print what each kernel and call of a step takes");
  return command;
}
cl::SubCommand &gpuopt::adviseCommand() {
  static cl::SubCommand command(
      "advise", "say what limits a run, and which flag would help");
  return command;
}
cl::SubCommand &gpuopt::tokenizeCommand() {
  static cl::SubCommand command("tokenize",
                                "write the tokens of text files, for --tokens");
  return command;
}
cl::SubCommand &gpuopt::reportCommand() {
  static cl::SubCommand command("report", "write a page that shows runs");
  return command;
}
cl::SubCommand &gpuopt::watchCommand() {
  static cl::SubCommand command("watch", "follow a run in the terminal");
  return command;
}
cl::SubCommand &gpuopt::diffCommand() {
  static cl::SubCommand command(
      "diff", "say in what two runs, plans or checkpoints differ");
  return command;
}
cl::SubCommand &gpuopt::completionCommand() {
  static cl::SubCommand command(
      "completion", "print what makes a shell complete commands and flags");
  return command;
}
cl::SubCommand &gpuopt::manualCommand() {
  static cl::SubCommand command("manual", "print the manual page for man");
  return command;
}
cl::SubCommand &gpuopt::operatorsCommand() {
  static cl::SubCommand command("operators",
                                "print the table of supported ONNX operators");
  return command;
}

cl::SubCommand &gpuopt::settingsCommand() {
  static cl::SubCommand command("settings",
                                "print the tables of optimizers and flags");
  return command;
}

static cl::OptionCategory &tableCategory() {
  static cl::OptionCategory category("The table");
  return category;
}

static Switch precisionTable("precision-classes",
                             cl::desc("print their precision classes instead"),
                             cl::cat(tableCategory()),
                             cl::sub(operatorsCommand()));

ArrayRef<cl::SubCommand *> gpuopt::allCommands() {
  static cl::SubCommand *commands[] = {
      &compileCommand(),    &trainCommand(),     &planCommand(),
      &predictCommand(),    &calibrateCommand(), &exportCommand(),
      &doctorCommand(),     &profileCommand(),   &adviseCommand(),
      &reportCommand(),     &watchCommand(),     &diffCommand(),
      &completionCommand(), &manualCommand(),    &operatorsCommand(),
      &tokenizeCommand(),   &settingsCommand()};
  return commands;
}

void TakenBy::apply(cl::Option &option) const {
  for (auto [taker, command] :
       {std::pair(kCompileAlone, &compileCommand()),
        std::pair(kTrain, &trainCommand()), std::pair(kPlan, &planCommand()),
        std::pair(kPredict, &predictCommand())})
    if (takers & taker)
      option.addSubCommand(*command);
}

/// Returns the command that was given, or the top level if there is none.
static cl::SubCommand &givenCommand() {
  for (cl::SubCommand *command : allCommands())
    if (*command)
      return *command;
  return cl::SubCommand::getTopLevel();
}

/// Returns the exit status of a command that is used in a wrong way. That of
/// diff is not the one which says that two runs differ.
static int usageStatus() { return diffCommand() ? kNotCompared : 1; }

/// Prints an error and, unless it names a flag or what was meant, where to find
/// help. Returns the exit status.
static int usage(const std::string &what) {
  StringRef command = givenCommand().getName();
  errs() << "gpuopt: error: " << what;
  if (!StringRef(what).contains("--") && !StringRef(what).ends_with("?") &&
      !StringRef(what).contains(kNoSuchPath))
    errs() << "; see gpuopt " << command << (command.empty() ? "" : " ")
           << "--help";
  errs() << "\n";
  return usageStatus();
}

/// Prints each of several errors.
static int usage(Error error) {
  handleAllErrors(std::move(error),
                  [](const ErrorInfoBase &one) { usage(one.message()); });
  return usageStatus();
}

/// Keeps the flags that LLVM's libraries declare for their developers out of
/// the help.
static void hideFlagsOfLibraries() {
  const cl::OptionCategory *own[] = {
      &modelCategory(),     &lossCategory(),      &optimizerCategory(),
      &precisionCategory(), &runCategory(),       &targetCategory(),
      &tableCategory(),     &calibrateCategory(), &exportCategory(),
      &doctorCategory(),    &adviseCategory(),    &reportCategory(),
      &watchCategory()};
  cl::HideUnrelatedOptions(own, cl::SubCommand::getTopLevel());
  for (cl::SubCommand *command : allCommands())
    cl::HideUnrelatedOptions(own, *command);
}

/// Runs the commands that look at runs, and those that print tables. Returns
/// the exit status; nothing if another command was given.
static std::optional<int> runWithoutModel() {
  if (operatorsCommand()) {
    precisionTable ? printPrecisionTable(outs()) : printOperatorTable(outs());
    return 0;
  }
  if (settingsCommand()) {
    printSettingsPage(outs());
    return 0;
  }
  if (manualCommand()) {
    printManual(outs());
    return 0;
  }
  if (completionCommand()) {
    std::string shell = collectCompletion();
    return printCompletion(shell, outs())
               ? 0
               : usage("the shell must be bash, zsh or fish, but is '" + shell +
                       "'");
  }
  if (profileCommand())
    return profileRun(collectProfile());
  if (adviseCommand()) {
    Expected<AdviseOptions> asked = collectAdvise();
    return asked ? adviseRun(*asked) : usage(asked.takeError());
  }
  if (reportCommand()) {
    Expected<ReportOptions> asked = collectReport();
    return asked ? reportRuns(*asked) : usage(asked.takeError());
  }
  if (watchCommand())
    return watchRun(collectWatch());
  if (diffCommand()) {
    std::optional<DiffOptions> asked = collectDiff();
    return asked ? diffRuns(*asked)
                 : usage("two runs, plans or checkpoints are needed");
  }
  return std::nullopt;
}

int gpuopt::driverMain(int count, char **given) {
  noteIgnoredSignals();
  checkOutputAtExit();
  std::vector<char *> arguments(given, given + count);
  if (std::string error = takeHelpCommand(arguments); !error.empty())
    return usage(error);
  if (std::string error = keepHelpAlone(arguments); !error.empty())
    return usage(error);
  int argc = int(arguments.size());
  char **argv = arguments.data();
  // The Python package has the flags of this command.
  if (argc > 1 && tokenizeCommand().getName() == argv[1])
    return tokenizeText(std::vector<std::string>(argv + 2, argv + argc));
  declareSettingFlags();
  hideRareFlags();
  nameHelpFlags();
  hideFlagsOfLibraries();
  setVersionPrinter("gpuopt");
  acceptUnderscores(arguments);
  if (std::string error = findFlagError(argc, argv); !error.empty())
    return usage(error);
  std::string errors;
  raw_string_ostream stream(errors);
  if (!cl::ParseCommandLineOptions(
          argc, prepareHelp(argc, argv).data(),
          "gpuopt: compiles an ONNX model into a training program\n", &stream))
    return usage(valueError().empty()
                     ? describeParseErrors(errors, givenCommand())
                     : valueError());
  if (std::optional<int> status = runWithoutModel())
    return *status;
  if (calibrateCommand()) {
    Expected<CalibrateOptions> asked = collectCalibrate();
    return asked ? calibrateDevice(*asked) : usage(asked.takeError());
  }
  if (exportCommand()) {
    Expected<ExportOptions> asked = collectExport();
    return asked ? exportModel(*asked) : usage(asked.takeError());
  }
  if (doctorCommand()) {
    Expected<DoctorOptions> asked = collectDoctor();
    return asked ? examineInstallation(*asked) : usage(asked.takeError());
  }
  if (!compileCommand() && !trainCommand() && !planCommand() &&
      !predictCommand())
    return usage("a command is needed: plan, compile, train, predict, "
                 "tokenize, calibrate, export, doctor, profile, advise, "
                 "report, watch, diff, completion, manual, operators or "
                 "settings");
  if (std::string chosen = chooseGivenTarget(); !chosen.empty())
    addNote(chosen);
  DriverOptions options;
  options.commandLine.assign(argv, argv + argc);
  for (auto *collect : {collectTarget, collectOptimizer, collectLoss,
                        collectRun, collectModel, collectPrecision})
    if (Error error = collect(options))
      return usage(std::move(error));
  if (Error error = checkModelExists())
    return usage(std::move(error));
  if (planCommand())
    return planModel(options);
  if (predictCommand())
    return predictModel(options);
  return trainCommand() ? trainModel(options) : compileModel(options);
}
