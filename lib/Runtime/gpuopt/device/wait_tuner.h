// Decides by measurement how threads wait for the next kernel.
//
// Threads that spin start the next kernel at once, and where a thread is dear
// to wake, as in virtual machines, steps take half the time. But on cores that
// others use too, a thread that spins holds up one that has work, and steps
// take many times as long. So both are tried: all steps of a program do the
// same work, and their times can be compared.
#pragma once

#include "gpuopt/device/time_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace gpuopt {

// What went on during a window beside its steps.
struct WindowReport {
  WindowReport(bool is_contended, bool was_stopped = false)
      : is_contended(is_contended), was_stopped(was_stopped) {}
  bool is_contended; // others wanted the cores
  bool was_stopped;  // the process did not run, as after SIGSTOP
};

class WaitTuner {
public:
  // Whether the threads spin during the next step.
  bool spins() const { return is_spinning; }
  // Whether a comparison has ended since the last call, so that what it has
  // found can be told.
  bool settled_anew() {
    const bool anew = is_news;
    is_news = false;
    return anew;
  }
  // The median times of a step in the last comparison, in milliseconds; 0 for a
  // way of waiting that was not tried.
  double sleeping_ms() const { return median(times[0]); }
  double spinning_ms() const { return median(times[1]); }

  // Returns the result of the comparison, for the user.
  std::string describe() const {
    char text[160];
    if (spinning_ms() == 0)
      snprintf(text, sizeof text,
               "threads sleep between kernels: others use the cores");
    else
      snprintf(text, sizeof text,
               "threads %s between kernels: a step takes %s when they spin, "
               "%s when they sleep",
               choice ? "spin" : "sleep", ms_text(spinning_ms()).c_str(),
               ms_text(sleeping_ms()).c_str());
    return text;
  }

  // Takes the milliseconds of a step that was computed as `spins()` said,
  // without its wait for data. `report` is called at the end of a window, with
  // the sum of these times, and returns what else went on during it.
  template <class Report>
  void step(double ms, Report report) {
    if (warmup > 0) {
      warmup--;
      return;
    }
    window.push_back(ms);
    window_ms += ms;
    const bool is_slow = !is_comparing && is_spinning && ms > kSlow * usual_ms;
    slow_steps = is_slow ? slow_steps + 1 : 0;
    const bool collapsed = slow_steps == kSlowSteps;
    if (is_comparing ? window_ms < trial_ms()
                     : !collapsed && (window_ms < kWatchMs ||
                                      window.size() < kWatchSteps))
      return;
    const WindowReport reported = report(window_ms);
    if (reported.was_stopped)
      slow_steps = 0; // and the window's times tell nothing
    else if (is_comparing)
      compare(reported.is_contended);
    else
      watch(reported.is_contended, collapsed);
    window.clear();
    window_ms = 0;
  }

private:
  static constexpr double kLookMs = 100;   // that show if the cores are free
  static constexpr double kTrialMs = 10;   // a window of a comparison
  static constexpr double kWatchMs = 100;  // a window between comparisons
  static constexpr size_t kWatchSteps = 8; // at least, in such a window
  static constexpr int kRounds = 3;        // windows each way in a comparison
  static constexpr int kBusyWindows = 2;   // running, show that cores are busy
  static constexpr int kCalmWindows = 4;   // running, show that they are free
  static constexpr double kSlow = 4;       // times the usual time of a step
  // Slow steps, running, show that spinning threads lose their cores. A single
  // one shows nothing: the process may have been stopped and continued.
  static constexpr int kSlowSteps = 2;
  static constexpr double kClear = 1.5;  // decides after one round
  static constexpr double kTie = 1.05;   // smaller differences count as none
  static constexpr double kDrift = 1.25; // the usual time is no more
  static constexpr int64_t kLeastPatience = 32, kMostPatience = 2048;
  static constexpr int64_t kMostDrifted = 16; // windows until it counts
  // Others who want the cores while the times stay as they are: that part of
  // the patience.
  static constexpr int64_t kHeldUp = 4;

  static double median(std::vector<double> values) {
    if (values.empty())
      return 0;
    auto middle = values.begin() + int64_t(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  // How long a window of a comparison is.
  double trial_ms() const {
    return rounds == 0 && !is_spinning ? kLookMs : kTrialMs;
  }

  void begin_comparison() {
    for (std::vector<double> &of_mode : times)
      of_mode.clear();
    is_comparing = true;
    is_spinning = false;
    rounds = 0;
    busy_windows = 0;
  }

  // A comparison begins with threads that sleep: that is never far from the
  // best time, and it shows whether the cores are free. What wants a core for
  // one window alone, as a timer of the system does, decides nothing: the
  // threads sleep for another window.
  void compare(bool is_contended) {
    std::vector<double> &own = times[is_spinning];
    own.insert(own.end(), window.begin(), window.end());
    if (!is_spinning) {
      busy_windows = is_contended ? busy_windows + 1 : 0;
      if (busy_windows == kBusyWindows) {
        settle(false);
        gave_way = true;
        return;
      }
      is_spinning = !is_contended;
      return;
    }
    rounds++;
    const double ratio = sleeping_ms() / spinning_ms();
    const double even = !has_chosen ? 1 : choice ? 1 / kTie : kTie;
    if (rounds == kRounds || ratio > kClear || ratio < 1 / kClear)
      return settle(ratio > even);
    is_spinning = false;
  }

  void settle(bool spinning) {
    const bool is_new = spinning != choice || !has_chosen;
    patience = is_new ? kLeastPatience : std::min(2 * patience, kMostPatience);
    is_news |= is_new;
    has_chosen = true;
    is_comparing = false;
    is_spinning = choice = spinning;
    windows = 0;
    drifted = held_up = 0;
    gave_way = false;
    calm_windows = 0;
    usual_ms = median(times[spinning]);
  }

  // Compares again when steps take longer or shorter than before, when others
  // begin to want the cores or want them no more, and from time to time in any
  // case.
  void watch(bool is_contended, bool collapsed) {
    windows++;
    const double ms = median(window);
    const bool has_drifted = ms > kDrift * usual_ms || ms * kDrift < usual_ms;
    drifted = has_drifted ? drifted + 1 : 0;
    held_up = is_spinning && is_contended ? held_up + 1 : 0;
    calm_windows = is_contended ? 0 : calm_windows + 1;
    if (collapsed || windows >= patience ||
        (gave_way && calm_windows == kCalmWindows) ||
        drifted >= std::min(patience / 16, kMostDrifted) ||
        held_up >= patience / kHeldUp)
      begin_comparison();
  }

  // Index 0: threads that sleep; 1: threads that spin.
  std::vector<double> times[2];
  std::vector<double> window;
  double window_ms = 0, usual_ms = 0;
  int warmup = 2; // steps at first, in which libraries prepare themselves
  int rounds = 0, busy_windows = 0, calm_windows = 0, slow_steps = 0;
  int64_t patience = kLeastPatience, windows = 0, drifted = 0, held_up = 0;
  bool is_comparing = true, is_spinning = false, choice = false;
  bool has_chosen = false, is_news = false;
  bool gave_way = false; // the threads sleep because others wanted the cores
};

} // namespace gpuopt
