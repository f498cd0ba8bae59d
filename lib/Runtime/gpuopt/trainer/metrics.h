// metrics.jsonl has one JSON object in each line, and whole lines at any time.
// The first line replaces the file of an earlier run, or what it has of later
// steps if this run goes on from it; a run that is interrupted before its first
// step leaves that file as it is. Lines that cannot be written are left out,
// with one warning.
#pragma once

#include "gpuopt/data/json.h"
#include "gpuopt/device/atomic_file.h"
#include "gpuopt/device/plain_numbers.h"
#include "gpuopt/device/write_at.h"
#include "gpuopt/optimizers/optimizer.h"
#include "gpuopt/trainer/eval_metrics.h"
#include "gpuopt/trainer/profiling/memory_report.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstdarg>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace gpuopt {

constexpr char kMetricsFile[] = "metrics.jsonl";

// Waits until the lines that were written are on the disk. A folder without the
// file has nothing to wait for.
inline void sync_metrics(const std::string &output_dir) {
  const std::string path = output_dir + "/" + kMetricsFile;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return;
  const bool is_synced = is_on_disk(file);
  const std::string why = strerror(errno);
  close(file);
  if (!is_synced)
    throw Error("cannot write '" + path + "': " + why);
}

class Metrics {
public:
  // With `has_muon`, a step's line has the learning rate of muon, too. The
  // lines of an earlier file stay up to `last_kept`, a step.
  Metrics(const std::string &output_dir, bool has_muon, int64_t last_kept = 0)
      : path(output_dir + "/" + kMetricsFile), has_muon(has_muon),
        last_kept(last_kept) {}
  ~Metrics() {
    if (file >= 0)
      close(file);
  }
  Metrics(const Metrics &) = delete;
  Metrics &operator=(const Metrics &) = delete;

  // `parts` are the losses of several outputs. `state` is the state after the
  // step, in a program that scales its loss or one that does not.
  void step(int64_t step, double loss, const std::vector<MetricValue> &parts,
            const StepState &state, double step_ms, double data_wait_ms,
            size_t allocated_bytes) {
    const PlainNumbers plain;
    const LossScaler &scaler = state.scaler;
    char muon[64] = "";
    if (has_muon)
      snprintf(muon, sizeof muon, "\"muon_learning_rate\": %.9g, ",
               state.muon_learning_rate);
    line("{\"step\": %lld, \"loss\": %s%s, \"learning_rate\": %.9g, %s"
         "\"grad_norm\": %s, \"loss_scale\": %.9g, \"skipped_steps\": %lld, "
         "\"step_ms\": %.3f, \"data_wait_ms\": %.3f, \"allocated_bytes\": "
         "%zu}\n",
         static_cast<long long>(step), number(loss).c_str(),
         members("", parts).c_str(), state.learning_rate, muon,
         number(state.grad_norm).c_str(), scaler.factor(),
         static_cast<long long>(scaler.skipped_steps), step_ms, data_wait_ms,
         allocated_bytes);
  }
  void evaluation(int64_t step, double loss,
                  const std::vector<MetricValue> &measured) {
    line("{\"step\": %lld, \"eval_loss\": %s%s}\n",
         static_cast<long long>(step), number(loss).c_str(),
         members("eval_", measured).c_str());
  }
  // `stall_ms` is the time for which training stood still.
  void checkpoint(int64_t step, double stall_ms) {
    line("{\"step\": %lld, \"checkpoint_stall_ms\": %.3f}\n",
         static_cast<long long>(step), stall_ms);
  }

  // What has ended a run in place of its last step.
  void ended(int64_t step, const char *by) {
    line("{\"step\": %lld, \"ended_by\": \"%s\"}\n",
         static_cast<long long>(step), by);
  }

  // What a run has taken of memory, at its end.
  void memory(int64_t step, const MemoryFigures &figures) {
    std::string phases;
    for (size_t i = 0; i < kMemoryPhases; i++) {
      const MemoryFigures::OfPhase &bytes = figures.phases[i];
      const std::string name = name_of(MemoryPhase(i));
      if (bytes.peak > 0)
        phases += ", \"" + name +
                  "_planned_bytes\": " + std::to_string(bytes.planned) +
                  ", \"" + name +
                  "_peak_bytes\": " + std::to_string(bytes.peak);
    }
    line("{\"step\": %lld, \"planned_bytes\": %zu, \"persistent_bytes\": %zu, "
         "\"arena_bytes\": %zu, \"peak_bytes\": %zu, \"beside_plan_bytes\": "
         "%zu, \"peak_host_bytes\": %zu%s}\n",
         static_cast<long long>(step), figures.planned, figures.persistent,
         figures.arena, figures.peak, figures.beside(), figures.peak_host,
         phases.c_str());
  }

  // Whether an error ended the earlier course of a run that goes on after this
  // step, before there was a validation.
  bool lacks_evaluation(int64_t step) const {
    return !has_evaluation(step) &&
           has_line(step, std::string("\"ended_by\": \"") + kEndedByError);
  }
  // Whether the earlier course has a validation after this step.
  bool has_evaluation(int64_t step) const {
    return has_line(step, "\"eval_loss\": ");
  }

  // Cuts an earlier file to what stays of it, for a run that adds no line.
  void cut() {
    std::error_code code;
    if (file < 0 && std::filesystem::exists(path, code))
      begin_file();
  }

  // Waits until all lines are on the disk.
  void end() const {
    try {
      if (file >= 0)
        sync_metrics(std::filesystem::path(path).parent_path());
    } catch (const Error &error) {
      fprintf(stderr, "warning: %s\n", error.what());
    }
  }

private:
  // Returns whether the earlier course has a line of this step that goes on
  // with `next`.
  bool has_line(int64_t step, const std::string &next) const {
    const std::string begin =
        "{\"step\": " + std::to_string(step) + ", " + next;
    std::ifstream earlier(path);
    for (std::string text; last_kept > 0 && std::getline(earlier, text);)
      if (text.rfind(begin, 0) == 0)
        return true;
    return false;
  }
  // JSON has no NaN and no infinity.
  static std::string number(double value) {
    const PlainNumbers plain;
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    return std::isfinite(value) ? text : "null";
  }
  // Returns ", "PREFIXNAME": VALUE" for each value.
  static std::string members(const std::string &prefix,
                             const std::vector<MetricValue> &values) {
    std::string text;
    for (const auto &[name, value] : values)
      text += ", " + json_quoted(prefix + name) + ": " + number(value);
    return text;
  }
  void begin_file() {
    bytes = kept_bytes();
    file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || ftruncate(file, bytes) != 0)
      throw Error("cannot write '" + path + "': " + strerror(errno));
  }
  // Returns how many bytes of the earlier file stay. Its steps ascend.
  off_t kept_bytes() const {
    std::ifstream earlier(path);
    off_t kept = 0;
    for (std::string text; last_kept > 0 && std::getline(earlier, text);) {
      int64_t step = 0;
      const bool is_line =
          sscanf(text.c_str(), "{\"step\": %" SCNd64, &step) == 1;
      if (!is_line || step > last_kept || earlier.eof())
        break;
      kept += off_t(text.size()) + 1;
    }
    return kept;
  }
  __attribute__((format(printf, 2, 3))) void line(const char *format, ...) {
    if (file < 0)
      begin_file();
    const PlainNumbers plain;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int size = vsnprintf(nullptr, 0, format, arguments);
    std::string text(size_t(size) + 1, '\0'); // names may be long
    vsnprintf(text.data(), text.size(), format, again);
    va_end(again);
    va_end(arguments);
    // What is left of a line that did not fit goes first: a shorter one would
    // not cover it.
    text.resize(size_t(size));
    const std::string why = has_rest && ftruncate(file, bytes) != 0
                                ? strerror(errno)
                                : write_at(file, text, bytes);
    if (!why.empty())
      return leave_out(why);
    bytes += size;
    has_rest = false;
  }
  // Removes what was written of a line, at once or before the next line.
  void leave_out(const std::string &why) {
    if (!has_warned)
      fprintf(stderr, "warning: '%s' lacks steps, and training goes on: %s\n",
              path.c_str(), why.c_str());
    has_warned = true;
    has_rest = ftruncate(file, bytes) != 0;
  }

  std::string path;
  bool has_muon;
  int64_t last_kept;
  int file = -1;         // until the first line
  off_t bytes = 0;       // of whole lines
  bool has_rest = false; // behind them, of a line that was left out
  bool has_warned = false;
};

} // namespace gpuopt
