// The loops' gradients are the adjoints of their forward; oneDNN's three
// convolutions, and our own for depthwise filters, agree with the loops.

#include "gpuopt/ops/conv.h"

#include "Values.h"

#include <gtest/gtest.h>

namespace gpuopt {
namespace {

ConvShape shape(int64_t in, int64_t c, int64_t oc, int64_t kernel,
                int64_t stride, int64_t begin, int64_t end, int64_t dilation,
                int64_t groups) {
  const int64_t out =
      (in + begin + end - (kernel - 1) * dilation - 1) / stride + 1;
  return {.n = 2,
          .h = in,
          .w = in + 2,
          .c = c,
          .oh = out,
          .ow =
              (in + 2 + begin + end - (kernel - 1) * dilation - 1) / stride + 1,
          .oc = oc,
          .kh = kernel,
          .kw = kernel,
          .stride = {stride, stride},
          .pad_begin = {begin, begin},
          .pad_end = {end, end},
          .dilation = {dilation, dilation},
          .groups = groups};
}

const ConvShape kShapes[] = {
    shape(8, 3, 16, 3, 1, 1, 1, 1, 1),     // the first layer of a network
    shape(9, 16, 32, 3, 2, 1, 1, 1, 1),    // stride with nothing left over
    shape(8, 16, 32, 3, 2, 1, 1, 1, 1),    // stride with a rest
    shape(8, 16, 16, 1, 2, 0, 0, 1, 1),    // a projection
    shape(8, 16, 24, 1, 1, 0, 0, 1, 1),    // a product
    shape(3, 4, 8, 1, 2, 0, 2, 1, 1),      // as many pixels, but not the same
    shape(9, 8, 8, 3, 1, 2, 2, 2, 1),      // dilated
    shape(8, 8, 16, 3, 1, 1, 1, 1, 4),     // grouped
    shape(8, 16, 16, 3, 1, 1, 1, 1, 16),   // depthwise
    shape(11, 24, 24, 5, 1, 2, 2, 1, 24),  // with a wide filter
    shape(12, 40, 40, 7, 2, 3, 3, 1, 40),  // and with a stride
    shape(9, 7, 7, 3, 1, 2, 2, 2, 7),      // dilated
    shape(13, 18, 18, 10, 1, 4, 5, 1, 18), // more taps than are added at once
    shape(8, 16, 32, 5, 1, 2, 2, 1, 16),   // two filters for each channel
    shape(8, 5, 7, 4, 2, 1, 2, 1, 1),      // odd channels, uneven padding
};

struct Sizes {
  explicit Sizes(const ConvShape &s)
      : x(size_t(s.n * s.h * s.w * s.c)), y(size_t(s.n * s.oh * s.ow * s.oc)),
        w(size_t(s.oc * (s.c / s.groups) * s.kh * s.kw)) {}
  size_t x, y, w;
};

TEST(Conv, LoopsAreAdjoint) {
  Context ctx(2);
  for (const ConvShape &s : kShapes) {
    const Sizes size(s);
    const auto x = random_values<double>(size.x, 1),
               w = random_values<double>(size.w, 2);
    const auto dy = random_values<double>(size.y, 3);
    std::vector<double> y(size.y), dx(size.x), dw(size.w, 0);
    conv_forward<double>(ctx, s, x.data(), w.data(), nullptr, y.data());
    conv_backward_data(ctx, s, dy.data(), w.data(), dx.data());
    conv_backward_weights(ctx, s, x.data(), dy.data(), dw.data(), 0);
    EXPECT_NEAR(dot(y, dy), dot(dx, x), 1e-9);
    EXPECT_NEAR(dot(y, dy), dot(dw, w), 1e-9);
  }
}

TEST(Conv, OneDnnAgreesWithLoops) {
  Context ctx(2);
  for (const ConvShape &s : kShapes) {
    SCOPED_TRACE(testing::Message() << "shape " << &s - kShapes);
    const Sizes size(s);
    const auto x = random_values<float>(size.x, 1),
               w = random_values<float>(size.w, 2);
    const auto dy = random_values<float>(size.y, 3),
               bias = random_values<float>(size_t(s.oc), 4);
    std::vector<float> y(size.y), dx(size.x), dw(size.w, 0.5f);
    auto want_y = y, want_dx = dx, want_dw = dw;
    auto expect_near = [](const std::vector<float> &got,
                          const std::vector<float> &want) {
      for (size_t i = 0; i < got.size(); i++)
        ASSERT_NEAR(got[i], want[i], 3e-5 * (1 + std::fabs(want[i])))
            << "at " << i;
    };
    for (const float *b : {static_cast<const float *>(nullptr), bias.data()}) {
      conv_forward(ctx, s, x.data(), w.data(), b, y.data());
      loops::conv_forward(s, x.data(), w.data(), b, want_y.data());
      expect_near(y, want_y);
    }
    conv_backward_data(ctx, s, dy.data(), w.data(), dx.data());
    loops::conv_backward_data(s, dy.data(), w.data(), want_dx.data());
    expect_near(dx, want_dx);
    for (double beta : {1.0, 0.0}) {
      conv_backward_weights(ctx, s, x.data(), dy.data(), dw.data(), beta);
      loops::conv_backward_weights(s, x.data(), dy.data(), want_dw.data(),
                                   beta);
      expect_near(dw, want_dw);
    }
  }
}

// An image of several bands, of which the last one has fewer rows. How the
// gradient is cut does not depend on how many threads compute it.
TEST(Conv, DepthwiseGradientHasTheSameBitsOnAnyNumberOfThreads) {
  const ConvShape s = shape(70, 33, 33, 7, 1, 3, 3, 1, 33);
  const Sizes size(s);
  const auto x = random_values<float>(size.x, 1),
             dy = random_values<float>(size.y, 2);
  std::vector<float> one(size.w), three(size.w);
  std::vector<double> want(size.w);
  loops::conv_backward_weights(
      s, std::vector<double>(x.begin(), x.end()).data(),
      std::vector<double>(dy.begin(), dy.end()).data(), want.data(), 0);
  for (auto [threads, dw] : {std::pair(1, &one), std::pair(3, &three)}) {
    Context ctx(threads);
    conv_backward_weights(ctx, s, x.data(), dy.data(), dw->data(), 0);
  }
  EXPECT_EQ(one, three);
  for (size_t i = 0; i < want.size(); i++)
    ASSERT_NEAR(one[i], want[i], 1e-4 * (1 + std::fabs(want[i]))) << "at " << i;
  EXPECT_NE(s.oh % detail::DepthwiseCut(s, sizeof(float)).rows, 0);
  EXPECT_GT(detail::DepthwiseCut(s, sizeof(float)).parts, 1);
}

TEST(Conv, DepthwiseGradientOfNoOutputsIsZero) {
  ConvShape s = shape(8, 3, 3, 3, 1, 1, 1, 1, 3);
  s.n = 0;
  Context ctx(2);
  std::vector<float> dw(27, 5);
  detail::depthwise_backward_weights<float>(ctx, s, nullptr, nullptr, dw.data(),
                                            1);
  EXPECT_EQ(dw, std::vector<float>(27, 5));
  detail::depthwise_backward_weights<float>(ctx, s, nullptr, nullptr, dw.data(),
                                            0);
  EXPECT_EQ(dw, std::vector<float>(27, 0));
}

template <class H>
std::vector<H> rounded(const std::vector<float> &values) {
  std::vector<H> result(values.size());
  for (size_t i = 0; i < values.size(); i++)
    store_scalar(&result[i], values[i]);
  return result;
}
template <class H>
std::vector<float> widened(const std::vector<H> &values) {
  std::vector<float> result;
  for (H value : values)
    result.push_back(load_scalar(&value));
  return result;
}

// On operands that half precision holds, the three convolutions are those of
// float, rounded once.
template <class H>
void expect_rounded_convolution(double unit) {
  Context ctx(2);
  for (const ConvShape &s : kShapes) {
    SCOPED_TRACE(testing::Message() << "shape " << &s - kShapes);
    const Sizes size(s);
    const auto x = rounded<H>(random_values<float>(size.x, 1)),
               w = rounded<H>(random_values<float>(size.w, 2)),
               dy = rounded<H>(random_values<float>(size.y, 3)),
               bias = rounded<H>(random_values<float>(size_t(s.oc), 4));
    const auto wide_x = widened(x), wide_w = widened(w), wide_dy = widened(dy),
               wide_bias = widened(bias);
    std::vector<H> y(size.y), dx(size.x), dw(rounded<H>(wide_w));
    std::vector<float> want_y(size.y), want_dx(size.x), want_dw(wide_w);
    auto expect_near = [&](const std::vector<H> &got,
                           const std::vector<float> &want) {
      for (size_t i = 0; i < got.size(); i++)
        ASSERT_NEAR(load_scalar(&got[i]), want[i],
                    unit * (0.01 + std::fabs(want[i])))
            << "at " << i;
    };
    conv_forward(ctx, s, x.data(), w.data(), bias.data(), y.data());
    loops::conv_forward(s, wide_x.data(), wide_w.data(), wide_bias.data(),
                        want_y.data());
    expect_near(y, want_y);
    conv_backward_data(ctx, s, dy.data(), w.data(), dx.data());
    loops::conv_backward_data(s, wide_dy.data(), wide_w.data(), want_dx.data());
    expect_near(dx, want_dx);
    conv_backward_weights(ctx, s, x.data(), dy.data(), dw.data(), 0);
    loops::conv_backward_weights(s, wide_x.data(), wide_dy.data(),
                                 want_dw.data(), 0);
    expect_near(dw, want_dw);
  }
}
TEST(Conv, HalfPrecisionRoundsOnce) {
  expect_rounded_convolution<f16>(0x1p-11 * 1.1);
  expect_rounded_convolution<bf16>(0x1p-8 * 1.1);
}

} // namespace
} // namespace gpuopt
