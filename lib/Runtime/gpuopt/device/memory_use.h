// How much memory a program really uses, beside what the plan says: of the host
// as the kernel of the system counts it, and of a GPU as its driver does.
#pragma once

#include "gpuopt/device/device.h"

#include <cstdio>
#include <cstring>

namespace gpuopt {

// Returns a line of /proc/self/status in bytes, such as VmHWM; 0 where the
// system has none.
inline size_t process_bytes(const char *name) {
  FILE *file = fopen("/proc/self/status", "r");
  if (!file)
    return 0;
  size_t bytes = 0;
  char line[256];
  const size_t length = strlen(name);
  while (bytes == 0 && fgets(line, sizeof line, file))
    if (strncmp(line, name, length) == 0 && line[length] == ':') {
      unsigned long long kibibytes = 0;
      if (sscanf(line + length + 1, "%llu", &kibibytes) == 1)
        bytes = size_t(kibibytes) << 10;
    }
  fclose(file);
  return bytes;
}

// The most memory of the host that the process has had at once, since its start
// or the last call of forget_peak_resident_bytes, and what it has now.
inline size_t peak_resident_bytes() { return process_bytes("VmHWM"); }
inline size_t resident_bytes() { return process_bytes("VmRSS"); }

// Begins the peak anew. Does nothing where the system does not allow that.
inline void forget_peak_resident_bytes() {
  if (FILE *file = fopen("/proc/self/clear_refs", "w")) {
    fputs("5", file); // proc(5): resets the peak alone
    fclose(file);
  }
}

#ifdef __CUDACC__
// Returns what is in use of the device's memory, by all processes.
inline size_t used_bytes(Context &) {
  size_t free_bytes = 0, all_bytes = 0;
  CHECK_CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
  return all_bytes - free_bytes;
}
#else
// Returns what the process has of the device's memory, which is the host's.
inline size_t used_bytes(Context &) { return resident_bytes(); }
#endif

} // namespace gpuopt
