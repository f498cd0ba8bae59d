// At the end of a long run, the gpuopt that started the trainer is asked what
// other flags would have made of it: `gpuopt advise`, which plans with them.
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

// Returns how many seconds the advice may take: a fiftieth of the time that the
// steps took, and no more than a person would wait for. 0: too few to plan.
inline int64_t advice_seconds(double trained_ms) {
  constexpr double kShare = 50, kMost = 20, kLeast = 2;
  const double seconds = trained_ms / 1000 / kShare;
  return seconds < kLeast ? 0 : int64_t(std::min(seconds, kMost));
}

// Prints the advice on the run in a folder. Returns false if there is none.
inline bool print_advice(const char *advisor, const std::string &folder,
                         int64_t seconds) {
  if (!advisor || seconds <= 0)
    return false;
  fflush(stdout);
  const std::string limit = "--time-limit=" + std::to_string(seconds);
  const char *arguments[] = {advisor,       "advise",       "--brief",
                             limit.c_str(), folder.c_str(), nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, advisor, nullptr, nullptr,
                  const_cast<char *const *>(arguments), environ) != 0)
    return false;
  int status = 0;
  pid_t ended = 0;
  do
    ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  return ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace gpuopt
