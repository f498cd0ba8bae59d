// Tells a folder that gpuopt wrote from one that holds files of others, for the
// compiler and for the trainers alike.
#pragma once

#include "gpuopt/data/whole_path.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace gpuopt {

// The mark of a program's folder; it lists what gpuopt may replace there, a
// name in each line below the title.
constexpr char kProgramMark[] = ".gpuopt";
constexpr char kProgramTitle[] =
    "Written by gpuopt, which replaces what is listed here:";
// The mark of a trainer's folder, whose results may be replaced.
constexpr char kResultsMark[] = ".gpuopt-results";
// The results of an earlier run that are set aside, until the run that replaces
// them has saved something (earlier_results.h).
constexpr char kEarlierFolder[] = ".gpuopt-earlier";
// Exists from the beginning of an overwriting run until it has set the earlier
// results aside. The program of the run waits in it to take its place.
constexpr char kNextFolder[] = ".gpuopt-next";
// What a run could not remove of results that were set aside.
constexpr char kRemovedFolder[] = ".gpuopt-removed";
// The folder of the program below the results of `gpuopt train`.
constexpr char kProgramFolder[] = "program";

// Whether there is nothing, or an empty folder. A folder that cannot be read is
// not vacant.
inline bool is_vacant(const std::filesystem::path &path) {
  std::error_code code;
  if (!std::filesystem::exists(path, code))
    return !code;
  return std::filesystem::is_directory(path, code) &&
         std::filesystem::is_empty(path, code) && !code;
}

inline bool holds_program(const std::filesystem::path &folder) {
  std::error_code code;
  return std::filesystem::exists(folder / kProgramMark, code);
}

// Returns the names of what gpuopt has written to a program's folder, its mark
// last: all that is there if the mark of an old gpuopt lists nothing.
inline std::vector<std::string>
files_of_program(const std::filesystem::path &folder) {
  std::vector<std::string> names;
  std::ifstream mark(folder / kProgramMark);
  std::string line;
  if (!mark)
    return names;
  if (std::getline(mark, line) && line == kProgramTitle) {
    while (std::getline(mark, line))
      if (!line.empty() && line != kProgramMark &&
          line.find('/') == std::string::npos)
        names.push_back(line);
  } else {
    std::error_code code;
    std::filesystem::directory_iterator at(folder, code), end;
    for (; !code && at != end; at.increment(code))
      if (at->path().filename() != kProgramMark)
        names.push_back(at->path().filename().string());
  }
  names.push_back(kProgramMark);
  return names;
}

inline bool holds_results(const std::filesystem::path &folder) {
  std::error_code code;
  return std::filesystem::exists(folder / kResultsMark, code) ||
         holds_program(folder / kProgramFolder);
}

// Whether `gpuopt train` has begun an overwriting run: its weights wait with
// its program to take their place.
inline bool waits_in_next_folder(const std::string &weights,
                                 const std::string &output_dir) {
  return !weights.empty() && is_inside(weights, output_dir + "/" + kNextFolder);
}

// Returns a path, or a flag with one, that may be of the program which waits to
// take its place, by where that lies afterwards (earlier_results.h).
inline std::string in_its_place(std::string path) {
  const std::string next = std::string("/") + kNextFolder + "/";
  if (const size_t at = path.find(next); at != std::string::npos)
    path.replace(at, next.size(), "/");
  return path;
}

// Returns why a run that writes to an output folder must not read what a flag
// names: it is one of the results that are set aside there, which the run puts
// back or removes. Empty if it may.
inline std::string why_not_read(const std::string &flag,
                                const std::string &path,
                                const std::string &output_dir) {
  const std::string folder = output_dir + "/" + kEarlierFolder;
  if (path.empty() || !is_inside(path, folder))
    return "";
  return "'" + flag + "' '" + path + "' lies in '" + folder +
         "', which a run in '" + output_dir +
         "' puts back or removes; move that folder to another place, where it "
         "is the folder of the earlier run, and name the path there";
}

} // namespace gpuopt
