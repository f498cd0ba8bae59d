// The names of checkpoints' folders, for the compiler and for the trainers
// alike. This file is C++17, as the compiler is.
#pragma once

#include "gpuopt/data/checksums_file.h"
#include "gpuopt/trainer/folder_marks.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gpuopt {

constexpr char kCheckpointPrefix[] = "checkpoint-";
// The weights, in a checkpoint as in a program and in the results of a run.
constexpr char kModelFile[] = "model.safetensors";
// Where a run stands, beside its tensors, in a checkpoint.
constexpr char kRunStateFile[] = "trainer_state.json";
// The constants of a model that are no weights, beside those of a program.
constexpr char kConstantsFile[] = "constants.safetensors";
// The names of the classes that a run learns, a line each, in its results.
constexpr char kClassNamesFile[] = "classes.txt";
// The weights with averages in place of the parameters (--ema-decay).
constexpr char kAveragesFile[] = "ema.safetensors";

struct CheckpointFolder {
  int64_t step;
  std::string path;
};

inline std::string checkpoint_path(const std::string &output_dir,
                                   int64_t step) {
  return output_dir + "/" + kCheckpointPrefix + std::to_string(step);
}

// Returns the step that a folder's name has, or -1 if it is no checkpoint's.
inline int64_t step_in_name(const std::string &name) {
  const std::string prefix = kCheckpointPrefix;
  const std::string digits =
      name.rfind(prefix, 0) == 0 ? name.substr(prefix.size()) : "";
  const bool is_number =
      !digits.empty() && digits.size() <= 18 &&
      digits.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::stoll(digits) : -1;
}

// Returns the folders of checkpoints in an output folder, finished or not, the
// first step first.
inline std::vector<CheckpointFolder>
checkpoints_in(const std::string &output_dir) {
  std::vector<CheckpointFolder> found;
  std::error_code code;
  std::filesystem::directory_iterator at(output_dir, code), end;
  for (; !code && at != end; at.increment(code))
    if (const int64_t step = step_in_name(at->path().filename()); step >= 0)
      found.push_back({step, at->path()});
  std::sort(found.begin(), found.end(),
            [](const CheckpointFolder &a, const CheckpointFolder &b) {
              return a.step < b.step;
            });
  return found;
}

// Whether a folder is a checkpoint that was written to its end, which is when
// its checksums are written. Only these are told to users, and --resume=auto
// takes the last one of them whose files have these checksums.
inline bool is_finished_checkpoint(const std::string &folder) {
  std::error_code code;
  return std::filesystem::exists(folder + "/" + kChecksumsFile, code);
}

// Returns the finished checkpoints of an output folder, the first step first.
inline std::vector<CheckpointFolder>
finished_checkpoints_in(const std::string &output_dir) {
  std::vector<CheckpointFolder> found = checkpoints_in(output_dir);
  found.erase(std::remove_if(found.begin(), found.end(),
                             [](const CheckpointFolder &each) {
                               return !is_finished_checkpoint(each.path);
                             }),
              found.end());
  return found;
}

// Whether a checkpoint lies in an output folder.
inline bool lies_in(const std::string &checkpoint,
                    const std::string &output_dir) {
  std::error_code code;
  return !checkpoint.empty() &&
         std::filesystem::equivalent(std::filesystem::path(checkpoint) / "..",
                                     output_dir, code);
}

// Whether a folder has the state of a run, as a checkpoint does, finished or
// not.
inline bool has_run_state(const std::string &folder) {
  std::error_code code;
  return std::filesystem::is_directory(folder, code) &&
         std::filesystem::exists(folder + "/" + kRunStateFile, code);
}

// Whether a run has saved weights or a checkpoint in its output folder.
inline bool has_saved(const std::string &output_dir) {
  std::error_code code;
  for (const char *weights : {kModelFile, kAveragesFile})
    if (std::filesystem::exists(output_dir + "/" + weights, code))
      return true;
  return !finished_checkpoints_in(output_dir).empty();
}

// Returns the file of weights that a path stands for: a file itself; of a run
// or a checkpoint the weights in its folder and, of a run that has not written
// them, those of its last finished checkpoint. Empty if a folder has none.
inline std::string weights_at(const std::string &path) {
  std::error_code code;
  if (!std::filesystem::is_directory(path, code))
    return path;
  std::vector<CheckpointFolder> places = finished_checkpoints_in(path);
  places.push_back({0, path});
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    const std::filesystem::path file =
        std::filesystem::path(place->path) / kModelFile;
    if (std::filesystem::exists(file, code))
      return file.string();
  }
  return "";
}

// Says that a folder has no weights.
inline std::string no_weights_text(const std::string &folder) {
  return "'" + folder + "' is a folder without " + kModelFile +
         "; give a file, or the folder of a run or of a checkpoint that has "
         "one";
}

// Whether the last run that began in an output folder was an overwriting one
// that has been killed before it saved anything, unless it still goes on.
inline bool has_killed_overwriting_run(const std::string &output_dir) {
  std::error_code code;
  return std::filesystem::exists(output_dir + "/" + kNextFolder, code) ||
         (std::filesystem::exists(output_dir + "/" + kEarlierFolder, code) &&
          !has_saved(output_dir));
}

// Whether a run replaces what an earlier one has left in its output folder.
// --resume=auto goes on from checkpoints, even with --overwrite-output-dir.
inline bool is_overwriting(const std::string &output_dir,
                           const std::string &resume, bool overwrites) {
  return overwrites && (resume != "auto" || checkpoints_in(output_dir).empty());
}

// Returns why a run must not write to an output folder: it does not go on from
// there, and an earlier run has left checkpoints, which would be mixed with its
// own, or weights, which would be replaced. With `overwrites`, these are set
// aside, but what the run goes on from must stay. `resume` is the value of
// that flag; auto starts an overwriting run anew that was killed. Empty if
// nothing is lost, or if that value names no checkpoint: whoever opens it says
// so.
inline std::string why_not_anew(const std::string &output_dir,
                                const std::string &resume, bool overwrites) {
  if (is_inside(output_dir, output_dir + "/../" + kEarlierFolder))
    return "'" + output_dir +
           "' has the results of an earlier run that are set aside; move it to "
           "another place, where it is the folder of that run";
  if (resume == "auto" ? has_killed_overwriting_run(output_dir)
                       : !resume.empty() && !has_run_state(resume))
    return "";
  if (overwrites)
    return lies_in(resume, output_dir)
               ? "'" + output_dir +
                     "' has the checkpoint that --resume goes on from, and "
                     "--overwrite-output-dir removes it; give one of them"
               : "";
  const std::string otherwise =
      "choose another folder, or have the earlier run's results removed by "
      "--overwrite-output-dir";
  const auto finished = finished_checkpoints_in(output_dir);
  if (!checkpoints_in(output_dir).empty())
    return resume == "auto" || lies_in(resume, output_dir)
               ? ""
               : "'" + output_dir + "' has checkpoints of an earlier run, " +
                     (finished.empty()
                          ? "none of which is whole; "
                          : "the last one of step " +
                                std::to_string(finished.back().step) +
                                "; go on from it by --resume=auto, ") +
                     otherwise;
  std::error_code code;
  for (const char *weights : {kModelFile, kAveragesFile})
    if (std::filesystem::exists(output_dir + "/" + weights, code))
      return "'" + output_dir + "' has '" + weights +
             "' of an earlier run, and no checkpoint to go on from; " +
             (resume == "auto" ? "checkpoints are saved by --save-steps; begin "
                                 "with these weights by --init-from, or " +
                                     otherwise
                               : otherwise);
  return "";
}

} // namespace gpuopt
