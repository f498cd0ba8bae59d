// --profile-costs-to: how long each op of a step takes, for
// gpuopt --profile-costs. docs/memory-budget.md has the format.
#pragma once

#include "gpuopt/calls.h"
#include "gpuopt/program.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>

namespace gpuopt {

// "text" with what JSON does not take escaped.
inline std::string json_quoted(const std::string &text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) {
      quoted += c;
      continue;
    }
    char code[8];
    snprintf(code, sizeof code, "\\u%04x", unsigned(c));
    quoted += code;
  }
  return quoted + "\"";
}

class CostProfile {
public:
  // Times `active` steps after `warmup` others.
  CostProfile(const Program &program, std::string file, int64_t warmup,
              int64_t active)
      : program(program), file(std::move(file)), warmup(warmup),
        last(warmup + active) {
    const auto folder = std::filesystem::path(this->file).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder))
      throw Error("'--profile-costs-to': there is no folder '" +
                  folder.string() + "'");
  }

  bool covers(int64_t step) const { return step > warmup && step <= last; }
  bool ends_with(int64_t step) const { return step == last; }
  int64_t steps() const { return last; }

  // Runs one of the program's functions. On CUDA its launches, in no graph.
  void time(Context &ctx, char *memory, void (*function)(Context &, char *),
            const Table<CallInfo> &calls) {
    ctx.moments = &moments;
    function(ctx, memory);
    ctx.moments = nullptr;
    moments.add(ctx);
    add(moments.take(), calls);
  }
  void end_step() {
    step_times.push_back(step_time);
    step_time = 0;
  }

  void write() const {
    FILE *to = fopen(file.c_str(), "w");
    if (!to)
      fail();
    fprintf(to,
            "{\n \"model\": %s,\n \"target\": %s,\n \"device\": %s,\n"
            " \"allows_tf32\": %s,\n \"batch_size\": %lld,\n \"steps\": %zu,\n"
            " \"median_step_ns\": %.1f,\n \"costs\": [",
            json_quoted(program.name).c_str(), json_quoted(kTargetName).c_str(),
            json_quoted(device_name()).c_str(),
            program.allows_tf32 ? "true" : "false",
            static_cast<long long>(program.batch_size), step_times.size(),
            median(step_times));
    const char *separator = "\n";
    for (const auto &[key, op] : ops) {
      fprintf(to,
              "%s  {\"key\": %s, \"origin\": %s, \"calls_per_step\": %lld, "
              "\"median_ns\": %.1f}",
              separator, json_quoted(key).c_str(),
              json_quoted(op.origin).c_str(),
              static_cast<long long>(op.times.size() / step_times.size()),
              median(op.times));
      separator = ",\n";
    }
    fprintf(to, "\n ]\n}\n");
    const bool failed = ferror(to);
    if (fclose(to) != 0 || failed)
      fail();
  }

private:
  struct Op {
    std::string origin;
    std::vector<double> times;
  };

  // Consecutive times of calls to those of ops.
  void add(const std::vector<double> &times, const Table<CallInfo> &calls) {
    size_t next = 0;
    for (const CallInfo &call : calls) {
      const size_t end = next + size_t(call.count);
      if (end > times.size())
        break;
      const std::string origin = call.origin;
      Op &op = ops[(origin.empty() ? "" : origin + ": ") + call.work];
      op.origin = origin;
      op.times.push_back(std::accumulate(times.begin() + long(next),
                                         times.begin() + long(end), 0.0));
      step_time += op.times.back();
      next = end;
    }
    if (next != times.size())
      throw Error("the calls of '" + std::string(program.name) +
                  "' are not those of its calls.h");
  }
  static double median(std::vector<double> values) {
    if (values.empty())
      return 0;
    std::sort(values.begin(), values.end());
    const size_t half = values.size() / 2;
    return values.size() % 2 ? values[half]
                             : (values[half - 1] + values[half]) / 2;
  }
  [[noreturn]] void fail() const {
    throw Error("cannot write '" + file + "': " + strerror(errno));
  }

  const Program &program;
  std::string file;
  int64_t warmup, last;
  Moments moments;
  std::map<std::string, Op> ops; // by key
  std::vector<double> step_times;
  double step_time = 0; // of the step so far
};

} // namespace gpuopt
