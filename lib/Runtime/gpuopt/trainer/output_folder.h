// The folder that a trainer writes to.
#pragma once

#include "gpuopt/device/error.h"
#include "gpuopt/trainer/folder_marks.h"

#include <fstream>
#include <vector>

namespace gpuopt {

// The folder is removed again if a run puts nothing into it.
class OutputFolder {
public:
  explicit OutputFolder(const std::string &path) {
    check(path);
    std::error_code code;
    auto part = std::filesystem::absolute(path, code);
    for (; !part.empty() && !std::filesystem::exists(part, code);
         part = part.parent_path())
      made.push_back(part);
    std::filesystem::create_directories(path, code);
    if (code)
      throw Error("cannot create '--output-dir' '" + path +
                  "': " + code.message());
    const auto file = std::filesystem::path(path) / kResultsMark;
    if (std::filesystem::exists(file, code))
      return;
    std::ofstream(file) << "Results of training by gpuopt, which the next run "
                           "may replace.\n";
    mark = file;
  }
  ~OutputFolder() {
    std::error_code code;
    if (!mark.empty() && isAlone(mark))
      std::filesystem::remove(mark, code);
    for (const auto &each : made) // of those that are not empty
      std::filesystem::remove(each, code);
  }
  OutputFolder(const OutputFolder &) = delete;
  OutputFolder &operator=(const OutputFolder &) = delete;

  // Refuses a folder with files of others, which results would mix with.
  static void check(const std::string &path) {
    std::error_code code;
    if (std::filesystem::is_directory(path, code) && !is_vacant(path) &&
        !holds_results(path))
      throw Error("'--output-dir' '" + path +
                  "' has files that are not of a training run; choose another "
                  "one or empty it");
  }

private:
  static bool isAlone(const std::filesystem::path &file) {
    std::error_code code;
    std::filesystem::directory_iterator at(file.parent_path(), code), end;
    return !code && at != end && at.increment(code) == end;
  }

  std::filesystem::path mark;              // if it was made
  std::vector<std::filesystem::path> made; // the innermost first
};

} // namespace gpuopt
