// What the host's arithmetic does with denormal numbers, those nearer to
// zero than 1.2e-38.
#pragma once

#include "gpuopt/kernels/types.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace gpuopt {
namespace detail {

// Makes the calling thread take denormal operands for zero and write zero in
// place of denormal results, or compute with them.
inline void set_denormal_flushing([[maybe_unused]] bool flushes) {
#if defined(__SSE2__)
  constexpr unsigned kFlushResults = 1 << 15, kZeroOperands = 1 << 6;
  const unsigned others = _mm_getcsr() & ~(kFlushResults | kZeroOperands);
  _mm_setcsr(flushes ? others | kFlushResults | kZeroOperands : others);
#elif defined(__aarch64__)
  constexpr uint64_t kFlush = uint64_t(1) << 24;
  uint64_t control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  control = flushes ? control | kFlush : control & ~kFlush;
  asm volatile("msr fpcr, %0" : : "r"(control));
#endif
}

} // namespace detail

// Does so for the calling thread and the `threads` threads of its OpenMP team,
// and so for all threads that they start later. Many processors of x86 take
// more than a hundred cycles for an operation on denormal numbers, which a
// gradient that vanishes on its way through a long sequence consists of.
inline void flush_denormals([[maybe_unused]] int threads, bool flushes) {
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
  detail::set_denormal_flushing(flushes);
#endif
  detail::set_denormal_flushing(flushes);
}

} // namespace gpuopt
