// Each op of expressions.mlir, element by element, against the C library.
#include "check.h"

#include <functional>
#include <vector>

using Float1 = std::function<double(double)>;
using Float2 = std::function<double(double, double)>;
using Bool2 = std::function<bool(double, double)>;
using Int2 = std::function<int64_t(int64_t, int64_t)>;

static constexpr int kCount = 40;
static constexpr double kUlps = 8 * 1.2e-7;

static void fill() {
  float *x = check::data<float>("x"), *z = check::data<float>("z");
  int64_t *n = check::data<int64_t>("n"), *k = check::data<int64_t>("k");
  uint8_t *mask = check::data<uint8_t>("mask");
  const float special[] = {NAN,         INFINITY, -INFINITY, 0.0f,
                           0.49999997f, -0.5f,    2.5f};
  for (int i = 0; i < kCount; i++) {
    x[i] = i < 7 ? special[i] : 0.1f * float(i - 20);
    z[i] = i % 5 == 0 ? x[i] : i % 7 == 0 ? NAN : 0.3f * float(i - 18);
    n[i] = (i - 20) * (i % 3 ? 1 : 1000000007LL);
    k[i] = i % 4 ? i - 9 : n[i];
    if (k[i] == 0)
      k[i] = -3;
    mask[i] = uint8_t(i % 2);
  }
}

static void elementary() {
  const std::vector<Float1> ops = {[](double x) { return std::exp(x); },
                                   [](double x) { return std::expm1(x); },
                                   [](double x) { return std::log(x); },
                                   [](double x) { return std::log1p(x); },
                                   [](double x) { return std::tanh(x); },
                                   [](double x) { return std::erf(x); },
                                   [](double x) { return std::sqrt(x); },
                                   [](double x) { return 1 / std::sqrt(x); },
                                   [](double x) { return std::sin(x); },
                                   [](double x) { return std::cos(x); },
                                   [](double x) { return std::tan(x); },
                                   [](double x) { return std::sinh(x); },
                                   [](double x) { return std::cosh(x); },
                                   [](double x) { return std::asin(x); },
                                   [](double x) { return std::acos(x); },
                                   [](double x) { return std::atan(x); },
                                   [](double x) { return std::asinh(x); },
                                   [](double x) { return std::acosh(x); },
                                   [](double x) { return std::atanh(x); },
                                   [](double x) { return std::fabs(x); },
                                   [](double x) { return std::floor(x); },
                                   [](double x) { return std::ceil(x); },
                                   [](double x) { return std::round(x); },
                                   [](double x) { return std::nearbyint(x); },
                                   [](double x) { return std::trunc(x); }};
  const float *x = check::data<float>("x"),
              *y = check::data<float>("elementary_out");
  for (size_t op = 0; op < ops.size(); op++)
    for (int i = 0; i < kCount; i++)
      if (std::isfinite(
              x[i])) // the elementary functions' own tests have the others
        check::expect(("elementary " + std::to_string(op)).c_str(), i,
                      y[op * kCount + i], ops[op](x[i]), kUlps);
}

static void binary() {
  const auto nan2 = [](double x, double z) {
    return std::isnan(x) || std::isnan(z);
  };
  const std::vector<Float2> ops = {
      [](double x, double z) { return x + z; },
      [](double x, double z) { return x - z; },
      [](double x, double z) { return x * z; },
      [](double x, double z) { return x / z; },
      [](double x, double z) { return std::fmod(x, z); },
      [&](double x, double z) { return nan2(x, z) ? NAN : std::fmax(x, z); },
      [&](double x, double z) { return nan2(x, z) ? NAN : std::fmin(x, z); },
      [](double x, double z) { return std::fmax(x, z); },
      [](double x, double z) { return std::fmin(x, z); },
      [](double x, double z) { return std::pow(x, z); },
      [](double x, double z) { return std::copysign(x, z); },
      [](double x, double z) { return z + x; },
      [](double x, double) { return x * x * x; }};
  const float *x = check::data<float>("x"), *z = check::data<float>("z"),
              *y = check::data<float>("binary_out");
  for (size_t op = 0; op < ops.size(); op++)
    for (int i = 0; i < kCount; i++) {
      const bool isSigned =
          op == 10 && (std::isnan(x[i]) || std::isnan(z[i])); // a NaN's sign
      if (!isSigned)
        check::expect(("binary " + std::to_string(op)).c_str(), i,
                      y[op * kCount + i], float(ops[op](x[i], z[i])), kUlps);
    }
}

static void comparisons() {
  const auto nan2 = [](double x, double z) {
    return std::isnan(x) || std::isnan(z);
  };
  const std::vector<Bool2> ops = {
      [](double x, double z) { return x == z; },
      [](double x, double z) { return x > z; },
      [](double x, double z) { return x >= z; },
      [](double x, double z) { return x < z; },
      [](double x, double z) { return x <= z; },
      [](double x, double z) { return x < z || x > z; },
      [&](double x, double z) { return !nan2(x, z); },
      [&](double x, double z) { return nan2(x, z) || x == z; },
      [&](double x, double z) { return nan2(x, z) || x > z; },
      [&](double x, double z) { return nan2(x, z) || x >= z; },
      [&](double x, double z) { return nan2(x, z) || x < z; },
      [&](double x, double z) { return nan2(x, z) || x <= z; },
      [&](double x, double z) { return nan2(x, z) || x != z; },
      nan2,
      [](double, double) { return false; },
      [](double, double) { return true; },
      [](double x, double) { return std::isnan(x); },
      [](double x, double) { return std::isinf(x); },
      [](double x, double) { return std::isfinite(x); }};
  const float *x = check::data<float>("x"), *z = check::data<float>("z");
  const uint8_t *y = check::data<uint8_t>("compare_floats_out");
  for (size_t op = 0; op < ops.size(); op++)
    for (int i = 0; i < kCount; i++)
      check::expect(("comparison " + std::to_string(op)).c_str(), i,
                    y[op * kCount + i], ops[op](x[i], z[i]));
}

static void integers() {
  using U = uint64_t;
  const std::vector<Int2> compare = {
      [](int64_t a, int64_t b) { return a == b; },
      [](int64_t a, int64_t b) { return a != b; },
      [](int64_t a, int64_t b) { return a < b; },
      [](int64_t a, int64_t b) { return a <= b; },
      [](int64_t a, int64_t b) { return a > b; },
      [](int64_t a, int64_t b) { return a >= b; },
      [](int64_t a, int64_t b) { return U(a) < U(b); },
      [](int64_t a, int64_t b) { return U(a) <= U(b); },
      [](int64_t a, int64_t b) { return U(a) > U(b); },
      [](int64_t a, int64_t b) { return U(a) >= U(b); }};
  const std::vector<Int2> ops = {
      [](int64_t a, int64_t b) { return a + b; },
      [](int64_t a, int64_t b) { return a - b; },
      [](int64_t a, int64_t b) { return a * b; },
      [](int64_t a, int64_t b) { return a / b; },
      [](int64_t a, int64_t b) { return a % b; },
      [](int64_t a, int64_t b) { return a & b; },
      [](int64_t a, int64_t b) { return a | b; },
      [](int64_t a, int64_t b) { return a ^ b; },
      [](int64_t a, int64_t b) { return a > b ? a : b; },
      [](int64_t a, int64_t b) { return a < b ? a : b; },
      [](int64_t a, int64_t b) { return int64_t(U(a) / U(b)); },
      [](int64_t a, int64_t b) { return int64_t(U(a) % U(b)); },
      [](int64_t a, int64_t) { return a * 4; },
      [](int64_t a, int64_t) { return a >> 2; },
      [](int64_t a, int64_t) { return int64_t(U(a) >> 2); },
      [](int64_t a, int64_t) { return a < 0 ? -a : a; }};
  const int64_t *a = check::data<int64_t>("n"), *b = check::data<int64_t>("k");
  const int64_t *y = check::data<int64_t>("integers_out");
  const uint8_t *is = check::data<uint8_t>("compare_integers_out");
  for (int i = 0; i < kCount; i++) {
    for (size_t op = 0; op < compare.size(); op++)
      check::expect(("integer comparison " + std::to_string(op)).c_str(), i,
                    is[op * kCount + i], compare[op](a[i], b[i]));
    for (size_t op = 0; op < ops.size(); op++)
      if (y[op * kCount + i] != ops[op](a[i], b[i]))
        check::expect(("integers " + std::to_string(op)).c_str(), i,
                      double(y[op * kCount + i]), double(ops[op](a[i], b[i])));
  }
}

static void casts() {
  const float *x = check::data<float>("x"),
              *y = check::data<float>("casts_out");
  const int64_t *n = check::data<int64_t>("n"),
                *w = check::data<int64_t>("casts_to_integers_out");
  const uint8_t *mask = check::data<uint8_t>("mask");
  for (int i = 0; i < kCount; i++) {
    const double floats[] = {double(float(n[i])),
                             double(mask[i]),
                             -double(mask[i]),
                             double(float(uint32_t(n[i]))),
                             double(float(double(x[i]) + 0.1)),
                             double(n[i] & 1 ? 1.0f : x[i])};
    for (int op = 0; op < 6; op++)
      check::expect(("casts " + std::to_string(op)).c_str(), i,
                    y[op * kCount + i], floats[op]);
    const int64_t integers[] = {int64_t(x[i]),
                                mask[i],
                                -int64_t(mask[i]),
                                int64_t(uint32_t(n[i])),
                                int64_t(int32_t(n[i])),
                                i,
                                n[i]};
    for (int op = std::isfinite(x[i]) ? 0 : 1; op < 7; op++)
      check::expect(("casts to integers " + std::to_string(op)).c_str(), i,
                    double(w[op * kCount + i]), double(integers[op]));
  }
}

static void uniform() {
  const float *x = check::data<float>("x"),
              *y = check::data<float>("uniform_out");
  const int64_t *n = check::data<int64_t>("n");
  const uint8_t *w = check::data<uint8_t>("uniform_mask_out");
  for (int i = 0; i < kCount; i++) {
    const int64_t m = n[i] > 0 ? n[i] : 0;
    const bool either = !(x[i] <= 0.5f) || m == 0;
    check::expect("uniform mask", i, w[i], either);
    check::expect("uniform", i, y[i],
                  either ? std::exp(double(x[i])) : double(float(m)), kUlps);
  }
}

int main() {
  fill();
  program().forward(check::context(), check::memory());
  elementary();
  binary();
  comparisons();
  integers();
  casts();
  uniform();
  return check::finish();
}
