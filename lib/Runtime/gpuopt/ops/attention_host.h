// Attention on the host: a tile of queries at a time, whose scores stay in a
// core's cache, for up to some thousand keys. oneDNN computes the products of
// tiles, each on one thread; half precision is widened to float.
#pragma once

#include "gpuopt/ops/attention_backward_host.h"
#include "gpuopt/ops/attention_forward_host.h"
