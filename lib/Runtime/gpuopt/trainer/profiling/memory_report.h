// What a run has taken of memory: what the plan says, the most that was really
// in use, in all and in each phase, and so what libraries and the program
// itself took beside the plan.
#pragma once

#include "gpuopt/device/memory_use.h"
#include "gpuopt/trainer/profiling/step_timer.h"

#include <algorithm>
#include <array>
#include <string>

namespace gpuopt {

enum class MemoryPhase {
  Load, // until the first step
  Forward,
  Backward,
  Update,
  Validation,
  Checkpoint, // while training waits for it
};
constexpr size_t kMemoryPhases = 6;
inline const char *name_of(MemoryPhase phase) {
  constexpr const char *kNames[kMemoryPhases] = {
      "load", "forward", "backward", "update", "validation", "checkpoint"};
  return kNames[size_t(phase)];
}

// Bytes. On the host, the device's memory is that of the process.
struct MemoryFigures {
  size_t planned = 0;    // all that the plan counts on the device, of which
  size_t persistent = 0; // lives from step to step,
  size_t arena = 0;      // and lives within a step
  size_t peak = 0;       // the most that was in use on the device
  size_t peak_host = 0;  // the most that the process had of the host's memory
  // In each phase, what the plan has alive at once, and the most that was in
  // use; 0: there was no such phase.
  struct OfPhase {
    size_t planned = 0, peak = 0;
  };
  std::array<OfPhase, kMemoryPhases> phases{};
  // What was in use beside the plan: by the program, its libraries, and data.
  size_t beside() const { return peak > planned ? peak - planned : 0; }
};

class MemoryWatch {
public:
  // Nothing that the plan counts has been allocated yet; the run is in its
  // phase Load.
  explicit MemoryWatch(Context &ctx) : ctx(ctx), before(before_run()) {}

  // The run is in a phase from now on, until the next call.
  void begin(MemoryPhase next) {
    if (is_in_phase && next == phase)
      return;
    end();
    is_in_phase = true;
    phase = next;
  }
  // The run is in no phase from now on. A GPU does not remember its peak, so
  // this is called where most may be in use.
  void end() {
    look();
    forget_peak_resident_bytes();
    is_in_phase = false;
  }

  MemoryFigures figures(const Program &program) {
    look();
    MemoryFigures figures;
    figures.planned =
        ctx.allocated_bytes + (kStagingIsDevice ? ctx.host_bytes : 0);
    figures.persistent = program.persistent_bytes;
    figures.arena = program.arena_bytes;
    figures.peak = most;
    figures.peak_host = most_of_host;
    const AliveBytes &parts = program.alive;
    const std::array<size_t, kMemoryPhases> alive{
        0, parts.forward, parts.backward, parts.update, parts.evaluation, 0};
    for (size_t i = 0; i < kMemoryPhases; i++)
      if (peaks[i] > 0)
        figures.phases[i] = {program.persistent_bytes + alive[i], peaks[i]};
    return figures;
  }

private:
  void look() {
    const size_t now = peak_now();
    most = std::max(most, now);
    most_of_host = std::max(most_of_host, peak_resident_bytes());
    if (is_in_phase)
      peaks[size_t(phase)] = std::max(peaks[size_t(phase)], now);
  }
  // On a GPU, others may use memory, and the context has some before the run.
  size_t before_run() const { return kStagingIsDevice ? 0 : used_bytes(ctx); }
  size_t peak_now() const {
    if (kStagingIsDevice)
      return peak_resident_bytes();
    const size_t used = used_bytes(ctx);
    return used > before ? used - before : 0;
  }

  Context &ctx;
  size_t before, most = 0, most_of_host = 0;
  std::array<size_t, kMemoryPhases> peaks{};
  MemoryPhase phase = MemoryPhase::Load;
  bool is_in_phase = true;
};

// Tells a watch where a micro step goes from its forward to its backward and,
// if it has the update, to that.
class PhaseObserver : public CallObserver {
public:
  PhaseObserver(MemoryWatch &watch, const TimedFunction &function)
      : watch(watch) {
    for (int row = 0; row < function.work.count; row++) {
      const char *section = function.work.data[row].section;
      const std::string name = section ? section : "";
      phases.insert(phases.end(), size_t(function.calls.data[row].count),
                    name == "backward"    ? MemoryPhase::Backward
                    : name == "optimizer" ? MemoryPhase::Update
                                          : MemoryPhase::Forward);
    }
  }
  void begin_call(Context &) override {
    if (next < phases.size())
      watch.begin(phases[next]);
    next++;
  }

private:
  MemoryWatch &watch;
  std::vector<MemoryPhase> phases; // of each call
  size_t next = 0;
};

// Returns the line for the terminal; metrics.jsonl has the rest, by phase.
inline std::string describe(const MemoryFigures &figures) {
  auto text = [](size_t bytes) { return human_bytes(double(bytes)); };
  return "memory: " + text(figures.planned) + " planned, " +
         text(figures.peak) + " in use at the peak (" + text(figures.beside()) +
         " beside the plan" +
         (kStagingIsDevice ? ")"
                           : "), " + text(figures.peak_host) + " on the host");
}

} // namespace gpuopt
