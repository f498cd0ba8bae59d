// --overwrite-output-dir: what an earlier run has left makes way once the new
// one has saved something of its own. Until then it lies in a hidden folder,
// from which it is put back if the new run ends without:
//
//   .gpuopt-earlier.part  some of the results are there and the others in their
//                         places; nothing is in the place of another one
//   .gpuopt-earlier       all of them are there, and those of the new run are
//                         written to their places
//
// A folder changes from one to the other by being renamed. So whoever holds the
// lock of the output folder next can tell what a killed run has left, and puts
// it right (settle_earlier_results).
#pragma once

#include "gpuopt/trainer/checkpoints/checkpoint_folder.h"
#include "gpuopt/trainer/class_names.h"
#include "gpuopt/trainer/metrics.h"
#include "gpuopt/trainer/profiling/profile_files.h"
#include "gpuopt/trainer/profiling/verdict.h"
#include "gpuopt/trainer/signals.h"

namespace gpuopt {

// The results that belong to one run alone, besides checkpoints and the names
// of classes. Once a run has one of the first, the earlier results are no
// longer needed; it writes the others before that.
constexpr const char *kSavedResults[] = {kModelFile, kAveragesFile};
constexpr const char *kUnsavedResults[] = {kMetricsFile, kProfileFolder,
                                           kRunTraitsFile};
// What is left of a run that was to replace another one and saved nothing.
constexpr char kFailedRunFolder[] = "failed-run";

namespace detail {
inline std::string earlier_folder(const std::string &output_dir) {
  return output_dir + "/" + kEarlierFolder;
}
inline void move_result(const std::string &from, const std::string &to) {
  std::error_code code;
  std::filesystem::rename(from, to, code);
  if (code)
    throw Error("--overwrite-output-dir cannot move '" + from + "' to '" + to +
                "': " + code.message());
}
inline void remove_results(const std::string &path) {
  std::error_code code;
  std::filesystem::remove_all(path, code);
  if (code)
    throw Error("--overwrite-output-dir cannot remove '" + path +
                "': " + code.message());
}
inline void move_results(const std::vector<std::string> &paths,
                         const std::string &folder) {
  std::error_code code;
  std::filesystem::create_directory(folder, code);
  for (const std::string &path : paths)
    move_result(path, folder + path.substr(path.rfind('/')));
}
// Returns the paths of what is in a folder.
inline std::vector<std::string> paths_in(const std::string &folder) {
  std::vector<std::string> paths;
  std::error_code code;
  std::filesystem::directory_iterator at(folder, code), end;
  for (; !code && at != end; at.increment(code))
    paths.push_back(at->path().string());
  if (code)
    throw Error("cannot read '" + folder + "': " + code.message());
  return paths;
}
inline std::vector<std::string> unsaved_results(const std::string &output_dir) {
  std::vector<std::string> paths;
  std::error_code code;
  for (const char *name : kUnsavedResults)
    if (std::filesystem::exists(output_dir + "/" + name, code))
      paths.push_back(output_dir + "/" + name);
  return paths;
}
// Whether a run has saved weights or a whole checkpoint.
inline bool has_saved(const std::string &output_dir) {
  std::error_code code;
  for (const char *name : kSavedResults)
    if (std::filesystem::exists(output_dir + "/" + name, code))
      return true;
  for (const CheckpointFolder &checkpoint : checkpoints_in(output_dir))
    if (std::filesystem::exists(checkpoint.path + "/" + kChecksumsFile, code))
      return true;
  return false;
}
inline void finish_putting_back(const std::string &output_dir) {
  const std::string part = earlier_folder(output_dir) + kPartSuffix;
  for (const std::string &path : paths_in(part))
    move_result(path, output_dir + path.substr(path.rfind('/')));
  remove_results(part);
  sync_folder(output_dir);
}
} // namespace detail

// Moves the results of an earlier run into the hidden folder, so that none of
// them stands beside those of the next one.
inline void set_earlier_results_aside(const std::string &output_dir) {
  std::vector<std::string> paths = detail::unsaved_results(output_dir);
  std::error_code code;
  for (const CheckpointFolder &checkpoint : checkpoints_in(output_dir))
    paths.push_back(checkpoint.path);
  for (const char *name : kSavedResults)
    if (std::filesystem::exists(output_dir + "/" + name, code))
      paths.push_back(output_dir + "/" + name);
  if (detail::has_names_of_run(output_dir))
    paths.push_back(output_dir + "/" + kClassNamesFile);
  if (paths.empty())
    return;
  const std::string folder = detail::earlier_folder(output_dir);
  detail::move_results(paths, folder + kPartSuffix);
  detail::remove_results(folder); // what an interrupt had kept
  detail::move_result(folder + kPartSuffix, folder);
  sync_folder(output_dir);
}

// Removes the results that were set aside, if the run that replaces them has
// saved something and unless `discards` is false. Otherwise puts them back and
// moves what that run has left to a folder of its own. Returns whether they
// were put back. Whoever calls this holds the lock of the folder.
inline bool settle_earlier_results(const std::string &output_dir,
                                   bool discards = true) {
  const std::string folder = detail::earlier_folder(output_dir);
  std::error_code code;
  const bool is_moved = std::filesystem::exists(folder, code);
  if (is_moved && detail::has_saved(output_dir)) {
    if (discards)
      detail::remove_results(folder);
    return false;
  }
  if (is_moved) {
    const auto left = detail::unsaved_results(output_dir);
    const std::string failed = output_dir + "/" + kFailedRunFolder;
    if (!left.empty()) {
      detail::remove_results(failed);
      detail::move_results(left, failed);
    }
    detail::move_result(folder, folder + kPartSuffix);
  }
  if (!std::filesystem::exists(folder + kPartSuffix, code))
    return false;
  detail::finish_putting_back(output_dir);
  return true;
}

// Says that this was done. `run` is the one that has saved nothing.
inline std::string describe_putting_back(const std::string &output_dir,
                                         const char *run) {
  std::error_code code;
  const std::string failed = output_dir + "/" + kFailedRunFolder;
  return "the results of the earlier run are back in '" + output_dir +
         "', because " + run + " has saved nothing" +
         (std::filesystem::exists(failed, code)
              ? "; its metrics are in '" + failed + "'"
              : "");
}

// The results of an earlier run, for one that takes their place.
class EarlierResults {
public:
  EarlierResults(const std::string &output_dir, const char *program)
      : output_dir(output_dir), program(program) {}

  void set_aside() {
    are_aside = true; // or some of them
    set_earlier_results_aside(output_dir);
  }
  // Puts back what was set aside if nothing has been saved since, and removes
  // it otherwise, unless `discards` is false because this run has saved nothing
  // of its own. No checkpoint is being written. A run goes on if this fails.
  // After an interrupt nothing is removed: the folder may have been the wrong
  // one.
  void settle(bool discards = true) {
    if (!are_aside)
      return;
    are_aside = false;
    if (detail::interrupted && detail::has_saved(output_dir)) {
      fprintf(stderr,
              "%s: because of the interrupt, the results of the earlier run "
              "are kept in '%s' until a next run in '%s' saves its own\n",
              program, detail::earlier_folder(output_dir).c_str(),
              output_dir.c_str());
      return;
    }
    try {
      if (settle_earlier_results(output_dir, discards))
        tell("this run");
    } catch (const std::exception &error) {
      fprintf(stderr, "%s: warning: %s\n", program, error.what());
    }
  }
  // Puts back what a run that was killed had set aside, if it has saved
  // nothing. Returns whether anything is put back. What stays aside goes once
  // this run has saved something.
  bool settle_killed_run() {
    const bool are_back =
        settle_earlier_results(output_dir, /*discards=*/false);
    if (are_back)
      tell("the run that was to replace them");
    std::error_code code;
    are_aside =
        std::filesystem::exists(detail::earlier_folder(output_dir), code);
    return are_back;
  }

private:
  void tell(const char *run) const {
    fprintf(stderr, "%s: %s\n", program,
            describe_putting_back(output_dir, run).c_str());
  }

  const std::string output_dir;
  const char *const program; // its name
  bool are_aside = false;
};

} // namespace gpuopt
