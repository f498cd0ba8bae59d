// What the threads of a program do beside the calls of its steps, while a
// profile records it: --profile.
//
//   const TraceSpan span(tracer, "prepare batch", "loader");
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include <sys/syscall.h>
#include <unistd.h>

namespace gpuopt {

// Returns the nanoseconds of the clock in which all times of a profile are.
inline int64_t trace_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
inline int64_t current_thread() { return int64_t(syscall(SYS_gettid)); }

// What a thread did from one time to another, in nanoseconds.
struct TracedSpan {
  std::string name;
  const char *role; // of the thread: "loader"
  int64_t thread;
  int64_t begin, end;
};

// Threads may use it at the same time.
class Tracer {
public:
  void record(bool is_on) { is_recording = is_on; }
  bool records() const { return is_recording; }
  void add(TracedSpan span) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (spans.size() < kMostSpans)
      spans.push_back(std::move(span));
  }
  std::vector<TracedSpan> copy() const {
    const std::lock_guard<std::mutex> lock(mutex);
    return spans;
  }

private:
  static constexpr size_t kMostSpans = 1000000;
  std::atomic<bool> is_recording{false};
  mutable std::mutex mutex;
  std::vector<TracedSpan> spans;
};

// Adds the time of its scope, if something was recorded when it began. The
// tracer may be null.
class TraceSpan {
public:
  TraceSpan(Tracer *tracer, const char *name, const char *role)
      : tracer(tracer && tracer->records() ? tracer : nullptr), name(name),
        role(role), begin(this->tracer ? trace_now() : 0) {}
  ~TraceSpan() {
    if (tracer)
      tracer->add({name, role, current_thread(), begin, trace_now()});
  }
  TraceSpan(const TraceSpan &) = delete;
  TraceSpan &operator=(const TraceSpan &) = delete;

private:
  Tracer *tracer;
  const char *name, *role;
  int64_t begin;
};

} // namespace gpuopt
