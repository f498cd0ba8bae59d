// Which of the GPU's kernels compute a call of attention. The compiler says so
// in the call, so that a program has no others: each takes nvcc seconds. This
// file is C++17, as the compiler is.
#pragma once

#include <cstdint>

namespace gpuopt {

// The largest heads that there are kernels for.
constexpr int64_t kLargestAttentionHead = 256;

// Attention has at most so many queries and keys, so that kernels count them in
// 32 bits. A key that is so far from a query is beyond all keys.
constexpr int64_t kMostAttentionRows = int64_t(1) << 30;

// Returns the smallest heads with kernels that hold `size` elements; what they
// have beyond these is zero.
constexpr int64_t attention_head_of(int64_t size) {
  return size <= 64 ? 64 : size <= 128 ? 128 : kLargestAttentionHead;
}

// What kernels do with scores. Those that do less have fewer instructions, and
// need fewer registers.
enum class AttentionScores {
  Products,        // they are multiplied by a scale
  Masked,          // an added mask, too, whose elements are loaded in pairs
  Changed,         // anything that AttentionOptions has
  ChangedUnaligned // that, too, of rows that need not be aligned
};

// What a call of attention does with its scores.
struct AttentionChanges {
  // Whether all rows that are read begin at a multiple of 16 bytes and have a
  // multiple of 16 bytes. Other rows are copied by elements.
  bool has_aligned_rows;
  bool has_others; // than an added mask and a positive scale
  bool has_added_mask;
  // Whether the elements of the mask for keys 2 i and 2 i + 1 are neighbours,
  // the first of which begins at a multiple of their size.
  bool has_mask_pairs;
};

// Heads of up to 64 elements of half precision have kernels for added masks.
constexpr AttentionScores attention_scores_of(const AttentionChanges &changes,
                                              int64_t head,
                                              bool is_half_precision) {
  if (!changes.has_aligned_rows)
    return AttentionScores::ChangedUnaligned;
  if (changes.has_others)
    return AttentionScores::Changed;
  if (!changes.has_added_mask)
    return AttentionScores::Products;
  return changes.has_mask_pairs && is_half_precision && head <= 64
             ? AttentionScores::Masked
             : AttentionScores::Changed;
}

} // namespace gpuopt
