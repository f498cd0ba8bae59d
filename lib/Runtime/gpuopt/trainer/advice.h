// What a trainer tells the gpuopt that started it, by its exit status and in
// its metrics. At the end of a long run, the gpuopt that started the trainer is
// asked what other flags would have made of it: `gpuopt advise`, which plans
// with them.
#pragma once

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace gpuopt {

// The variable of the environment in which `gpuopt train` names itself.
constexpr char kAdvisorVariable[] = "GPUOPT_ADVISOR";

// Whether `gpuopt train` has started this program. If so, it has printed what
// there is to say about the classes of labels and the weights of --init-from
// before it built the program.
inline bool is_started_by_gpuopt() {
  return getenv(kAdvisorVariable) != nullptr;
}

// An exit status of a trainer, besides 0 for success and 1 for an error.
constexpr int kDiverged = 3;

// These are what may help a run that has diverged.
constexpr char kHelpAgainstDivergence[] =
    "a lower --learning-rate, --warmup-steps or a lower --max-grad-norm";

// The member "ended_by" of metrics.jsonl says one of these of a run that has no
// last line of its memory.
constexpr char kEndedByDivergence[] = "divergence";
constexpr char kEndedByError[] = "error";

// Returns how many seconds the advice may take: a fiftieth of the time that the
// steps took, and no more than a person would wait for. 0: too few to plan.
inline int64_t advice_seconds(double trained_ms) {
  constexpr double kShare = 50, kMost = 20, kLeast = 2;
  const double seconds = trained_ms / 1000 / kShare;
  return seconds < kLeast ? 0 : int64_t(std::min(seconds, kMost));
}

// Waits for the program that prints the advice on the run in a folder. Nothing
// of the run is held any more, neither the device nor the folder's lock, and
// the run has been told whole. How the advice ends does not matter to the run.
inline void print_advice(const char *advisor, const std::string &folder,
                         int64_t seconds) {
  if (!advisor || seconds <= 0)
    return;
  fflush(nullptr);
  std::string program = advisor, command = "advise", plans = "--plans-only",
              limit = "--time-limit=" + std::to_string(seconds), run = folder;
  char *arguments[] = {program.data(), command.data(), plans.data(),
                       limit.data(),   run.data(),     nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, advisor, nullptr, nullptr, arguments, environ) != 0)
    return;
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

} // namespace gpuopt
