// Includes everything that step.cu needs.
#pragma once

#include "gpuopt/device/call_timing.h"
#include "gpuopt/device/device.h"
#include "gpuopt/device/offload.h"
#include "gpuopt/kernels/block.h"
#include "gpuopt/kernels/elementary.h"
#include "gpuopt/kernels/random.h"
#include "gpuopt/ops/check.h"
#include "gpuopt/ops/conv.h"
#include "gpuopt/ops/gemm.h"
#include "gpuopt/ops/in_range.h"
#include "gpuopt/ops/pool.h"
#include "gpuopt/ops/scatter.h"
#include "gpuopt/optimizers/accumulate.h"
#include "gpuopt/optimizers/optimizer.h"
#include "gpuopt/optimizers/snapshot.h"
#include "gpuopt/program/program.h"
