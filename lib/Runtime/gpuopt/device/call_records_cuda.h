// What CUPTI says of the calls of a step: each has a number, and the functions
// of CUDA that it calls are recorded with that number, and so is their work.
// call_records.h includes this.
#pragma once

#include "gpuopt/device/activity_records.h"
#include "gpuopt/device/device.h"

#include <algorithm>
#include <chrono>

namespace gpuopt {

class CallRecords : public CallObserver {
public:
  CallRecords() = default;
  ~CallRecords() override { end(); }
  CallRecords(const CallRecords &) = delete;
  CallRecords &operator=(const CallRecords &) = delete;

  // Begins to record, or says that it is not possible; why_not() tells why.
  bool begin() {
    if (is_on || !reason.empty())
      return is_on;
    reason = activity_collector().open(now);
    if (reason.empty())
      reason = activity_collector().enable();
    return is_on = reason.empty();
  }
  void end() {
    if (is_on)
      activity_collector().disable();
    is_on = false;
  }
  const std::string &why_not() const { return reason; }

  // The calls until end_function() are those of one function.
  void begin_function() { functions.emplace_back(); }
  void begin_call(Context &) override {
    end_call();
    functions.back().push_back({});
    functions.back().back().host_begin = double(now());
    activity_collector().begin_caller(first + count++);
    is_in_call = true;
  }
  void end_function() { end_call(); }

  // Returns the calls of each function since the last time. The device must be
  // done with them.
  std::vector<std::vector<TimedCall>> take() {
    CHECK_CUDA(cudaDeviceSynchronize()); // copies of batches end as well
    ActivityRecords records = activity_collector().take();
    lost += records.dropped;
    std::vector<TimedCall *> calls;
    for (std::vector<TimedCall> &function : functions)
      for (TimedCall &call : function)
        calls.push_back(&call);
    for (CorrelatedWork &done : records.work) {
      add_function(records, done);
      const auto caller = records.callers.find(done.correlation);
      const uint64_t index =
          caller == records.callers.end() ? count : caller->second - first;
      std::vector<DeviceWork> &to =
          index < calls.size() ? calls[index]->work : others;
      to.push_back(std::move(done.work));
    }
    for (TimedCall *call : calls)
      set_time(*call);
    first += count;
    count = 0;
    return std::exchange(functions, {});
  }
  // Returns what was done for no call, such as the copies of batches.
  std::vector<DeviceWork> take_others() { return std::exchange(others, {}); }
  // Returns how many records there was no room for, in all.
  size_t dropped() const { return lost; }

private:
  static uint64_t now() {
    return uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                        std::chrono::steady_clock::now().time_since_epoch())
                        .count());
  }
  void end_call() {
    if (!is_in_call)
      return;
    activity_collector().end_caller();
    TimedCall &call = functions.back().back();
    call.host_duration = double(now()) - call.host_begin;
    is_in_call = false;
  }
  static void add_function(const ActivityRecords &records,
                           CorrelatedWork &done) {
    const auto found = records.functions.find(done.correlation);
    if (found == records.functions.end())
      return;
    const ApiCall &call = found->second;
    done.work.function = call.function;
    done.work.host_begin = call.begin;
    done.work.host_duration = call.end - call.begin;
    done.work.thread = call.thread;
  }
  // A call takes the time in which any of its work ran.
  static void set_time(TimedCall &call) {
    std::sort(call.work.begin(), call.work.end(),
              [](const DeviceWork &a, const DeviceWork &b) {
                return a.begin < b.begin;
              });
    call.begin = call.work.empty() ? call.host_begin : call.work[0].begin;
    double end = call.begin;
    for (const DeviceWork &work : call.work) {
      const double work_end = work.begin + work.duration;
      call.duration += std::max(0.0, work_end - std::max(end, work.begin));
      end = std::max(end, work_end);
    }
  }

  bool is_on = false, is_in_call = false;
  std::string reason; // why there are no records
  // The calls that take() has not returned, and the number of the first one.
  std::vector<std::vector<TimedCall>> functions;
  uint64_t first = 1, count = 0;
  std::vector<DeviceWork> others;
  size_t lost = 0;
};

} // namespace gpuopt
