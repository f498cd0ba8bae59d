// Read before each file of an emitted program that is built for the emulated
// target (the compiler's option -include). First come NVIDIA's own headers, as
// a host compiler reads them: all types and enumerators are the real ones. Then
// the keywords and functions of kernels are defined, so that the rest can be
// read as CUDA.
#pragma once

#include "emulation/machine/launch.h"

#include <cublasLt.h>
#include <cuda_fp16.h>
#include <cudnn.h>

#include "emulation/machine/ptx.h"
#include "emulation/machine/words.h"

#define GPUOPT_EMULATED
#define __CUDACC__
