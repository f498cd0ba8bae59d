// Writes the trace of a profile as Chrome's JSON, with the categories and the
// arguments that torch.profiler's export_chrome_trace has: Perfetto,
// chrome://tracing and TensorBoard's plugin open it.
#pragma once

#include "gpuopt/data/json.h"
#include "gpuopt/device/plain_numbers.h"
#include "gpuopt/device/tracer.h"
#include "gpuopt/trainer/profiling/profile_files.h"
#include "gpuopt/trainer/profiling/step_timer.h"

#include <algorithm>
#include <set>

namespace gpuopt {

// What happened in one step of a profile. Times are in nanoseconds.
struct TracedStep {
  int64_t step = 0;
  int64_t begin = 0, end = 0;
  double data_wait_ns = 0;
  double used_bytes = 0; // of memory, at the end of the step
  std::vector<TimedRun> runs;
  std::vector<DeviceWork> others = {}; // work of no call, as copies of batches
};

class ChromeTrace {
public:
  // `origin` is the time at which the trace begins.
  ChromeTrace(const Program &program, int64_t origin)
      : program(program), origin(origin), process(getpid()),
        trainer(current_thread()) {
    text = "{\n\"schemaVersion\": 1,\n\"displayTimeUnit\": \"ms\",\n"
           "\"gpuopt\": {\"format\": \"" +
           std::string(kProfileFormat) +
           "\", \"version\": " + std::to_string(kProfileVersion) +
           ", \"program\": " + json_quoted(program.name) + ", \"target\": \"" +
           kTargetName + "\"},\n\"deviceProperties\": [{\"id\": 0, \"name\": " +
           json_quoted(device_name()) + "}],\n\"traceEvents\": [";
    name_process(process, std::string(program.name) + " on the host", 0);
    name_thread(process, trainer, "trainer");
    if (kHasStream) {
      name_process(kDevice, device_name(), 1);
    }
  }

  void add(const TracedStep &step) {
    span("ProfilerStep#" + std::to_string(step.step), "user_annotation",
         process, trainer, double(step.begin), double(step.end - step.begin),
         "\"data_wait_us\": " + microseconds(step.data_wait_ns));
    counter("data wait (ms)", double(step.begin), step.data_wait_ns / 1e6);
    counter("data wait (ms)", double(step.end), 0);
    counter("memory (MiB)", double(step.end), step.used_bytes / (1 << 20));
    for (const TimedRun &run : step.runs)
      add(run);
    for (const DeviceWork &work : step.others)
      add(work, "");
  }

  // What other threads, and the trainer between the calls, have done.
  void add(const TracedSpan &done) {
    if (done.thread != trainer && known_threads.insert(done.thread).second)
      name_thread(process, done.thread, done.role);
    span(done.name, "user_annotation", process, done.thread, double(done.begin),
         double(done.end - done.begin), "");
  }

  // Returns the whole file.
  std::string end() { return std::move(text) + "\n]\n}\n"; }

private:
  // As torch.profiler numbers a device and its stream.
  static constexpr int64_t kDevice = 0, kStream = 7;
  static constexpr bool kHasStream = !kStagingIsDevice;

  void add(const TimedRun &run) {
    if (run.calls.empty())
      return;
    const TimedCall &first = run.calls.front(), &last = run.calls.back();
    span(run.function.name, "user_annotation", process, trainer,
         first.host_begin,
         last.host_begin + last.host_duration - first.host_begin, "");
    for_each_row(program, run, [&](const TimedRow &row) {
      for (int i = 0; i < row.count; i++)
        add(run, row.index, run.calls[row.first + size_t(i)]);
    });
  }

  // A call is a span of the host. Where the device says what it did for it,
  // there is more; where only timestamps in its stream are known, the launch
  // and the kernel are two spans, which have one correlation.
  void add(const TimedRun &run, int row, const TimedCall &call) {
    const TimedFunction &function = run.function;
    const CallInfo &info = function.calls.data[row];
    static const CallWork unknown{};
    const CallWork &work =
        row < function.work.count ? function.work.data[row] : unknown;
    const std::string name = work.name ? work.name : info.work;
    std::string about = "\"nodes\": " + json_quoted(nodes_of(function, row)) +
                        ", \"work\": " + json_quoted(info.work);
    if (work.section)
      about += ", \"section\": " + json_quoted(work.section);
    if (work.line > 0)
      about += ", \"step.cu\": " + std::to_string(work.line);
    if (work.bytes > 0)
      about += number(", \"bytes\": %.0f, \"flops\": ", work.bytes) +
               number("%.0f", work.operations);
    if (work.limit_ns > 0 && call.duration > 0)
      about += number(", \"percent of limit\": %.1f",
                      100 * work.limit_ns / call.duration);
    if (!kHasStream || run.has_records) {
      span(name, "cpu_op", process, trainer, call.host_begin,
           call.host_duration, about);
      for (const DeviceWork &work : call.work)
        add(work, ", \"call\": " + json_quoted(name) + ", " + about);
      return;
    }
    const std::string id = std::to_string(++correlation);
    span(name, "cuda_runtime", process, trainer, call.host_begin,
         call.host_duration, "\"correlation\": " + id);
    flow('s', process, trainer, call.host_begin, id);
    name_stream(kStream, "stream of the step");
    span(name, "kernel", kDevice, kStream, call.begin, call.duration,
         about + ", \"device\": 0, \"stream\": " + std::to_string(kStream) +
             ", \"correlation\": " + id);
    flow('f', kDevice, kStream, call.begin, id);
  }

  // Work of the device, and the function of CUDA that has launched it. The
  // correlations are not CUPTI's, which may begin anew.
  void add(const DeviceWork &work, const std::string &about) {
    const std::string id = std::to_string(++correlation);
    if (!work.function.empty()) {
      span(work.function, "cuda_runtime", process, work.thread, work.host_begin,
           work.host_duration, "\"correlation\": " + id);
      flow('s', process, work.thread, work.host_begin, id);
    }
    name_stream(work.stream, "stream " + std::to_string(work.stream));
    std::string members =
        "\"device\": 0, \"context\": " + std::to_string(work.context) +
        ", \"stream\": " + std::to_string(work.stream) +
        ", \"correlation\": " + id;
    if (work.kind == WorkKind::Kernel)
      members +=
          ", \"grid\": " + triple(work.grid) +
          ", \"block\": " + triple(work.block) +
          ", \"registers per thread\": " + std::to_string(work.registers) +
          ", \"shared memory\": " + std::to_string(work.shared_bytes);
    else
      members += ", \"copied bytes\": " + std::to_string(work.bytes);
    span(work.name, category_of(work.kind), kDevice, work.stream, work.begin,
         work.duration, members + about);
    if (!work.function.empty())
      flow('f', kDevice, work.stream, work.begin, id);
  }
  // As torch.profiler calls them.
  static const char *category_of(WorkKind kind) {
    switch (kind) {
    case WorkKind::Copy:
      return "gpu_memcpy";
    case WorkKind::Fill:
      return "gpu_memset";
    case WorkKind::Kernel:
      break;
    }
    return "kernel";
  }
  static std::string triple(const int64_t (&sizes)[3]) {
    return "[" + std::to_string(sizes[0]) + ", " + std::to_string(sizes[1]) +
           ", " + std::to_string(sizes[2]) + "]";
  }
  void name_stream(int64_t stream, const std::string &name) {
    if (known_streams.insert(stream).second)
      name_thread(kDevice, stream, name);
  }

  // Returns the nodes of a row, and how many more share its call.
  static std::string nodes_of(const TimedFunction &function, int row) {
    int others = 0;
    while (row + others + 1 < function.calls.count &&
           function.calls.data[row + others + 1].count == 0)
      others++;
    const std::string first = function.calls.data[row].origin;
    return others ? first + " and " + std::to_string(others) + " more" : first;
  }

  static std::string number(const char *format, double value) {
    const PlainNumbers plain;
    char digits[64];
    snprintf(digits, sizeof digits, format, value);
    return digits;
  }
  static std::string microseconds(double nanoseconds) {
    return number("%.3f", nanoseconds / 1e3);
  }
  std::string time(double nanoseconds) const {
    return microseconds(nanoseconds - double(origin));
  }
  void event(const std::string &members) {
    text += (is_first ? "\n{" : ",\n{") + members + "}";
    is_first = false;
  }
  static std::string place(int64_t pid, int64_t tid) {
    return ", \"pid\": " + std::to_string(pid) +
           ", \"tid\": " + std::to_string(tid);
  }
  // A span ends a nanosecond early: readers take those that meet, once their
  // times are rounded, for one within the other.
  void span(const std::string &name, const char *category, int64_t pid,
            int64_t tid, double begin, double duration,
            const std::string &arguments) {
    event("\"ph\": \"X\", \"cat\": \"" + std::string(category) +
          "\", \"name\": " + json_quoted(name) + place(pid, tid) +
          ", \"ts\": " + time(begin) +
          ", \"dur\": " + microseconds(std::max(0.0, duration - 1)) +
          ", \"args\": {" + arguments + "}");
  }
  void flow(char phase, int64_t pid, int64_t tid, double at,
            const std::string &id) {
    event(std::string("\"ph\": \"") + phase + "\", \"id\": " + id +
          place(pid, tid) + ", \"ts\": " + time(at) +
          ", \"cat\": \"ac2g\", \"name\": \"ac2g\"" +
          (phase == 'f' ? ", \"bp\": \"e\"" : ""));
  }
  void counter(const char *name, double at, double value) {
    event("\"ph\": \"C\", \"name\": " + json_quoted(name) +
          place(process, trainer) + ", \"ts\": " + time(at) +
          ", \"args\": {\"value\": " + number("%.3f", value) + "}");
  }
  void name_process(int64_t pid, const std::string &name, int order) {
    const std::string at = ", \"ts\": 0" + place(pid, 0);
    event("\"ph\": \"M\", \"name\": \"process_name\"" + at +
          ", \"args\": {\"name\": " + json_quoted(name) + "}");
    event("\"ph\": \"M\", \"name\": \"process_sort_index\"" + at +
          ", \"args\": {\"sort_index\": " + std::to_string(order) + "}");
  }
  void name_thread(int64_t pid, int64_t tid, const std::string &name) {
    event("\"ph\": \"M\", \"name\": \"thread_name\", \"ts\": 0" +
          place(pid, tid) + ", \"args\": {\"name\": " + json_quoted(name) +
          "}");
  }

  const Program &program;
  int64_t origin, process, trainer; // the thread that runs the steps
  int64_t correlation = 0;
  std::set<int64_t> known_threads, known_streams;
  bool is_first = true;
  std::string text;
};

} // namespace gpuopt
