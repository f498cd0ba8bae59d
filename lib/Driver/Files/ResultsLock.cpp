//===- ResultsLock.cpp - One training at a time in a folder ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/ResultsLock.h"

#include "gpuopt/trainer/earlier_results.h"
#include "gpuopt/trainer/output_folder.h"
#include "llvm/Support/Signals.h"

#include <csignal>
#include <sys/wait.h>

using namespace gpuopt;

namespace {

/// Has a signal that ends this program remove the folder of an overwriting run
/// first. What was there before takes the signal then.
class RemovalAtSignals {
public:
  static void install(const std::string &output) {
    next = detail::next_folder(output);
    removed = output + "/" + kRemovedFolder;
    inRemoved = removed + "/next";
    llvm::sys::SetInterruptFunction(nullptr); // LLVM takes signals before this
    for (int number : {SIGHUP, SIGINT, SIGTERM}) {
      struct sigaction action = {};
      action.sa_handler = handle;
      sigaction(number, &action, &before[number]);
    }
  }

private:
  /// Calls nothing but what a handler may. The folder is out of the way at once
  /// by its new name; whatever stays under that goes with the next training.
  static void handle(int number) {
    if (rename(next.c_str(), removed.c_str()))
      rename(next.c_str(), inRemoved.c_str());
    if (const pid_t child = fork(); child == 0) {
      execl("/bin/rm", "rm", "-rf", removed.c_str(), nullptr);
      _exit(1);
    } else if (child > 0) {
      waitpid(child, nullptr, 0);
    }
    sigaction(number, &before[number], nullptr);
    raise(number);
  }

  static inline std::string next, removed, inRemoved;
  static inline struct sigaction before[NSIG];
};

} // namespace

std::string gpuopt::lockResults(const std::string &folder,
                                const std::string &resume,
                                std::shared_ptr<void> &lock, bool &restarts) {
  try {
    lock = std::make_shared<OutputFolder>(folder);
    const Recovery recovery = recover_results(folder, resume);
    restarts = recovery.restarts;
    if (!recovery.text.empty())
      fprintf(stderr, "gpuopt: note: %s\n", recovery.text.c_str());
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

bool gpuopt::areResultsLocked(const std::string &folder) {
  return OutputFolder::is_locked(folder);
}

std::string gpuopt::createNextFolder(const std::string &results, bool restarts,
                                     std::shared_ptr<void> &created,
                                     std::string &problem) {
  try {
    auto earlier = std::make_shared<EarlierResults>(results, "", "", "gpuopt");
    if (!restarts)
      RemovalAtSignals::install(results);
    earlier->begin(restarts);
    created = std::move(earlier);
  } catch (const std::exception &error) {
    problem = error.what();
  }
  return detail::next_folder(results);
}
