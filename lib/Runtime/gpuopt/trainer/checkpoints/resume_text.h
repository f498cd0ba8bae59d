// What is said of the checkpoint that a run goes on from: why there is none,
// and which steps of an earlier course of the run come again.
#pragma once

#include "gpuopt/device/missing_path.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"
#include "gpuopt/trainer/folder_marks.h"

#include <algorithm>
#include <filesystem>
#include <string>

namespace gpuopt {

namespace detail {

inline std::string why_no_checkpoint_in_run(const std::string &run) {
  const auto found = finished_checkpoints_in(run);
  if (!found.empty())
    return "'" + run +
           "' is the folder of a run, but a checkpoint is needed: name one of "
           "its checkpoints, the last of which is '" +
           found.back().path +
           "', or let --resume=auto take the last one of the output folder";
  const std::string weights = run + "/" + kModelFile;
  std::error_code code;
  return "'" + run +
         "' is a run without checkpoints, which --save-steps has a run write" +
         (std::filesystem::exists(weights, code)
              ? "; --init-from='" + weights +
                    "' begins a new run with its weights"
              : "");
}

} // namespace detail

// Returns why there is no checkpoint at the path that --resume names, and what
// is probably meant. Empty if there is one, or a part of one.
inline std::string why_no_checkpoint(const std::string &path) {
  std::error_code code;
  if (!std::filesystem::exists(path, code))
    return "--resume: " + describe_missing(path);
  if (!std::filesystem::is_directory(path, code))
    return "--resume: '" + path +
           "' is a file, but a checkpoint is a folder, such as '" +
           checkpoint_path("RUN", 100) + "'";
  const bool is_run = holds_results(path) || (!is_finished_checkpoint(path) &&
                                              !checkpoints_in(path).empty());
  return is_run ? "--resume: " + detail::why_no_checkpoint_in_run(path) : "";
}

// Says that a run which goes on from one of its own checkpoints does steps
// again, after which there are later checkpoints, and what becomes of those.
// Empty if there are none.
inline std::string describe_repeated_steps(const std::string &checkpoint,
                                           const std::string &output_dir,
                                           int64_t step, int64_t steps) {
  const auto found = checkpoints_in(output_dir);
  if (steps <= step || found.empty() || found.back().step <= step ||
      !lies_in(checkpoint, output_dir))
    return "";
  const CheckpointFolder &last = found.back();
  return "steps " + std::to_string(step + 1) + " to " +
         std::to_string(std::min(steps, last.step)) +
         " are done again: checkpoints of later steps, the last of which is '" +
         last.path + "', are removed once this run has written its next one";
}

} // namespace gpuopt
