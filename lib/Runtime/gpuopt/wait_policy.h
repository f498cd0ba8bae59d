// How threads wait for the next kernel.
#pragma once

#include "gpuopt/device.h"

#include <cstdlib>
#include <unistd.h>

namespace gpuopt {

// OpenMP's threads spin between kernels by default, for milliseconds: on cores
// that others use too this costs more than ten times what it saves. A short
// spin bridges the gap between two kernels; then they sleep. The runtime reads
// this when it is loaded, so the program starts itself once more. What the user
// has set stays.
inline void set_wait_policy(char **argv) {
  if (!kStagingIsDevice || getenv("OMP_WAIT_POLICY") ||
      getenv("GOMP_SPINCOUNT"))
    return;
  setenv("GOMP_SPINCOUNT", "2000", 1);
  execv("/proc/self/exe",
        argv); // returns where it cannot: then all is as before
}

} // namespace gpuopt
