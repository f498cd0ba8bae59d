// --nvtx: each call of a step is a range that has its name and its ONNX nodes
// in Nsight Systems and Nsight Compute, by NVTX of the CUDA toolkit.
//
// While ranges are named, the functions of a program run call by call, and not
// as a CUDA graph, whose launches would be within no range.
#pragma once

#include "gpuopt/device/nvtx.h"
#include "gpuopt/trainer/profiling/step_timer.h"

namespace gpuopt {

// Fails if ranges are asked of a program that cannot have them.
inline void refuse_named_ranges(bool are_wanted) {
  if (are_wanted && !kHasNamedRanges)
    throw Error("'--nvtx' needs a program for CUDA that was built where the "
                "CUDA toolkit has the header nvtx3/nvToolsExt.h");
}

// Names the calls of one function, in one run of it.
class NamedRanges : public CallObserver {
public:
  explicit NamedRanges(const TimedFunction &function)
      : function(function), cursor(function.calls) {
    begin_range(function.name);
  }
  ~NamedRanges() override {
    if (is_in_call)
      end_range();
    end_range();
  }
  NamedRanges(const NamedRanges &) = delete;
  NamedRanges &operator=(const NamedRanges &) = delete;

  void begin_call(Context &) override {
    if (is_in_call)
      end_range();
    const int row = cursor.next();
    is_in_call = row >= 0;
    if (is_in_call)
      begin_range(name_of_call(function, row).c_str());
  }

private:
  const TimedFunction &function;
  CallCursor cursor;
  bool is_in_call = false;
};

} // namespace gpuopt
