// At the end of a long run, the gpuopt that started the trainer is asked what
// other flags would have made of it: `gpuopt advise`, which plans with them.
#pragma once

#include <unistd.h>

#include <algorithm>
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

// Becomes the program that prints the advice on the run in a folder. Nothing of
// the run is held any more, neither the device nor the folder's lock, and the
// run has been told whole. Returns if there is no advice.
inline void become_advisor(const char *advisor, const std::string &folder,
                           int64_t seconds) {
  if (!advisor || seconds <= 0)
    return;
  fflush(nullptr);
  const std::string limit = "--time-limit=" + std::to_string(seconds);
  execl(advisor, advisor, "advise", "--plans-only", limit.c_str(),
        folder.c_str(), nullptr);
}

} // namespace gpuopt
