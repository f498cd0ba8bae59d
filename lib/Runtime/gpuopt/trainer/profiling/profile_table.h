// Adds up the times of a profile's calls to the rows of its table, and writes
// the table as profile.json.
#pragma once

#include "gpuopt/data/json.h"
#include "gpuopt/device/plain_numbers.h"
#include "gpuopt/trainer/profiling/key_averages.h"
#include "gpuopt/trainer/profiling/profile_files.h"
#include "gpuopt/trainer/profiling/step_timer.h"

#include <cctype>
#include <map>
#include <set>

namespace gpuopt {

namespace detail {

// Returns the text with a star for each number.
inline std::string with_stars(const std::string &text) {
  std::string pattern;
  for (size_t i = 0; i < text.size(); i++)
    if (!isdigit(static_cast<unsigned char>(text[i])))
      pattern += text[i];
    else if (i == 0 || !isdigit(static_cast<unsigned char>(text[i - 1])))
      pattern += '*';
  return pattern;
}

// Returns the one name, or what most of the names are but for their numbers.
inline std::string summary_of(const std::set<std::string> &names) {
  if (names.size() < 2)
    return names.empty() ? "" : *names.begin();
  std::map<std::string, std::set<std::string>> patterns;
  for (const std::string &name : names)
    patterns[with_stars(name)].insert(name);
  const auto most = std::max_element(patterns.begin(), patterns.end(),
                                     [](const auto &a, const auto &b) {
                                       return a.second.size() < b.second.size();
                                     });
  const std::string first =
      most->second.size() == 1 ? *most->second.begin() : most->first;
  const size_t others = patterns.size() - 1;
  return others ? first + " and " + std::to_string(others) + " more" : first;
}

} // namespace detail

class ProfileTable {
public:
  explicit ProfileTable(const Program &program) : program(program) {
    averages.program = program.name;
    averages.target = kTargetName;
    averages.device = device_name();
    averages.limits_device = program.limits_device;
  }

  // Adds one run of a function.
  void add(const TimedRun &run) {
    for_each_row(program, run, [&](const TimedRow &row) {
      const CallInfo &call = run.function.calls.data[row.index];
      static const CallWork unknown{};
      const CallWork &work = row.index < run.function.work.count
                                 ? run.function.work.data[row.index]
                                 : unknown;
      Sum &sum = sums[work.name ? work.name : call.work];
      if (sum.average.section.empty() && work.section)
        sum.average.section = work.section;
      sum.average.calls += row.count;
      sum.average.nanoseconds += row.nanoseconds;
      sum.average.bytes += work.bytes;
      sum.average.operations += work.operations;
      sum.average.limit_ns += work.limit_ns;
      if (work.line > 0)
        sum.lines.insert(work.line);
      if (*call.origin)
        sum.nodes.insert(call.origin);
    });
  }
  void end_step(double step_ns, double data_wait_ns,
                const std::string &source) {
    averages.times_by = source;
    averages.steps++;
    averages.step_ns += step_ns;
    averages.data_wait_ns += data_wait_ns;
  }

  // Returns the table so far, the longest times first.
  KeyAverages result() const {
    KeyAverages table = averages;
    for (const auto &[name, sum] : sums) {
      KeyAverage row = sum.average;
      row.name = name;
      row.nodes = detail::summary_of(sum.nodes);
      row.line = sum.lines.empty() ? 0 : *sum.lines.begin();
      row.lines = int64_t(sum.lines.size());
      table.rows.push_back(row);
    }
    table.sort();
    return table;
  }

private:
  struct Sum {
    KeyAverage average;
    std::set<int> lines;
    std::set<std::string> nodes;
  };

  const Program &program;
  KeyAverages averages;
  std::map<std::string, Sum> sums; // by the name of the row
};

// Returns profile.json; read_profile of the compiler reads it.
inline std::string json_of(const KeyAverages &averages) {
  PlainStream to;
  to.precision(15);
  to << "{\n \"format\": \"" << kProfileFormat
     << "\",\n \"version\": " << kProfileVersion
     << ",\n \"program\": " << json_quoted(averages.program)
     << ",\n \"target\": " << json_quoted(averages.target)
     << ",\n \"device\": " << json_quoted(averages.device)
     << ",\n \"limits_device\": " << json_quoted(averages.limits_device)
     << ",\n \"times_by\": " << json_quoted(averages.times_by)
     << ",\n \"steps\": " << averages.steps
     << ",\n \"step_ns\": " << averages.step_ns
     << ",\n \"data_wait_ns\": " << averages.data_wait_ns << ",\n \"rows\": [";
  const char *separator = "\n";
  for (const KeyAverage &row : averages.rows) {
    to << separator << "  {\"name\": " << json_quoted(row.name)
       << ", \"section\": " << json_quoted(row.section)
       << ", \"calls\": " << row.calls << ", \"ns\": " << row.nanoseconds
       << ", \"bytes\": " << row.bytes << ", \"flops\": " << row.operations
       << ", \"limit_ns\": " << row.limit_ns << ", \"line\": " << row.line
       << ", \"lines\": " << row.lines
       << ", \"nodes\": " << json_quoted(row.nodes) << "}";
    separator = ",\n";
  }
  to << "\n ]\n}\n";
  return to.str();
}

} // namespace gpuopt
