#include "Machine.h"

#include "AttentionKernels.h"

GPUOPT_ATTENTION_KERNELS(template, float)
GPUOPT_ATTENTION_KERNELS(template, gpuopt::f16)
GPUOPT_ATTENTION_KERNELS(template, gpuopt::bf16)
