// What a run has written to its output folder, as paths below it, and how that
// is moved to another folder. Files of others stay where they are.
#pragma once

#include "gpuopt/trainer/checkpoints/checkpoint_folder.h"
#include "gpuopt/trainer/class_names.h"
#include "gpuopt/trainer/event_file.h"
#include "gpuopt/trainer/metrics.h"
#include "gpuopt/trainer/profiling/profile_files.h"
#include "gpuopt/trainer/profiling/verdict.h"

#include <unistd.h>

namespace gpuopt {

// The plan of a run, which `gpuopt train` writes beside its results.
constexpr char kRunPlanFile[] = "plan.json";

namespace detail {
// The folders in which users may have files of their own: their files are moved
// one by one, and those of no other folder.
constexpr const char *kMixedFolders[] = {kProgramFolder, kProfileFolder,
                                         kEventFolder};

// Returns the names of what is in a folder, in their order; nothing if there is
// none.
inline std::vector<std::string> names_in(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code code;
  std::filesystem::directory_iterator at(folder, code), end;
  for (; !code && at != end; at.increment(code))
    names.push_back(at->path().filename().string());
  if (code && code != std::errc::no_such_file_or_directory &&
      code != std::errc::not_a_directory)
    throw Error("cannot read '" + folder + "': " + code.message());
  std::sort(names.begin(), names.end());
  return names;
}
inline bool is_mixed(const std::string &name) {
  return std::find(std::begin(kMixedFolders), std::end(kMixedFolders), name) !=
         std::end(kMixedFolders);
}
} // namespace detail

// Returns what a run has written, its program and plan if `has_program`.
inline std::vector<std::string> results_in(const std::string &output_dir,
                                           bool has_program) {
  std::vector<std::string> results, candidates = {kMetricsFile, kRunTraitsFile};
  for (const char *name : {kTraceFile, kTableFile, kProfileFile})
    candidates.push_back(kProfileFolder + ("/" + std::string(name)));
  for (const std::string &name :
       detail::names_in(output_dir + "/" + kEventFolder))
    if (name.rfind(kEventPrefix, 0) == 0)
      candidates.push_back(kEventFolder + ("/" + name));
  for (const CheckpointFolder &checkpoint : checkpoints_in(output_dir))
    candidates.push_back(
        std::filesystem::path(checkpoint.path).filename().string());
  candidates.insert(candidates.end(), {kModelFile, kAveragesFile});
  if (detail::has_names_of_run(output_dir))
    candidates.push_back(kClassNamesFile);
  if (has_program) {
    candidates.push_back(kRunPlanFile);
    for (const std::string &name :
         files_of_program(output_dir + "/" + kProgramFolder))
      candidates.push_back(kProgramFolder + ("/" + name));
  }
  std::error_code code;
  for (const std::string &name : candidates)
    if (std::filesystem::exists(output_dir + "/" + name, code))
      results.push_back(name);
  return results;
}

// Returns all that is in a folder to which nothing but results was moved.
inline std::vector<std::string> all_results_in(const std::string &folder) {
  std::vector<std::string> results;
  for (const std::string &name : detail::names_in(folder))
    if (detail::is_mixed(name))
      for (const std::string &file : detail::names_in(folder + "/" + name))
        results.push_back(name + "/" + file);
    else if (name != kResultsMark)
      results.push_back(name);
  return results;
}

namespace detail {
inline void create_folder(const std::string &folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code)
    throw Error("cannot create '" + folder + "': " + code.message());
}
inline void rename_result(const std::string &from, const std::string &to) {
  std::error_code code;
  std::filesystem::rename(from, to, code);
  if (code)
    throw Error("cannot move '" + from + "' to '" + to +
                "': " + code.message());
}
inline void remove_results(const std::string &path) {
  std::error_code code;
  std::filesystem::remove_all(path, code);
  if (code)
    throw Error("cannot remove '" + path + "': " + code.message());
}
// Removes the folders from which all was moved. One that has files of others
// stays, as does a file in its place.
inline void remove_empty_folders(const std::string &folder) {
  for (const char *name : kMixedFolders)
    rmdir((folder + "/" + name).c_str());
}
inline void sync_results(const std::string &folder) {
  std::error_code code;
  for (const char *name : kMixedFolders)
    if (std::filesystem::is_directory(folder + "/" + name, code))
      sync_folder(folder + "/" + name);
  sync_folder(folder);
}
} // namespace detail

// Moves results from one folder to another. They are on the disk where they go
// to before their absence is where they come from.
inline void move_results(const std::vector<std::string> &results,
                         const std::string &from, const std::string &to) {
  detail::create_folder(to);
  for (const std::string &name : results) {
    if (const size_t slash = name.find('/'); slash != std::string::npos)
      detail::create_folder(to + "/" + name.substr(0, slash));
    detail::rename_result(from + "/" + name, to + "/" + name);
  }
  detail::remove_empty_folders(from);
  detail::sync_results(to);
  detail::sync_results(from);
}

// Makes a folder that of a run, which other commands take. The mark says which
// names of classes are of a run.
inline void copy_mark(const std::string &output_dir,
                      const std::string &folder) {
  detail::create_folder(folder);
  std::error_code code;
  std::filesystem::copy_file(output_dir + "/" + kResultsMark,
                             folder + "/" + kResultsMark,
                             std::filesystem::copy_options::overwrite_existing,
                             code); // a test may have none
}

} // namespace gpuopt
