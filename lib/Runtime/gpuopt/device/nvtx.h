// Ranges with names, which Nsight Systems and Nsight Compute show: NVTX of the
// CUDA toolkit. Elsewhere they are nothing.
#pragma once

#include "gpuopt/device/device.h"

#if defined(__CUDACC__) && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define GPUOPT_HAS_NVTX
#endif

namespace gpuopt {

#ifdef GPUOPT_HAS_NVTX
constexpr bool kHasNamedRanges = true;
inline void begin_range(const char *name) { nvtxRangePushA(name); }
inline void end_range() { nvtxRangePop(); }
#else
constexpr bool kHasNamedRanges = false;
inline void begin_range(const char *) {}
inline void end_range() {}
#endif

} // namespace gpuopt
