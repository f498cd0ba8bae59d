// Attention of floats whose products are in TF32, against the formula in double
// precision. What the kernels have in common with those for half precision is
// tested with these.
#include "AttentionForms.h"

using namespace gpuopt;

namespace {

using AttentionTf32Test = Emulation;

void expect_all_right(const std::vector<Case> &cases) {
  for (const Case &c : cases) {
    SCOPED_TRACE(describe(c));
    expect_right<tf32>(c);
  }
}

TEST_F(AttentionTf32Test, AnyNumberOfQueriesAndKeys) {
  expect_all_right({sized(64, 64), sized(49, 49), sized(197, 197), sized(1, 70),
                    sized(70, 1), sized(33, 130), sized(130, 33),
                    sized(129, 64)});
}

TEST_F(AttentionTf32Test, HeadSizes) {
  expect_all_right({sized(70, 70, 16), sized(70, 70, 40), sized(70, 70, 96),
                    sized(140, 70, 128), sized(70, 70, 4),
                    sized(70, 70, 40, 72), sized(70, 70, 128, 16)});
}

TEST_F(AttentionTf32Test, LargeHeads) {
  expect_all_right({sized(70, 70, 192), sized(70, 40, 256)});
}

// Rows that are no multiples of 16 bytes, and tensors that begin anywhere.
TEST_F(AttentionTf32Test, UnalignedElements) {
  std::vector<Case> cases = {sized(70, 70, 22), sized(70, 40, 7),
                             sized(70, 70, 64), sized(40, 70, 127)};
  cases[2].gap = 1;
  cases[3].shift = 3;
  expect_all_right(cases);
}

// Results whose rows are not aligned as those of the operands are.
TEST_F(AttentionTf32Test, UnalignedResults) {
  Case c = sized(70, 70, 40);
  c.y_gap = 1;
  expect_all_right({c});
}

TEST_F(AttentionTf32Test, HeadsOfAProjection) {
  expect_all_right({fused(70, 3, 64), fused(40, 2, 128)});
}

TEST_F(AttentionTf32Test, HeadsShareKeys) {
  expect_all_right({grouped(sized(70, 50), 3), grouped(sized(20, 130, 24), 2),
                    grouped(sized(70, 40, 128), 2),
                    grouped(sized(40, 70, 256), 2)});
}

TEST_F(AttentionTf32Test, Bands) {
  expect_all_right(
      {banded(sized(197, 197), -197, 0), banded(sized(40, 150), -150, 110),
       banded(sized(197, 197), -20, 5), banded(sized(70, 200), 3, 130),
       banded(sized(150, 150, 128), -150, 0),
       banded(sized(100, 100, 256), -20, 0)});
}

TEST_F(AttentionTf32Test, QueriesWithoutKeys) {
  Case c = banded(sized(130, 70), -1000, -60);
  c.zeroes_empty = true;
  expect_all_right({c});
}

TEST_F(AttentionTf32Test, Masks) {
  expect_all_right({masked(sized(70, 70)), masked(sized(49, 77), {0, 1}),
                    masked(sized(70, 70), {1, 3}),
                    masked(banded(sized(70, 70), -70, 0), {0}),
                    masked(sized(70, 70, 128), {0})});
}

TEST_F(AttentionTf32Test, AddedMasks) {
  expect_all_right(
      {added(sized(70, 70)), added(sized(49, 77), {0}),
       added(sized(70, 70), {1, 3}), added(banded(sized(70, 70), -20, 0), {0}),
       added(sized(64, 128), {1}), added(banded(sized(96, 96), -95, 40)),
       added(sized(70, 70, 256), {0})});
}

TEST_F(AttentionTf32Test, RowsHiddenByMasks) {
  for (const double value : {-1e9, -double(INFINITY)})
    for (const bool zeroes_empty : {false, true})
      expect_all_right(
          {with_empty_rows(masked(sized(70, 70)), value, zeroes_empty),
           with_empty_rows(added(sized(70, 70)), value, zeroes_empty)});
}

TEST_F(AttentionTf32Test, CapsScores) {
  expect_all_right({capped(sized(70, 50)), capped(sized(49, 130, 24), 0.3),
                    capped(sized(70, 40, 128)), capped(sized(40, 70, 256))});
}

TEST_F(AttentionTf32Test, GradientsOfBiases) {
  expect_all_right({biased(sized(70, 50)), biased(sized(49, 77), {0, 1}),
                    biased(replaced(sized(40, 70)), {0, 1, 4}),
                    capped(biased(sized(70, 50), {0, 1})),
                    biased(sized(40, 40, 128), {0, 1, 3}),
                    biased(sized(40, 40, 256), {0, 1})});
}

TEST_F(AttentionTf32Test, Dropout) {
  expect_all_right({dropping(sized(70, 50), 0.1),
                    dropping(banded(sized(70, 70), -70, 0), 0.5),
                    dropping(sized(70, 70, 128), 0.3)});
}

// The sums of the columns of what is written are those of its rows, to which
// the kernels add in f32.
TEST_F(AttentionTf32Test, SumsOfColumns) {
  for (Case c : {fused(150, 3, 64), fused(70, 2, 128), fused(64, 2, 40)}) {
    SCOPED_TRACE(describe(c));
    c.sums_columns = true;
    const Outputs<tf32> out = run(c, Inputs<tf32>(c));
    const Results results = out.results(c);
    const AttentionColumns columns(shape_of(c));
    std::vector<double> sums(out.column_sums.size());
    int which = 0;
    for (const auto *x : {&results.dq, &results.dk, &results.dv}) {
      for (int64_t b = 0; b < batch_elements(c); b++)
        for (int64_t row = 0; row < c.queries; row++)
          for (int64_t e = 0; e < c.key_size; e++)
            sums[size_t(columns.place(which, b / c.batch[1], b % c.batch[1],
                                      row / kAttentionSumRows, c.key_size) +
                        e)] +=
                (*x)[size_t((b * c.queries + row) * c.key_size + e)];
      which++;
    }
    EXPECT_LT(distance({out.column_sums.begin(), out.column_sums.end()}, sums),
              1e-5);
  }
}

TEST_F(AttentionTf32Test, WritesItsOwnElementsAlone) {
  expect_own_elements_alone<tf32>(sized(70, 50, 22));
}

TEST_F(AttentionTf32Test, OrderDecidesNoBits) {
  for (const Case &c : {banded(fused(150, 2, 64), -150, 0), sized(70, 66, 128),
                        masked(sized(70, 70)), added(sized(70, 66))}) {
    const Inputs<tf32> in(c);
    const Outputs<tf32> first = run(c, in);
    EXPECT_EQ(count_seeds(5, [&] { return !has_same_bits(first, run(c, in)); }),
              0)
        << describe(c);
  }
}

// Products are in TF32 where a call says so, and nowhere else: the errors are
// those of ten bits of fraction.
TEST_F(AttentionTf32Test, RoundsFactors) {
  const Case c = sized(70, 70);
  const Inputs<tf32> in(c);
  const Results results = run(c, in).results(c), expected = reference(c, in);
  EXPECT_GT(distance(results.y, expected.y), kTolerance<float>);
  EXPECT_GT(distance(results.dk, expected.dk), kTolerance<float>);
}

} // namespace
