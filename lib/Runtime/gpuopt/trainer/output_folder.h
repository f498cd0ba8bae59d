// The folder that a trainer writes to.
#pragma once

#include "gpuopt/device/atomic_file.h"
#include "gpuopt/trainer/folder_marks.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace gpuopt {

// Returns a path without slashes at its end, as names of what lies in the
// folder are made of it and compared.
inline std::string without_end_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path;
}

// The folder is removed again if a run puts nothing into it. While the object
// lives, no other trainer writes to the folder: the mark is locked, which ends
// with the process, however it ends.
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
    const bool is_new = !std::filesystem::exists(file, code);
    lock(path, file.string());
    if (is_new)
      write_mark(file);
    for (const auto &each : made)
      sync_folder(each.parent_path().string());
  }
  ~OutputFolder() {
    std::error_code code;
    if (!mark.empty() && isAlone(mark))
      std::filesystem::remove(mark, code);
    for (const auto &each : made) // of those that are not empty
      std::filesystem::remove(each, code);
    close(descriptor); // and lets go of the lock
  }
  OutputFolder(const OutputFolder &) = delete;
  OutputFolder &operator=(const OutputFolder &) = delete;

  // Whether another trainer writes to the folder. Asks for a lock that many may
  // have at once, and lets go of it.
  static bool is_locked(const std::string &path) {
    const auto file = std::filesystem::path(path) / kResultsMark;
    const int mark = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (mark < 0)
      return false;
    const bool is_held =
        flock(mark, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(mark);
    return is_held;
  }

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
  void lock(const std::string &path, const std::string &file) {
    descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0)
      throw Error("cannot write to '--output-dir' '" + path +
                  "': " + strerror(errno));
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      return;
    if (errno != EWOULDBLOCK) // a file system without locks
      return;
    close(descriptor);
    throw Error("another trainer writes to '--output-dir' '" + path +
                "'; choose another folder or wait until it ends");
  }
  void write_mark(const std::filesystem::path &file) {
    constexpr char kText[] = "Results of training by gpuopt, which the next "
                             "run may replace.\n";
    if (write(descriptor, kText, sizeof kText - 1) < 0)
      throw Error("cannot write '" + file.string() + "': " + strerror(errno));
    mark = file;
  }
  static bool isAlone(const std::filesystem::path &file) {
    std::error_code code;
    std::filesystem::directory_iterator at(file.parent_path(), code), end;
    return !code && at != end && at.increment(code) == end;
  }

  int descriptor = -1;                     // of the mark
  std::filesystem::path mark;              // if it was made
  std::vector<std::filesystem::path> made; // the innermost first
};

namespace detail {
inline std::string next_folder(const std::string &output_dir) {
  return output_dir + "/" + kNextFolder;
}
} // namespace detail

// Removes what waits in an output folder whose lock this process does not hold,
// unless another one does: then it is of that one.
inline void remove_next_folder(const std::string &output_dir) {
  try {
    const OutputFolder lock(output_dir);
    std::error_code code;
    std::filesystem::remove_all(detail::next_folder(output_dir), code);
  } catch (const std::exception &) {
    // The error that ends the run is told.
  }
}

} // namespace gpuopt
