// The GPU's kernels of attention against the formula in double precision.
#include "AttentionForms.h"

using namespace gpuopt;

namespace {

using AttentionTest = Emulation;

// By the kernels for warps as well where there are others.
template <class T>
void expect_all_right(const std::vector<Case> &cases) {
  for (const Case &c : cases) {
    SCOPED_TRACE(describe(c));
    expect_right<T>(c);
    if (sizeof(T) == 2 && c.key_size <= 64 && c.value_size <= 64)
      expect_right<T>(c, {without_warpgroups});
  }
}

// ---- Sizes -----------------------------------------------------------------

TEST_F(AttentionTest, F16) { expect_right<f16>({}); }
TEST_F(AttentionTest, BF16) { expect_right<bf16>({}); }
TEST_F(AttentionTest, F32) { expect_right<float>({}); }

const std::vector<Case> kLengths = {
    sized(49, 49),  sized(77, 77), sized(197, 197),
    sized(1, 70),   sized(70, 1),  sized(33, 130),
    sized(130, 33), sized(64, 65), sized(129, 64),
};
TEST_F(AttentionTest, AnyNumberOfQueriesAndKeys) {
  expect_all_right<f16>(kLengths);
  expect_all_right<bf16>({sized(77, 130)});
}
TEST_F(AttentionTest, AnyNumberOfQueriesAndKeysInF32) {
  expect_all_right<float>(kLengths);
}

const std::vector<Case> kHeadSizes = {
    sized(70, 70, 16), sized(70, 70, 40),     sized(70, 70, 80),
    sized(70, 70, 96), sized(140, 70, 128),   sized(70, 70, 40, 72),
    sized(70, 70, 8),  sized(70, 70, 128, 16)};
TEST_F(AttentionTest, HeadSizes) {
  expect_all_right<f16>(kHeadSizes);
  expect_all_right<bf16>(kHeadSizes);
}
TEST_F(AttentionTest, HeadSizesInF32) { expect_all_right<float>(kHeadSizes); }

TEST_F(AttentionTest, LargeHeads) {
  expect_all_right<f16>({sized(70, 70, 192), sized(70, 40, 256)});
  expect_all_right<bf16>({sized(70, 40, 200)});
  expect_all_right<float>({sized(40, 70, 192), sized(40, 40, 256)});
}

// Kernels that copy 16 bytes at a time are for rows that begin at multiples of
// 16 bytes and have a multiple of 16 bytes.
TEST_F(AttentionTest, KnowsAlignedRows) {
  alignas(16) static const f16 elements[16] = {};
  const auto are_aligned = [](int64_t shift, int64_t columns, int64_t stride,
                              int64_t rows = 2, int64_t distance = 64) {
    AttentionShape s{};
    s.batch[1] = 2;
    return has_aligned_rows(s, elements + shift, {1, distance, 1}, rows,
                            columns, stride);
  };
  EXPECT_TRUE(are_aligned(0, 8, 8));
  EXPECT_TRUE(are_aligned(8, 40, 72));
  EXPECT_TRUE(are_aligned(0, 8, 9, 1)); // there is no second row
  EXPECT_FALSE(are_aligned(4, 8, 8));
  EXPECT_FALSE(are_aligned(0, 12, 16));
  EXPECT_FALSE(are_aligned(0, 8, 12));
  EXPECT_FALSE(are_aligned(0, 8, 8, 2, 12));
}

// Sizes that are no multiples of 16 bytes, rows that are apart, and tensors
// that begin anywhere.
TEST_F(AttentionTest, UnalignedElements) {
  std::vector<Case> cases = {sized(70, 70, 20), sized(70, 40, 7),
                             sized(70, 70, 64), sized(70, 70, 64),
                             sized(40, 70, 127)};
  cases[2].gap = 8;
  cases[3].gap = 1;
  cases[4].shift = 3;
  expect_all_right<f16>(cases);
  expect_all_right<float>(cases);
}

TEST_F(AttentionTest, WritesItsOwnElementsAlone) {
  expect_own_elements_alone<f16>(sized(70, 50, 24));
}

TEST_F(AttentionTest, HeadsOfAProjection) {
  expect_all_right<f16>({fused(70, 3, 64), fused(40, 2, 128)});
  expect_all_right<float>({fused(40, 3, 32)});
}

// ---- Soft caps -------------------------------------------------------------

TEST_F(AttentionTest, CapsScores) {
  const std::vector<Case> cases = {capped(sized(70, 50)),
                                   capped(sized(49, 130, 24), 0.3),
                                   capped(fused(40, 2, 64), 50)};
  expect_all_right<f16>(cases);
  expect_all_right<bf16>({cases[0]});
  expect_all_right<float>(cases);
}
TEST_F(AttentionTest, CapsScoresOfLargeHeads) {
  const std::vector<Case> cases = {capped(sized(70, 40, 128)),
                                   capped(sized(40, 70, 256))};
  expect_all_right<f16>(cases);
  expect_all_right<float>(cases);
}

// The columns of what is written are summed in parts of 64 rows: the last part
// of a sample has fewer, and rows behind the last one do not count.
template <class T>
void expect_column_sums(Case c) {
  SCOPED_TRACE(describe(c));
  c.sums_columns = true;
  const Inputs<T> in(c);
  const Outputs<T> out = run(c, in);
  const Results expected = reference(c, in);
  const AttentionColumns columns(shape_of(c));
  std::vector<double> sums(out.column_sums.size());
  const auto add = [&](const std::vector<double> &x, int which, int64_t size) {
    for (int64_t b = 0; b < batch_elements(c); b++)
      for (int64_t row = 0; row < c.queries; row++)
        for (int64_t e = 0; e < size; e++)
          sums[size_t(columns.place(which, b / c.batch[1], b % c.batch[1],
                                    row / kAttentionSumRows, size) +
                      e)] += x[size_t((b * c.queries + row) * size + e)];
  };
  add(expected.dq, 0, c.key_size);
  add(expected.dk, 1, c.key_size);
  add(expected.dv, 2, c.value_size);
  EXPECT_LT(distance({out.column_sums.begin(), out.column_sums.end()}, sums),
            kTolerance<T>);
  EXPECT_LT(distance(out.results(c).dq, expected.dq), kTolerance<T>);
}
TEST_F(AttentionTest, SumsOfColumns) {
  expect_column_sums<f16>(fused(150, 3, 64));
  expect_column_sums<f16>(fused(70, 2, 128));
  expect_column_sums<bf16>(fused(64, 2, 40));
  expect_column_sums<float>(fused(70, 2, 32));
  Case c = sized(100, 100, 24, 40);
  c.batch[0] = 2;
  c.batch[1] = 3;
  expect_column_sums<f16>(c);
  expect_column_sums<float>(c);
}

// ---- Heads that share keys -------------------------------------------------

const std::vector<Case> kGroups = {grouped(sized(70, 50), 3),
                                   grouped(sized(20, 130, 24), 2)};
TEST_F(AttentionTest, HeadsShareKeys) { expect_all_right<f16>(kGroups); }
TEST_F(AttentionTest, HeadsShareKeysInF32) { expect_all_right<float>(kGroups); }
TEST_F(AttentionTest, LargeHeadsShareKeys) {
  expect_all_right<f16>(
      {grouped(sized(70, 40, 128), 2), grouped(sized(40, 70, 256), 2)});
}

// ---- What a query sees -----------------------------------------------------

TEST_F(AttentionTest, HeadsShareTheKeysOfABand) {
  Case c = grouped(sized(150, 150), 2);
  c.first_key = -150, c.last_key = 0;
  expect_right<f16>(c);
}

const std::vector<Case> kBands = {
    banded(sized(197, 197), -197, 0),  // causal
    banded(sized(40, 150), -150, 110), // causal, with keys of the past
    banded(sized(197, 197), -20, 5),   // a window
    banded(sized(150, 150), -150, -0), banded(sized(70, 200), 3, 130)};
TEST_F(AttentionTest, Bands) { expect_all_right<f16>(kBands); }
TEST_F(AttentionTest, BandsInF32) {
  expect_all_right<float>({kBands[1], kBands[2]});
}
TEST_F(AttentionTest, BandsOfLargeHeads) {
  expect_all_right<f16>({banded(sized(150, 150, 128), -150, 0),
                         banded(sized(100, 100, 256), -20, 0)});
}

// The first 60 queries see no key.
TEST_F(AttentionTest, QueriesWithoutKeys) {
  Case c = banded(sized(130, 70), -1000, -60);
  c.zeroes_empty = true;
  expect_right<f16>(c);
  expect_right<bf16>(c);
  expect_right<float>(c);
}

// Their Y may be NaN, but the keys that others see have numbers.
TEST_F(AttentionTest, QueriesWithoutKeysLeaveNoTrace) {
  const Case c = banded(sized(130, 70), -1000, -60);
  const Inputs<f16> in(c);
  const Results results = run(c, in).results(c), expected = reference(c, in);
  EXPECT_TRUE(std::isnan(results.y[0]));
  EXPECT_LT(distance(results.dk, expected.dk), kTolerance<f16>);
  EXPECT_LT(distance(results.dv, expected.dv), kTolerance<f16>);
}

TEST_F(AttentionTest, ScalesOfAnySign) {
  Case c = banded(sized(70, 70), -70, 0);
  for (const double scale : {-0.3, 0.0, 1.0}) {
    c.scale = scale;
    expect_right<f16>(c);
  }
}

// The cap comes before everything that hides keys.
TEST_F(AttentionTest, CapsScoresOfABand) {
  Case c = capped(banded(sized(130, 70), -1000, -60));
  c.zeroes_empty = true;
  expect_right<f16>(capped(banded(sized(150, 150), -20, 0)));
  expect_right<f16>(c);
  expect_right<float>(c);
}

// ---- Masks -----------------------------------------------------------------

const std::vector<Case> kMasks = {masked(sized(70, 70)),
                                  masked(sized(49, 77), {0, 1}),
                                  masked(sized(70, 70), {1, 3}), // padding
                                  masked(banded(sized(70, 70), -70, 0), {0})};
// One element for all keys of a query.
TEST_F(AttentionTest, MasksOfQueries) {
  Case c = masked(sized(40, 70), {0, 4});
  c.zeroes_empty = true;
  expect_right<f16>(c);
  expect_right<float>(c);
}
TEST_F(AttentionTest, Masks) { expect_all_right<f16>(kMasks); }
TEST_F(AttentionTest, MasksInF32) { expect_all_right<float>(kMasks); }

const std::vector<Case> kAddedMasks = {
    added(sized(70, 70)), added(sized(49, 77), {0}), // relative positions
    added(sized(70, 70), {1, 3}),                    // padding
    added(sized(70, 70), {0, 3}),                    // ALiBi
    added(banded(sized(70, 70), -20, 0), {0})};
TEST_F(AttentionTest, AddedMasks) { expect_all_right<f16>(kAddedMasks); }
TEST_F(AttentionTest, AddedMasksInBF16) { expect_all_right<bf16>(kAddedMasks); }
// Tiles without an edge read neighbours in the mask by pairs.
TEST_F(AttentionTest, AddedMasksOfWholeTiles) {
  expect_all_right<f16>({added(sized(64, 128), {1}),
                         added(sized(128, 64, 40), {0, 1, 2, 3}),
                         added(banded(sized(96, 96), -95, 40))});
}
// Pairs need rows of an even number of keys that lie side by side.
TEST_F(AttentionTest, KernelsForAddedMasksTakeWholePairs) {
  alignas(8) const float mask[2] = {};
  const auto scores = [&](const Case &c, const float *added_mask,
                          int64_t head = 64, bool is_half_precision = true) {
    AttentionOptions o;
    o.added_mask = added_mask;
    return attention_scores_of(changes_of(shape_of(c), o, true), head,
                               is_half_precision);
  };
  const Case c = added(sized(64, 128));
  EXPECT_EQ(scores(c, mask), AttentionScores::Masked);
  EXPECT_EQ(scores(c, nullptr), AttentionScores::Products);
  for (const AttentionScores others :
       {scores(added(sized(64, 127)), mask), scores(c, mask + 1),
        scores(c, mask, 128), scores(c, mask, 64, false)})
    EXPECT_EQ(others, AttentionScores::Changed);
}
// A program that calls kernels for less than its options say would compute
// something else without a word.
TEST_F(AttentionTest, RefusesKernelsForOtherCalls) {
  const AttentionShape of_64 = shape_of(sized(64, 64, 64)),
                       of_65 = shape_of(sized(64, 64, 64, 65));
  AttentionOptions with_cap;
  with_cap.softcap = 50;
  using enum AttentionScores;
  EXPECT_NO_THROW(
      (check_attention_kernels<64, Products, f16>(of_64, {}, true)));
  EXPECT_NO_THROW((check_attention_kernels<64, Changed, f16>(of_64, {}, true)));
  const auto error_of = [](const auto &check) -> std::string {
    try {
      check();
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  const std::string of_scores =
      "attention calls kernels that do not do with scores what its options "
      "say; attention_scores_of gives the right ones";
  EXPECT_EQ(error_of([&] {
              check_attention_kernels<64, Masked, f16>(of_64, {}, true);
            }),
            of_scores);
  EXPECT_EQ(error_of([&] {
              check_attention_kernels<64, Products, f16>(of_64, with_cap, true);
            }),
            of_scores);
  EXPECT_EQ(error_of([&] {
              check_attention_kernels<64, Changed, f16>(of_64, {}, false);
            }),
            "attention calls kernels for aligned rows, but some rows do not "
            "begin at a multiple of 16 bytes or do not have a multiple of 16 "
            "bytes; attention_scores_of gives the right ones");
  EXPECT_NO_THROW(
      (check_attention_kernels<64, ChangedUnaligned, f16>(of_64, {}, false)));
  EXPECT_EQ(error_of([&] {
              check_attention_kernels<64, Changed, f16>(of_65, {}, true);
            }),
            "attention with heads of 64 and 65 elements calls kernels for 64; "
            "attention_head_of gives the right ones");
}
TEST_F(AttentionTest, AddedMasksInF32) { expect_all_right<float>(kAddedMasks); }
TEST_F(AttentionTest, MasksOfLargeHeads) {
  expect_all_right<bf16>(
      {masked(sized(70, 70, 128), {0}), added(sized(70, 70, 256), {0})});
}

// Keys that are hidden by a finite value count where all of them are hidden:
// such a row is the mean of the values.
TEST_F(AttentionTest, RowsHiddenByFiniteValues) {
  for (const double value : {-1e4, -1e9, -3.4028234663852886e38}) {
    expect_all_right<f16>({with_empty_rows(masked(sized(70, 70)), value),
                           with_empty_rows(added(sized(70, 70)), value)});
    expect_right<float>(with_empty_rows(masked(sized(70, 70)), value));
  }
  // Under a bias of -1e4, f32 has three digits left of a product.
  for (const double value : {-1e9, -3.4028234663852886e38})
    expect_right<float>(with_empty_rows(added(sized(70, 70)), value));
}

TEST_F(AttentionTest, RowsHiddenByInfinity) {
  for (const bool zeroes_empty : {false, true}) {
    const std::vector<Case> cases = {
        with_empty_rows(masked(sized(70, 70)), -INFINITY, zeroes_empty),
        with_empty_rows(added(sized(70, 70)), -INFINITY, zeroes_empty)};
    expect_all_right<f16>(cases);
    expect_all_right<float>(cases);
  }
}

// ---- Biases with gradients -------------------------------------------------

// The gradient is summed over the dimensions of the batch, over queries, and
// over keys, of one tile or of several.
const std::vector<Case> kBiases = {
    biased(sized(70, 50)),
    biased(sized(49, 77), {0, 1}), // relative positions
    biased(sized(70, 70), {0, 2}),
    biased(sized(70, 40), {1, 3}),
    biased(replaced(sized(40, 70)), {0, 1, 4}),
    biased(replaced(sized(70, 70)), {0, 1, 2, 3, 4})};
TEST_F(AttentionTest, GradientsOfBiases) { expect_all_right<f16>(kBiases); }
TEST_F(AttentionTest, GradientsOfBiasesInF32) {
  expect_all_right<float>(kBiases);
}
TEST_F(AttentionTest, GradientsOfBiasesOfLargeHeads) {
  expect_all_right<f16>(
      {biased(sized(70, 40, 128), {0, 1}), biased(sized(40, 70, 256), {0, 1})});
  expect_all_right<float>({biased(sized(40, 40, 128), {0, 1, 3}),
                           biased(sized(40, 40, 256), {0, 1})});
}

// The decoder of T5 sees no later keys; the windows of Swin have a mask each.
TEST_F(AttentionTest, GradientsOfBiasesBesideMasks) {
  const std::vector<Case> cases = {
      banded(biased(sized(70, 70), {0, 1}), -70, 0),
      biased(added(sized(49, 49), {0, 2}), {0, 1}),
      biased(masked(sized(70, 40), {1, 2}), {0, 1})};
  expect_all_right<f16>(cases);
  expect_all_right<float>(cases);
}

// The bias is added to capped scores, so its gradient has no slope.
TEST_F(AttentionTest, GradientsOfBiasesOfCappedScores) {
  const std::vector<Case> cases = {
      capped(biased(sized(70, 50), {0, 1})),
      capped(biased(replaced(sized(40, 70)), {0, 1, 4})),
      capped(biased(added(sized(49, 49), {0, 2}), {0, 1}))};
  expect_all_right<f16>(cases);
  expect_all_right<float>(cases);
}

// Heads that share keys may have a bias each, or one for all of them.
TEST_F(AttentionTest, GradientsOfBiasesOfHeadsThatShareKeys) {
  const std::vector<Case> cases = {
      biased(grouped(sized(70, 50), 3), {0}),
      capped(biased(grouped(sized(40, 70, 24), 3), {0, 1, 2}))};
  expect_all_right<f16>(cases);
  expect_all_right<float>(cases);
}

// 2^20 partial sums are 64 parts of a bias of 128 x 128, so one part of 65
// terms has two of them.
TEST_F(AttentionTest, SumsOfBiasesHaveSeveralTermsInAPart) {
  Case c = sized(128, 128, 8);
  c.batch[1] = 65;
  c.has_bias = true;
  c.is_bias_broadcast[1] = true;
  const BiasSums sums(shape_of(c), gradients_of(c));
  EXPECT_EQ(sums.parts, 64);
  EXPECT_EQ(sums.terms, 65);
  expect_right<f16>(c);
}

// A row whose keys are all hidden by an infinite mask adds nothing.
TEST_F(AttentionTest, RowsWithoutKeysLeaveTheGradientOfABiasAlone) {
  const Case c = with_empty_rows(biased(masked(sized(70, 70)), {0, 1}),
                                 -INFINITY, /*zeroes_empty=*/true);
  expect_right<f16>(c);
}

// ---- Dropout ---------------------------------------------------------------

const std::vector<Case> kDropouts = {
    dropping(sized(70, 50), 0.1), dropping(sized(40, 100), 0.7),
    dropping(banded(sized(70, 70), -70, 0), 0.5),
    dropping(masked(sized(40, 70), {0}), 0.5),
    capped(dropping(sized(70, 70), 0.3))};
TEST_F(AttentionTest, GradientsOfBiasesUnderDropout) {
  expect_right<f16>(biased(dropping(sized(40, 50), 0.4), {0, 1}));
}
TEST_F(AttentionTest, Dropout) { expect_all_right<f16>(kDropouts); }
TEST_F(AttentionTest, DropoutInF32) { expect_all_right<float>(kDropouts); }
TEST_F(AttentionTest, DropoutOfLargeHeads) {
  expect_all_right<bf16>({dropping(sized(70, 70, 128), 0.3)});
  expect_all_right<f16>({dropping(sized(70, 70, 256), 0.3)});
}

// ---- Bits ------------------------------------------------------------------

template <class T>
int count_other_bits(const Case &c) {
  const Inputs<T> in(c);
  const Outputs<T> first = run(c, in);
  return count_seeds(5, [&] { return !has_same_bits(first, run(c, in)); });
}

TEST_F(AttentionTest, OrderDecidesNoBits) {
  EXPECT_EQ(count_other_bits<f16>(banded(fused(150, 2, 64), -150, 0)), 0);
  EXPECT_EQ(count_other_bits<float>(masked(sized(70, 70))), 0);
  EXPECT_EQ(count_other_bits<f16>(added(sized(70, 66))), 0);
  EXPECT_EQ(count_other_bits<bf16>(sized(70, 100, 128)), 0);
  EXPECT_EQ(count_other_bits<f16>(grouped(sized(70, 50), 3)), 0);
  EXPECT_EQ(count_other_bits<f16>(biased(sized(70, 50), {0, 1})), 0);
  EXPECT_EQ(count_other_bits<f16>(capped(sized(70, 100))), 0);
}

// A batch element alone has the bits that it has among others.
TEST_F(AttentionTest, TheBatchDecidesNoBits) {
  Case all = sized(70, 70), one = all;
  all.batch[0] = 3;
  const Outputs<f16> of_all = run(all, Inputs<f16>(all));
  // Random values begin in the same way.
  const Outputs<f16> of_one = run(one, Inputs<f16>(one));
  const auto beginning = [&](const std::vector<f16> &v) {
    return std::vector<f16>(v.begin(), v.begin() + 70 * 64);
  };
  EXPECT_TRUE(has_same_bits(beginning(of_all.y), of_one.y));
  EXPECT_TRUE(has_same_bits(beginning(of_all.dk), of_one.dk));
}

} // namespace
