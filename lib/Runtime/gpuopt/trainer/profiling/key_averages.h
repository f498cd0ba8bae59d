// The table of a profile: what each kernel and call takes, those that take most
// time first, as torch.profiler's key_averages().table() prints it. The trainer
// fills it in, and `gpuopt profile` reads it from profile.json again.
//
// This file is C++17, as the compiler is.
#pragma once

#include "gpuopt/device/plain_numbers.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace gpuopt {

// All executions of a kernel or a call in the steps of a profile.
struct KeyAverage {
  std::string name, nodes; // nodes: of the ONNX file, in short
  std::string section;     // of the first execution: "forward"
  int64_t calls = 0;
  double nanoseconds = 0;
  double bytes = 0, operations = 0; // of all executions; 0: not known
  double limit_ns = 0; // the least that the device could take for them
  int line = 0;        // of step.cu: the first; 0: not known
  int64_t lines = 0;   // how many different ones there are
};

struct KeyAverages {
  std::string program, target, device;
  std::string limits_device; // by whose rates limit_ns was computed
  std::string times_by;      // of a GPU: "CUPTI", or "events" and why
  int64_t steps = 0;
  double step_ns = 0;      // of all steps, from the first call to the last
  double data_wait_ns = 0; // of all steps
  std::vector<KeyAverage> rows;

  double total_ns() const {
    double total = 0;
    for (const KeyAverage &row : rows)
      total += row.nanoseconds;
    return total;
  }
  void sort() {
    std::sort(
        rows.begin(), rows.end(), [](const KeyAverage &a, const KeyAverage &b) {
          return a.nanoseconds != b.nanoseconds ? a.nanoseconds > b.nanoseconds
                                                : a.name < b.name;
        });
  }
};

namespace detail {

// Returns a time as torch.profiler prints it: 12.345us, 1.234ms or 1.234s.
inline std::string profile_time(double nanoseconds) {
  const PlainNumbers plain;
  char text[40];
  if (nanoseconds >= 1e9)
    snprintf(text, sizeof text, "%.3fs", nanoseconds / 1e9);
  else if (nanoseconds >= 1e6)
    snprintf(text, sizeof text, "%.3fms", nanoseconds / 1e6);
  else
    snprintf(text, sizeof text, "%.3fus", nanoseconds / 1e3);
  return text;
}
inline std::string fixed(double value, int digits) {
  const PlainNumbers plain;
  char text[40];
  snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}
inline std::string percent_text(double part, double whole) {
  return whole > 0 ? fixed(100 * part / whole, 2) + "%" : "-";
}
inline std::string rate_text(double amount, double nanoseconds) {
  return amount > 0 && nanoseconds > 0 ? fixed(amount / nanoseconds, 2) : "-";
}
inline std::string line_text(const KeyAverage &row) {
  if (row.line == 0)
    return "-";
  const std::string first = std::to_string(row.line);
  return row.lines > 1 ? first + " +" + std::to_string(row.lines - 1) : first;
}

using TableRow = std::vector<std::string>;

// Returns the rows in columns as wide as they need, between lines of dashes.
// Columns are aligned on the right, but for the last one.
inline std::string format_table(const std::vector<TableRow> &rows) {
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const TableRow &row : rows)
    for (size_t i = 0; i < row.size(); i++)
      widths[i] = std::max(widths[i], row[i].size());
  std::string dashes;
  for (size_t width : widths)
    dashes += std::string(width, '-') + "  ";
  dashes += "\n";
  std::string text = dashes;
  for (size_t r = 0; r < rows.size(); r++) {
    for (size_t i = 0; i < widths.size(); i++) {
      const std::string space(widths[i] - rows[r][i].size(), ' ');
      text += i + 1 < widths.size() ? space + rows[r][i] + "  " : rows[r][i];
    }
    text += "\n" + (r == 0 ? dashes : "");
  }
  return text + dashes;
}

// Explains rows of more than 100 % of the limit.
constexpr char kAboveLimit[] =
    "; above 100%, data comes from caches, or these rates are lower than this "
    "machine's, which 'gpuopt calibrate' measures";

inline std::string shortened(const std::string &text, size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

} // namespace detail

// Returns the table with the first `most` rows; 0: all of them.
inline std::string table_of(const KeyAverages &averages, size_t most = 0) {
  using namespace detail;
  constexpr size_t kNameWidth = 45, kNodesWidth = 60;
  const bool is_host = averages.target == "host";
  const std::string unit = is_host ? "CPU" : "CUDA";
  const double total = averages.total_ns(), steps = double(averages.steps);
  bool is_above = false; // whether a row is faster than the limit
  std::vector<TableRow> rows{{"Name", "Self " + unit + " %", "Self " + unit,
                              unit + " time avg", "# of Calls", "Total MB",
                              "GB/s", "Total MFLOPs", "GFLOP/s", "% of limit",
                              "step.cu", "Nodes"}};
  for (const KeyAverage &row : averages.rows) {
    if (most > 0 && rows.size() > most)
      break;
    is_above |= row.limit_ns > row.nanoseconds;
    rows.push_back(
        {shortened(row.name, kNameWidth), percent_text(row.nanoseconds, total),
         profile_time(row.nanoseconds),
         profile_time(row.nanoseconds /
                      double(std::max<int64_t>(row.calls, 1))),
         std::to_string(row.calls),
         row.bytes > 0 ? fixed(row.bytes / 1e6, 3) : "-",
         rate_text(row.bytes, row.nanoseconds),
         row.operations > 0 ? fixed(row.operations / 1e6, 3) : "-",
         rate_text(row.operations, row.nanoseconds),
         row.limit_ns > 0 ? percent_text(row.limit_ns, row.nanoseconds) : "-",
         line_text(row), shortened(row.nodes, kNodesWidth)});
  }
  std::string text = format_table(rows);
  text += "Self " + unit + " time total: " + profile_time(total) + " in " +
          std::to_string(averages.steps) + " steps, " +
          profile_time(total / steps) + " a step; a step takes " +
          profile_time(averages.step_ns / steps) + ", of which it waits " +
          profile_time(averages.data_wait_ns / steps) + " for data\n";
  for (const char *section : {"forward", "backward", "optimizer"}) {
    double time = 0;
    for (const KeyAverage &row : averages.rows)
      time += row.section == section ? row.nanoseconds : 0;
    if (time > 0)
      text += std::string(section) + ": " + profile_time(time / steps) +
              " a step, " + percent_text(time, total) + "\n";
  }
  if (!averages.limits_device.empty())
    text += "% of limit: by the rates of '" + averages.limits_device + "'" +
            (is_above ? kAboveLimit : "") + "\n";
  if (!averages.times_by.empty())
    text += "times: by " + averages.times_by + "\n";
  return text;
}

} // namespace gpuopt
