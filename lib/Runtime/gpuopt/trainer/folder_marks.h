// Tells a folder that gpuopt wrote from one that holds files of others, for the
// compiler and for the trainers alike.
#pragma once

#include <filesystem>

namespace gpuopt {

// In a program's folder, with the names of what gpuopt may replace there.
constexpr char kProgramMark[] = ".gpuopt";
// In a trainer's, whose results it may replace.
constexpr char kResultsMark[] = ".gpuopt-results";
// Below the results of `gpuopt train`: the program.
constexpr char kProgramFolder[] = "program";

// There is nothing, or an empty folder. What cannot be read is not.
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
