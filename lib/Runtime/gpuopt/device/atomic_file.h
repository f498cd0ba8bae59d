// A file that is either the old one or the new one, whatever happens.
#pragma once

#include "gpuopt/device/error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace gpuopt {

// Waits until what was written is on the disk. Returns false, and sets errno,
// if that failed. File systems that cannot be asked for it, as some of networks
// cannot, do not fail.
inline bool is_on_disk(int descriptor) {
  return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP;
}

// Waits until the names in a folder are on the disk. A folder that may be
// written to and not be read cannot be waited for.
inline void sync_folder(const std::string &path) {
  const int folder = open(path.empty() ? "." : path.c_str(),
                          O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool is_synced = folder >= 0 ? is_on_disk(folder) : errno == EACCES;
  const std::string why = strerror(errno);
  if (folder >= 0)
    close(folder);
  if (!is_synced)
    throw Error("cannot write '" + path + "': " + why);
}

// Returns the folder in which a path lies: "a" for "a/b", "." for "b".
inline std::string folder_above(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "."
         : slash == 0               ? "/"
                                    : path.substr(0, slash);
}

// What is written has this extension until it is complete.
constexpr char kPartExtension[] = ".part";

// A file that is written beside its target and moved over it by commit(). A
// full disk leaves the old file as it was.
class AtomicFile {
public:
  explicit AtomicFile(const std::string &path)
      : path(path), temporary(path + kPartExtension) {
    file = fopen(temporary.c_str(), "wb");
    if (!file)
      throw Error("cannot write '" + temporary + "': " + strerror(errno));
  }
  ~AtomicFile() {
    if (file)
      fclose(file);
    if (!committed)
      remove(temporary.c_str());
  }
  void write(const void *from, size_t count) {
    if (fwrite(from, 1, count, file) != count)
      fail();
  }
  void commit() {
    if (fflush(file) != 0 || !is_on_disk(fileno(file)))
      fail();
    const bool closed = fclose(file) == 0;
    file = nullptr;
    if (!closed || rename(temporary.c_str(), path.c_str()) != 0)
      fail();
    committed = true;
    sync_folder(folder_above(path));
  }

private:
  [[noreturn]] void fail() {
    throw Error("cannot write '" + path + "': " + strerror(errno) +
                "; what was there before is unchanged");
  }
  std::string path, temporary;
  FILE *file = nullptr;
  bool committed = false;
};

} // namespace gpuopt
