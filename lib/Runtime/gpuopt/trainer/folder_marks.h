// Tells a folder that gpuopt wrote from one that holds files of others, for the
// compiler and for the trainers alike.
#pragma once

#include <filesystem>

namespace gpuopt {

// The mark of a program's folder; it lists what gpuopt may replace there.
constexpr char kProgramMark[] = ".gpuopt";
// The mark of a trainer's folder, whose results may be replaced.
constexpr char kResultsMark[] = ".gpuopt-results";
// The results of an earlier run, until the one that replaces them has saved
// something.
constexpr char kEarlierFolder[] = ".gpuopt-earlier";
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

inline bool holds_results(const std::filesystem::path &folder) {
  std::error_code code;
  return std::filesystem::exists(folder / kResultsMark, code) ||
         holds_program(folder / kProgramFolder);
}

} // namespace gpuopt
