// What a device itself says of the calls of a step: on CUDA by CUPTI, where
// that is there. Elsewhere calls are timed by timestamps in their stream.
#pragma once

#include "gpuopt/device/device.h"

#if defined(__CUDACC__) && __has_include(<cupti.h>)
#include "gpuopt/device/call_records_cuda.h"
#else

namespace gpuopt {

class CallRecords : public CallObserver {
public:
  bool begin() { return false; }
  void end() {}
  const std::string &why_not() const { return reason; }
  void begin_function() {}
  void begin_call(Context &) override {}
  void end_function() {}
  std::vector<std::vector<TimedCall>> take() { return {}; }
  std::vector<DeviceWork> take_others() { return {}; }
  size_t dropped() const { return 0; }

private:
  const std::string reason =
      kStagingIsDevice ? "" : "it was built without the header cupti.h";
};

} // namespace gpuopt
#endif
