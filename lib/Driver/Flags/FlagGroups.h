//===- FlagGroups.h - The flags of the gpuopt command -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each group has a file of its own, which declares its flags, checks what no
// pass would check, and puts their values into the options. Names and defaults
// are those of the Hugging Face Trainer where it has them.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FLAGS_FLAGGROUPS_H
#define GPUOPT_LIB_DRIVER_FLAGS_FLAGGROUPS_H

#include "Flags/Flag.h"
#include "gpuopt/Driver/Driver.h"
#include "llvm/Support/Error.h"

namespace gpuopt {

/// The commands are in functions because flags in other files are registered
/// with them before main() begins.
llvm::cl::SubCommand &compileCommand();
llvm::cl::SubCommand &trainCommand();
llvm::cl::SubCommand &planCommand();
llvm::cl::SubCommand &calibrateCommand();
llvm::cl::SubCommand &exportCommand();
llvm::cl::SubCommand &tokenizeCommand();
llvm::cl::SubCommand &predictCommand();
llvm::cl::SubCommand &doctorCommand();
llvm::cl::SubCommand &profileCommand();
llvm::cl::SubCommand &adviseCommand();
llvm::cl::SubCommand &reportCommand();
llvm::cl::SubCommand &watchCommand();
llvm::cl::SubCommand &diffCommand();
llvm::cl::SubCommand &completionCommand();
llvm::cl::SubCommand &manualCommand();
llvm::cl::SubCommand &operatorsCommand();
llvm::cl::SubCommand &settingsCommand();

/// Returns all commands, in the order in which help lists them.
llvm::ArrayRef<llvm::cl::SubCommand *> allCommands();

/// A modifier of LLVM's options: the commands that take a flag, by the bits of
/// `Takers`.
struct TakenBy {
  unsigned takers;
  void apply(llvm::cl::Option &option) const;
};
/// Each of these is a heading of --help.
llvm::cl::OptionCategory &modelCategory();
llvm::cl::OptionCategory &lossCategory();
llvm::cl::OptionCategory &optimizerCategory();
llvm::cl::OptionCategory &precisionCategory();
llvm::cl::OptionCategory &runCategory();
llvm::cl::OptionCategory &targetCategory();
llvm::cl::OptionCategory &calibrateCategory();
llvm::cl::OptionCategory &exportCategory();
llvm::cl::OptionCategory &doctorCategory();
llvm::cl::OptionCategory &adviseCategory();
llvm::cl::OptionCategory &reportCategory();
llvm::cl::OptionCategory &watchCategory();

/// Replaces `auto` as the value of --target by the target that it stands for,
/// and returns what to tell of that; else nothing.
std::string chooseGivenTarget();

/// Reads the flags of `calibrate`.
llvm::Expected<CalibrateOptions> collectCalibrate();

/// Reads the flags of `export`.
llvm::Expected<ExportOptions> collectExport();

/// Reads the flags of `doctor`.
llvm::Expected<DoctorOptions> collectDoctor();

/// Reads the flags of `profile`.
ProfileOptions collectProfile();

/// Reads the flags of `advise`.
llvm::Expected<AdviseOptions> collectAdvise();

/// Reads the flags of `report`.
llvm::Expected<ReportOptions> collectReport();

/// Reads the flags of `watch`.
WatchOptions collectWatch();

/// Returns what `diff` compares; nothing if these are not two.
std::optional<DiffOptions> collectDiff();

/// Returns the shell of `completion`.
std::string collectCompletion();

/// Fails if there is nothing at the path of the model.
llvm::Error checkModelExists();

// Each file puts its part into the options. They are called in this order:
// later ones read what earlier ones have put there.
llvm::Error collectTarget(DriverOptions &options);
llvm::Error collectOptimizer(DriverOptions &options);
llvm::Error collectLoss(DriverOptions &options);
llvm::Error collectRun(DriverOptions &options);
llvm::Error collectModel(DriverOptions &options);
llvm::Error collectPrecision(DriverOptions &options);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FLAGS_FLAGGROUPS_H
