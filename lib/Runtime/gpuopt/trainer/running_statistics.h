// A copy of running statistics as a step has found them. The forward of each of
// its micro batches changes them, and a step that an error ends must leave
// nothing of itself.
#pragma once

#include "gpuopt/device/device.h"
#include "gpuopt/program/program.h"

#include <algorithm>
#include <vector>

namespace gpuopt {

class RunningStatistics {
public:
  // A step of one micro batch has its data before it changes anything, so that
  // no copy is made.
  explicit RunningStatistics(const Program &program) {
    if (program.accumulation_steps == 1)
      return;
    for (const StateInfo &state : program.states)
      if (state.kind == StateKind::Buffer && state.tensor.bytes > 0)
        ranges.push_back(
            {state.tensor.offset, state.tensor.offset + state.tensor.bytes});
    merge_ranges();
  }

  // A step begins.
  void begin_step(Context &ctx, const char *memory) {
    for (Range &range : ranges) {
      range.copy.resize(range.end - range.begin);
      copy_to_host(ctx, range.copy.data(), memory + range.begin,
                   range.copy.size());
    }
    is_in_step = true;
  }
  // The step is done: what it has made of them stays.
  void end_step() { is_in_step = false; }
  // Undoes what a step has done that has not ended.
  void undo_step(Context &ctx, char *memory) const {
    if (is_in_step)
      for (const Range &range : ranges)
        copy_to_device(ctx, memory + range.begin, range.copy.data(),
                       range.copy.size());
  }

private:
  // Bytes of the program's memory.
  struct Range {
    size_t begin, end;
    std::vector<char> copy = {};
  };
  // Makes one of those that follow each other, because each copy from a GPU
  // takes some microseconds. What lies between them is their alignment.
  void merge_ranges() {
    constexpr size_t kAlignment = 256;
    std::sort(ranges.begin(), ranges.end(),
              [](const Range &a, const Range &b) { return a.begin < b.begin; });
    std::vector<Range> merged;
    for (const Range &range : ranges)
      if (!merged.empty() && range.begin < merged.back().end + kAlignment)
        merged.back().end = std::max(merged.back().end, range.end);
      else
        merged.push_back(range);
    ranges.swap(merged);
  }

  std::vector<Range> ranges;
  bool is_in_step = false;
};

} // namespace gpuopt
