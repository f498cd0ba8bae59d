// What a device says that it has done for a call, and when. Times are in
// nanoseconds of the host's clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpuopt {

enum class WorkKind { Kernel, Copy, Fill };

// A kernel, a copy or a fill, and the function of CUDA that has launched it.
struct DeviceWork {
  WorkKind kind = WorkKind::Kernel;
  std::string name; // of the kernel, as C++ writes it; "Memcpy HtoD"
  double begin = 0, duration = 0;
  int64_t stream = 0, context = 0;
  int64_t bytes = 0;                        // of a copy or a fill
  int64_t grid[3] = {0}, block[3] = {0};    // of a kernel
  int64_t registers = 0, shared_bytes = 0;  // of a kernel
  std::string function;                     // "cudaLaunchKernelExC", or empty
  double host_begin = 0, host_duration = 0; // of that function
  int64_t thread = 0;                       // that has called it
};

// When a call ran: on the device, and, for as long as the host took to launch
// it, on the host. `work` is what the device says of it, if it says anything;
// the duration is then the time in which some of that ran.
struct TimedCall {
  double begin = 0, duration = 0;
  double host_begin = 0, host_duration = 0;
  std::vector<DeviceWork> work = {};
};

} // namespace gpuopt
