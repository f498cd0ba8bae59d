// Pooling against its definition, and gradients as adjoints.

#include "gpuopt/ops/pool.h"

#include "Values.h"

#include <gtest/gtest.h>

namespace gpuopt {
namespace {

const PoolShape kShapes[] = {
    {.n = 2,
     .h = 8,
     .w = 10,
     .c = 20,
     .oh = 4,
     .ow = 5,
     .kh = 2,
     .kw = 2,
     .stride = {2, 2}},
    {.n = 1,
     .h = 9,
     .w = 7,
     .c = 3,
     .oh = 5,
     .ow = 4,
     .kh = 3,
     .kw = 3,
     .stride = {2, 2},
     .pad_begin = {1, 1},
     .pad_end = {1, 1}},
    {.n = 1,
     .h = 9,
     .w = 7,
     .c = 33,
     .oh = 9,
     .ow = 7,
     .kh = 3,
     .kw = 3,
     .stride = {1, 1},
     .pad_begin = {1, 1},
     .pad_end = {1, 1},
     .count_include_pad = 1},
};

template <class T>
void check(const PoolShape &s) {
  Context ctx(2);
  const size_t in = size_t(s.n * s.h * s.w * s.c),
               out = size_t(s.n * s.oh * s.ow * s.c);
  const auto x = random_values<T>(in, 1), dy = random_values<T>(out, 2);
  std::vector<T> highest(out), mean(out), dx(in);
  std::vector<int32_t> argmax(out);
  max_pool_forward(ctx, s, x.data(), highest.data(), argmax.data());
  avg_pool_forward(ctx, s, x.data(), mean.data());
  for (int64_t n = 0; n < s.n; n++)
    for (int64_t p = 0; p < s.oh; p++)
      for (int64_t q = 0; q < s.ow; q++)
        for (int64_t c = 0; c < s.c; c++) {
          double sum = 0, best = -1e30;
          int64_t inside = 0, place = -1;
          for (int64_t i = 0; i < s.kh; i++)
            for (int64_t j = 0; j < s.kw; j++) {
              const int64_t row = p * s.stride[0] - s.pad_begin[0] + i;
              const int64_t col = q * s.stride[1] - s.pad_begin[1] + j;
              if (row < 0 || row >= s.h || col < 0 || col >= s.w)
                continue;
              const double v =
                  double(x[size_t(((n * s.h + row) * s.w + col) * s.c + c)]);
              sum += v;
              inside++;
              if (v > best) {
                best = v;
                place = row * s.w + col;
              }
            }
          const size_t at = size_t(((n * s.oh + p) * s.ow + q) * s.c + c);
          const double size =
              s.count_include_pad ? double(s.kh * s.kw) : double(inside);
          ASSERT_EQ(double(highest[at]), best);
          ASSERT_EQ(argmax[at], place);
          ASSERT_NEAR(double(mean[at]), sum / size, 1e-6);
        }
  max_pool_backward(ctx, s, dy.data(), argmax.data(), dx.data());
  EXPECT_NEAR(dot(highest, dy), dot(x, dx), 1e-3); // homogeneous of degree one
  avg_pool_backward(ctx, s, dy.data(), dx.data());
  EXPECT_NEAR(dot(mean, dy), dot(x, dx), 1e-3);
}

TEST(Pool, AgreesWithItsDefinition) {
  for (const PoolShape &s : kShapes) {
    SCOPED_TRACE(testing::Message() << "shape " << &s - kShapes);
    check<float>(s);
    check<double>(s);
  }
}

} // namespace
} // namespace gpuopt
