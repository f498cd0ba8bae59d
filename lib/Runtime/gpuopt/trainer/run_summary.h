// What a run tells of itself at its end, beside its results: the memory that it
// took, and what limits its speed.
#pragma once

#include "gpuopt/device/atomic_file.h"
#include "gpuopt/device/cpu_pressure.h"
#include "gpuopt/device/plain_numbers.h"
#include "gpuopt/device/wait_policy_names.h"
#include "gpuopt/trainer/advice.h"
#include "gpuopt/trainer/metrics.h"
#include "gpuopt/trainer/profiling/verdict.h"
#include "gpuopt/trainer/settings.h"

#include <filesystem>
#include <fstream>

namespace gpuopt {

// Adds what the calls of a function ask of the device in `count` runs of it.
inline void add_work(const Program &program, const Table<CallInfo> &calls,
                     const Table<CallWork> &work, int64_t count,
                     RunTraits &traits) {
  std::vector<CallWork> all(program.micro_step_work.begin(),
                            program.micro_step_work.end());
  all.insert(all.end(), program.update_work.begin(), program.update_work.end());
  const double bandwidth = bytes_per_ns(all);
  std::vector<int64_t> runs(size_t(calls.count), count); // of each row
  for (int row = 0; row < calls.count; row++)
    for (int i = 0; i < calls.data[row].rows; i++)
      runs[size_t(row + i)] *= calls.data[row].iterations;
  for (int row = 0; row < calls.count; row++)
    traits.launches += runs[size_t(row)] * calls.data[row].count;
  for (int i = 0; i < work.count; i++) {
    const CallWork &row = work.data[i];
    const double ms = double(runs[size_t(i)]) * row.limit_ns / 1e6;
    traits.limit_ms += ms;
    if (is_limited_by_memory(row, bandwidth))
      traits.memory_ms += ms;
    if (row.section && std::string(row.section) == "optimizer")
      traits.optimizer_ms += ms;
  }
}

inline RunTraits traits_of(const Program &program, const Settings &s) {
  RunTraits traits;
  traits.target = kTargetName;
  traits.finds_workers = s.num_workers == kAuto;
  traits.num_workers = traits.finds_workers ? 1 : s.num_workers;
  traits.batch_size = program.batch_size;
  traits.accumulation_steps = program.accumulation_steps;
  traits.is_half = find_state(program, StateKind::HalfCopy) != nullptr;
  add_work(program, program.micro_step_calls, program.micro_step_work,
           program.accumulation_steps, traits);
  add_work(program, program.update_calls, program.update_work, 1, traits);
  return traits;
}

// Returns the command that runs in this process; empty where the system does
// not tell it. The program is named by its whole path.
inline std::vector<std::string> command_of_process() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> command;
  for (std::string argument; std::getline(file, argument, '\0');)
    command.push_back(in_its_place(argument));
  std::error_code code;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", code);
  if (code || command.empty())
    return {};
  command[0] = program.string();
  return command;
}

// Returns run.json; `gpuopt advise` and `gpuopt profile` read it.
inline std::string json_of(const RunTraits &traits) {
  PlainStream to;
  std::string command;
  for (const std::string &argument : command_of_process())
    command += (command.empty() ? "" : ", ") + json_quoted(argument);
  std::error_code code;
  const std::string folder = std::filesystem::current_path(code).string();
  to << "{\n \"version\": " << kRunTraitsVersion
     << ",\n \"target\": " << json_quoted(traits.target)
     << ",\n \"num_workers\": " << traits.num_workers
     << ",\n \"finds_workers\": " << (traits.finds_workers ? "true" : "false")
     << ",\n \"batch_size\": " << traits.batch_size
     << ",\n \"accumulation_steps\": " << traits.accumulation_steps
     << ",\n \"is_half\": " << (traits.is_half ? "true" : "false")
     << ",\n \"begun_at\": " << traits.begun_at
     << ",\n \"launches\": " << traits.launches
     << ",\n \"limit_ms\": " << traits.limit_ms
     << ",\n \"memory_ms\": " << traits.memory_ms
     << ",\n \"optimizer_ms\": " << traits.optimizer_ms
     << ",\n \"wait_policy\": " << json_quoted(traits.wait_policy)
     << ",\n \"cores\": " << traits.cores
     << ",\n \"other_cores\": " << traits.other_cores
     << ",\n \"preemptions\": " << traits.preemptions
     << ",\n \"folder\": " << json_quoted(folder) << ",\n \"command\": ["
     << command << "]\n}\n";
  return to.str();
}

class RunSummary {
public:
  RunSummary(Context &ctx, const Program &program, const Settings &s)
      : program(program), folder(s.output_dir), is_quiet(s.quiet),
        traits(traits_of(program, s)), memory(ctx) {}

  // The run goes on after `step` steps.
  void begin_at(int64_t step) { traits.begun_at = step; }

  // The first step is not like the others: caches are cold, and libraries
  // choose their algorithms.
  void step(double step_ms, double data_wait_ms, int num_workers) {
    if (traits.num_workers != num_workers) { // of --num-workers auto
      traits.num_workers = num_workers;
      if (!is_first)
        write();
    }
    if (is_first) {
      memory.end();
      write();
      is_first = false;
      first_step_ms = step_ms;
      counters = CpuCounters::now();
      return;
    }
    figures.steps++;
    figures.step_ms += step_ms;
    figures.data_wait_ms += data_wait_ms;
  }
  // Returns the mean time of the steps so far, as the verdict, the report and
  // `gpuopt watch` count it: without the first, unless there is no other.
  double mean_step_ms() const {
    return figures.steps > 0 ? figures.step_ms / double(figures.steps)
                             : first_step_ms;
  }
  void checkpoint(double stall_ms) { figures.checkpoint_ms += stall_ms; }
  MemoryWatch &get_memory() { return memory; }

  // A run that was interrupted does not wait for advice.
  void end(Metrics &metrics, int64_t step, const KeyAverages &profile,
           WaitPolicy waited, bool is_interrupted) {
    if (waited != WaitPolicy::Auto)
      traits.wait_policy = name_of(waited);
    take_use_of_cores();
    if (!is_first)
      write();
    const MemoryFigures taken = memory.figures(program);
    metrics.memory(step, taken);
    printf("%s\n", describe(taken).c_str());
    if (figures.steps == 0)
      return;
    RunFigures means = figures;
    for (double *sum :
         {&means.step_ms, &means.data_wait_ms, &means.checkpoint_ms})
      *sum /= double(figures.steps);
    if (!is_interrupted && !is_quiet)
      seconds_for_advice = advice_seconds(figures.step_ms);
    add_profile(profile, traits, means);
    const bool plans_follow =
        seconds_for_advice > 0 && getenv(kAdvisorVariable);
    if (const std::string note = describe_difference(means); !note.empty())
      printf("note: %s\n", note.c_str());
    const Verdict verdict = judge(traits, means);
    // Who asks for a profile wants to know.
    const std::string text = is_short() && means.calls_ms == 0
                                 ? describe_briefly(verdict, folder)
                                 : describe(verdict, plans_follow);
    if (!text.empty())
      printf("%s\n", text.c_str());
  }

  // How long advice on the run that has ended may take; 0: there is none.
  int64_t advice() const { return seconds_for_advice; }

private:
  // Whether the steps of this process took seconds, and not minutes.
  bool is_short() const {
    constexpr double kMostMs = 30e3;
    return first_step_ms + figures.step_ms < kMostMs;
  }
  void take_use_of_cores() {
    if (figures.steps == 0)
      return;
    const CoreUse use = CoreUse::between(counters, CpuCounters::now());
    traits.cores = use.cores;
    traits.other_cores = use.other_cores;
    traits.preemptions = use.preemptions / double(figures.steps);
  }
  // A run goes on without it.
  void write() const {
    try {
      const std::string text = json_of(traits);
      AtomicFile file(folder + "/" + kRunTraitsFile);
      file.write(text.data(), text.size());
      file.commit();
    } catch (const Error &error) {
      fprintf(stderr, "%s: warning: %s\n", program.name, error.what());
    }
  }

  const Program &program;
  const std::string folder; // of the results
  const bool is_quiet;
  RunTraits traits;
  MemoryWatch memory;
  RunFigures figures;   // sums
  CpuCounters counters; // at the end of the first step
  bool is_first = true;
  double first_step_ms = 0;
  int64_t seconds_for_advice = 0;
};

} // namespace gpuopt
