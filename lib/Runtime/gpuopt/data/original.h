// Elements of a file that a program has rounded in its memory, and that are
// read again when they are saved.
#pragma once

#include "gpuopt/data/convert.h"
#include "gpuopt/data/mapped_file.h"

#include <atomic>
#include <memory>
#include <vector>

namespace gpuopt {

// A file that stays open even if another one takes its place. Where a device
// fails, reading it returns an error; reading a mapped file raises a signal.
class OpenedFile {
public:
  // Opens the file that has been mapped. Without it, nothing can be read.
  explicit OpenedFile(const MappedFile &mapped) : path(mapped.path) {
    descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0 &&
        (fstat(descriptor, &opened) != 0 || !mapped.is(opened))) {
      close(descriptor);
      descriptor = -1;
    }
  }
  ~OpenedFile() {
    if (descriptor >= 0)
      close(descriptor);
  }
  OpenedFile(const OpenedFile &) = delete;
  OpenedFile &operator=(const OpenedFile &) = delete;

  // Returns false if the bytes cannot be read, or if the file has been written
  // to since it was opened.
  bool read(size_t begin, void *to, size_t count) const {
    if (descriptor < 0)
      return false;
    char *place = static_cast<char *>(to);
    while (count > 0) {
      const ssize_t taken = pread(descriptor, place, count, off_t(begin));
      if (taken < 0 && errno == EINTR)
        continue;
      if (taken <= 0)
        return false;
      place += taken;
      begin += size_t(taken);
      count -= size_t(taken);
    }
    struct stat now;
    return fstat(descriptor, &now) == 0 && is_same_file(now, opened);
  }

  const std::string path;

private:
  int descriptor;
  struct stat opened;
};

// A tensor's elements in the file from which it was loaded.
class Original {
public:
  Original(std::shared_ptr<const OpenedFile> file, size_t begin, Type type)
      : file(std::move(file)), begin(begin), type(type) {}

  // Reads elements from number `first` on and converts them. Returns false if
  // that is not possible, and remembers it.
  bool read(size_t first, size_t count, Type to_type, void *to) const {
    std::vector<char> bytes(count * size_of(type));
    if (!file->read(begin + first * size_of(type), bytes.data(),
                    bytes.size())) {
      could_be_read = false;
      return false;
    }
    convert_elements(type, bytes.data(), to_type, to, count);
    return true;
  }
  // Whether all that was asked for could be read.
  bool was_readable() const { return could_be_read; }
  const std::string &path() const { return file->path; }

private:
  std::shared_ptr<const OpenedFile> file;
  size_t begin;
  Type type;
  mutable std::atomic<bool> could_be_read{true};
};

} // namespace gpuopt
