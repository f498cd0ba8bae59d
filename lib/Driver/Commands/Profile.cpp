//===- Profile.cpp - What each kernel of a step takes ---------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the profile of a run that has one. Of any other run, and of a program,
// it runs some steps of the trainer with --profile; their results go to a
// folder that is removed afterwards. The run keeps the profile if the steps had
// its own flags, so that `gpuopt advise` and `gpuopt report` judge by it.
//
//===----------------------------------------------------------------------===//

#include "Commands/Process.h"
#include "Commands/ProfileFlags.h"
#include "Files/CommandText.h"
#include "Files/JoinPath.h"
#include "Files/RunFiles.h"
#include "Files/ScratchFolder.h"
#include "Files/TrainerFlags.h"
#include "gpuopt/Driver/Runs.h"
#include "gpuopt/Target/Cxx/EmitProgram.h"
#include "gpuopt/device/wait_policy_names.h"
#include "gpuopt/trainer/advice.h"
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

namespace {
/// Steps of a trainer that are run to be profiled.
struct ProfiledSteps {
  std::string of; ///< The folder that the user has given.
  RunCommand command;
  ProfileSchedule schedule;
  bool isChosen = false; ///< Whether flags say which steps are profiled.
  /// Where the user wants their files; they are removed without it.
  std::optional<std::string> output;
  std::string run; ///< The run that is given the profile; may be empty.
  /// What the run took whose steps are profiled; none if it had too few steps.
  std::optional<RunFigures> figures;
};
} // namespace

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

/// Prints the table of a profile and what it says of a run.
static void printProfile(const KeyAverages &profile,
                         std::optional<RunFigures> figures,
                         const RunTraits &traits) {
  if (!figures) { // the profiled steps are all that is known
    double steps = double(profile.steps);
    figures.emplace();
    figures->steps = profile.steps;
    figures->step_ms = profile.step_ns / 1e6 / steps;
    figures->data_wait_ms = profile.data_wait_ns / 1e6 / steps;
  }
  add_profile(profile, traits, *figures);
  outs() << table_of(profile);
  if (std::string note = describe_difference(*figures); !note.empty())
    outs() << "note: " << note << "\n";
  if (std::string verdict = describe(judge(traits, *figures)); !verdict.empty())
    outs() << verdict << "\n";
}

/// Tells where the files of the steps are.
static void tellFiles(const ProfiledSteps &steps, StringRef output) {
  if (steps.output || !steps.run.empty()) {
    std::string folder = steps.output ? *steps.output : steps.run;
    if (!steps.output)
      if (std::error_code code = copyProfile(output, steps.run)) {
        outs() << "the files of these steps are removed again, and '"
               << steps.run << "' has no profile of them: " << code.message()
               << "\n";
        return;
      }
    std::string profile = joinPath(folder, kProfileFolder);
    if (!steps.output)
      outs() << "the run has this profile now, for gpuopt advise and gpuopt "
                "report: "
             << profile << "\n";
    outs() << "profile: " << joinPath(profile, kTraceFile)
           << " for https://ui.perfetto.dev or TensorBoard\n";
    return;
  }
  outs() << "the files of these steps, the trace too, are removed again; "
            "--output-dir FOLDER keeps them\n";
}

/// Set by Ctrl-C, which ends the trainer, after whose end the scratch folder is
/// removed. The trainer may end as after its last step.
static volatile std::sig_atomic_t wasInterrupted = 0;

/// Runs a trainer with more flags and returns its exit status. `of` is the
/// folder that the user has given, of which it tells if the steps diverge.
static int runTrainer(StringRef of, const RunCommand &command,
                      ArrayRef<std::string> flagsBefore,
                      ArrayRef<std::string> flagsBehind) {
  const std::string &program = command.arguments.front();
  std::vector<std::string> flags(flagsBefore);
  flags.insert(flags.end(), command.arguments.begin() + 1,
               command.arguments.end());
  flags.insert(flags.end(), flagsBehind.begin(), flagsBehind.end());
  std::vector<std::string> all = withoutReplaced(flags);
  all.insert(all.begin(), program);
  SmallVector<StringRef> arguments(all.begin(), all.end());
  std::string problem;
  outs().flush();
  std::signal(SIGINT, [](int) { wasInterrupted = 1; });
  int status =
      sys::ExecuteAndWait(program, arguments, std::nullopt, {},
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
  if (problem == strsignal(SIGPIPE)) // its output's reader has ended
    return 128 + SIGPIPE;
  if (wasInterrupted)
    return 128 + SIGINT;
  if (problem.empty() && status == kDiverged)
    errs() << "gpuopt: error: the steps of '" << of
           << "' that were run to be profiled have diverged, so that there is "
              "no profile; times hardly depend on the learning rate: gpuopt "
              "profile "
           << shellWord(of.str()) << " --learning-rate=0\n";
  return problem.empty() ? status : failure("'" + program + "': " + problem);
}

static std::string flagOf(const ProfileSchedule &schedule) {
  return "--profile=wait=" + std::to_string(schedule.wait) +
         ",warmup=" + std::to_string(schedule.warmup) +
         ",active=" + std::to_string(schedule.active) + ",repeat=1";
}

/// Returns the figures of a run; nothing if it has too few steps.
static std::optional<RunFigures> figuresIn(StringRef run, int64_t begunAt) {
  Expected<RunMetrics> metrics = readMetrics(run);
  if (!metrics) {
    consumeError(metrics.takeError());
    return std::nullopt;
  }
  Expected<RunFigures> figures = figuresOf(*metrics, run, begunAt);
  if (figures)
    return *figures;
  consumeError(figures.takeError());
  return std::nullopt;
}

/// Runs some steps of a program, of which nothing is known, to learn how long a
/// step takes. Returns the trainer's exit status.
static int learnStepTime(ProfiledSteps &steps, const ScratchFolder &scratch) {
  constexpr int64_t kMostWarm = 100000;
  std::string output = scratch.pathOf("first");
  errs() << "gpuopt: running 3 steps of '" << steps.of
         << "' to learn how long one takes\n";
  if (int status =
          runTrainer(steps.of, steps.command,
                     {"--logging-steps=0", "--save-steps=0", "--quiet"},
                     {"--max-steps=3", "--output-dir=" + output}))
    return status;
  if (std::optional<RunFigures> figures = figuresIn(output, /*begunAt=*/0))
    steps.schedule = scheduleFor(figures->step_ms, kMostWarm);
  return 0;
}

/// Tells that steps are being run, which may take a while.
static void tellStart(const ProfiledSteps &steps) {
  errs() << "gpuopt: running ";
  if (steps.isChosen)
    errs() << "steps of '" << steps.of << "' as the flags say\n";
  else
    errs() << steps.schedule.cycle() << " steps of '" << steps.of
           << "' to profile the last " << steps.schedule.active << "\n";
}

/// Tells how many of the steps that were run are profiled.
static void tellProfiled(const ProfiledSteps &steps, int64_t profiled,
                         StringRef output, int64_t begunAt) {
  outs() << (steps.isChosen ? "" : "the last ") << profiled;
  if (Expected<RunMetrics> metrics = readMetrics(output))
    outs() << " of " << count_if(metrics->steps, [&](double step) {
      return step > double(begunAt);
    });
  else
    consumeError(metrics.takeError());
  outs() << " steps of '" << steps.of
         << "', which were run for this profile:\n";
}

/// Runs the steps and prints their profile. `isKnown` is whether their schedule
/// is made for the time that a step takes.
static int runSteps(ProfiledSteps &steps, bool isKnown) {
  SmallString<128> temporary;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, temporary);
  Expected<ScratchFolder> scratch =
      ScratchFolder::create(joinPath(temporary, "gpuopt-profile"));
  if (!scratch)
    return failure(toString(scratch.takeError()));
  const std::string &program = steps.command.arguments.front();
  if (!sys::fs::can_execute(program))
    return failure("'" + program +
                   "', which ran the steps, is no longer there; compile and "
                   "build the program again");
  if (const std::string &folder = steps.command.folder; !folder.empty())
    if (std::error_code code = sys::fs::set_current_path(folder))
      return failure("cannot enter '" + folder +
                     "', where the run began: " + code.message());
  if (!isKnown)
    if (int status = learnStepTime(steps, *scratch))
      return status;
  // Flags that are given later win.
  std::vector<std::string> before{"--max-steps=" +
                                      std::to_string(steps.schedule.cycle()),
                                  flagOf(steps.schedule),
                                  "--logging-steps=0",
                                  "--save-steps=0",
                                  "--lr-scheduler-type=constant",
                                  "--quiet"};
  std::string output = steps.output ? *steps.output : scratch->pathOf("run");
  std::vector<std::string> behind;
  if (!steps.output)
    behind.push_back("--output-dir=" + output);
  tellStart(steps);
  if (int status = runTrainer(steps.of, steps.command, before, behind))
    return status;
  Expected<KeyAverages> profile = readProfile(output);
  if (!profile)
    return failure("'" + program +
                   "' has left no profile: " + toString(profile.takeError()));
  Expected<RunDescription> description = readRunDescription(output);
  if (!description)
    return failure(toString(description.takeError()));
  tellProfiled(steps, profile->steps, output, description->traits.begun_at);
  printProfile(*profile, steps.figures, description->traits);
  tellFiles(steps, output);
  return 0;
}

/// Returns whether flags that the user has added say which steps are run or
/// profiled.
static bool chooseSteps(ArrayRef<std::string> flags) {
  return any_of(
      ArrayRef<StringRef>{"--max-steps", "--num-train-epochs", "--profile",
                          "--profile-wait", "--profile-warmup",
                          "--profile-active", "--profile-repeat", "--resume"},
      [&](StringRef name) { return valueOf(name, flags).has_value(); });
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
  ProfiledSteps steps;
  steps.of = options.folder;
  steps.command.arguments = {program.str().str()};
  steps.command.arguments.insert(steps.command.arguments.end(),
                                 options.arguments.begin(),
                                 options.arguments.end());
  steps.output = valueOf("--output-dir", options.arguments);
  steps.schedule = scheduleFor(/*stepMs=*/0, /*mostWarm=*/0);
  // A user who says which steps are run wants no others.
  steps.isChosen = chooseSteps(options.arguments);
  return runSteps(steps, /*isKnown=*/steps.isChosen);
}

/// Prints the profile that a run has.
static int printProfileOf(const std::string &run) {
  Expected<KeyAverages> profile = readProfile(run);
  if (!profile)
    return failure(toString(profile.takeError()));
  Expected<RunDescription> description = readRunDescription(run);
  if (!description) { // there is no verdict, but a table
    consumeError(description.takeError());
    outs() << table_of(*profile);
    return 0;
  }
  printProfile(*profile, figuresIn(run, description->traits.begun_at),
               description->traits);
  return 0;
}

/// Returns the command of the steps that repeat a run's. They wait for kernels
/// as the run's did: that is what the time of a short step depends on most.
static RunCommand commandToRepeat(const RunDescription &description,
                                  ArrayRef<std::string> added) {
  RunCommand command = description.command;
  std::vector<std::string> flags =
      flagsToRepeat(ArrayRef(command.arguments).drop_front(), added);
  command.arguments.resize(1);
  command.arguments.insert(command.arguments.end(), flags.begin(), flags.end());
  const std::string &waited = description.traits.wait_policy;
  if (find_wait_policy(waited))
    command.arguments.push_back("--wait-policy=" + waited);
  command.arguments.insert(command.arguments.end(), added.begin(), added.end());
  return command;
}

/// Returns "; the run has diverged in step 1: ..."; empty if it has not.
static std::string describeLostRun(StringRef run) {
  Expected<RunMetrics> metrics = readMetrics(run);
  if (!metrics) {
    consumeError(metrics.takeError());
    return "";
  }
  std::string text = describeDivergence(*metrics);
  return text.empty() ? "" : "; the run has " + text;
}

int gpuopt::profileRun(const ProfileOptions &options) {
  if (holds_program(options.folder))
    return profileProgram(options);
  if (Error error = checkIsRun(options.folder))
    return failure(toString(std::move(error)) +
                   (sys::fs::is_directory(options.folder)
                        ? "; or give the folder of a program"
                        : ""));
  if (hasProfile(options.folder) && options.arguments.empty())
    return printProfileOf(options.folder);
  Expected<RunDescription> description = readRunDescription(options.folder);
  if (!description)
    return failure(toString(description.takeError()) +
                   describeLostRun(options.folder));
  if (description->command.arguments.empty())
    return failure("'" + options.folder +
                   "' does not say how its trainer was run");
  std::vector<std::string> added = withWholePaths(options.arguments);
  ProfiledSteps steps;
  steps.of = options.folder;
  steps.command = commandToRepeat(*description, added);
  if (nameRemovedArrays(steps.command.arguments))
    return failure("the data of '" + options.folder +
                   "' were arrays in Python, which are kept in no file: save "
                   "them, and give the files as the run was given them, by "
                   "--data INPUT=FILE and --labels FILE");
  steps.output = valueOf("--output-dir", added);
  std::optional<RunFigures> figures =
      figuresIn(options.folder, description->traits.begun_at);
  steps.isChosen = chooseSteps(added);
  steps.schedule = figures && !steps.isChosen
                       ? scheduleFor(figures->step_ms, figures->steps + 1)
                       : scheduleFor(/*stepMs=*/0, /*mostWarm=*/0);
  if (options.arguments.empty()) { // the steps are those of the run
    SmallString<256> run(options.folder);
    sys::fs::make_absolute(run);
    steps.run = run.str().str();
    steps.figures = figures;
  }
  return runSteps(steps, /*isKnown=*/true);
}
