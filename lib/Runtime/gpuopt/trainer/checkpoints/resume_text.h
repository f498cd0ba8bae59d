// What is said of the checkpoint that a run goes on from: why there is none,
// and which steps of an earlier course of the run come again.
#pragma once

#include "gpuopt/settings/flag_names.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"
#include "gpuopt/trainer/folder_marks.h"

#include <algorithm>
#include <filesystem>
#include <string>

namespace gpuopt {

namespace detail {

// Returns the entry of a folder whose name is spelled nearest to another one;
// empty if none is near.
inline std::string nearest_entry(const std::filesystem::path &folder,
                                 const std::string &name) {
  std::error_code code;
  std::filesystem::directory_iterator at(folder.empty() ? "." : folder, code),
      end;
  std::pair<size_t, std::string> nearest(name.size() / 3 + 1, "");
  for (; !code && at != end; at.increment(code)) {
    const std::string other = at->path().filename().string();
    nearest = std::min(nearest, {edit_distance(name, other), other});
  }
  return nearest.second;
}

// Returns the path that a misspelt one probably means: the first part that does
// not exist is replaced by the entry with the nearest name. Empty if there is
// none, or if what follows does not exist there.
inline std::string path_meant_by(const std::string &path) {
  std::error_code code;
  std::filesystem::path found;
  bool is_replaced = false;
  for (const auto &part : std::filesystem::path(path).lexically_normal()) {
    if (std::filesystem::exists(found / part, code)) {
      found /= part;
      continue;
    }
    const std::string name =
        is_replaced ? "" : nearest_entry(found, part.string());
    if (name.empty())
      return "";
    found /= name;
    is_replaced = true;
  }
  return found.string();
}

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
  if (!std::filesystem::exists(path, code)) {
    const std::string meant = detail::path_meant_by(path);
    return "--resume: there is no '" + path + "'" +
           (meant.empty() ? "" : "; did you mean '" + meant + "'?");
  }
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
