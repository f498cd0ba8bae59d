// The share of the processor that a container's limit leaves to this process.
#pragma once

#include "gpuopt/device/plain_numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sched.h>
#include <sstream>
#include <string>
#include <thread>

namespace gpuopt {

namespace detail {

constexpr double kNoQuota = std::numeric_limits<double>::infinity();

// Returns the cores that "QUOTA PERIOD", both in microseconds, amounts to. The
// quota "max" (version 2 of control groups) or -1 (version 1) sets no limit.
inline double quota_of(const std::string &quota, const std::string &period) {
  const double allowed = read_number(quota.c_str(), nullptr);
  const double every = read_number(period.c_str(), nullptr);
  return allowed > 0 && every > 0 ? allowed / every : kNoQuota;
}

inline double quota_of_group(const std::string &folder) {
  std::string quota, period;
  if (std::ifstream file(folder + "/cpu.max"); file >> quota >> period)
    return quota_of(quota, period);
  std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
  std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  return quota_of(quota, period);
}

} // namespace detail

// Returns how many cores' worth of time the control groups of this process
// allow it, infinity where they set no limit. `groups` is the file that names
// the groups, a line "NUMBER:CONTROLLERS:PATH" for each hierarchy; `root` is
// where the hierarchies are mounted. A group's limit binds all groups below
// it, so the least one on the way to the root counts.
inline double cpu_quota(const std::string &groups = "/proc/self/cgroup",
                        const std::string &root = "/sys/fs/cgroup") {
  double least = detail::kNoQuota;
  std::ifstream file(groups);
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    std::string controllers = ",";
    controllers += line.substr(first + 1, second - first - 1);
    controllers += ',';
    std::string mount = root;
    if (controllers.find(",cpu,") != std::string::npos)
      mount += "/cpu";
    else if (controllers != ",,")
      continue; // a hierarchy of version 1 that limits something else
    std::string path = line.substr(second + 1);
    while (true) {
      least = std::fmin(least, detail::quota_of_group(mount + path));
      if (path.empty() || path == "/")
        break;
      path.resize(path.rfind('/'));
    }
  }
  return least;
}

// Returns how many of `threads` threads can run at once under the limit of a
// container: more of them would only take turns.
inline int threads_within_quota(int threads, double quota) {
  return quota < threads ? std::max(1, int(std::ceil(quota))) : threads;
}

// Returns how many threads can run at once on the cores that the calling thread
// may use.
inline int cores_within_quota() {
  cpu_set_t allowed;
  const int cores = sched_getaffinity(0, sizeof allowed, &allowed) == 0
                        ? CPU_COUNT(&allowed)
                        : int(std::thread::hardware_concurrency());
  return threads_within_quota(std::max(1, cores), cpu_quota());
}

// Returns the number of threads that OMP_NUM_THREADS asks for, the first of its
// list, or 0 if it is not set or is not understood; OpenMP ignores it then.
inline int threads_of_environment() {
  const char *variable = getenv("OMP_NUM_THREADS");
  if (!variable)
    return 0;
  std::string text = variable;
  text.resize(std::min(text.find(','), text.size()));
  text.erase(0, text.find_first_not_of(" \t"));
  text.resize(text.find_last_not_of(" \t") + 1);
  int threads = 0;
  const char *const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, threads);
  return error == std::errc() && stop == end ? std::max(0, threads) : 0;
}

} // namespace gpuopt
