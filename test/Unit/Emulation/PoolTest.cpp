// Pooling on the emulated machine against its definition, bit by bit: small
// windows and large ones, vectors that are whole and such that are not.
#include "Machine.h"

#include "gpuopt/ops/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

using gpuopt::Compute;
using gpuopt::Context;
using gpuopt::f16;
using gpuopt::PoolShape;

template <class T>
T element_of(float value) {
  T element;
  gpuopt::store_scalar(&element, Compute<T>(value));
  return element;
}

// Few different values, so that maxima are met twice; in every 13th pixel they
// are minus infinity, and some are NaN.
template <class T>
std::vector<T> values(int64_t count, int seed, bool special) {
  std::vector<T> all;
  for (int64_t i = 0; i < count; i++) {
    const int64_t mixed = (i + seed) * 7919 % 10007;
    float value = float(mixed % 17 - 8) / 4;
    if (special && i / 96 % 13 == 0)
      value = -std::numeric_limits<float>::infinity();
    if (special && mixed % 53 == 0)
      value = std::numeric_limits<float>::quiet_NaN();
    all.push_back(element_of<T>(value));
  }
  return all;
}

// What pooling is defined as, with the operands of the device's functions.
template <class T>
struct Definition {
  using C = Compute<T>;
  const PoolShape &s;
  std::vector<T> x, dy;
  std::vector<C> highest, mean, max_dx, mean_dx;
  std::vector<int32_t> argmax;

  explicit Definition(const PoolShape &s)
      : s(s), x(values<T>(s.n * s.h * s.w * s.c, 1, true)),
        dy(values<T>(s.n * s.oh * s.ow * s.c, 2, false)),
        max_dx(x.size(), C(0)), mean_dx(x.size(), C(0)) {
    for (int64_t n = 0; n < s.n; n++)
      for (int64_t p = 0; p < s.oh; p++)
        for (int64_t q = 0; q < s.ow; q++)
          for (int64_t c = 0; c < s.c; c++)
            pool(n, p, q, c);
  }

  int64_t length(int axis, int64_t i) const {
    const int64_t extent = axis ? s.w : s.h, kernel = axis ? s.kw : s.kh;
    const int64_t pad = s.count_include_pad ? s.pad_begin[axis] : 0;
    const int64_t end = s.count_include_pad ? s.pad_end[axis] : 0;
    const int64_t begin = i * s.stride[axis] - s.pad_begin[axis];
    return std::min(begin + kernel, extent + end) - std::max(begin, -pad);
  }

  void pool(int64_t n, int64_t p, int64_t q, int64_t c) {
    C best = 0, sum = 0;
    int64_t place = -1;
    const C dy_here = gpuopt::load_scalar(&dy[highest.size()]);
    const C size = C(length(0, p) * length(1, q));
    for (int64_t i = 0; i < s.kh; i++)
      for (int64_t j = 0; j < s.kw; j++) {
        const int64_t row =
            p * s.stride[0] - s.pad_begin[0] + i * s.dilation[0];
        const int64_t col =
            q * s.stride[1] - s.pad_begin[1] + j * s.dilation[1];
        if (row < 0 || row >= s.h || col < 0 || col >= s.w)
          continue;
        const size_t at = size_t(((n * s.h + row) * s.w + col) * s.c + c);
        const C v = gpuopt::load_scalar(&x[at]);
        sum += v;
        mean_dx[at] += dy_here / size; // in the order of the outputs
        if (place < 0 || v > best || (std::isnan(v) && !std::isnan(best))) {
          best = v;
          place = row * s.w + col;
        }
      }
    if (place >= 0)
      max_dx[size_t((n * s.h * s.w + place) * s.c + c)] += dy_here;
    else
      best = -std::numeric_limits<C>::infinity();
    highest.push_back(best);
    argmax.push_back(int32_t(place));
    mean.push_back(sum / size);
  }
};

// The same bits; all NaNs are one.
template <class T>
void expect_same(const std::vector<T> &actual,
                 const std::vector<Compute<T>> &expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); i++) {
    T rounded;
    gpuopt::store_scalar(&rounded, expected[i]);
    const auto is = gpuopt::load_scalar(&actual[i]),
               should = gpuopt::load_scalar(&rounded);
    if (std::isnan(should))
      ASSERT_TRUE(std::isnan(is)) << "element " << i;
    else
      ASSERT_EQ(memcmp(&is, &should, sizeof is), 0)
          << "element " << i << " is " << is << ", not " << should;
  }
}

template <class T>
void check(const PoolShape &s, bool aligned) {
  const Definition<T> expected(s);
  Context ctx;
  // Tensors that begin one element later are read element by element.
  const size_t shift = aligned ? 0 : 1;
  auto shifted = [&](std::vector<T> v) {
    v.insert(v.begin(), shift, T{});
    return v;
  };
  const OnDevice<T> x(shifted(expected.x)), dy(shifted(expected.dy));
  OnDevice<T> y(expected.dy.size()), mean(expected.dy.size()),
      dx(expected.x.size()), mean_dx(expected.x.size());
  OnDevice<int32_t> argmax(expected.dy.size());
  gpuopt::max_pool_forward(ctx, s, x.data + shift, y.data, argmax.data);
  expect_same(y.values(), expected.highest);
  ASSERT_EQ(argmax.values(), expected.argmax);
  gpuopt::max_pool_backward(ctx, s, dy.data + shift, argmax.data, dx.data);
  expect_same(dx.values(), expected.max_dx);
  if (s.dilation[0] > 1)
    return;
  gpuopt::avg_pool_forward(ctx, s, x.data + shift, mean.data);
  expect_same(mean.values(), expected.mean);
  gpuopt::avg_pool_backward(ctx, s, dy.data + shift, mean_dx.data);
  expect_same(mean_dx.values(), expected.mean_dx);
}

PoolShape square(int64_t side, int64_t stride, int64_t pad, int64_t c) {
  const int64_t h = 11, w = 9;
  return {.n = 2,
          .h = h,
          .w = w,
          .c = c,
          .oh = (h + 2 * pad - side) / stride + 1,
          .ow = (w + 2 * pad - side) / stride + 1,
          .kh = side,
          .kw = side,
          .stride = {stride, stride},
          .pad_begin = {pad, pad},
          .pad_end = {pad, pad}};
}

struct Pool : Emulation {
  static void check_all(const PoolShape &s) {
    check<float>(s, true);
    check<double>(s, true);
    check<f16>(s, true);
    check<f16>(s, false);
  }
};

TEST_F(Pool, HasTheBitsOfItsDefinition) {
  int64_t channels[] = {24, 8, 96, 5};
  for (int64_t side = 1; side <= 4; side++)
    for (int64_t stride = 1; stride <= 3; stride++)
      for (int64_t c : channels) {
        SCOPED_TRACE(testing::Message() << "window " << side << ", stride "
                                        << stride << ", " << c << " channels");
        check_all(square(side, stride, side / 2, c));
        if (HasFatalFailure())
          return;
      }
}

TEST_F(Pool, CountsPadding) {
  PoolShape s = square(3, 2, 1, 16);
  s.count_include_pad = 1;
  check_all(s);
}

// A window may lie around all of a dilated operand.
TEST_F(Pool, HasDilatedWindows) {
  PoolShape s = square(3, 1, 1, 16);
  s.dilation[0] = s.dilation[1] = 2;
  s.oh = s.h + 2 - 4;
  s.ow = s.w + 2 - 4;
  check_all(s);
  const PoolShape around{.n = 1,
                         .h = 2,
                         .w = 2,
                         .c = 8,
                         .oh = 1,
                         .ow = 1,
                         .kh = 2,
                         .kw = 2,
                         .pad_begin = {1, 1},
                         .pad_end = {1, 1},
                         .dilation = {3, 3}};
  check_all(around);
}

// The quotient is right up to the largest numerator.
TEST_F(Pool, DividesByMultiplying) {
  for (int64_t divisor : {1, 2, 3, 7, 8, 112, 641, 12544, 65537, INT32_MAX}) {
    const gpuopt::detail::PoolDivisor<int32_t> d(divisor);
    for (int64_t factor : {int64_t(0), int64_t(1), int64_t(2), int64_t(1000),
                           INT32_MAX / divisor - 1, INT32_MAX / divisor})
      for (int64_t more : {int64_t(-1), int64_t(0), int64_t(1), divisor - 1}) {
        const int64_t x = factor * divisor + more;
        if (x >= 0 && x <= INT32_MAX)
          ASSERT_EQ(d.quotient(int32_t(x)), x / divisor)
              << x << " / " << divisor;
      }
  }
}

} // namespace
