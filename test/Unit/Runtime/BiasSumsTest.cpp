// How the sums for the gradient of a bias of attention are cut into parts.

#include "gpuopt/ops/attention.h"

#include <gtest/gtest.h>
#include <vector>

namespace gpuopt {
namespace {

TEST(BiasSums, CutTheTermsIntoParts) {
  AttentionShape s;
  s.batch[0] = 3, s.batch[1] = 5, s.batch[2] = 4;
  s.queries = 300, s.keys = 500;
  AttentionGradientShape g;
  g.dbias_batch[1] = 150000, g.dbias_row = 500, g.dbias_key = 1;
  BiasSums sums(s, g);
  EXPECT_EQ(sums.elements(), 5 * 300 * 500);
  EXPECT_EQ(sums.terms, 12);
  EXPECT_EQ(sums.parts, 1); // a second one would take more than 4 MiB
  g.dbias_batch[1] = 0;
  sums = BiasSums(s, g);
  EXPECT_EQ(sums.parts, 6);
  EXPECT_EQ(sums.first_term(0), 0);
  EXPECT_EQ(sums.first_term(1), 10);
  EXPECT_EQ(sums.first_term(6), 60);
  EXPECT_EQ(bias_gradient_workspace(s, g), 6 * 4 * 300 * 500);
  int64_t index[3];
  sums.find(0, 27, index); // in row-major order
  EXPECT_EQ(std::vector<int64_t>(index, index + 3),
            (std::vector<int64_t>{1, 1, 3}));
}

} // namespace
} // namespace gpuopt
