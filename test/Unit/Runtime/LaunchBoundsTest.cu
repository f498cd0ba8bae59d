// Kernels whose bounds are more than a multiprocessor of some devices can hold,
// for nvcc to compile: 32 blocks, and 2048 threads.

#include "gpuopt/kernels/types.h"

EXPORTED_KERNEL LAUNCH_BOUNDS(32, 32) void most_blocks(float *x) { *x = 1; }
EXPORTED_KERNEL LAUNCH_BOUNDS(256, 8) void most_threads(float *x) { *x = 1; }
EXPORTED_KERNEL LAUNCH_BOUNDS(256) void threads_alone(float *x) { *x = 1; }
