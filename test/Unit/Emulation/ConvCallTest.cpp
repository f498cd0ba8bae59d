// The runtime's convolutions through cuDNN, against plain loops: weights that
// are reordered, and those that lie as cuDNN wants them.
#include "Machine.h"

#include "gpuopt/ops/conv.h"
#include "gpuopt/ops/conv_loops.h"

#include <algorithm>

namespace {

using gpuopt::Context;
using gpuopt::ConvShape;

// Small whole numbers, whose sums are exact in any order.
std::vector<float> numbers(int64_t n, int step) {
  std::vector<float> all;
  for (int64_t i = 0; i < n; i++)
    all.push_back(float(i * step % 11 - 5));
  return all;
}

constexpr size_t kWorkspace = 64 << 10;

struct Case {
  Case(int64_t channels, int64_t outputs, int64_t kernel, int64_t groups) {
    s.n = 2, s.h = 6, s.w = 5, s.c = channels;
    s.oh = 6, s.ow = 5, s.oc = outputs;
    s.kh = s.kw = kernel, s.groups = groups;
    for (int i : {0, 1})
      s.pad_begin[i] = s.pad_end[i] = kernel / 2;
    x = numbers(s.n * s.h * s.w * s.c, 3);
    w = numbers(s.oc * (s.c / groups) * kernel * kernel, 5);
    y = numbers(s.n * s.oh * s.ow * s.oc, 7);
  }
  ConvShape s;
  std::vector<float> x, w, y;
};

struct ConvCallTest : Emulation {
  // Runs `call` with a workspace of zeros, and returns whether it has written
  // into the part of it that is for weights.
  template <class F>
  static bool uses_weights_of_workspace(const Case &c, F call) {
    OnDevice<char> workspace(std::vector<char>(kWorkspace, 0));
    Context ctx;
    ctx.use_workspace(workspace.data, workspace.n);
    cudaDeviceSynchronize();
    call(ctx);
    cudaDeviceSynchronize();
    const std::vector<char> after = workspace.values();
    return std::any_of(after.begin(),
                       after.begin() + int64_t(c.w.size() * sizeof(float)),
                       [](char byte) { return byte != 0; });
  }

  // All three convolutions; `offset` moves the weights, in elements.
  static void check(const Case &c, bool reorders, size_t offset = 0) {
    std::vector<float> moved(offset, 0.0f);
    moved.insert(moved.end(), c.w.begin(), c.w.end());
    OnDevice<float> x(c.x), w(moved), y(c.y.size()), dy(c.y), dx(c.x.size()),
        dw(moved);

    std::vector<float> expected(c.y.size());
    EXPECT_EQ(uses_weights_of_workspace(c,
                                        [&](Context &ctx) {
                                          gpuopt::conv_forward<float>(
                                              ctx, c.s, x.data, w.data + offset,
                                              nullptr, y.data);
                                        }),
              reorders);
    gpuopt::loops::conv_forward<float>(c.s, c.x.data(), c.w.data(), nullptr,
                                       expected.data());
    EXPECT_EQ(y.values(), expected);

    expected.resize(c.x.size());
    EXPECT_EQ(uses_weights_of_workspace(c,
                                        [&](Context &ctx) {
                                          gpuopt::conv_backward_data(
                                              ctx, c.s, dy.data,
                                              w.data + offset, dx.data);
                                        }),
              reorders);
    gpuopt::loops::conv_backward_data(c.s, c.y.data(), c.w.data(),
                                      expected.data());
    EXPECT_EQ(dx.values(), expected);

    // The gradient is written, and then added once more.
    for (double beta : {0.0, 1.0})
      EXPECT_EQ(uses_weights_of_workspace(c,
                                          [&](Context &ctx) {
                                            gpuopt::conv_backward_weights(
                                                ctx, c.s, x.data, dy.data,
                                                dw.data + offset, beta);
                                          }),
                reorders);
    expected.resize(c.w.size());
    gpuopt::loops::conv_backward_weights(c.s, c.x.data(), c.y.data(),
                                         expected.data(), 0);
    for (float &value : expected)
      value *= 2;
    std::vector<float> found = dw.values();
    found.erase(found.begin(), found.begin() + int64_t(offset));
    EXPECT_EQ(found, expected);
  }
};

TEST_F(ConvCallTest, ReordersWeightsOfSeveralTapsAndChannels) {
  check(Case(4, 6, 3, 1), /*reorders=*/true);
  check(Case(4, 6, 3, 2), /*reorders=*/true);
}

TEST_F(ConvCallTest, LeavesWeightsWithOneTap) {
  check(Case(4, 6, 1, 1), /*reorders=*/false);
}

TEST_F(ConvCallTest, LeavesWeightsOfOneChannel) {
  check(Case(4, 8, 3, 4), /*reorders=*/false); // depthwise
  check(Case(1, 6, 3, 1), /*reorders=*/false);
}

// cuDNN's vectors begin at multiples of 16 bytes.
TEST_F(ConvCallTest, MovesWeightsThatAreNotAligned) {
  check(Case(4, 6, 1, 1), /*reorders=*/true, /*offset=*/1);
}

} // namespace
