// The folder that a trainer writes to.
#pragma once

#include "gpuopt/error.h"

#include <filesystem>
#include <vector>

namespace gpuopt {

// A run that puts nothing into it leaves none behind.
class OutputFolder {
public:
  explicit OutputFolder(const std::string &path) {
    std::error_code code;
    auto part = std::filesystem::absolute(path, code);
    for (; !part.empty() && !std::filesystem::exists(part, code);
         part = part.parent_path())
      made.push_back(part);
    std::filesystem::create_directories(path, code);
    if (code)
      throw Error("cannot create '--output-dir' '" + path +
                  "': " + code.message());
  }
  ~OutputFolder() {
    std::error_code code; // of those that are not empty
    for (const auto &folder : made)
      std::filesystem::remove(folder, code);
  }
  OutputFolder(const OutputFolder &) = delete;
  OutputFolder &operator=(const OutputFolder &) = delete;

private:
  std::vector<std::filesystem::path> made; // the innermost first
};

} // namespace gpuopt
