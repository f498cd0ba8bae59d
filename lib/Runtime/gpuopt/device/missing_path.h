// What all commands and programs say of a file or a folder that does not exist.
//
// This file is C++17, as the compiler is.
#pragma once

#include "gpuopt/device/edit_distance.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>

namespace gpuopt {

namespace detail {

// Returns the entry of a folder whose name is spelled nearest to another one,
// which may lack its ending; empty if none is near.
inline std::string nearest_entry(const std::filesystem::path &folder,
                                 const std::string &name) {
  std::error_code code;
  std::filesystem::directory_iterator at(folder.empty() ? "." : folder, code),
      end;
  std::pair<size_t, std::string> nearest(name.size() / 3 + 1, "");
  for (; !code && at != end; at.increment(code)) {
    const std::filesystem::path other = at->path().filename();
    const size_t distance =
        other.stem() == name ? 1 : edit_distance(name, other.string());
    nearest = std::min(nearest, {distance, other.string()});
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

} // namespace detail

constexpr char kNoSuchPath[] = "there is no file or folder '";

// Whether an error of the system means that a path does not exist.
constexpr bool is_missing(int error) {
  return error == ENOENT || error == ENOTDIR;
}

// Says that a path does not exist, and which one is probably meant.
inline std::string describe_missing(const std::string &path) {
  const std::string meant = detail::path_meant_by(path);
  return kNoSuchPath + path + "'" +
         (meant.empty() ? "" : "; did you mean '" + meant + "'?");
}

} // namespace gpuopt
