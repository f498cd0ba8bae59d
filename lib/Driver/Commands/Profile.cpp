//===- Profile.cpp - What each kernel of a step takes ---------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the profile of a run that has one. Of any other run, and of a program,
// it runs a few steps of the trainer with --profile; their results go to a
// folder that is removed afterwards. The run keeps the profile if the steps had
// its own flags, so that `gpuopt advise` and `gpuopt report` judge by it.
//
//===----------------------------------------------------------------------===//

#include "Commands/Process.h"
#include "Files/CommandText.h"
#include "Files/JoinPath.h"
#include "Files/RunFiles.h"
#include "Files/ScratchFolder.h"
#include "gpuopt/Driver/Runs.h"
#include "gpuopt/Target/Cxx/EmitProgram.h"
#include "gpuopt/settings/settings_table.h"
#include "gpuopt/trainer/folder_marks.h"
#include "gpuopt/trainer/profiling/profile_files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstring>

using namespace llvm;
using namespace gpuopt;

/// Whether a flag of the run is left out of the few steps: its results are not
/// wanted, it says how long the run is, or it is of the learning rate's
/// schedule, which may need validations.
static bool isLeftOut(StringRef name) {
  return name.starts_with("eval-") || name.starts_with("save-") ||
         name.starts_with("early-stopping-") || name.starts_with("profile") ||
         name.starts_with("lr-") || name.starts_with("min-lr") ||
         name.starts_with("warmup-") ||
         is_contained({"output-dir", "resume", "max-steps", "num-train-epochs",
                       "logging-steps", "dump-gradients"},
                      name);
}

/// Returns the flags of a run without those that are left out. A flag's value
/// is part of it, or the argument behind it.
static std::vector<std::string> flagsToRepeat(ArrayRef<std::string> flags) {
  std::vector<std::string> kept;
  for (size_t i = 0; i < flags.size(); ++i) {
    StringRef flag = flags[i];
    size_t end = i + 1;
    if (!flag.contains('=') && end < flags.size() &&
        !StringRef(flags[end]).starts_with("--"))
      ++end;
    StringRef name = flag.split('=').first.ltrim('-');
    name.consume_front("no-");
    if (!isLeftOut(name))
      kept.insert(kept.end(), flags.begin() + i, flags.begin() + end);
    i = end - 1;
  }
  return kept;
}

/// Returns the value of a flag with the file that it names as a whole path:
/// the trainer runs in another folder than the one that the user is in.
static std::string withWholePath(StringRef flag, StringRef value) {
  std::string name = flag.ltrim('-').str();
  const SettingInfo *setting = find_setting(name);
  if (name == "output-dir") {
    SmallString<256> folder(value);
    sys::fs::make_absolute(folder);
    return folder.str().str();
  }
  if (!setting || StringRef(setting->value).find("FILE") == StringRef::npos)
    return value.str();
  StringRef input, file = value; // INPUT=FILE or FILE
  if (StringRef(setting->value).contains('=') && value.contains('='))
    std::tie(input, file) = value.split('=');
  SmallString<256> path(file);
  sys::fs::make_absolute(path);
  return (input.empty() ? "" : input.str() + "=") + path.str().str();
}

/// Returns flags that the user has added, with whole paths.
static std::vector<std::string> withWholePaths(ArrayRef<std::string> flags) {
  std::vector<std::string> whole;
  for (size_t i = 0; i < flags.size(); ++i) {
    StringRef flag = flags[i];
    if (auto [name, value] = flag.split('='); flag.contains('=')) {
      whole.push_back((name + "=" + withWholePath(name, value)).str());
      continue;
    }
    whole.push_back(flag.str());
    if (i + 1 < flags.size() && !StringRef(flags[i + 1]).starts_with("--"))
      whole.push_back(withWholePath(flag, flags[++i]));
  }
  return whole;
}

/// Whether the user says where the files of the profiled steps go.
static bool namesOutput(ArrayRef<std::string> flags) {
  return any_of(flags, [](StringRef flag) {
    return flag.split('=').first == "--output-dir";
  });
}

/// Copies the profile of a few steps to the folder of the run that they repeat.
/// The file that makes it a profile comes last. Of a copy that fails, nothing
/// is left.
static std::error_code copyProfile(StringRef from, StringRef run) {
  std::string target = joinPath(run, kProfileFolder);
  if (std::error_code code = sys::fs::create_directory(target))
    return code;
  for (StringRef name : {kTableFile, kTraceFile, kProfileFile})
    if (std::error_code code =
            sys::fs::copy_file(joinPath(joinPath(from, kProfileFolder), name),
                               joinPath(target, name))) {
      sys::fs::remove_directories(target);
      return code;
    }
  return {};
}

/// Tells where the files of the steps are, which are about to be removed.
/// `run`, which is empty if there is none, is given the profile.
static void tellFiles(StringRef steps, StringRef run) {
  if (run.empty()) {
    outs() << "the files of these steps, the trace too, are removed again; "
              "--output-dir FOLDER keeps them\n";
    return;
  }
  if (std::error_code code = copyProfile(steps, run))
    outs() << "the files of these steps are removed again, and '" << run
           << "' has no profile of them: " << code.message() << "\n";
  else
    outs() << "the run has this profile now, for gpuopt advise and gpuopt "
              "report: "
           << joinPath(run, kProfileFolder) << "\n";
}

/// Runs the trainer, which prints its profile. Its files are removed unless the
/// command says where they go, but for the profile, which goes to `run` if that
/// is not empty.
static int runSteps(const RunCommand &command, bool keepsFiles,
                    StringRef run = "") {
  SmallString<128> temporary;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, temporary);
  Expected<ScratchFolder> scratch =
      ScratchFolder::create(joinPath(temporary, "gpuopt-profile"));
  if (!scratch)
    return failure(toString(scratch.takeError()));
  std::string program = command.arguments.front();
  if (!sys::fs::can_execute(program))
    return failure("'" + program +
                   "', which ran the steps, is no longer there; compile and "
                   "build the program again");
  if (!command.folder.empty())
    if (std::error_code code = sys::fs::set_current_path(command.folder))
      return failure("cannot enter '" + command.folder +
                     "', where the run began: " + code.message());
  // Flags that are given later win.
  std::vector<std::string> all{program,
                               "--max-steps=7",
                               "--profile=wait=0,warmup=2,active=5,repeat=1",
                               "--logging-steps=0",
                               "--save-steps=0",
                               "--lr-scheduler-type=constant"};
  all.insert(all.end(), command.arguments.begin() + 1, command.arguments.end());
  if (!keepsFiles)
    all.push_back("--output-dir=" + scratch->pathOf("run"));
  SmallVector<StringRef> arguments(all.begin(), all.end());
  std::string problem;
  outs().flush();
  // Ctrl-C ends the trainer, after whose end the scratch folder is removed.
  std::signal(SIGINT, [](int) {});
  int status =
      sys::ExecuteAndWait(program, arguments, std::nullopt, {},
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
  if (problem == strsignal(SIGPIPE)) // its output's reader has ended
    return 128 + SIGPIPE;
  if (!problem.empty())
    return failure("'" + program + "': " + problem);
  if (status == 0 && !keepsFiles)
    tellFiles(scratch->pathOf("run"), run);
  return status;
}

static int profileProgram(const ProfileOptions &options) {
  SmallString<256> program(
      joinPath(joinPath(options.folder, "build"), kTrainerExecutable));
  if (!sys::fs::can_execute(program))
    return failure("'" + program +
                   "' is not there; build the program: cmake "
                   "-S " +
                   shellWord(options.folder) + " -B " +
                   shellWord(options.folder + "/build") + " && cmake --build " +
                   shellWord(options.folder + "/build"));
  sys::fs::make_absolute(program);
  RunCommand command;
  command.arguments = {program.str().str()};
  command.arguments.insert(command.arguments.end(), options.arguments.begin(),
                           options.arguments.end());
  return runSteps(command, namesOutput(options.arguments));
}

int gpuopt::profileRun(const ProfileOptions &options) {
  if (holds_program(options.folder))
    return profileProgram(options);
  if (Error error = checkIsRun(options.folder))
    return failure(toString(std::move(error)) +
                   "; or give the folder of a program");
  if (hasProfile(options.folder) && options.arguments.empty()) {
    Expected<KeyAverages> profile = readProfile(options.folder);
    if (!profile)
      return failure(toString(profile.takeError()));
    outs() << table_of(*profile);
    return 0;
  }
  Expected<RunDescription> description = readRunDescription(options.folder);
  if (!description)
    return failure(toString(description.takeError()));
  RunCommand command = description->command;
  if (command.arguments.empty())
    return failure("'" + options.folder +
                   "' does not say how its trainer was run");
  std::vector<std::string> flags =
      flagsToRepeat(ArrayRef(command.arguments).drop_front());
  command.arguments.resize(1);
  command.arguments.insert(command.arguments.end(), flags.begin(), flags.end());
  std::vector<std::string> added = withWholePaths(options.arguments);
  command.arguments.insert(command.arguments.end(), added.begin(), added.end());
  SmallString<256> run;
  if (options.arguments.empty()) { // the steps are those of the run
    run = options.folder;
    sys::fs::make_absolute(run);
  }
  return runSteps(command, namesOutput(options.arguments), run);
}
