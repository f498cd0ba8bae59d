// Files that are read by mmap.
#pragma once

#include "gpuopt/device/error.h"
#include "gpuopt/device/missing_path.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace gpuopt {

// Bytes in memory, and what messages call them.
struct NamedBytes {
  std::string path;
  const uint8_t *data = nullptr;
  size_t bytes = 0;
};

// Whether both are of the same file, which nobody has written to in between.
inline bool is_same_file(const struct stat &a, const struct stat &b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino &&
         a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

class MappedFile : public NamedBytes {
public:
  explicit MappedFile(const std::string &path_of_file) {
    path = path_of_file;
    const int file = open(path.c_str(), O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) {
      const int error = errno;
      if (file >= 0)
        close(file);
      throw Error(is_missing(error)
                      ? describe_missing(path)
                      : "cannot read '" + path + "': " + strerror(error));
    }
    if (S_ISDIR(status.st_mode)) {
      close(file);
      throw Error("cannot read '" + path + "': it is a folder");
    }
    opened = status;
    bytes = size_t(status.st_size);
    void *start =
        bytes ? mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0) : nullptr;
    close(file);
    if (start == MAP_FAILED)
      throw Error("cannot map '" + path + "': " + strerror(errno));
    data = static_cast<const uint8_t *>(start);
  }
  ~MappedFile() {
    if (data)
      munmap(const_cast<uint8_t *>(data), bytes);
  }
  // Returns whether the file has been written to since it was opened. One that
  // has taken its place does not count: these bytes stay as they are then.
  bool was_written() const {
    struct stat now;
    return stat(path.c_str(), &now) == 0 && now.st_dev == opened.st_dev &&
           now.st_ino == opened.st_ino && !is(now);
  }
  // Returns whether a file is this one, and has not been written to since this
  // was opened.
  bool is(const struct stat &file) const { return is_same_file(file, opened); }
  // Releases the memory of bytes that have been read; they can be read again.
  void release(const uint8_t *from, size_t count) const {
    const uintptr_t page = uintptr_t(sysconf(_SC_PAGESIZE));
    const uintptr_t begin = (uintptr_t(from) + page - 1) / page * page;
    const uintptr_t end = (uintptr_t(from) + count) / page * page;
    if (begin < end)
      madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
  }
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

private:
  struct stat opened; // when the file was opened
};

} // namespace gpuopt
