// Y = softmax(mask(scale * Q K^T)) V, and its gradient, without a matrix of
// queries x keys in memory. Besides Q, K, V and Y, the backward needs two
// numbers of the forward for each query: its largest score, and the logarithm
// of the sum of exp(score - largest). Their sum alone, which others keep (Dao,
// "FlashAttention-2: Faster Attention with Better Parallelism and Work
// Partitioning", 2023), loses the second one if a mask of -1e9 or less hides
// all keys of a query.
//
// The sizes of tiles depend on the shape and the types alone, never on the
// number of threads or multiprocessors, so that a result that is computed again
// has the same bits.
#pragma once

#include "gpuopt/device/device.h"
#include "gpuopt/kernels/random.h"
#include "gpuopt/optimizers/optimizer.h"

#include <limits>

namespace gpuopt {

// Q is [batch, queries, key_size], K [batch, keys, key_size], V [batch, keys,
// value_size], Y [batch, queries, value_size]. Strides are in elements; the
// last dimension of each is contiguous.
struct AttentionShape {
  int64_t batch[2] = {1, 1};
  int64_t queries, keys, key_size, value_size;
  int64_t q_batch[2] = {0, 0}, q_row;
  int64_t k_batch[2] = {0, 0}, k_row;
  int64_t v_batch[2] = {0, 0}, v_row;
  int64_t y_batch[2] = {0, 0}, y_row;
  // The stride of a mask is 0 in a dimension in which it has one element for
  // all.
  int64_t mask_batch[2] = {0, 0}, mask_row = 0, mask_key = 0;
  // Query i sees only the keys i + first_key to i + last_key: {-queries, 0} is
  // causal. Each query must see at least one key.
  int64_t first_key = -(int64_t(1) << 40), last_key = int64_t(1) << 40;
};

// The strides of the gradients of Y (which is read), Q, K and V.
struct AttentionGradientShape {
  int64_t dy_batch[2] = {0, 0}, dy_row;
  int64_t dq_batch[2] = {0, 0}, dq_row;
  int64_t dk_batch[2] = {0, 0}, dk_row;
  int64_t dv_batch[2] = {0, 0}, dv_row;
};

struct AttentionOptions {
  double scale = 1;
  // At most one of these is set: `mask` replaces a score by masked_value where
  // it is 0; `bias` is added to the scaled scores.
  const uint8_t *mask = nullptr;
  double masked_value = -std::numeric_limits<double>::infinity();
  const float *bias = nullptr;
  // Whether Y is 0 for a query whose scores are all minus infinity; otherwise
  // it is NaN.
  bool zeroes_empty = false;
  // The share of the probabilities that is dropped; the others are multiplied
  // by 1 / (1 - dropout). Element i of [batch[0], batch[1], queries, keys] has
  // the number that random_uniform draws for it from `stream`.
  double dropout = 0;
  uint32_t stream = 0;
  const StepState *state = nullptr;
};

// Returns how many bytes of ctx's workspace the backward needs on a GPU: four
// floats for each query.
constexpr int64_t attention_workspace(const AttentionShape &s) {
  return (16 * s.batch[0] * s.batch[1] * s.queries + 255) / 256 * 256;
}

// attention(ctx, shape, q, k, v, y, statistics, options)
// attention_backward(ctx, shape, gradients, q, k, v, y, statistics, dy,
//                    dq, dk, dv, options)
//
// T is float, f16 or bf16. The statistics are floats, dense: [2, batch[0],
// batch[1], queries], first the largest scores (scaled and masked), then the
// logarithms. Where all scores are minus infinity, so is the largest one.

} // namespace gpuopt

#ifdef __CUDACC__
#include "gpuopt/ops/attention_cuda.h"
#else
#include "gpuopt/ops/attention_host.h"
#endif
