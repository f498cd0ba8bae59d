// Keeps what the emulated device does as CUPTI's records.
#pragma once

#include "emulation/cudart/activity.h"

#include <cuda_runtime_api.h>
#include <cupti.h>

#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace gpuopt::emulation {

// Structs of later versions of CUPTI are longer than those of earlier ones.
#if CUDART_VERSION >= 13000
using KernelRecord = CUpti_ActivityKernel10;
using CopyRecord = CUpti_ActivityMemcpy6;
#else
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
#endif
using FillRecord = CUpti_ActivityMemset4;

size_t size_of(const CUpti_Activity &record);

class Recorder : public ActivityListener {
public:
  // Begins to listen to the device of the program that has loaded the library.
  // Returns false if that is no program of the emulated target.
  bool attach();
  void enable(CUpti_ActivityKind kind, bool is_on);
  bool is_enabled() const { return !kinds.empty(); }

  // What this thread's calls are told to belong to.
  void push(uint64_t id);
  bool pop(uint64_t *last);

  // Tells whether some work has begun and is not done.
  bool has_pending() const { return !pending.empty(); }
  // Gives all records to the caller. Work that is not done has no times, and
  // will not be told again.
  void flush();
  size_t take_dropped();

  uint32_t begin_call(const Activity &activity, int stream) override;
  void end_call(uint32_t number) override;
  void end_work(uint32_t number, ActivityTime begin, ActivityTime end) override;

  CUpti_TimestampCallbackFunc now = nullptr;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;

private:
  struct Pending {
    Activity activity;
    int stream = 0;
  };

  bool records(CUpti_ActivityKind kind) const { return kinds.count(kind); }
  template <class Record>
  void add(const Record &record);
  void add_work(uint32_t number, const Pending &work, uint64_t begin,
                uint64_t end);

  std::recursive_mutex mutex;
  std::set<CUpti_ActivityKind> kinds;
  std::map<uint32_t, Pending> pending;  // by number
  std::map<uint32_t, uint64_t> started; // the calls that are running
  std::map<uint32_t, Activity> calls;   // of the same
  std::set<std::string> names;          // live as long as records
  std::vector<std::vector<uint8_t>> kept;
  uint32_t last_number = 0;
  size_t dropped = 0;
};

} // namespace gpuopt::emulation
