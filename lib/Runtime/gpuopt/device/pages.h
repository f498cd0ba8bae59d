// Gives memory whose content is not needed any more back to the system.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace gpuopt {

// Releases the whole pages of [begin, begin + bytes) to the system. They are 0
// then, and take memory again when something is written.
inline void release_pages(char *begin, size_t bytes) {
  const auto page = uintptr_t(sysconf(_SC_PAGESIZE));
  const uintptr_t from = (reinterpret_cast<uintptr_t>(begin) + page - 1) /
                         page * page,
                  to = reinterpret_cast<uintptr_t>(begin + bytes) / page * page;
  if (from < to)
    madvise(reinterpret_cast<void *>(from), to - from, MADV_DONTNEED);
}

} // namespace gpuopt
