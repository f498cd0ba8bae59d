// The sizes of attention and what changes its scores.
#pragma once

#include "gpuopt/settings/attention_kernels.h"

#include <cstdint>
#include <limits>

namespace gpuopt {

struct StepState;

// Q is [batch, queries, key_size], K [batch, keys, key_size], V [batch, keys,
// value_size], Y [batch, queries, value_size]. Strides are in elements; the
// last dimension of each is contiguous.
struct AttentionShape {
  // Heads that share keys and values, as in grouped-query attention (Ainslie et
  // al., 2023), are the last dimension of the batch. K, V and their gradients
  // have a stride of 0 in it; the gradients are summed over it.
  int64_t batch[3] = {1, 1, 1};
  int64_t queries, keys, key_size, value_size;
  int64_t q_batch[3] = {}, q_row;
  int64_t k_batch[3] = {}, k_row;
  int64_t v_batch[3] = {}, v_row;
  int64_t y_batch[3] = {}, y_row;
  // The stride of a mask or a bias is 0 in a dimension in which it has one
  // element for all.
  int64_t mask_batch[3] = {}, mask_row = 0, mask_key = 0;
  int64_t bias_batch[3] = {}, bias_row = 0, bias_key = 0;
  // Query i sees only the keys i + first_key to i + last_key: {-queries, 0} is
  // causal. Each query must see at least one key.
  int64_t first_key = -kMostAttentionRows, last_key = kMostAttentionRows;
};

struct AttentionOptions {
  double scale = 1;
  // If it is not 0, scaled scores become softcap * tanh(score / softcap), whose
  // size is at most `softcap` (Gemma Team, "Gemma 2: Improving Open Language
  // Models at a Practical Size", 2024, section 2).
  double softcap = 0;
  // At most one of the two masks is set: `mask` replaces a score by
  // masked_value where it is 0; `added_mask` is added to the scores.
  const uint8_t *mask = nullptr;
  double masked_value = -std::numeric_limits<double>::infinity();
  const float *added_mask = nullptr;
  // Is added to the scaled and capped scores, before any mask.
  const float *bias = nullptr;
  // Whether Y is 0 for a query whose scores are all minus infinity; otherwise
  // it is NaN.
  bool zeroes_empty = false;
  // The share of the probabilities that is dropped; the others are multiplied
  // by 1 / (1 - dropout). Element i of [batch, queries, keys] has
  // the number that random_uniform draws for it from `stream`.
  double dropout = 0;
  uint32_t stream = 0;
  const StepState *state = nullptr;
  // Where the backward writes the gradient of the bias, if it is wanted.
  float *bias_gradient = nullptr;
  // Where it writes sums of the columns of dQ, dK and dV, if they are wanted:
  // [parts, columns] as AttentionColumns has them.
  float *column_sums = nullptr;
};

} // namespace gpuopt
