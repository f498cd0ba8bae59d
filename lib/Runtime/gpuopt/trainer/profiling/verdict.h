// What limits a run, by measured figures, and the flag that would help. The
// trainer prints it at the end, and `gpuopt advise` from the files of a run.
//
// This file is C++17, as the compiler is.
#pragma once

#include "gpuopt/device/time_text.h"
#include "gpuopt/trainer/profiling/key_averages.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace gpuopt {

// What is known of a run before its first step: run.json.
struct RunTraits {
  std::string target; // host or cuda
  int64_t num_workers = 0, batch_size = 1, accumulation_steps = 1;
  bool finds_workers =
      false;            // --num-workers auto: `num_workers` is what it found
  bool is_half = false; // whether parts of the model are in half precision
  // The step of the checkpoint that the run goes on from; metrics.jsonl may
  // have lines of steps before it, by another process.
  int64_t begun_at = 0;
  // The least times that a step can take by the rates of the device that the
  // program was compiled for: that of all calls, of those that the bandwidth of
  // the memory limits, and of the optimizer. 0: not known.
  int64_t launches = 0;
  double limit_ms = 0, memory_ms = 0, optimizer_ms = 0;
  // How threads waited for the next kernel in most steps: "active" or
  // "passive"; empty before the run's end, and if there was nothing to choose.
  std::string wait_policy;
  // What the system counted between the first step and the run's end: the cores
  // that the run may use, on how many of them other processes computed on
  // average, and how often in a step one of its threads had to make way for
  // another thread (involuntary context switches). 0 cores: not known.
  int64_t cores = 0;
  double other_cores = 0, preemptions = 0;
};

constexpr char kRunTraitsFile[] = "run.json";
constexpr int kRunTraitsVersion = 1;

// What was measured. Times are means of a step, without the first step.
struct RunFigures {
  int64_t steps = 0;
  double step_ms = 0, data_wait_ms = 0;
  double checkpoint_ms = 0; // for which training stood still, of a step
  // From a profile, of a step: all calls, those of the optimizer, those that
  // the bandwidth of the memory limits, and those that are hardly more than
  // their launch. Without a profile, calls_ms is 0.
  double calls_ms = 0, optimizer_ms = 0, memory_ms = 0, short_ms = 0;
  // A profiled step, and its wait for data; they are not scaled to the run's.
  double profiled_step_ms = 0, profiled_wait_ms = 0;
  // What turns times of the profile into those above.
  double profile_scale = 1;
};

struct Verdict {
  std::string bound; // "data-bound"; empty: too little is known
  std::string why;   // with the figure
  std::string help;  // the flag, and what it does
  // The share of a step's time that it saves at most, for as many samples; 0:
  // not known.
  double gain = 0;
  // Whether it is measured or estimated, and from what: "measured by the
  // profile".
  std::string basis = {};
  // Whether the flag is one of the compilation, so that a plan with it tells
  // more exactly what it saves.
  bool can_be_planned() const { return gain > 0 && bound != "data-bound"; }
};

// Whether a call is hardly more than its launch: it is very short, or short and
// far above the least time that the device could take. On the host, where a
// thread that sleeps takes tens of microseconds to wake up, a call that is
// still farther above it may be longer, unless threads waited without sleep.
// Nanoseconds; the limit is 0 if it is not known.
inline bool is_short_call(double ns, double limit_ns, const RunTraits &run) {
  constexpr double kFar = 4, kVeryFar = 10;
  const bool is_host = run.target == "host";
  const bool may_sleep = is_host && run.wait_policy != "active";
  const double very_short = is_host ? 5e3 : 1e4;
  const double factor = limit_ns > 0 ? ns / limit_ns : 0;
  return ns < very_short || (ns < 4 * very_short && factor > kFar) ||
         (may_sleep && ns < 10 * very_short && factor > kVeryFar);
}

// Returns how many bytes the device of the limits moves in a nanosecond: what
// reaches most is limited by that alone. Items have bytes and limit_ns.
template <class Items>
double bytes_per_ns(const Items &items) {
  double most = 0;
  for (const auto &item : items)
    if (item.limit_ns > 0)
      most = std::max(most, item.bytes / item.limit_ns);
  return most;
}
// Whether the bandwidth of the memory, and not arithmetic, is the limit. An
// item without a limit is of unknown work.
template <class Item>
bool is_limited_by_memory(const Item &item, double bytes_per_ns) {
  return item.limit_ns > 0 && item.bytes >= 0.99 * item.limit_ns * bytes_per_ns;
}

// Returns what turns times of a profile's calls into those of the run's steps,
// which may have been faster or slower than the profiled ones. Kernels of a GPU
// take as long in single launches, as which they are profiled, as in a graph;
// only if they take longer than a whole step of the run, they were slower.
inline double scale_to_run(const KeyAverages &profile, const RunFigures &run) {
  const double own_ns =
      1e6 * (run.step_ms - run.data_wait_ms) * double(profile.steps);
  const double profiled_ns = profile.step_ns - profile.data_wait_ns;
  const double calls_ns = profile.total_ns();
  if (own_ns <= 0 || profiled_ns <= 0)
    return 1;
  if (profile.target == "host")
    return own_ns / profiled_ns;
  return calls_ns > own_ns ? own_ns / calls_ns : 1;
}

// Adds what a profile of a run says. The figures of the run are there already.
inline void add_profile(const KeyAverages &profile, const RunTraits &run,
                        RunFigures &figures) {
  if (profile.steps == 0)
    return;
  const double bandwidth = bytes_per_ns(profile.rows);
  const double scale = scale_to_run(profile, figures);
  const double steps = double(profile.steps);
  figures.profile_scale = scale;
  figures.profiled_step_ms = profile.step_ns / 1e6 / steps;
  figures.profiled_wait_ms = profile.data_wait_ns / 1e6 / steps;
  for (const KeyAverage &row : profile.rows) {
    const double ms = scale * row.nanoseconds / 1e6 / steps;
    figures.calls_ms += ms;
    if (row.section == "optimizer")
      figures.optimizer_ms += ms;
    if (is_limited_by_memory(row, bandwidth))
      figures.memory_ms += ms;
    const double calls = double(row.calls);
    if (is_short_call(scale * row.nanoseconds / calls, row.limit_ns / calls,
                      run))
      figures.short_ms += ms;
  }
}

// Returns a note if the profiled steps were not like those of the run; else
// nothing. Waits for data, which calls do not share, do not count. The note
// says which times the verdict takes.
inline std::string describe_difference(const RunFigures &figures) {
  constexpr double kMuch = 1.2;
  const double own = figures.step_ms - figures.data_wait_ms;
  const double profiled = figures.profiled_step_ms - figures.profiled_wait_ms;
  if (own <= 0 || profiled <= 0 ||
      (profiled <= kMuch * own && own <= kMuch * profiled))
    return "";
  return "the profiled steps took " + ms_text(profiled) +
         " each and the run's steps " + ms_text(own) +
         " on average, without waits for data: the verdict takes the " +
         (figures.profile_scale == 1
              ? "times of calls as they were profiled"
              : "shares of the profile and the time of the run");
}

namespace detail {

// Whether other processes take much of the time of the run's cores.
inline bool has_others(const RunTraits &run) {
  constexpr double kMuchOfACore = 0.25;
  return run.cores > 0 && run.other_cores >= kMuchOfACore;
}
inline std::string others_text(const RunTraits &run) {
  char text[120];
  snprintf(
      text, sizeof text,
      "computed on %.1f of %lld cores (%.0f involuntary context switches a "
      "step)",
      run.other_cores, static_cast<long long>(run.cores), run.preemptions);
  return text;
}
// Returns what is said of other processes after the figure of a step whose time
// the host's cores decide.
inline std::string text_beside_figure(const RunTraits &run) {
  return has_others(run) ? ", while other processes " + others_text(run) : "";
}

inline std::string share_text(double part, double whole) {
  char text[40];
  snprintf(text, sizeof text, "%.0f %%", whole > 0 ? 100 * part / whole : 0.0);
  return text;
}
// Returns how many there are in a second: few are not rounded to whole ones.
inline std::string per_second_text(double rate) {
  char text[40];
  snprintf(text, sizeof text, rate < 10 ? "%.2f" : "%.0f", rate);
  return text;
}

inline std::string help_with_data(const RunTraits &run) {
  if (run.finds_workers)
    return "smaller files or cheaper transforms, or more cores: --num-workers "
           "auto has found that more than " +
           std::to_string(run.num_workers) + " gain nothing";
  const int64_t workers = std::max<int64_t>(2, 2 * run.num_workers);
  return "--num-workers " + std::to_string(workers) +
         ": more threads prepare batches ahead (now " +
         std::to_string(run.num_workers) + ")";
}
inline std::string help_with_updates(const RunTraits &run) {
  return "--gradient-accumulation-steps " +
         std::to_string(4 * run.accumulation_steps) +
         ": fewer updates for as many samples";
}
inline std::string help_with_launches(const RunTraits &run) {
  return "--batch-size " + std::to_string(4 * run.batch_size) +
         ": more work in each launch";
}
inline std::string help_with_memory(const RunTraits &run) {
  if (!run.is_half)
    return run.target == "host"
               ? "--precision bf16: fewer bytes, where 'gpuopt calibrate' "
                 "finds that this processor gains by it"
               : "--precision bf16: up to half the bytes";
  if (run.target == "host" && has_others(run))
    return "end the other processes: they move bytes, too";
  return "none: a step moves its bytes at what the memory gives";
}
inline std::string help_with_compute(const RunTraits &run) {
  if (run.target == "host")
    return std::string(has_others(run) ? "end the other processes"
                                       : "--num-threads") +
           ", or --target cuda on a machine with a GPU";
  return run.is_half ? "none: the products take the time"
                     : "--precision bf16: faster products";
}

} // namespace detail

// How far apart the measured time of a step and the estimated least one may be.
// What a busy device and kernels of usual quality leave of its rates is more
// than a fifth, and caches seldom give more than five times as much.
constexpr double kMostApart = 5;

// Whether the estimated least time of a step says something about the time that
// was measured, so that times of other plans may be estimated from it.
inline bool estimates_hold(const RunTraits &run, const RunFigures &measured) {
  const double computed_ms = measured.step_ms - measured.data_wait_ms;
  return run.limit_ms * kMostApart >= computed_ms &&
         run.limit_ms <= kMostApart * computed_ms;
}

namespace detail {

// Returns what likely takes the time that the device's limits do not explain.
// Where calls are short, beginning them takes part of that time.
inline std::string describe_rest(const RunTraits &run,
                                 const RunFigures &measured) {
  constexpr double kMuchWait = 0.01, kShortCallMs = 0.3;
  std::string text;
  if (has_others(run))
    text = "other processes, which " + others_text(run);
  if (measured.data_wait_ms >= kMuchWait * measured.step_ms)
    text += (text.empty() ? "" : ", ") + std::string("waiting for data (") +
            share_text(measured.data_wait_ms, measured.step_ms) + " of a step)";
  const double computed_ms = measured.step_ms - measured.data_wait_ms,
               mean_ms =
                   computed_ms / double(std::max<int64_t>(run.launches, 1));
  if (!text.empty() && (run.launches == 0 || mean_ms > kShortCallMs))
    return text;
  text += text.empty() ? "" : ", and ";
  if (run.launches == 0)
    return text + "launches and waiting";
  return text + "beginning " + std::to_string(run.launches) +
         " calls, whose mean time is " + ms_text(mean_ms);
}

inline std::string help_with_rest(const RunTraits &run, bool has_profile) {
  const std::string first =
      has_others(run) ? "end the other processes, or --num-threads: fewer"
                      : "--batch-size: more work in each launch";
  return first +
         (has_profile
              ? "; gpuopt calibrate tells "
              : "; gpuopt profile tells which calls are long, and gpuopt "
                "calibrate ") +
         "whether this device reaches its rates";
}

// Judges a step whose measured time is far from the least one that was
// estimated.
inline Verdict judge_without_limit(const RunTraits &run,
                                   const RunFigures &measured) {
  const double step = measured.step_ms;
  const bool has_profile = measured.calls_ms > 0;
  const std::string least =
      "by the rates of the device a step takes at least " +
      ms_text(run.limit_ms);
  if (run.limit_ms > step)
    return {"none",
            least + ", but it took " + ms_text(step) +
                ": they are not the rates of this device",
            "gpuopt calibrate measures them"};
  const char *kUnreached = "no limit of the device is reached";
  if (has_profile)
    return {kUnreached,
            "calls take " + ms_text(measured.calls_ms) + " of a step of " +
                ms_text(step) + ", but " + least +
                "; the rest likely goes to " + describe_rest(run, measured),
            help_with_rest(run, has_profile)};
  return {kUnreached,
          least + ", which is " + share_text(run.limit_ms, step) + " of the " +
              ms_text(step) + " that it took; the rest likely goes to " +
              describe_rest(run, measured),
          help_with_rest(run, has_profile)};
}

// Judges by the measured times and, where there is no profile, by shares of the
// estimated ones.
inline Verdict judge_by_shares(const RunTraits &run,
                               const RunFigures &measured) {
  constexpr double kMuchData = 0.1, kMuchUpdate = 0.3, kManyShort = 0.4;
  // What four times as many batches for each update save of the updates, and
  // batches of four times the size of the launches.
  constexpr double kFewer = 0.75;
  const double step = measured.step_ms;
  if (measured.steps == 0 || step <= 0)
    return {};
  if (measured.data_wait_ms >= kMuchData * step)
    return {"data-bound",
            "data wait is " + share_text(measured.data_wait_ms, step) +
                " of a step, " + ms_text(measured.data_wait_ms) + " of " +
                ms_text(step) + text_beside_figure(run),
            help_with_data(run), measured.data_wait_ms / step};
  // A run has one rank. What a step of several would wait for the others is
  // measured as its wait for data is, and belongs here.
  const bool has_profile = measured.calls_ms > 0;
  const double all = has_profile ? measured.calls_ms : run.limit_ms;
  if (all <= 0)
    return {};
  // The shares may be estimates; the time of a step is measured in any case.
  const std::string of_step =
      " of a step of " + ms_text(step) +
      (run.target == "host" ? text_beside_figure(run) : "");
  // Without a profile, a launch is short if the mean of all is.
  const double launches = double(std::max<int64_t>(run.launches, 1));
  const bool are_short =
      has_profile
          ? measured.short_ms >= kManyShort * all
          : run.launches > 0 &&
                is_short_call(1e6 * step / launches, 1e6 * all / launches, run);
  if (are_short)
    return {"launch-bound",
            has_profile
                ? "calls that are hardly more than their launch are " +
                      share_text(measured.short_ms, all) + of_step
                : std::to_string(run.launches) + " launches in a step of " +
                      ms_text(step) + text_beside_figure(run),
            help_with_launches(run), kFewer * measured.short_ms / all};
  const bool holds = run.limit_ms <= 0 || estimates_hold(run, measured);
  // Shares of a profile hold where the estimated times are too long.
  const bool has_shares = holds || (has_profile && run.limit_ms > step);
  const double updates = has_profile ? measured.optimizer_ms : run.optimizer_ms;
  if (updates >= kMuchUpdate * all && (holds || has_profile))
    return {"optimizer-bound",
            "updates are " + share_text(updates, all) + of_step,
            help_with_updates(run), kFewer * updates / all};
  if (!has_shares)
    return judge_without_limit(run, measured);
  const double memory = has_profile ? measured.memory_ms : run.memory_ms;
  if (memory >= all / 2)
    return {"memory-bound",
            "calls that the memory's bandwidth limits are " +
                share_text(memory, all) + of_step,
            help_with_memory(run), run.is_half ? 0 : memory / all / 2};
  return {"compute-bound",
          "calls that arithmetic limits are " + share_text(all - memory, all) +
              of_step,
          help_with_compute(run)};
}

} // namespace detail

// Judges a run, and says what the verdict rests on. A profile is preferred to
// estimates.
inline Verdict judge(const RunTraits &run, const RunFigures &measured) {
  Verdict verdict = detail::judge_by_shares(run, measured);
  if (verdict.bound == "data-bound")
    verdict.basis = "measured by the waits for data";
  else if (!verdict.bound.empty())
    verdict.basis = measured.calls_ms > 0
                        ? "measured by the profile"
                        : "estimated from the rates of the device";
  return verdict;
}

// Returns "verdict: compute-bound (measured by the profile)".
inline std::string describe_bound(const Verdict &verdict) {
  return "verdict: " + verdict.bound + " (" + verdict.basis + ")";
}

// Returns what the flag saves at most; nothing where that is not known.
inline std::string describe_gain(const Verdict &verdict) {
  return verdict.gain > 0
             ? "by estimate up to " + detail::share_text(verdict.gain, 1) +
                   " less time for as many samples"
             : "";
}

// Returns the line for the end of a run of seconds, which nobody has to make
// faster; nothing where too little is known.
inline std::string describe_briefly(const Verdict &verdict,
                                    const std::string &run) {
  return verdict.bound.empty() ? ""
                               : describe_bound(verdict) + "; gpuopt advise '" +
                                     run + "' says why, and what would help";
}

// Returns the line for the terminal; nothing where too little is known. Plans
// that follow tell what the flag saves, and the line does not tell it then.
inline std::string describe(const Verdict &verdict, bool plans_follow = false) {
  if (verdict.bound.empty())
    return "";
  const std::string gain =
      plans_follow && verdict.can_be_planned() ? "" : describe_gain(verdict);
  return describe_bound(verdict) + ": " + verdict.why + "; " + verdict.help +
         (gain.empty() ? "" : "; ") + gain;
}

} // namespace gpuopt
