// Writes checkpoints while training goes on, and removes old ones.
#pragma once

#include "gpuopt/device/tracer.h"
#include "gpuopt/trainer/checkpoints/checkpoint_folder.h"
#include "gpuopt/trainer/checkpoints/run_state.h"
#include "gpuopt/trainer/checkpoints/state_copy.h"
#include "gpuopt/trainer/metrics.h"

#include <algorithm>
#include <future>
#include <optional>

namespace gpuopt {

// The outcome of writing a checkpoint.
struct CheckpointOutcome {
  int64_t step = 0;
  std::string lost;    // weights that are infinite or NaN: nothing is written
  std::string problem; // why nothing is written
};

// Writes the files of a checkpoint to a folder, which is made anew.
inline void write_checkpoint_files(const std::string &folder,
                                   const StateCopy &copy, bool has_averages,
                                   const RunState &run) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  std::map<std::string, std::string> metadata = copy.get_metadata();
  metadata[kStepEntry] = std::to_string(run.step);
  write_safetensors(folder + "/" + kModelFile, copy.tensors(StateFile::Weights),
                    metadata);
  if (has_averages)
    write_safetensors(folder + "/" + kAveragesFile,
                      copy.tensors(StateFile::Averages), metadata);
  write_safetensors(folder + "/" + kOptimizerFile,
                    copy.tensors(StateFile::Optimizer), metadata);
  copy.warn();
  detail::write_text(folder + "/" + kRunStateFile, json_of(run));
  write_checksums(folder);
  sync_folder(folder);
}

class CheckpointWriter {
public:
  // Keeps the last `limit` checkpoints and the best one; 0: all. The run goes
  // on from the step `begun_at`.
  CheckpointWriter(const Program &program, std::string output_dir,
                   int64_t limit, int64_t begun_at,
                   std::set<std::string> infinite_at_first,
                   const Averages &averages, Originals &originals,
                   std::string class_names, Tracer *tracer = nullptr)
      : copy(program, averages, originals, kNoCheckpoints),
        has_averages(averages.are_kept()), output_dir(std::move(output_dir)),
        limit(limit), begun_at(begun_at),
        infinite_at_first(std::move(infinite_at_first)),
        class_names(std::move(class_names)), tracer(tracer) {}

  // Allocates the memory that the first checkpoint would stall training for.
  void prepare() { copy.allocate(); }

  // Copies the state and begins to write it. The outcome of the checkpoint
  // before has been taken. The checkpoint of the step `superseded`, if that is
  // not 0, is removed once this one is in place.
  void begin(Context &ctx, const char *memory, const RunState &run,
             int64_t superseded = 0) {
    copy.take(ctx, memory);
    const auto task = [this, run, superseded] {
      return write(run, superseded);
    };
    try {
      writing = std::async(std::launch::async, task);
    } catch (const std::system_error &) { // the system allows no more threads
      writing = std::async(std::launch::deferred, task);
    }
  }

  // Returns the outcome of the last checkpoint, once. Without `waits`, returns
  // nothing while it is being written.
  std::optional<CheckpointOutcome> take_outcome(bool waits) {
    if (!writing.valid() || (!waits && writing.wait_for(std::chrono::seconds(
                                           0)) == std::future_status::timeout))
      return std::nullopt;
    return writing.get();
  }

private:
  static constexpr char kNoCheckpoints[] =
      "leave out --save-steps, --save-best and --resume to write a checkpoint "
      "only if something ends the run early";

  CheckpointOutcome write(const RunState &run, int64_t superseded) {
    const TraceSpan span(tracer, "write checkpoint", "checkpoint writer");
    CheckpointOutcome outcome;
    outcome.step = run.step;
    outcome.lost = copy.lost(infinite_at_first);
    if (!outcome.lost.empty())
      return outcome;
    const std::string target = checkpoint_path(output_dir, run.step),
                      part = target + kPartSuffix;
    try {
      write_checkpoint_files(part, copy, has_averages, run);
      if (!class_names.empty())
        detail::write_text(part + "/" + kClassNamesFile, class_names);
      sync_metrics(output_dir);
      put_in_place(part, target);
      sync_folder(output_dir);
      if (superseded > 0)
        remove_checkpoint(checkpoint_path(output_dir, superseded));
      remove_others(run);
    } catch (const std::exception &error) {
      outcome.problem = error_text(error);
      std::error_code code;
      std::filesystem::remove_all(part, code);
    }
    return outcome;
  }

  // Removes the oldest checkpoints beyond the limit, other than the best, and
  // those of steps behind the one from which this run goes on, unless it has
  // written them: they are of another course.
  void remove_others(const RunState &run) {
    own_steps.insert(run.step);
    std::vector<CheckpointFolder> found = checkpoints_in(output_dir);
    // The folder may have vanished meanwhile, and its checkpoints with it.
    const auto is_of_another_course = [&](const CheckpointFolder &each) {
      return each.step > begun_at && own_steps.count(each.step) == 0;
    };
    for (const CheckpointFolder &each : found)
      if (is_of_another_course(each))
        remove_checkpoint(each.path);
    found.erase(
        std::remove_if(found.begin(), found.end(), is_of_another_course),
        found.end());
    found.erase(std::remove_if(found.begin(), found.end(),
                               [&](const CheckpointFolder &each) {
                                 return each.step == run.best_step;
                               }),
                found.end());
    for (size_t i = 0; limit > 0 && i + size_t(limit) < found.size(); i++)
      remove_checkpoint(found[i].path);
  }

  StateCopy copy;
  const bool has_averages;
  const std::string output_dir;
  const int64_t limit, begun_at;
  std::set<int64_t> own_steps; // whose checkpoints this run has written
  const std::set<std::string> infinite_at_first;
  const std::string class_names;          // the lines of classes.txt
  Tracer *const tracer;                   // or null
  std::future<CheckpointOutcome> writing; // last: it is waited for first
};

} // namespace gpuopt
