// What observes the calls of the steps of a run: --profile, --profile-costs-to,
// --nvtx and --checksums-to.
#pragma once

#include "gpuopt/trainer/profiling/call_checksums.h"
#include "gpuopt/trainer/profiling/named_ranges.h"
#include "gpuopt/trainer/profiling/profile.h"
#include "gpuopt/trainer/profiling/profile_costs.h"
#include "gpuopt/trainer/settings.h"

#include <memory>

namespace gpuopt {

class StepProfiles {
public:
  StepProfiles(const Program &program, const Settings &s)
      : program(program), s(s) {
    if (!s.profile_costs_to.empty())
      costs = std::make_unique<CostProfile>(program, s.profile_costs_to,
                                            s.profile_warmup, s.profile_active);
    // parse_settings has checked the text.
    parse_profile_schedule(s.profile, schedule);
    if (!s.profile.empty())
      profile = std::make_unique<Profile>(program, s.output_dir, schedule);
  }

  // Refuses a run of too few steps.
  void check(int64_t steps) const {
    if (costs)
      refuse_fewer("'--profile-costs-to'", steps, costs->steps(),
                   s.profile_warmup,
                   "--max-steps, --profile-warmup and --profile-active");
    if (profile)
      refuse_fewer("'--profile'", steps, schedule.cycle(),
                   schedule.wait + schedule.warmup, "--max-steps");
  }

  // Removes the profile of an earlier run, where this one replaces it.
  void begin() {
    if (s.resume.empty())
      remove_profile(s.output_dir);
    if (!s.checksums_to.empty())
      checksums = std::make_unique<CallChecksums>(program, s.checksums_to);
  }

  // Steps of the run count from 1.
  bool covers(int64_t step) const {
    return (costs && costs->covers(step)) || (profile && profile->covers(step));
  }
  // Returns what threads tell what they do; null without --profile.
  Tracer *tracer() { return profile ? profile->get_tracer() : nullptr; }

  // `number` is that of the step in all runs of the training.
  void begin_step(int64_t step, int64_t number) {
    if (checksums)
      checksums->begin_step(number);
    if (!profile)
      return;
    profile->write_if_due();
    profile->begin_step(step);
  }
  // Runs a function of the program in a step: call by call where something
  // observes its calls, and by `run` otherwise.
  template <class F>
  void run(Context &ctx, char *memory, const TimedFunction &function,
           int64_t step, F run) {
    const auto call_by_call = [&] { function.run(ctx, memory); };
    const auto run_timed = [&](auto run_untimed) {
      if (covers(step) && function.calls.count > 0)
        timer.run(ctx, memory, function);
      else
        run_untimed();
    };
    const auto run_named = [&](auto run_unnamed) {
      if (!s.nvtx)
        return run_timed(run_unnamed);
      NamedRanges ranges(function);
      const ObserverScope scope(ctx, ranges);
      run_timed(call_by_call);
    };
    if (checksums)
      checksums->run(ctx, memory, function, [&] { run_named(call_by_call); });
    else
      run_named(run);
  }
  // The device is done with the step.
  void end_step(Context &ctx, int64_t step, int64_t number,
                double data_wait_ms) {
    if (!covers(step))
      return;
    const int64_t end = trace_now(); // reading the timer takes time
    std::vector<TimedRun> runs = timer.take();
    std::vector<DeviceWork> others = timer.take_others();
    if (!covers(step + 1))
      timer.rest();
    if (costs && costs->covers(step))
      end_step_of_costs(step, runs);
    if (profile)
      profile->end_step(ctx, step,
                        {number, 0, end, data_wait_ms * 1e6, 0, std::move(runs),
                         std::move(others)},
                        timer.source());
  }
  // Returns the table so far; without --profile, an empty one.
  KeyAverages averages() const {
    return profile ? profile->averages() : KeyAverages();
  }
  // Writes and prints the profile, once.
  void end() {
    if (profile && !has_ended)
      printf("%s", profile->end().c_str());
    has_ended = true;
  }

private:
  static void refuse_fewer(const char *flag, int64_t steps, int64_t needed,
                           int64_t warmup, const char *flags) {
    if (steps >= needed)
      return;
    throw Error(std::string(flag) + " needs " + std::to_string(needed) +
                " steps, " + std::to_string(warmup) +
                " of them to warm up, but the run has " +
                std::to_string(steps) + "; see " + flags);
  }
  void end_step_of_costs(int64_t step, const std::vector<TimedRun> &runs) {
    for (const TimedRun &run : runs)
      costs->add(run);
    costs->end_step();
    if (!costs->ends_with(step))
      return;
    if (costs->write())
      printf("costs of each op: %s\n", s.profile_costs_to.c_str());
  }

  const Program &program;
  const Settings &s;
  ProfileSchedule schedule;
  std::unique_ptr<CostProfile> costs;       // or null
  std::unique_ptr<Profile> profile;         // or null
  std::unique_ptr<CallChecksums> checksums; // or null
  StepTimer timer;
  bool has_ended = false;
};

} // namespace gpuopt
