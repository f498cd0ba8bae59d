// What all commands and programs say of a file or a folder that does not exist,
// and of a file that cannot be written.
//
// This file is C++17, as the compiler is.
#pragma once

#include "gpuopt/device/edit_distance.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
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

// Whether two paths name the same folder, which need not be there.
inline bool is_same_folder(const std::filesystem::path &one,
                           const std::filesystem::path &other) {
  auto whole = [](const std::filesystem::path &path) {
    std::error_code code;
    // The last part is empty where a path ends with a slash.
    return (std::filesystem::weakly_canonical(
                std::filesystem::absolute(path, code), code) /
            "")
        .lexically_normal();
  };
  return whole(one) == whole(other);
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

// Returns why no file can be written at a path, as far as that can be seen
// beforehand; empty if one can. With `is_renamed`, a new file takes the place of
// an old one, but of no device. `made` is a folder that is made if there is
// none. Changes nothing.
inline std::string why_not_written(const std::string &path, bool is_renamed,
                                   const std::string &made) {
  namespace fs = std::filesystem;
  std::error_code code;
  const std::string cannot = "cannot write '" + path + "': ";
  if (fs::is_directory(path, code) || path.back() == '/')
    return cannot + "a folder is there, but a file is needed";
  const bool exists = fs::exists(path, code);
  if (exists && !fs::is_regular_file(path, code) && is_renamed)
    return cannot + "what is there is no regular file";
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty())
    folder = ".";
  if (!fs::is_directory(folder, code))
    return detail::is_same_folder(folder, made)
               ? ""
               : cannot + "there is no folder '" + folder.string() + "'";
  const std::string touched = exists && !is_renamed ? path : folder.string();
  return access(touched.c_str(), W_OK) == 0 ? "" : cannot + strerror(errno);
}

} // namespace gpuopt
