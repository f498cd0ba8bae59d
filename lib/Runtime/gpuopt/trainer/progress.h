// What a run shows of its steps: on a terminal a bar at the bottom, which is
// drawn over, and elsewhere a line for every --logging-steps steps. With
// --logging-steps auto, a run has about 10 to 20 lines, the first and the last
// step among them, but one for every 500 steps at least, which is the interval
// of Hugging Face's Trainer. The rate and the milliseconds are recent ones
// (RecentStepTime); the first step counts only until there is another one. The
// time left is told from the second step on.
//
//   38% ━━━━━━━━────────────  4560/12000  loss 3.2145  1204 samples/s  6.6 ms
//   (data 2%)  43.6 MiB  0:49 left
#pragma once

#include "gpuopt/device/device.h"
#include "gpuopt/device/loss_text.h"
#include "gpuopt/device/time_text.h"
#include "gpuopt/program/program.h"
#include "gpuopt/settings/training_settings.h"
#include "gpuopt/trainer/profiling/verdict.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>

namespace gpuopt {

// Where a run stands after a step.
struct StepProgress {
  int64_t step = 0, steps = 0; // of the whole run
  int64_t done = 0;            // by this process
  double loss = 0, ms = 0, data_wait_ms = 0;
  double mean_ms = 0; // of the steps that count (RunSummary)
  double elapsed = 0; // seconds since this process began its first step
  double each = 0;    // samples or tokens of a step
  bool counts_tokens = false;
  size_t allocated_bytes = 0;
  std::string losses;       // of several outputs, as "  aux_loss 0.1234"
  double first_elapsed = 0; // the part of elapsed that the first step took
  double recent_ms = 0;     // of a step (RecentStepTime)

  double rate() const { return recent_ms > 0 ? 1000 * each / recent_ms : 0; }
  const char *unit() const { return counts_tokens ? "tokens" : "samples"; }
  // What libraries do in a first step tells nothing of those that follow.
  bool knows_time_left() const { return done > 1 || step == steps; }
  // The steps that are left take as long as the recent ones, and what lies
  // between steps, as validations and checkpoints, as long as so far.
  int64_t seconds_left() const {
    const double each_step =
        (elapsed - first_elapsed) / double(std::max<int64_t>(done - 1, 1));
    const double between = std::max(0.0, each_step - mean_ms / 1000);
    return int64_t((recent_ms / 1000 + between) * double(steps - step));
  }
};

// The mean time of the recent steps: a step counts the less the longer ago it
// was, so that those of about the last 10 seconds decide, but not fewer than
// about three steps.
class RecentStepTime {
public:
  // The first step is not like the others, and counts until there is another.
  void add(double ms) {
    constexpr double kSpanMs = 10e3, kLeastSteps = 3;
    double kept = std::exp(-ms / kSpanMs);
    if (kept * steps < kLeastSteps - 1)
      kept = std::min(1.0, (kLeastSteps - 1) / steps);
    if (count++ < 2)
      kept = 0;
    steps = kept * steps + 1;
    sum_ms = kept * sum_ms + ms;
  }
  double mean_ms() const { return steps > 0 ? sum_ms / steps : 0; }

private:
  int64_t count = 0;
  double steps = 0, sum_ms = 0; // sums of weights, and of weighted times
};

namespace detail {
// "0:49" or "2:03:49"
inline std::string clock_text(int64_t seconds) {
  char text[64];
  const long long s = seconds;
  if (s >= 3600)
    snprintf(text, sizeof text, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60,
             s % 60);
  else
    snprintf(text, sizeof text, "%lld:%02lld", s / 60, s % 60);
  return text;
}
inline std::string time_left_text(const StepProgress &now) {
  return now.knows_time_left() ? "  " + clock_text(now.seconds_left()) + " left"
                               : "";
}
inline std::string rate_text(const StepProgress &now) {
  return per_second_text(now.rate()) + " " + now.unit() + "/s";
}
} // namespace detail

// Returns the line of a step.
inline std::string progress_line(const StepProgress &now) {
  char text[256];
  snprintf(text, sizeof text, "step %lld/%lld  loss %s",
           static_cast<long long>(now.step), static_cast<long long>(now.steps),
           loss_text(now.loss).c_str());
  const std::string losses = text + now.losses;
  return losses + "  " + detail::rate_text(now) + "  " +
         ms_text(now.recent_ms) + detail::time_left_text(now);
}

// Returns the bar with its figures, of at most `columns` characters: the bar is
// as long as the figures leave it room, and the last figures are left out where
// they have none.
inline std::string progress_bar(const StepProgress &now, int columns) {
  const double share = now.steps > 0 ? double(now.step) / double(now.steps) : 0;
  char text[160];
  std::string figures;
  auto add = [&](const std::string &figure) {
    constexpr int kLeastBar = 12;
    if (int(figures.size() + figure.size()) + kLeastBar <= columns)
      figures += figure;
  };
  snprintf(text, sizeof text, "  %lld/%lld  loss %s",
           static_cast<long long>(now.step), static_cast<long long>(now.steps),
           loss_text(now.loss).c_str());
  add(text);
  add(now.losses);
  add("  " + detail::rate_text(now));
  add(detail::time_left_text(now));
  snprintf(text, sizeof text, " (data %.0f%%)",
           now.ms > 0 ? 100 * now.data_wait_ms / now.ms : 0.0);
  add("  " + ms_text(now.recent_ms) + text);
  add("  " + human_bytes(double(now.allocated_bytes)));
  constexpr int kMostBar = 30;
  const int room = std::clamp(columns - 6 - int(figures.size()), 0, kMostBar);
  const int full = std::clamp(int(share * room + 0.5), 0, room);
  snprintf(text, sizeof text, "%3.0f%% ", 100 * share);
  std::string bar = text;
  for (int i = 0; i < room; i++)
    bar += i < full ? "\u2501" : "\u2500";
  return bar + figures;
}

// Returns the steps between lines of a run of so many steps, with
// --logging-steps auto.
inline int64_t logging_interval(int64_t steps) {
  constexpr int64_t kMostLines = 20; // beside that of the first step
  for (int64_t interval : {1, 2, 5, 10, 20, 50, 100, 200})
    if (steps <= interval * kMostLines)
      return interval;
  return 500;
}

class Progress {
public:
  // `every` is that of --logging-steps; 0 shows nothing.
  explicit Progress(int64_t every)
      : every(every), has_bar(every != 0 && isatty(STDOUT_FILENO)) {}
  ~Progress() { clear(); }

  bool is_shown() const { return every != 0; }
  // Whether a step is one that has a line.
  bool is_due(const StepProgress &now) const {
    if (every == 0 || now.step == now.steps)
      return every != 0;
    if (every != kAuto)
      return now.step % every == 0;
    return now.done == 1 || now.step % logging_interval(now.steps) == 0;
  }

  void show(StepProgress now) {
    if (now.done == 1)
      first_elapsed = now.elapsed;
    now.first_elapsed = first_elapsed;
    recent.add(now.ms);
    now.recent_ms = recent.mean_ms();
    if (!has_bar) {
      if (is_due(now))
        printf("%s\n", progress_line(now).c_str());
      fflush(stdout);
      return;
    }
    const auto time = Clock::now();
    if (is_drawn && now.step < now.steps && time - drawn_at < kLeastTime)
      return;
    // The cursor stays at the bar's beginning, so that what others print draws
    // over it.
    printf("\r%s\x1b[K\r", progress_bar(now, columns()).c_str());
    fflush(stdout);
    drawn_at = time;
    is_drawn = true;
  }
  // Call it before a line is printed.
  void clear() {
    if (!is_drawn)
      return;
    printf("\r\x1b[K");
    fflush(stdout);
    is_drawn = false;
  }

private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kLeastTime{100};
  static int columns() {
    winsize size{};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
               ? size.ws_col - 1
               : 79;
  }

  const int64_t every;
  const bool has_bar;
  bool is_drawn = false;
  double first_elapsed = 0;
  RecentStepTime recent;
  Clock::time_point drawn_at;
};

} // namespace gpuopt
