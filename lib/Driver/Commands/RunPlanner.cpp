//===- RunPlanner.cpp - Plans of a run's program with other flags ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/RunPlanner.h"

#include "Build/PlanKey.h"
#include "Files/JoinPath.h"
#include "Files/ScratchFolder.h"
#include "Files/SourceModel.h"
#include "Flags/FlagGroups.h"
#include "Report/FlagDiff.h"
#include "Report/FlagList.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace gpuopt;

static StringRef flagName(StringRef word) {
  return word.split('=').first.ltrim('-');
}

/// Returns the flags of a command that `gpuopt plan` takes, each with its value
/// in one word, and no model.
static std::vector<std::string> flagsOfPlan(ArrayRef<std::string> command) {
  StringSet<> isOfPlan;
  for (const ListedFlag &flag : flagsOf(planCommand()))
    isOfPlan.insert(flag.name);
  std::vector<std::string> flags = flagWords(command);
  erase_if(flags,
           [&](StringRef flag) { return !isOfPlan.contains(flagName(flag)); });
  return flags;
}

Expected<RunPlanner> RunPlanner::create(StringRef run, const json::Object &plan,
                                        const RunCommand &command,
                                        int64_t seconds) {
  const json::Array *compiled = plan.getArray("command");
  if (!compiled || compiled->size() < 2)
    return createStringError("the plan does not say how it was made");
  Expected<std::string> model = findSourceModel(run);
  if (!model && !command.arguments.empty() &&
      sys::path::is_absolute(command.arguments.front())) {
    // A trainer that was built by hand is in a folder of its program.
    consumeError(model.takeError());
    model = findSourceModel(sys::path::parent_path(command.arguments.front()));
  }
  if (!model)
    return model.takeError();
  if (!sys::fs::exists(*model))
    return createStringError("the model '" + *model + "' is no longer there");
  std::vector<std::string> words{*model};
  for (std::string &flag : flagsOfPlan(wordsOf(*compiled)))
    words.push_back(std::move(flag));
  return RunPlanner(command.folder, std::move(words), seconds);
}

RunPlanner RunPlanner::of(StringRef model, ArrayRef<std::string> commandLine,
                          int64_t seconds) {
  std::vector<std::string> words{model.str()};
  for (std::string &flag : flagsOfPlan(commandLine))
    words.push_back(std::move(flag));
  return RunPlanner(/*folder=*/"", std::move(words), seconds);
}

int64_t RunPlanner::secondsLeft() const {
  return std::chrono::ceil<std::chrono::seconds>(end - Clock::now()).count();
}

Expected<json::Object> RunPlanner::plan(ArrayRef<std::string> flags) const {
  std::vector<std::string> command{words.front(), "--skip-smallest-budget"};
  for (StringRef word : ArrayRef(words).drop_front())
    if (none_of(flags, [&](StringRef flag) {
          return flagName(flag) == flagName(word);
        }))
      command.push_back(word.str());
  for (StringRef flag : flags)
    if (flag.contains('='))
      command.push_back(flag.str());
  return execute(std::move(command));
}

std::string RunPlanner::key() const { return planKey(folder, words); }

static constexpr StringLiteral kErrorPrefix = "gpuopt: error: ";

static std::string textOf(const std::string &file) {
  auto buffer = MemoryBuffer::getFile(file);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

/// Runs a command in a folder. Returns its status, or less than 0 if it could
/// not be run or did not end in time.
static int runIn(const std::string &folder, const std::string &program,
                 ArrayRef<std::string> command,
                 ArrayRef<std::optional<StringRef>> redirects,
                 int64_t seconds) {
  SmallString<256> before;
  if (sys::fs::current_path(before) ||
      (!folder.empty() && sys::fs::set_current_path(folder)))
    return -1;
  SmallVector<StringRef> arguments(command.begin(), command.end());
  int status = sys::ExecuteAndWait(program, arguments, std::nullopt, redirects,
                                   unsigned(seconds));
  (void)sys::fs::set_current_path(before);
  return status;
}

Expected<json::Object>
RunPlanner::execute(std::vector<std::string> flags) const {
  auto isLate = [&] {
    return createStringError("planning took longer than --time-limit, " +
                             std::to_string(seconds) + " s");
  };
  if (isOver())
    return isLate();
  SmallString<128> temporary;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, temporary);
  Expected<ScratchFolder> scratch =
      ScratchFolder::create(joinPath(temporary, "gpuopt-plan"));
  if (!scratch)
    return scratch.takeError();
  static int anchor; // an address in this program
  std::string gpuopt = sys::fs::getMainExecutable("gpuopt", &anchor);
  std::vector<std::string> command{gpuopt, "plan"};
  command.insert(command.end(), flags.begin(), flags.end());
  command.push_back("--json");
  std::string out = scratch->pathOf("out"), err = scratch->pathOf("err");
  int status =
      runIn(folder, gpuopt, command, {"", StringRef(out), StringRef(err)},
            std::max<int64_t>(1, secondsLeft())); // 0: without limit
  if (isOver())
    return isLate();
  if (status != 0 && status != 2) { // 2: the budget cannot be met
    std::string text = textOf(err);
    StringRef from = text; // before an error there may be notes
    from = from.substr(std::min(from.find(kErrorPrefix), from.size()));
    from.consume_front(kErrorPrefix);
    return createStringError("gpuopt plan: " + from.split('\n').first);
  }
  Expected<json::Value> value = readJson(out);
  if (!value)
    return value.takeError();
  json::Object *object = value->getAsObject();
  return object ? std::move(*object) : json::Object();
}
