// What a run has taken of memory: what the plan says, the most that was really
// in use, and so what libraries and the program itself took beside the plan.
#pragma once

#include "gpuopt/device/memory_use.h"
#include "gpuopt/program/program.h"

#include <algorithm>

namespace gpuopt {

// Bytes. On the host, the device's memory is that of the process.
struct MemoryFigures {
  size_t planned = 0;    // all that the plan counts on the device, of which
  size_t persistent = 0; // lives from step to step,
  size_t arena = 0;      // and lives within a step
  size_t peak = 0;       // the most that was in use on the device
  size_t peak_host = 0;  // the most that the process had of the host's memory
  // What was in use beside the plan: by the program, its libraries, and data.
  size_t beside() const { return peak > planned ? peak - planned : 0; }
};

class MemoryWatch {
public:
  // Nothing that the plan counts has been allocated yet.
  explicit MemoryWatch(Context &ctx) : before(before_run(ctx)) {}

  // Looks at what is in use now. A GPU does not remember its peak, so this is
  // called where most may be in use.
  void look(Context &ctx) { most = std::max(most, peak_now(ctx)); }

  MemoryFigures figures(Context &ctx, const Program &program) {
    look(ctx);
    MemoryFigures figures;
    figures.planned =
        ctx.allocated_bytes + (kStagingIsDevice ? ctx.host_bytes : 0);
    figures.persistent = program.persistent_bytes;
    figures.arena = program.arena_bytes;
    figures.peak = most;
    figures.peak_host = peak_resident_bytes();
    return figures;
  }

private:
  // On a GPU, others may use memory, and the context has some before the run.
  static size_t before_run(Context &ctx) {
    return kStagingIsDevice ? 0 : used_bytes(ctx);
  }
  size_t peak_now(Context &ctx) const {
    if (kStagingIsDevice)
      return peak_resident_bytes();
    const size_t used = used_bytes(ctx);
    return used > before ? used - before : 0;
  }

  size_t before, most = 0;
};

// Returns the line for the terminal.
inline std::string describe(const MemoryFigures &figures) {
  auto text = [](size_t bytes) { return human_bytes(double(bytes)); };
  std::string line = "memory: peak " + text(figures.peak) + ", planned " +
                     text(figures.planned) + " (" + text(figures.persistent) +
                     " lives from step to step, " + text(figures.arena) +
                     " within a step), " + text(figures.beside()) +
                     " beside the plan: ";
  return line + (kStagingIsDevice ? "the program, its libraries and data"
                                  : "libraries; " + text(figures.peak_host) +
                                        " of the host's memory");
}

} // namespace gpuopt
