// --profile-costs-to: how long each op of a step takes, for
// gpuopt --profile-costs. docs/memory-budget.md has the format.
#pragma once

#include "gpuopt/data/json.h"
#include "gpuopt/device/atomic_file.h"
#include "gpuopt/device/plain_numbers.h"
#include "gpuopt/trainer/profiling/step_timer.h"

#include <algorithm>
#include <iomanip>
#include <map>

namespace gpuopt {

class CostProfile {
public:
  // Times `active` steps after `warmup` others.
  CostProfile(const Program &program, std::string file, int64_t warmup,
              int64_t active)
      : program(program), file(std::move(file)), warmup(warmup),
        last(warmup + active) {}

  bool covers(int64_t step) const { return step > warmup && step <= last; }
  bool ends_with(int64_t step) const { return step == last; }
  int64_t steps() const { return last; }

  // Adds the times of one run of a function.
  void add(const TimedRun &run) {
    for_each_row(program, run, [&](const TimedRow &row) {
      add(run.function.calls.data[row.index], row.nanoseconds);
    });
  }
  void end_step() {
    step_times.push_back(step_time);
    step_time = 0;
  }

  // Returns false, after a warning, if the file cannot be written: a run goes
  // on without it.
  bool write() const {
    try {
      const std::string text = json();
      AtomicFile to(file);
      to.write(text.data(), text.size());
      to.commit();
      return true;
    } catch (const Error &error) {
      fprintf(stderr,
              "%s: warning: the costs of each op are not written, and training "
              "goes on: %s\n",
              program.name, error.what());
      return false;
    }
  }

private:
  struct Op {
    std::string origin;
    std::vector<double> times;
  };

  void add(const CallInfo &call, double time) {
    const std::string origin = call.origin;
    Op &op = ops[(origin.empty() ? "" : origin + ": ") + call.work];
    op.origin = origin;
    op.times.push_back(time);
    step_time += time;
  }
  static double median(std::vector<double> values) {
    if (values.empty())
      return 0;
    std::sort(values.begin(), values.end());
    const size_t half = values.size() / 2;
    return values.size() % 2 ? values[half]
                             : (values[half - 1] + values[half]) / 2;
  }
  std::string json() const {
    PlainStream to;
    to << std::fixed << std::setprecision(1);
    to << "{\n \"model\": " << json_quoted(program.name)
       << ",\n \"target\": " << json_quoted(kTargetName)
       << ",\n \"device\": " << json_quoted(device_name())
       << ",\n \"allows_tf32\": " << (program.allows_tf32 ? "true" : "false")
       << ",\n \"batch_size\": " << program.batch_size
       << ",\n \"steps\": " << step_times.size()
       << ",\n \"median_step_ns\": " << median(step_times)
       << ",\n \"costs\": [";
    const char *separator = "\n";
    for (const auto &[key, op] : ops) {
      to << separator << "  {\"key\": " << json_quoted(key)
         << ", \"origin\": " << json_quoted(op.origin)
         << ", \"calls_per_step\": " << op.times.size() / step_times.size()
         << ", \"median_ns\": " << median(op.times) << "}";
      separator = ",\n";
    }
    to << "\n ]\n}\n";
    return to.str();
  }

  const Program &program;
  std::string file;
  int64_t warmup, last;
  std::map<std::string, Op> ops; // by key
  std::vector<double> step_times;
  double step_time = 0; // of the step so far
};

} // namespace gpuopt
