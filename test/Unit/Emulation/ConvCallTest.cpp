// The runtime's convolutions through cuDNN, against plain loops: by plans and
// by the older calls, with weights that are reordered and those that lie as
// cuDNN wants them.
#include "Machine.h"

#include "emulation/cudart/device.h"
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

// The parameter is whether cuDNN has engines for plans.
struct ConvCallTest : Emulation, testing::WithParamInterface<bool> {
  ConvCallTest() {
    gpuopt::emulation::device().machine.has_engines = GetParam();
  }
  ~ConvCallTest() override {
    gpuopt::emulation::device().machine.has_engines = true;
  }

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

    // The gradient is written, and then added once more, which takes a second
    // place for it.
    for (double beta : {0.0, 1.0})
      EXPECT_EQ(uses_weights_of_workspace(c,
                                          [&](Context &ctx) {
                                            gpuopt::conv_backward_weights(
                                                ctx, c.s, x.data, dy.data,
                                                dw.data + offset, beta);
                                          }),
                reorders || beta != 0);
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

TEST_P(ConvCallTest, ReordersWeightsOfSeveralTapsAndChannels) {
  check(Case(4, 6, 3, 1), /*reorders=*/true);
  check(Case(4, 6, 3, 2), /*reorders=*/true);
}

TEST_P(ConvCallTest, LeavesWeightsWithOneTap) {
  check(Case(4, 6, 1, 1), /*reorders=*/false);
}

TEST_P(ConvCallTest, LeavesWeightsOfOneChannel) {
  check(Case(4, 8, 3, 4), /*reorders=*/false); // depthwise
  check(Case(1, 6, 3, 1), /*reorders=*/false);
}

// cuDNN's vectors begin at multiples of 16 bytes.
TEST_P(ConvCallTest, MovesWeightsThatAreNotAligned) {
  check(Case(4, 6, 1, 1), /*reorders=*/true, /*offset=*/1);
}

// A slice of a tensor may begin anywhere; plans promise what is true.
TEST_P(ConvCallTest, TakesTensorsThatAreNotAligned) {
  const Case c(4, 6, 3, 1);
  std::vector<float> moved{0};
  moved.insert(moved.end(), c.x.begin(), c.x.end());
  OnDevice<float> x(moved), w(c.w), y(c.y.size());
  OnDevice<char> workspace(kWorkspace);
  Context ctx;
  ctx.use_workspace(workspace.data, workspace.n);
  gpuopt::conv_forward<float>(ctx, c.s, x.data + 1, w.data, nullptr, y.data);
  std::vector<float> expected(c.y.size());
  gpuopt::loops::conv_forward<float>(c.s, c.x.data(), c.w.data(), nullptr,
                                     expected.data());
  EXPECT_EQ(y.values(), expected);
}

// A bias is added by the older calls in either case.
TEST_P(ConvCallTest, AddsABias) {
  const Case c(4, 6, 3, 1);
  const std::vector<float> b = numbers(c.s.oc, 2);
  OnDevice<float> x(c.x), w(c.w), bias(b), y(c.y.size());
  OnDevice<char> workspace(kWorkspace);
  Context ctx;
  ctx.use_workspace(workspace.data, workspace.n);
  gpuopt::conv_forward<float>(ctx, c.s, x.data, w.data, bias.data, y.data);
  cudaDeviceSynchronize();
  std::vector<float> expected(c.y.size());
  gpuopt::loops::conv_forward<float>(c.s, c.x.data(), c.w.data(), b.data(),
                                     expected.data());
  EXPECT_EQ(y.values(), expected);
}

// Returns what lies in the device's memory as floats.
template <class T>
std::vector<float> floats(const OnDevice<T> &data) {
  std::vector<float> all;
  for (T value : data.values())
    all.push_back(gpuopt::load_scalar(&value));
  return all;
}

template <class T>
std::vector<T> narrowed(const std::vector<float> &values) {
  std::vector<T> all(values.size());
  for (size_t i = 0; i < values.size(); i++)
    gpuopt::store_scalar(&all[i], values[i]);
  return all;
}

// Runs conv_forward_with_sums on T and compares y, the sums and the sums of
// squares with loops. Returns whether cuDNN has added them up: then nothing is
// left in the workspace of the runtime's own sums.
template <class T>
bool check_sums(const Case &c) {
  OnDevice<T> x(narrowed<T>(c.x)), w(narrowed<T>(c.w)), y(c.y.size());
  const size_t channels = size_t(c.s.oc);
  OnDevice<float> sum(channels), squares(channels);
  OnDevice<char> workspace(std::vector<char>(kWorkspace, 0));
  Context ctx;
  ctx.use_workspace(workspace.data, workspace.n);
  gpuopt::conv_forward_with_sums<T>(ctx, c.s, x.data, w.data, y.data, sum.data,
                                    squares.data);
  EXPECT_EQ(error_of_work(), "");
  std::vector<float> expected(c.y.size()), sums(channels, 0),
      sums_of_squares(channels, 0);
  gpuopt::loops::conv_forward<float>(c.s, c.x.data(), c.w.data(), nullptr,
                                     expected.data());
  for (size_t i = 0; i < expected.size(); i++) {
    sums[i % channels] += expected[i];
    sums_of_squares[i % channels] += expected[i] * expected[i];
  }
  EXPECT_EQ(floats(y), expected);
  EXPECT_EQ(sum.values(), sums);
  EXPECT_EQ(squares.values(), sums_of_squares);
  const std::vector<char> after = workspace.values();
  return std::all_of(after.begin(), after.begin() + 64,
                     [](char byte) { return byte == 0; });
}

// One tap, so that the workspace is not used for weights. There are 60 pixels,
// and 130 in two parts.
TEST_P(ConvCallTest, AddsUpChannels) {
  EXPECT_EQ(check_sums<gpuopt::f16>(Case(8, 16, 1, 1)), GetParam());
  Case two_parts(8, 8, 1, 1);
  two_parts.s.n = 13, two_parts.s.w = two_parts.s.ow = 5;
  two_parts.s.h = two_parts.s.oh = 2;
  two_parts.x = numbers(13 * 10 * 8, 3);
  two_parts.y = numbers(13 * 10 * 8, 7);
  EXPECT_EQ(check_sums<gpuopt::f16>(two_parts), GetParam());
}

// cuDNN adds up channels in half precision alone, and multiples of eight; the
// runtime's own kernels do the others.
TEST_P(ConvCallTest, AddsUpChannelsWithoutAnEngineForIt) {
  EXPECT_FALSE(check_sums<float>(Case(8, 16, 1, 1)));
  EXPECT_FALSE(check_sums<gpuopt::bf16>(Case(8, 16, 1, 1)));
  EXPECT_FALSE(check_sums<gpuopt::f16>(Case(8, 300, 1, 1)));
}

// Plans can pad one end alone.
TEST_P(ConvCallTest, PadsOneEnd) {
  Case c(4, 6, 3, 1);
  c.s.pad_begin[0] = c.s.pad_begin[1] = 2;
  c.s.pad_end[0] = c.s.pad_end[1] = 0;
  OnDevice<float> x(c.x), w(c.w), y(c.y.size());
  OnDevice<char> workspace(kWorkspace);
  Context ctx;
  ctx.use_workspace(workspace.data, workspace.n);
  const auto run = [&] {
    gpuopt::conv_forward<float>(ctx, c.s, x.data, w.data, nullptr, y.data);
  };
  if (!GetParam()) {
    EXPECT_EQ(error_of(run),
              "cuDNN pads both ends of a dimension alike, but this convolution "
              "is padded differently at its two ends; it has no plan either: "
              "cuDNN proposes no engine");
    return;
  }
  run();
  cudaDeviceSynchronize();
  std::vector<float> expected(c.y.size());
  gpuopt::loops::conv_forward<float>(c.s, c.x.data(), c.w.data(), nullptr,
                                     expected.data());
  EXPECT_EQ(y.values(), expected);
}

INSTANTIATE_TEST_SUITE_P(Cudnn, ConvCallTest, testing::Bool(),
                         [](const auto &info) {
                           return info.param ? "Plans" : "OlderCalls";
                         });

} // namespace
