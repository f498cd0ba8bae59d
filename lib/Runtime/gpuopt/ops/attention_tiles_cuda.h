// The common parts of the kernels of attention: the work of each block, and
// changes of scores by a band, a mask or a bias.
#pragma once

#include "gpuopt/kernels/elementary.h"
#include "gpuopt/ops/attention.h"
#include "gpuopt/ops/attention_copies_cuda.h"

namespace gpuopt::detail {

constexpr float kLog2E = 1.4426950408889634f;

// ---- Blocks ----------------------------------------------------------------

// A kernel cuts the rows that it writes into tiles of `own` rows, one for each
// block and `strips` strips for each warp, and walks over the rows of the other
// operands in tiles of `other` rows, of which `buffers` (1 or 2) are in shared
// memory. `blocks` is how many blocks a multiprocessor should hold at least.
struct TileSizes {
  int own, other, buffers, blocks, strips = 1;

  HOST_DEVICE constexpr int threads() const {
    return own / (strips * kStripRows) * 32;
  }
};

template <class T, int D>
constexpr size_t tile_bytes(int rows) {
  return size_t(rows) * kTileStride<T, D> * sizeof(T);
}

// The element of the batch that a block works on.
struct BatchElement {
  int64_t batch[3];

  DEVICE int64_t offset(const int64_t (&strides)[3]) const {
    return batch[0] * strides[0] + batch[1] * strides[1] +
           batch[2] * strides[2];
  }
  DEVICE int64_t number(const AttentionShape &s) const {
    return (batch[0] * s.batch[1] + batch[1]) * s.batch[2] + batch[2];
  }
};

// The tile of rows and the batch element that a block works on. Neighbouring
// blocks share a batch element, so that they find its keys in the cache. Blocks
// begin in the order of their numbers; under a causal mask the last tiles of
// queries have the most work, so they come first.
struct AttentionBlock : BatchElement {
  int64_t tile;

  DEVICE AttentionBlock(const AttentionShape &s, int64_t rows, int rows_of_tile,
                        bool begins_with_last)
      : AttentionBlock(s, s.batch[2], rows, rows_of_tile, begins_with_last) {}

  // A block works on all heads of a group if `heads`, the size of the last
  // dimension of the batch, counts groups; batch[2] is the first head then.
  DEVICE AttentionBlock(const AttentionShape &s, int64_t heads, int64_t rows,
                        int rows_of_tile, bool begins_with_last) {
    const auto number = uint32_t(block());
    const auto count = uint32_t((rows + rows_of_tile - 1) / rows_of_tile);
    const uint32_t index = number / count;
    const auto middle = uint32_t(s.batch[1]), inner = uint32_t(heads);
    tile = begins_with_last ? count - 1 - number % count : number % count;
    batch[0] = index / inner / middle;
    batch[1] = index / inner % middle;
    batch[2] = index % inner;
  }
};

// The first row of a warp that has `strips` of them, in its block's tile.
DEVICE int first_row_of_warp(int strips) {
  return int(threadIdx.x / 32) * strips * kStripRows;
}

// ---- Scores ----------------------------------------------------------------

// AttentionOptions in the form that kernels read.
struct ScoreChanges {
  const uint8_t *mask;
  const float *added_mask;
  const StepState *state; // null: nothing is dropped
  float scale;            // of products; that of tanh's argument under a cap
  float softcap;          // 0: none
  float masked_value;
  float dropout;
  uint32_t stream;

  explicit ScoreChanges(const AttentionOptions &o)
      : mask(o.mask), added_mask(o.added_mask),
        state(o.dropout > 0 ? o.state : nullptr),
        scale(float(o.softcap > 0 ? o.scale / o.softcap : o.scale)),
        softcap(float(o.softcap)), masked_value(float(o.masked_value)),
        dropout(float(o.dropout)), stream(o.stream) {}
};

// If only the band hides keys, a score is the product of a query and a key: the
// factor of its exponential includes the scale. The kernels for such scores
// have neither the code nor the registers of what could change them.
struct ProductScores {
  static constexpr bool kAreProducts = true, kAreChanged = false,
                        kAreAligned = true;
  float scale;
  bool zeroes_empty;

  explicit ProductScores(const AttentionOptions &o)
      : scale(float(o.scale)), zeroes_empty(o.zeroes_empty) {}

  // exp(a - b) of scores is 2 to the power of factor() * (a - b).
  DEVICE float factor() const { return scale * kLog2E; }
  // Returns the factor that turns a score into the scaled score.
  DEVICE float unit() const { return scale; }
};

// If an added mask whose keys lie side by side changes scores, and nothing
// else, its elements are read where the scores are in registers. Only tiles at
// an edge take the way of other scores.
struct MaskedScores {
  static constexpr bool kAreProducts = false, kAreChanged = false,
                        kAreAligned = true;
  ScoreChanges changes;
  float scale;
  bool zeroes_empty;

  explicit MaskedScores(const AttentionOptions &o)
      : changes(o), scale(float(o.scale)), zeroes_empty(o.zeroes_empty) {}

  DEVICE float factor() const { return kLog2E; }
  DEVICE float unit() const { return 1.0f; }
};

// With a cap, a bias, dropout or a mask that MaskedScores does not take, the
// scale is multiplied first.
struct ChangedScores {
  static constexpr bool kAreProducts = false, kAreChanged = true,
                        kAreAligned = true;
  ScoreChanges changes;
  const float *bias;
  float scale;
  float kept_factor; // of the probabilities that dropout keeps
  bool zeroes_empty;

  explicit ChangedScores(const AttentionOptions &o)
      : changes(o), bias(o.bias), scale(float(o.scale)),
        kept_factor(float(1 / (1 - o.dropout))), zeroes_empty(o.zeroes_empty) {}

  DEVICE float factor() const { return kLog2E; }
  DEVICE float unit() const { return 1.0f; }
};

// The same, where the rows of Q, K, V or dY are not aligned.
struct ChangedUnalignedScores : ChangedScores {
  static constexpr bool kAreAligned = false;

  using ChangedScores::ChangedScores;
};

template <AttentionScores Scores>
using ScoresOf = std::conditional_t<
    Scores == AttentionScores::Products, ProductScores,
    std::conditional_t<
        Scores == AttentionScores::Masked, MaskedScores,
        std::conditional_t<Scores == AttentionScores::Changed, ChangedScores,
                           ChangedUnalignedScores>>>;

// The sizes and the band of AttentionShape as int, whose arithmetic is cheap;
// kMostAttentionRows is the largest of them.
struct ScoreBand {
  int queries, keys, first_key, last_key;

  DEVICE explicit ScoreBand(const AttentionShape &s)
      : queries(int(s.queries)), keys(int(s.keys)), first_key(int(s.first_key)),
        last_key(int(s.last_key)) {}
};

// A part of the matrix of scores, whose first row and column are `query` and
// `key`.
struct ScoreTile {
  int queries, keys; // that exist, of those from the corner on
  int first, last;   // visible: where the key's place minus the query's is in
                     // this range, both counted from the tile's corner
  bool has_hidden;   // some scores of the tile are hidden
  bool is_hidden;    // all are

  DEVICE ScoreTile(const ScoreBand &band, int query, int tile_queries, int key,
                   int tile_keys)
      : queries(band.queries - query), keys(band.keys - key),
        first(band.first_key + query - key), last(band.last_key + query - key) {
    has_hidden = queries < tile_queries || keys < tile_keys ||
                 first > 1 - tile_queries || last < tile_keys - 1;
    is_hidden = queries <= 0 || keys <= 0 || first > tile_keys - 1 ||
                last < 1 - tile_queries;
  }
  DEVICE bool is_visible(int query, int key) const {
    return query < queries && key < keys && key - query >= first &&
           key - query <= last;
  }
};

// Bit 4 n + i belongs to the element x[n][i] of this lane. The masks tell
// whether its query does not see its key, whether a mask has replaced its
// score, and whether dropout keeps its probability.
struct ScoreBits {
  uint32_t hidden = 0, replaced = 0, kept = ~0u;

  static DEVICE bool has(uint32_t bits, int n, int i) {
    return bits >> (4 * n + i) & 1;
  }
};

// Calls f(n, i, query, key) for each element of a strip whose rows are queries,
// or keys.
template <bool RowsAreQueries, int N, class F>
DEVICE void for_each_score(const F &f) {
  for_each_element<N>([&](int n, int i) {
    const int row = strip_row(i), column = strip_column(n, i);
    if constexpr (RowsAreQueries)
      f(n, i, row, column);
    else
      f(n, i, column, row);
  });
}

// `element` is the number of the tile's corner among all scores. Draws for two
// neighbours of a row at a time. This is a loop and not unrolled,
// because a random number takes a hundred instructions.
template <bool RowsAreQueries, int N>
DEVICE uint32_t draw_kept(int64_t element, int64_t keys,
                          const ScoreChanges &changes) {
  const uint64_t seed = changes.state->seed;
  const auto draw = uint64_t(changes.state->draw);
  uint32_t kept = 0;
  for (int e = 0; e < 4 * N; e += 2) {
    const int row = strip_row(e % 4), column = strip_column(e / 4, e % 4);
    float numbers[2];
    if constexpr (RowsAreQueries) {
      random_uniform_pair(seed, changes.stream, draw,
                          element + row * keys + column, numbers);
    } else {
      const int64_t first = element + column * keys + row;
      numbers[0] = random_uniform(seed, changes.stream, draw, first);
      numbers[1] = random_uniform(seed, changes.stream, draw, first + keys);
    }
    kept |= uint32_t(numbers[0] >= changes.dropout) << e |
            uint32_t(numbers[1] >= changes.dropout) << (e + 1);
  }
  return kept;
}

// The derivatives of capped scores with respect to the scaled products. They
// lie in local memory, where they take no registers from kernels that mostly
// have none; nothing is there if there is no cap.
template <int N>
struct CapSlopes {
  float of[N][4];
};

// Replaces products by cap * tanh(scale * product), and writes the slopes if
// there is a place for them.
template <int N>
DEVICE void cap_scores(float (&x)[N][4], const ScoreChanges &changes,
                       CapSlopes<N> *slopes) {
  for_each_element<N>([&](int n, int i) {
    const float t = tanh(x[n][i] * changes.scale);
    x[n][i] = t * changes.softcap;
    if (slopes)
      slopes->of[n][i] = fmaf(-t, t, 1);
  });
}

// Where the corner of a tile lies in the mask and among all scores.
struct CornerOfTile {
  int64_t of_mask, element;

  DEVICE CornerOfTile(const AttentionShape &s, const BatchElement &at,
                      int64_t query, int64_t key)
      : of_mask(at.offset(s.mask_batch) + query * s.mask_row +
                key * s.mask_key),
        element((at.number(s) * s.queries + query) * s.keys + key) {}
};

// Turns products into scores if there is a cap, a mask, a bias or dropout. It
// is never inlined: its addresses and random numbers would take registers from
// kernels that mostly have none of these.
template <bool RowsAreQueries, int N>
__device__ __attribute__((noinline)) ScoreBits
change_scores(float (&x)[N][4], ScoreTile tile, CornerOfTile corner,
              int64_t mask_row, int64_t mask_key, int64_t keys,
              ScoreChanges changes, CapSlopes<N> *slopes) {
  ScoreBits bits;
  const bool is_capped = changes.softcap > 0;
  if (is_capped)
    cap_scores(x, changes, slopes);
  if (changes.state)
    bits.kept = draw_kept<RowsAreQueries, N>(corner.element, keys, changes);
  for_each_score<RowsAreQueries, N>([&](int n, int i, int query, int key) {
    const int64_t place = corner.of_mask + query * mask_row + key * mask_key;
    float &score = x[n][i];
    if (!is_capped)
      score *= changes.scale;
    if (!tile.is_visible(query, key)) {
      score = -INFINITY;
      bits.hidden |= 1u << (4 * n + i);
    } else if (changes.added_mask) {
      score += changes.added_mask[place];
    } else if (changes.mask && !changes.mask[place]) {
      score = changes.masked_value;
      bits.replaced |= 1u << (4 * n + i);
    }
  });
  return bits;
}

// Adds a bias, whose element for the tile's corner is `bias`, to all scores but
// those whose bits are set in `others`. It is never inlined, as change_scores
// is not, and comes after it: then the tile is in no register any more.
template <bool RowsAreQueries, int N>
__device__ __attribute__((noinline)) void
add_bias(float (&x)[N][4], uint32_t others, const float *bias, int64_t bias_row,
         int64_t bias_key) {
  for_each_score<RowsAreQueries, N>([&](int n, int i, int query, int key) {
    if (!ScoreBits::has(others, n, i))
      x[n][i] += bias[query * bias_row + key * bias_key];
  });
}

// Adds a mask's elements, the first of which is `mask`, to the scaled products
// of a strip.
template <bool RowsAreQueries, int N>
DEVICE void add_mask(float (&x)[N][4], const float *mask, int64_t mask_row,
                     float scale) {
  UNROLL
  for (int half = 0; half < 2; half++) {
    if constexpr (RowsAreQueries) {
      const float *row =
          mask + strip_row(2 * half) * mask_row + strip_column(0, 0);
      UNROLL
      for (int n = 0; n < N; n++) {
        const float2 pair = *reinterpret_cast<const float2 *>(row + 8 * n);
        x[n][2 * half] = x[n][2 * half] * scale + pair.x;
        x[n][2 * half + 1] = x[n][2 * half + 1] * scale + pair.y;
      }
    } else { // rows are keys
      const float *column = mask + strip_column(0, half) * mask_row;
      UNROLL
      for (int n = 0; n < N; n++, column += 8 * mask_row) {
        x[n][half] = x[n][half] * scale + column[strip_row(0)];
        x[n][half + 2] = x[n][half + 2] * scale + column[strip_row(2)];
      }
    }
  }
}

// Turns the products of queries and keys into scores; hidden ones become minus
// infinity. The bits are set if scores are not products, and so are the slopes
// if there is a cap.
template <bool RowsAreQueries, int N, class Scores>
DEVICE ScoreBits to_scores(float (&x)[N][4], const ScoreTile &tile,
                           const AttentionShape &s, const BatchElement &at,
                           const Scores &scores,
                           CapSlopes<N> *slopes = nullptr) {
  static_assert(4 * N <= 32, "a bit for each element");
  if constexpr (!Scores::kAreProducts) {
    const int64_t query = s.queries - tile.queries, key = s.keys - tile.keys;
    const CornerOfTile corner(s, at, query, key);
    if constexpr (!Scores::kAreChanged)
      if (!tile.has_hidden) {
        add_mask<RowsAreQueries>(x, scores.changes.added_mask + corner.of_mask,
                                 s.mask_row, scores.scale);
        return {};
      }
    // A function that gets the address of an array forces it into memory, so it
    // gets that of a copy.
    float changed[N][4];
    for_each_element<N>([&](int n, int i) { changed[n][i] = x[n][i]; });
    const ScoreBits bits = change_scores<RowsAreQueries>(
        changed, tile, corner, s.mask_row, s.mask_key, s.keys, scores.changes,
        slopes);
    if constexpr (Scores::kAreChanged)
      if (scores.bias)
        add_bias<RowsAreQueries>(changed, bits.hidden | bits.replaced,
                                 scores.bias + at.offset(s.bias_batch) +
                                     query * s.bias_row + key * s.bias_key,
                                 s.bias_row, s.bias_key);
    for_each_element<N>([&](int n, int i) { x[n][i] = changed[n][i]; });
    return bits;
  } else {
    if (tile.has_hidden)
      for_each_score<RowsAreQueries, N>([&](int n, int i, int query, int key) {
        if (!tile.is_visible(query, key))
          x[n][i] = -INFINITY;
      });
    return {};
  }
}

// Drops probabilities. The sum of a row's exponentials still includes all of
// them.
template <int N, class Scores>
DEVICE void drop(float (&p)[N][4], const ScoreBits &bits,
                 const Scores &scores) {
  if constexpr (Scores::kAreChanged)
    for_each_element<N>([&](int n, int i) {
      p[n][i] = bits.has(bits.kept, n, i) ? p[n][i] * scores.kept_factor : 0;
    });
}

// ---- Softmax ---------------------------------------------------------------

// The softmax of rows whose scores come strip by strip: the largest score so
// far, and the sum of the exponentials of the differences to it. Each lane of a
// quad has a sum of its own until the end.
struct OnlineSoftmax {
  float top[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};

  // Turns scores into exponentials. Earlier exponentials have to be multiplied
  // by `shrink`.
  template <int N, class Scores>
  DEVICE void add(float (&x)[N][4], float (&shrink)[2], const Scores &scores) {
    const float factor = scores.factor();
    float now[2] = {top[0], top[1]}, base[2];
    for_each_element<N>(
        [&](int n, int i) { now[i / 2] = fmaxf(now[i / 2], x[n][i]); });
    UNROLL
    for (int half = 0; half < 2; half++) {
      now[half] = quad_max(now[half]);
      // The difference of two infinities would be NaN.
      base[half] = now[half] == -INFINITY ? 0 : now[half];
      shrink[half] = ptx::exp2((top[half] - base[half]) * factor);
      top[half] = now[half];
      sum[half] *= shrink[half];
    }
    // The scores of a mask may be too large to be multiplied first.
    if constexpr (Scores::kAreProducts)
      for_each_element<N>([&](int n, int i) {
        x[n][i] = ptx::exp2(fmaf(x[n][i], factor, -base[i / 2] * factor));
      });
    else
      for_each_element<N>([&](int n, int i) {
        x[n][i] = ptx::exp2((x[n][i] - base[i / 2]) * factor);
      });
    for_each_element<N>([&](int n, int i) { sum[i / 2] += x[n][i]; });
  }
  DEVICE void finish() {
    sum[0] = quad_sum(sum[0]);
    sum[1] = quad_sum(sum[1]);
  }
};

// The tiles of keys that some query of a tile sees, or the tiles of queries
// that see some key of it.
struct TileRange {
  int begin, end;
};
DEVICE TileRange visible_tiles(int64_t first, int64_t last, int64_t count,
                               int size) {
  if (first < 0)
    first = 0;
  if (last > count - 1)
    last = count - 1;
  if (last < first)
    return {0, 0};
  return {int(first / size), int(last / size) + 1};
}
DEVICE TileRange tiles_of_keys(const AttentionShape &s, int64_t query,
                               int queries, int size) {
  const int64_t end = query + queries < s.queries ? query + queries : s.queries;
  return visible_tiles(query + s.first_key, end - 1 + s.last_key, s.keys, size);
}
DEVICE TileRange tiles_of_queries(const AttentionShape &s, int64_t key,
                                  int keys, int size) {
  const int64_t end = key + keys < s.keys ? key + keys : s.keys;
  return visible_tiles(key - s.last_key, end - 1 - s.first_key, s.queries,
                       size);
}

} // namespace gpuopt::detail
