// Compares paths by what they lead to, for the compiler and for the trainers
// alike.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>

namespace gpuopt {

namespace detail {
// Returns the one path of all those of a file, without symbolic links.
inline std::filesystem::path whole_path(const std::string &path) {
  std::error_code code;
  const std::filesystem::path found = std::filesystem::weakly_canonical(
      std::filesystem::absolute(path, code), code);
  return found.has_filename() ? found : found.parent_path();
}
} // namespace detail

// Whether a path is that of a folder or of something below it.
inline bool is_inside(const std::string &path, const std::string &folder) {
  const std::filesystem::path below = detail::whole_path(path),
                              whole = detail::whole_path(folder);
  const auto ends =
      std::mismatch(whole.begin(), whole.end(), below.begin(), below.end());
  return ends.first == whole.end();
}

} // namespace gpuopt
