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
    while (!cursor.is_at_end() && done == (*cursor).count)
      cursor.next(), done = 0;
    is_in_call = !cursor.is_at_end();
    if (is_in_call)
      begin_range(name_of_row().c_str());
    done++;
  }

private:
  // "gemm kGemm128x512x1024_tn: d h.0.mlp.c_fc.weight".
  std::string name_of_row() const {
    const CallInfo &call = *cursor;
    const int row = cursor.row();
    const char *work =
        row < function.work.count ? function.work.data[row].name : nullptr;
    const std::string origin = call.origin ? call.origin : "";
    return (work ? work : call.work) + (origin.empty() ? "" : ": " + origin);
  }

  const TimedFunction &function;
  RowCursor cursor; // at the row of the next call
  int done = 0;     // calls of it before
  bool is_in_call = false;
};

} // namespace gpuopt
