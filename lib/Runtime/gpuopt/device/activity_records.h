// The records that CUPTI delivers, in the order in which it does: on threads of
// its own, at any time. Whoever wants them takes them together.
#pragma once

#include "gpuopt/device/cupti.h"
#include "gpuopt/device/device_work.h"

#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace gpuopt {

// Returns the name of a kernel as C++ writes it.
inline std::string demangled(const char *name) {
  int status = 0;
  char *text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  const std::string result = status == 0 && text ? text : name;
  free(text);
  return result;
}

// Work of the device with the numbers by which it is found: the correlation is
// that of the function of CUDA that has launched it.
struct CorrelatedWork {
  uint32_t correlation = 0;
  DeviceWork work;
};

struct ApiCall {
  std::string function;
  double begin = 0, end = 0;
  int64_t thread = 0;
};

struct ActivityRecords {
  std::vector<CorrelatedWork> work;
  std::map<uint32_t, ApiCall> functions; // by correlation
  std::map<uint32_t, uint64_t> callers;  // by correlation: what was pushed
  size_t dropped = 0;                    // by CUPTI, for lack of room
};

// There is one collector in a process, as CUPTI has one receiver.
class ActivityCollector {
public:
  // Returns why records cannot be had, or an empty text.
  std::string open(uint64_t (*now)()) {
    if (is_open)
      return failure;
    is_open = true;
    failure = cupti.load();
    if (failure.empty())
      failure = failure_of({
          {"cuptiActivityRegisterTimestampCallback",
           cupti.cuptiActivityRegisterTimestampCallback(now)},
          {"cuptiSetThreadIdType",
           cupti.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)},
          {"cuptiActivityRegisterCallbacks",
           cupti.cuptiActivityRegisterCallbacks(give_buffer, take_buffer)},
      });
    return failure;
  }

  // Begins to record. Returns why that is not possible, or an empty text.
  std::string enable() {
    for (CUpti_ActivityKind kind : kKinds)
      if (std::string why = failure_of(
              {{"cuptiActivityEnable", cupti.cuptiActivityEnable(kind)}});
          !why.empty()) {
        disable();
        return why;
      }
    return "";
  }
  void disable() {
    for (CUpti_ActivityKind kind : kKinds)
      cupti.cuptiActivityDisable(kind);
  }

  // What this thread calls from now on belongs to `caller`, until `end_caller`.
  void begin_caller(uint64_t caller) {
    cupti.cuptiActivityPushExternalCorrelationId(kCallerKind, caller);
  }
  void end_caller() {
    uint64_t last = 0;
    cupti.cuptiActivityPopExternalCorrelationId(kCallerKind, &last);
  }

  // Returns the records of all work that the device is done with.
  ActivityRecords take() {
    cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    const std::lock_guard<std::mutex> lock(mutex);
    return std::exchange(records, {});
  }

private:
  static constexpr CUpti_ActivityKind kKinds[] = {
      CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
      CUPTI_ACTIVITY_KIND_RUNTIME,
      CUPTI_ACTIVITY_KIND_DRIVER,
      CUPTI_ACTIVITY_KIND_MEMCPY,
      CUPTI_ACTIVITY_KIND_MEMSET,
      CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
  static constexpr CUpti_ExternalCorrelationKind kCallerKind =
      CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;

  struct Result {
    const char *function;
    CUptiResult result;
  };
  std::string failure_of(const std::vector<Result> &results) const {
    for (const Result &r : results)
      if (r.result != CUPTI_SUCCESS)
        return std::string(r.function) + ": " + cupti.text_of(r.result);
    return "";
  }

  static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size,
                                   size_t *most_records) {
    constexpr size_t kBytes = size_t(1) << 20;
    *buffer = static_cast<uint8_t *>(malloc(kBytes));
    *size = *buffer ? kBytes : 0;
    *most_records = 0; // as many as there is room for
  }
  static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream,
                                   uint8_t *buffer, size_t, size_t valid);

  void add(const CUpti_Activity *record);
  void add(const CUpti_ActivityKernel9 &kernel);
  void add(const CUpti_ActivityMemcpy5 &copy);
  void add(const CUpti_ActivityMemset4 &fill);
  void add(const CUpti_ActivityAPI &call);
  // Records of what is not done yet have no end.
  template <class Record>
  void add_work(const Record &record, DeviceWork work) {
    if (record.end == 0)
      return;
    work.begin = double(record.start);
    work.duration = double(record.end - record.start);
    work.stream = record.streamId;
    work.context = record.contextId;
    records.work.push_back({record.correlationId, std::move(work)});
  }

  Cupti cupti;
  bool is_open = false;
  std::string failure;
  std::mutex mutex;
  ActivityRecords records;
};

// It is never destroyed, because CUPTI may call until the process ends.
inline ActivityCollector &activity_collector() {
  static ActivityCollector &the_collector = *new ActivityCollector;
  return the_collector;
}

inline void CUPTIAPI ActivityCollector::take_buffer(CUcontext context,
                                                    uint32_t stream,
                                                    uint8_t *buffer, size_t,
                                                    size_t valid) {
  ActivityCollector &self = activity_collector();
  const std::lock_guard<std::mutex> lock(self.mutex);
  CUpti_Activity *record = nullptr;
  while (valid > 0 && self.cupti.cuptiActivityGetNextRecord(
                          buffer, valid, &record) == CUPTI_SUCCESS)
    self.add(record);
  free(buffer);
  size_t dropped = 0;
  if (self.cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) ==
      CUPTI_SUCCESS)
    self.records.dropped += dropped;
}

inline void ActivityCollector::add(const CUpti_Activity *record) {
  switch (record->kind) {
  case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
  case CUPTI_ACTIVITY_KIND_KERNEL:
    return add(*reinterpret_cast<const CUpti_ActivityKernel9 *>(record));
  case CUPTI_ACTIVITY_KIND_MEMCPY:
    return add(*reinterpret_cast<const CUpti_ActivityMemcpy5 *>(record));
  case CUPTI_ACTIVITY_KIND_MEMSET:
    return add(*reinterpret_cast<const CUpti_ActivityMemset4 *>(record));
  case CUPTI_ACTIVITY_KIND_RUNTIME:
  case CUPTI_ACTIVITY_KIND_DRIVER:
    return add(*reinterpret_cast<const CUpti_ActivityAPI *>(record));
  case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
    const auto &of =
        *reinterpret_cast<const CUpti_ActivityExternalCorrelation *>(record);
    if (of.externalKind == kCallerKind)
      records.callers[of.correlationId] = of.externalId;
    return;
  }
  default:
    return;
  }
}

inline void ActivityCollector::add(const CUpti_ActivityKernel9 &kernel) {
  DeviceWork work;
  work.name = kernel.name ? demangled(kernel.name) : "kernel";
  const int32_t grid[] = {kernel.gridX, kernel.gridY, kernel.gridZ};
  const int32_t block[] = {kernel.blockX, kernel.blockY, kernel.blockZ};
  for (int i = 0; i < 3; i++)
    work.grid[i] = grid[i], work.block[i] = block[i];
  work.registers = kernel.registersPerThread;
  work.shared_bytes =
      int64_t(kernel.staticSharedMemory) + kernel.dynamicSharedMemory;
  add_work(kernel, std::move(work));
}

inline void ActivityCollector::add(const CUpti_ActivityMemcpy5 &copy) {
  DeviceWork work;
  work.kind = WorkKind::Copy;
  work.name = copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD   ? "Memcpy HtoD"
              : copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH ? "Memcpy DtoH"
              : copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD ? "Memcpy DtoD"
                                                                 : "Memcpy";
  work.bytes = int64_t(copy.bytes);
  add_work(copy, std::move(work));
}

inline void ActivityCollector::add(const CUpti_ActivityMemset4 &fill) {
  DeviceWork work;
  work.kind = WorkKind::Fill;
  work.name = "Memset";
  work.bytes = int64_t(fill.bytes);
  add_work(fill, std::move(work));
}

// A function of the CUDA runtime may call one of the driver, whose record has
// the same correlation: the former is kept.
inline void ActivityCollector::add(const CUpti_ActivityAPI &call) {
  const bool is_runtime = call.kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  ApiCall &known = records.functions[call.correlationId];
  if (!known.function.empty() && !is_runtime)
    return;
  known.function = cupti.function_of(is_runtime ? CUPTI_CB_DOMAIN_RUNTIME_API
                                                : CUPTI_CB_DOMAIN_DRIVER_API,
                                     call.cbid);
  known.begin = double(call.start);
  known.end = double(call.end);
  known.thread = call.threadId;
}

} // namespace gpuopt
