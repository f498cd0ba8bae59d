// metrics.jsonl has one JSON object in each line, and whole lines at any time.
// The first line replaces the file of an earlier run; a run that ends before
// its first step leaves that file as it is.
#pragma once

#include "gpuopt/optimizers/optimizer.h"

#include <cerrno>
#include <cmath>
#include <cstdarg>

namespace gpuopt {

class Metrics {
public:
  // With `has_muon`, a step's line has the learning rate of muon, too.
  Metrics(const std::string &path, bool has_muon)
      : path(path), has_muon(has_muon) {}
  ~Metrics() {
    if (file)
      fclose(file);
  }
  Metrics(const Metrics &) = delete;
  Metrics &operator=(const Metrics &) = delete;

  // `state` is the state after the step, in a program that scales its loss or
  // one that does not.
  void step(int64_t step, double loss, const StepState &state, double step_ms,
            double data_wait_ms, size_t allocated_bytes) {
    const LossScaler &scaler = state.scaler;
    char muon[64] = "";
    if (has_muon)
      snprintf(muon, sizeof muon, "\"muon_learning_rate\": %.9g, ",
               state.muon_learning_rate);
    line("{\"step\": %lld, \"loss\": %s, \"learning_rate\": %.9g, %s"
         "\"grad_norm\": %s, \"loss_scale\": %.9g, \"skipped_steps\": %lld, "
         "\"step_ms\": %.3f, \"data_wait_ms\": %.3f, \"allocated_bytes\": "
         "%zu}\n",
         static_cast<long long>(step), number(loss).c_str(),
         state.learning_rate, muon, number(state.grad_norm).c_str(),
         scaler.scale > 0 ? double(scaler.scale) : 1.0,
         static_cast<long long>(scaler.skipped_steps), step_ms, data_wait_ms,
         allocated_bytes);
  }
  void evaluation(int64_t step, double loss) {
    line("{\"step\": %lld, \"eval_loss\": %s}\n", static_cast<long long>(step),
         number(loss).c_str());
  }

private:
  // JSON has no NaN and no infinity.
  static std::string number(double value) {
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    return std::isfinite(value) ? text : "null";
  }
  void open() {
    file = fopen(path.c_str(), "w");
    if (!file)
      fail();
    setvbuf(file, nullptr, _IOLBF, size_t(1) << 16);
  }
  __attribute__((format(printf, 2, 3))) void line(const char *format, ...) {
    if (!file)
      open();
    va_list arguments;
    va_start(arguments, format);
    const int written = vfprintf(file, format, arguments);
    va_end(arguments);
    if (written < 0 || ferror(file))
      fail();
  }
  [[noreturn]] void fail() const {
    throw Error("cannot write '" + path + "': " + strerror(errno));
  }

  std::string path;
  bool has_muon;
  FILE *file = nullptr; // until the first line
};

} // namespace gpuopt
