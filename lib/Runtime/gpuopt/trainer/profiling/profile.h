// --profile: times the calls of some steps, and writes a table and a trace.
#pragma once

#include "gpuopt/device/atomic_file.h"
#include "gpuopt/device/memory_use.h"
#include "gpuopt/settings/profile_schedule.h"
#include "gpuopt/trainer/profiling/chrome_trace.h"
#include "gpuopt/trainer/profiling/profile_table.h"

#include <filesystem>

namespace gpuopt {

// Removes what an earlier run has left of a profile, which is not of this one.
inline void remove_profile(const std::string &output_dir) {
  const auto folder = std::filesystem::path(output_dir) / kProfileFolder;
  std::error_code code;
  for (const char *file : {kTraceFile, kTableFile, kProfileFile})
    std::filesystem::remove(folder / file, code);
  std::filesystem::remove(folder, code); // unless it has other files
}

class Profile {
public:
  Profile(const Program &program, const std::string &output_dir,
          const ProfileSchedule &schedule)
      : program(program), schedule(schedule),
        folder(output_dir + "/" + kProfileFolder), table(program),
        origin(trace_now()) {}

  // Steps of the run count from 1.
  bool covers(int64_t step) const { return schedule.covers(step); }
  Tracer *get_tracer() { return &tracer; }

  void begin_step(int64_t step) {
    tracer.record(schedule.is_active(step));
    begin = trace_now();
  }
  // Adds a step, of which its begin and the memory are not known yet. `source`
  // says what told the times.
  void end_step(Context &ctx, int64_t step, TracedStep traced,
                const std::string &source) {
    if (!schedule.is_active(step))
      return;
    traced.begin = begin;
    table.end_step(double(traced.end - traced.begin), traced.data_wait_ns,
                   source);
    for (const TimedRun &run : traced.runs) {
      table.add(run);
      traced_calls += int64_t(run.calls.size());
    }
    traced.used_bytes = double(used_bytes(ctx));
    has_news = true;
    if (traced_calls > kMostTracedCalls)
      left_out++;
    else
      steps.push_back(std::move(traced));
    // Checkpoints and validations after the step are recorded, too.
    if (schedule.ends_cycle(step))
      is_due = true;
  }
  // Writes the files if a cycle has ended before this step, so that a run that
  // is killed has them. All cycles are written each time: writing takes a
  // twentieth of the time at most.
  void write_if_due() {
    constexpr int64_t kShare = 20;
    if (!is_due || trace_now() < next_write)
      return;
    const int64_t start = trace_now();
    write();
    next_write = trace_now() + kShare * (trace_now() - start);
  }
  // Writes the files; returns the table for the terminal, or nothing if no step
  // was profiled. It has all rows if they are in no file.
  std::string end() {
    tracer.record(false);
    if (has_news)
      write();
    const KeyAverages averages = table.result();
    if (averages.steps == 0)
      return "";
    constexpr size_t kMostPrinted = 20;
    if (!is_written)
      return table_of(averages);
    std::string text = table_of(averages, kMostPrinted);
    if (averages.rows.size() > kMostPrinted)
      text += std::to_string(averages.rows.size() - kMostPrinted) +
              " rows more are in " + folder + "/" + kTableFile + "\n";
    return text + "profile: " + folder + "/" + kTraceFile + " for " +
           "https://ui.perfetto.dev or TensorBoard" + note() + "\n";
  }
  KeyAverages averages() const { return table.result(); }

private:
  static constexpr int64_t kMostTracedCalls = 250000;

  // A run goes on without the files, with one warning.
  void write() {
    tracer.record(false);
    is_due = has_news = false;
    try {
      write_files();
      is_written = true;
    } catch (const Error &error) {
      is_written = false;
      if (!has_warned)
        fprintf(stderr,
                "%s: warning: the profile is not written, and the run goes on "
                "without it: %s\n",
                program.name, error.what());
      has_warned = true;
    }
  }
  void write_files() const {
    std::error_code code;
    std::filesystem::create_directories(folder, code);
    ChromeTrace trace(program, origin);
    for (const TracedStep &step : steps)
      trace.add(step);
    for (const TracedSpan &span : tracer.copy())
      trace.add(span);
    write_file(kTraceFile, trace.end());
    const KeyAverages averages = table.result();
    write_file(kTableFile, table_of(averages));
    write_file(kProfileFile, json_of(averages));
  }
  void write_file(const char *name, const std::string &text) const {
    AtomicFile file(folder + "/" + name);
    file.write(text.data(), text.size());
    file.commit();
  }
  std::string note() const {
    return left_out ? "; it has the first " + std::to_string(steps.size()) +
                          " steps, and the table all " +
                          std::to_string(steps.size() + size_t(left_out))
                    : "";
  }

  const Program &program;
  const ProfileSchedule schedule;
  const std::string folder;
  ProfileTable table;
  Tracer tracer;
  std::vector<TracedStep> steps;
  int64_t origin, next_write = 0, begin = 0, traced_calls = 0, left_out = 0;
  bool is_due = false, has_news = false;
  bool is_written = false; // whether the last write succeeded
  bool has_warned = false; // whether a failed write has been told
};

} // namespace gpuopt
