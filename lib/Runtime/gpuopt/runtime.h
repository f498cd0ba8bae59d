// Everything that step.cu is written in.
#pragma once

#include "gpuopt/accumulate.h"
#include "gpuopt/block.h"
#include "gpuopt/calls.h"
#include "gpuopt/check.h"
#include "gpuopt/conv.h"
#include "gpuopt/device.h"
#include "gpuopt/elementary.h"
#include "gpuopt/gemm.h"
#include "gpuopt/in_range.h"
#include "gpuopt/keep.h"
#include "gpuopt/offload.h"
#include "gpuopt/optimizer.h"
#include "gpuopt/pool.h"
#include "gpuopt/program.h"
#include "gpuopt/random.h"
#include "gpuopt/scatter.h"
