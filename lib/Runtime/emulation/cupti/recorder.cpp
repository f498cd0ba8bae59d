#include "emulation/cupti/recorder.h"

#include <cstring>

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gpuopt::emulation {

size_t size_of(const CUpti_Activity &record) {
  switch (record.kind) {
  case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    return sizeof(KernelRecord);
  case CUPTI_ACTIVITY_KIND_MEMCPY:
    return sizeof(CopyRecord);
  case CUPTI_ACTIVITY_KIND_MEMSET:
    return sizeof(FillRecord);
  case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
    return sizeof(CUpti_ActivityExternalCorrelation);
  default:
    return sizeof(CUpti_ActivityAPI);
  }
}

bool Recorder::attach() {
  using Listener = ActivityListener **(*)();
  const auto listener = reinterpret_cast<Listener>(
      dlsym(RTLD_DEFAULT, "gpuopt_activity_listener"));
  if (listener)
    *listener() = this;
  return listener != nullptr;
}

void Recorder::enable(CUpti_ActivityKind kind, bool is_on) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  if (is_on)
    kinds.insert(kind);
  else
    kinds.erase(kind);
}

// ---- What calls belong to --------------------------------------------------

static std::vector<uint64_t> &own_ids() {
  static thread_local std::vector<uint64_t> ids;
  return ids;
}
void Recorder::push(uint64_t id) { own_ids().push_back(id); }
bool Recorder::pop(uint64_t *last) {
  if (own_ids().empty())
    return false;
  *last = own_ids().back();
  own_ids().pop_back();
  return true;
}

// ---- Records ---------------------------------------------------------------

template <class Record>
void Recorder::add(const Record &record) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(&record);
  kept.emplace_back(bytes, bytes + sizeof record);
}

uint32_t Recorder::begin_call(const Activity &activity, int stream) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  const uint32_t number = ++last_number;
  if (!is_enabled())
    return number;
  pending[number] = {activity, stream};
  calls[number] = activity;
  started[number] = now();
  if (records(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) && !own_ids().empty()) {
    CUpti_ActivityExternalCorrelation record = {};
    record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    record.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
    record.externalId = own_ids().back();
    record.correlationId = number;
    add(record);
  }
  return number;
}

static uint32_t function_of(ActivityKind kind) {
  switch (kind) {
  case ActivityKind::Kernel:
    return CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060;
  case ActivityKind::Fill:
    return CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020;
  default:
    return CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020;
  }
}

void Recorder::end_call(uint32_t number) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  const auto found = calls.find(number);
  if (found == calls.end())
    return;
  const Activity activity = found->second;
  CUpti_ActivityAPI record = {};
  record.kind = activity.is_driver_call ? CUPTI_ACTIVITY_KIND_DRIVER
                                        : CUPTI_ACTIVITY_KIND_RUNTIME;
  record.cbid = activity.is_driver_call ? CUpti_CallbackId(0)
                                        : function_of(activity.kind);
  record.start = started[number];
  record.end = now();
  record.processId = uint32_t(getpid());
  record.threadId = uint32_t(syscall(SYS_gettid));
  record.correlationId = number;
  if (records(record.kind))
    add(record);
  // A kernel of cudart is launched by the driver in turn.
  if (!activity.is_driver_call && activity.kind == ActivityKind::Kernel &&
      records(CUPTI_ACTIVITY_KIND_DRIVER)) {
    record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
    record.cbid = 0;
    add(record);
  }
  calls.erase(number);
  started.erase(number);
}

void Recorder::end_work(uint32_t number, ActivityTime begin, ActivityTime end) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  const auto found = pending.find(number);
  if (found == pending.end())
    return;
  // The device's clock is the host's steady one, and the caller's may differ.
  const auto age = [](ActivityTime time) {
    return uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                        std::chrono::steady_clock::now() - time)
                        .count());
  };
  const uint64_t present = now();
  add_work(number, found->second, present - age(begin), present - age(end));
  pending.erase(found);
}

static uint8_t copy_kind(ActivityKind kind) {
  return kind == ActivityKind::CopyToDevice ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD
         : kind == ActivityKind::CopyToHost ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH
                                            : CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
}

void Recorder::add_work(uint32_t number, const Pending &work, uint64_t begin,
                        uint64_t end) {
  const Activity &a = work.activity;
  auto fill_in = [&](auto &record, CUpti_ActivityKind kind) {
    record.kind = kind;
    record.start = begin;
    record.end = end;
    record.contextId = 1;
    record.streamId = uint32_t(work.stream);
    record.correlationId = number;
    if (records(kind))
      add(record);
  };
  if (a.kind == ActivityKind::Kernel) {
    KernelRecord record = {};
    record.gridX = int(a.grid[0]), record.gridY = int(a.grid[1]),
    record.gridZ = int(a.grid[2]);
    record.blockX = int(a.block[0]), record.blockY = int(a.block[1]),
    record.blockZ = int(a.block[2]);
    record.dynamicSharedMemory = int(a.shared_bytes);
    record.name = names.insert(a.name).first->c_str();
    fill_in(record, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  } else if (a.kind == ActivityKind::Fill) {
    FillRecord record = {};
    record.bytes = a.bytes;
    fill_in(record, CUPTI_ACTIVITY_KIND_MEMSET);
  } else {
    CopyRecord record = {};
    record.bytes = a.bytes;
    record.copyKind = copy_kind(a.kind);
    fill_in(record, CUPTI_ACTIVITY_KIND_MEMCPY);
  }
}

// ---- Buffers ---------------------------------------------------------------

void Recorder::flush() {
  std::vector<std::vector<uint8_t>> all;
  {
    const std::lock_guard<std::recursive_mutex> lock(mutex);
    for (const auto &[number, work] : pending)
      add_work(number, work, 0, 0);
    pending.clear();
    all = std::exchange(kept, {});
  }
  for (size_t i = 0; i < all.size();) {
    uint8_t *buffer = nullptr;
    size_t size = 0, most = 0, valid = 0, count = 0;
    request(&buffer, &size, &most);
    for (; i < all.size() && valid + all[i].size() <= size &&
           (most == 0 || count < most);
         i++, count++) {
      memcpy(buffer + valid, all[i].data(), all[i].size());
      valid += all[i].size();
    }
    if (count == 0)
      dropped++, i++;
    complete(nullptr, 0, buffer, size, valid);
  }
}

size_t Recorder::take_dropped() { return std::exchange(dropped, 0); }

} // namespace gpuopt::emulation
