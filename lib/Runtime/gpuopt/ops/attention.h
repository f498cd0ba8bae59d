// Y = softmax(mask(cap(scale * Q K^T) + bias)) V, and its gradient, without a
// matrix of queries x keys in memory. Besides Q, K, V and Y, the backward needs
// two numbers of the forward for each query: its largest score, and the
// logarithm of the sum of exp(score - largest). Their sum alone, which others
// keep (Dao, "FlashAttention-2: Faster Attention with Better Parallelism and
// Work Partitioning", 2023), loses the second one if a mask of -1e9 or less
// hides all keys of a query.
//
// The sizes of tiles depend on the shape and the types alone, never on the
// number of threads or multiprocessors, so that a result that is computed again
// has the same bits.
#pragma once

#include "gpuopt/device/device.h"
#include "gpuopt/kernels/random.h"
#include "gpuopt/ops/attention_shape.h"
#include "gpuopt/optimizers/optimizer.h"
#include "gpuopt/settings/attention_kernels.h"
#include "gpuopt/settings/limits.h"

namespace gpuopt {

// The strides of the gradients of Y (which is read), Q, K, V and the bias. The
// last one is dense; where its stride is 0, the gradients of all scores along
// the dimension are added up.
struct AttentionGradientShape {
  int64_t dy_batch[3] = {}, dy_row;
  int64_t dq_batch[3] = {}, dq_row;
  int64_t dk_batch[3] = {}, dk_row;
  int64_t dv_batch[3] = {}, dv_row;
  int64_t dbias_batch[3] = {}, dbias_row = 0, dbias_key = 0;
};

// The sums of the columns of dQ, dK and dV, which are the gradient of a bias of
// the projection that made Q, K and V. A part is of up to kAttentionSumRows
// rows of one element of batch[0]; a column is of one head, batch[1], of one
// tensor. There are as many keys as queries.
struct AttentionColumns {
  int64_t tiles, columns; // of an element of batch[0]; of a part
  int64_t first[3];       // columns of dQ, of dK and of dV

  HOST_DEVICE constexpr explicit AttentionColumns(const AttentionShape &s)
      : tiles((s.queries + kAttentionSumRows - 1) / kAttentionSumRows),
        columns(s.batch[1] * (2 * s.key_size + s.value_size)),
        first{0, s.batch[1] * s.key_size, 2 * s.batch[1] * s.key_size} {}
  // Returns where the sums of tensor `which` begin, in elements.
  HOST_DEVICE constexpr int64_t place(int which, int64_t batch, int64_t head,
                                      int64_t tile, int64_t size) const {
    return (batch * tiles + tile) * columns + first[which] + head * size;
  }
};

// The sums of a bias' gradient over those batch dimensions in which the bias is
// broadcast. Each sum is cut into `parts`, which are added up at the end in
// their order: there is work for many blocks where a bias is small. The number
// of parts depends on the shape alone.
struct BiasSums {
  int64_t own[3] = {1, 1, 1};     // the batch dimensions of the bias
  int64_t repeats[3] = {1, 1, 1}; // those in which it is broadcast
  int64_t count = 1;              // of own batch elements
  int64_t rows, keys;             // of the bias for each of them
  int64_t terms = 1;              // batch elements that are added up
  int64_t parts = 1;

  constexpr BiasSums(const AttentionShape &s, const AttentionGradientShape &g)
      : rows(g.dbias_row ? s.queries : 1), keys(g.dbias_key ? s.keys : 1) {
    for (int d = 0; d < 3; d++) {
      (g.dbias_batch[d] ? own : repeats)[d] = s.batch[d];
      count *= own[d];
      terms *= repeats[d];
    }
    parts = parts_of_bias_sums(elements(), terms);
  }
  HOST_DEVICE constexpr int64_t elements() const { return count * rows * keys; }
  // Returns the first term of a part; the one after the last is that of the
  // next part.
  HOST_DEVICE constexpr int64_t first_term(int64_t part) const {
    return terms * part / parts;
  }
  // Sets the indices of the batch element that is term `term` of the sum for
  // the bias' batch element `own_number`.
  HOST_DEVICE constexpr void find(int64_t own_number, int64_t term,
                                  int64_t (&index)[3]) const {
    for (int d = 2; d >= 0; d--) {
      index[d] = own_number % own[d] + term % repeats[d];
      own_number /= own[d];
      term /= repeats[d];
    }
  }
};

HOST_DEVICE constexpr int64_t batch_elements(const AttentionShape &s) {
  return s.batch[0] * s.batch[1] * s.batch[2];
}

// Returns how many elements of the batch share each head of K and V.
constexpr int64_t heads_of_group(const AttentionShape &s,
                                 const AttentionGradientShape &g) {
  return g.dk_batch[2] == 0 ? s.batch[2] : 1;
}

// Returns how many bytes of ctx's workspace the backward needs on a GPU: four
// floats for each query.
constexpr int64_t attention_workspace(const AttentionShape &s) {
  return (16 * batch_elements(s) * s.queries + 255) / 256 * 256;
}

// Returns how many bytes it needs beside these, anywhere, if it computes the
// gradient of a bias.
constexpr int64_t bias_gradient_workspace(const AttentionShape &s,
                                          const AttentionGradientShape &g) {
  const BiasSums sums(s, g);
  return sums.parts == 1 ? 0 : 4 * sums.parts * sums.elements();
}

// Returns whether all rows of a matrix [batch, rows, columns] begin at a
// multiple of 16 bytes and have a multiple of 16 bytes; or those of all
// matrices that the forward, or the backward, copies.
template <class T>
bool has_aligned_rows(const AttentionShape &s, const T *data,
                      const int64_t (&batch)[3], int64_t rows, int64_t columns,
                      int64_t stride) {
  constexpr int64_t kVector = 16 / int64_t(sizeof(T));
  const auto is_aligned = [](int64_t size, int64_t distance) {
    return size == 1 || distance % kVector == 0;
  };
  return reinterpret_cast<uintptr_t>(data) % 16 == 0 &&
         columns % kVector == 0 && is_aligned(rows, stride) &&
         is_aligned(s.batch[0], batch[0]) && is_aligned(s.batch[1], batch[1]) &&
         is_aligned(s.batch[2], batch[2]);
}
template <class T>
bool has_aligned_rows(const AttentionShape &s, const T *q, const T *k,
                      const T *v) {
  return has_aligned_rows(s, q, s.q_batch, s.queries, s.key_size, s.q_row) &&
         has_aligned_rows(s, k, s.k_batch, s.keys, s.key_size, s.k_row) &&
         has_aligned_rows(s, v, s.v_batch, s.keys, s.value_size, s.v_row);
}
template <class T>
bool has_aligned_rows(const AttentionShape &s, const AttentionGradientShape &g,
                      const T *q, const T *k, const T *v, const T *dy) {
  return has_aligned_rows(s, q, k, v) &&
         has_aligned_rows(s, dy, g.dy_batch, s.queries, s.value_size, g.dy_row);
}

// Returns what a call does with its scores, as the compiler knows it.
inline AttentionChanges changes_of(const AttentionShape &s,
                                   const AttentionOptions &o,
                                   bool has_aligned_rows) {
  const auto is_even = [](int64_t x) { return x % 2 == 0; };
  AttentionChanges changes;
  changes.has_aligned_rows = has_aligned_rows;
  changes.has_others =
      o.mask || o.bias || o.dropout > 0 || o.softcap > 0 || !(o.scale > 0);
  changes.has_added_mask = o.added_mask != nullptr;
  changes.has_mask_pairs =
      s.mask_key == 1 && is_even(s.mask_row) && is_even(s.mask_batch[0]) &&
      is_even(s.mask_batch[1]) && is_even(s.mask_batch[2]) &&
      reinterpret_cast<uintptr_t>(o.added_mask) % (2 * sizeof(float)) == 0;
  return changes;
}

// The type as which kernels see elements of T: Factor, unless it is void.
// Floats may be factors in TF32.
template <class Factor, class T>
struct FactorType {
  static_assert(std::is_void_v<Factor> ||
                    (std::is_same_v<Factor, tf32> && std::is_same_v<T, float>),
                "only floats have another type as factors, tf32");
  using type = std::conditional_t<std::is_void_v<Factor>, T, Factor>;
};
template <class Factor, class T>
using FactorOf = typename FactorType<Factor, T>::type;

// Throws an error if the kernels are not for this call.
template <int HeadSize, AttentionScores Scores, class T>
void check_attention_kernels(const AttentionShape &s, const AttentionOptions &o,
                             bool has_aligned_rows) {
  if (s.key_size > HeadSize || s.value_size > HeadSize)
    throw Error("attention with heads of " + std::to_string(s.key_size) +
                " and " + std::to_string(s.value_size) +
                " elements calls kernels for " + std::to_string(HeadSize) +
                "; attention_head_of gives the right ones");
  const AttentionScores right = attention_scores_of(
      changes_of(s, o, has_aligned_rows), HeadSize, sizeof(T) == 2);
  constexpr bool kTakeAnyRows = Scores == AttentionScores::ChangedUnaligned;
  if (!has_aligned_rows && !kTakeAnyRows)
    throw Error("attention calls kernels for aligned rows, but some rows do "
                "not begin at a multiple of 16 bytes or do not have a multiple "
                "of 16 bytes; attention_scores_of gives the right ones");
  if (Scores != right && Scores != AttentionScores::Changed && !kTakeAnyRows)
    throw Error("attention calls kernels that do not do with scores what its "
                "options say; attention_scores_of gives the right ones");
}

// attention<HeadSize, Scores[, tf32]>(ctx, shape, q, k, v, y, statistics,
//                                     options)
// attention_backward<HeadSize, Scores[, tf32]>(ctx, shape, gradients, q, k, v,
//                                              y, statistics, dy, dq, dk, dv,
//                                              options)
//
// HeadSize is attention_head_of(the larger of key_size and value_size), and
// Scores are those of attention_scores_of: they choose the GPU's kernels. The
// host, which has no such kernels, only checks them.
//
// T is float, f16 or bf16. tf32 is named only where T is float, and only in
// programs for a GPU, which then rounds the factors of products to TF32. The
// statistics are floats, dense: [2, batch, queries], first the largest scores
// (scaled, capped, biased and masked), then the logarithms. Where all scores
// are minus infinity, so is the largest one.

} // namespace gpuopt

#ifdef __CUDACC__
#include "gpuopt/ops/attention_cuda.h"
#else
#include "gpuopt/ops/attention_host.h"
#endif
