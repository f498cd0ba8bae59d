// One program at a time in a folder.
#pragma once

#include "gpuopt/device/error.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace gpuopt {

// Holds a folder until the object goes or the process ends, however it ends.
// Whoever locks it meanwhile gets an Error. No file of it is left. On a file
// system without locks, nothing is held.
class FolderLock {
public:
  // `what` says who holds it: "another prediction".
  FolderLock(const std::string &folder, const std::string &what)
      : descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor < 0)
      throw Error("cannot read '" + folder + "': " + strerror(errno));
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
      return;
    close(descriptor);
    throw Error(what + " writes to '" + folder +
                "'; choose another folder or wait until it ends");
  }
  ~FolderLock() { close(descriptor); }
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;

private:
  const int descriptor;
};

} // namespace gpuopt
