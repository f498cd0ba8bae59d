// Who wants to know of each piece of work: the stand-in of CUPTI, a library
// that a program loads as it loads CUPTI. It asks for the place below by name,
// so a program of the emulated target exports that one function.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace gpuopt::emulation {

enum class ActivityKind {
  None,
  Kernel,
  CopyToDevice,
  CopyToHost,
  CopyOnDevice,
  Fill
};

// What a call of a library gives to a stream. None: nothing that CUPTI records.
struct Activity {
  ActivityKind kind = ActivityKind::None;
  bool is_driver_call = false; // a library's own launch, not by cudart
  std::string name;            // of a kernel, mangled
  uint64_t bytes = 0;          // of a copy or a fill
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
};

using ActivityTime = std::chrono::steady_clock::time_point;

class ActivityListener {
public:
  virtual ~ActivityListener() = default;
  // A call begins on this thread, and its work will run in a stream. Returns
  // the work's number.
  virtual uint32_t begin_call(const Activity &activity, int stream) = 0;
  virtual void end_call(uint32_t number) = 0;
  virtual void end_work(uint32_t number, ActivityTime begin,
                        ActivityTime end) = 0;
};

// A kernel of a library, which launches it by the driver.
inline Activity library_kernel(const std::string &name) {
  Activity activity;
  activity.kind = ActivityKind::Kernel;
  activity.is_driver_call = true;
  activity.name = name;
  return activity;
}

} // namespace gpuopt::emulation

// Where the listener is; it is null until there is one.
extern "C" gpuopt::emulation::ActivityListener **gpuopt_activity_listener();
