// A file that is either the old one or the new one, whatever happens.
#pragma once

#include "gpuopt/device/error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>

namespace gpuopt {

// A file that is written beside its target and moved over it by commit(). A
// full disk leaves the old file as it was.
class AtomicFile {
public:
  explicit AtomicFile(const std::string &path)
      : path(path), temporary(path + ".part") {
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
    if (fflush(file) != 0 || fsync(fileno(file)) != 0)
      fail();
    const bool closed = fclose(file) == 0;
    file = nullptr;
    if (!closed || rename(temporary.c_str(), path.c_str()) != 0)
      fail();
    committed = true;
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
