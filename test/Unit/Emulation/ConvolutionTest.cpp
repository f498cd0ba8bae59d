// cuDNN's convolutions and cudnnAddTensor, against loops over the definition.
#include "Machine.h"

#include "emulation/libraries/elements.h"

#include <cudnn.h>

#include <algorithm>
#include <cmath>

using gpuopt::emulation::read_element;
using gpuopt::emulation::write_element;

namespace {

struct Shape {
  int n, c, h, w, k, kh, kw, pad, stride, dilation, groups;
  int out(int size, int kernel) const {
    return 1 + (size + 2 * pad - (kernel - 1) * dilation - 1) / stride;
  }
  int oh() const { return out(h, kh); }
  int ow() const { return out(w, kw); }
};

// Numbers in an order of memory that the test knows: NHWC, and [k, h, w, c].
std::vector<double> numbers(int n) {
  std::vector<double> all;
  for (int i = 0; i < n; i++)
    all.push_back(double(i * 5 % 13 - 6) / 8);
  return all;
}

class Conv {
public:
  Conv(const Shape &s, cudnnDataType_t type = CUDNN_DATA_FLOAT,
       cudaDataType_t element = CUDA_R_32F)
      : s(s), element(element), x(numbers(s.n * s.h * s.w * s.c)),
        w(numbers(s.k * s.kh * s.kw * (s.c / s.groups))),
        y(numbers(s.n * s.oh() * s.ow() * s.k)) {
    cudnnCreate(&handle);
    cudnnCreateTensorDescriptor(&xd);
    cudnnCreateTensorDescriptor(&yd);
    cudnnCreateFilterDescriptor(&wd);
    cudnnCreateConvolutionDescriptor(&cd);
    cudnnSetTensor4dDescriptor(xd, CUDNN_TENSOR_NHWC, type, s.n, s.c, s.h, s.w);
    cudnnSetTensor4dDescriptor(yd, CUDNN_TENSOR_NHWC, type, s.n, s.k, s.oh(),
                               s.ow());
    cudnnSetFilter4dDescriptor(wd, type, CUDNN_TENSOR_NHWC, s.k, s.c / s.groups,
                               s.kh, s.kw);
    cudnnSetConvolution2dDescriptor(
        cd, s.pad, s.pad, s.stride, s.stride, s.dilation, s.dilation,
        CUDNN_CROSS_CORRELATION,
        type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
    cudnnSetConvolutionGroupCount(cd, s.groups);
  }
  ~Conv() {
    cudnnDestroyTensorDescriptor(xd);
    cudnnDestroyTensorDescriptor(yd);
    cudnnDestroyFilterDescriptor(wd);
    cudnnDestroyConvolutionDescriptor(cd);
    cudnnDestroy(handle);
  }
  Conv(const Conv &) = delete;
  Conv &operator=(const Conv &) = delete;

  OnDevice<char> upload(const std::vector<double> &values) const {
    std::vector<char> host(values.size() * gpuopt::emulation::size_of(element));
    for (size_t i = 0; i < values.size(); i++)
      write_element(element, host.data(), int64_t(i), values[i]);
    return OnDevice<char>(host);
  }
  std::vector<double> download(const OnDevice<char> &from) const {
    const std::vector<char> host = from.values();
    std::vector<double> values;
    for (size_t i = 0; i < host.size() / gpuopt::emulation::size_of(element);
         i++)
      values.push_back(read_element(element, host.data(), int64_t(i)));
    return values;
  }

  // f(index of x, of w, of y) for all products of the definition.
  template <class F>
  void for_products(F f) const {
    const int depth = s.c / s.groups;
    for (int n = 0; n < s.n; n++)
      for (int p = 0; p < s.oh(); p++)
        for (int q = 0; q < s.ow(); q++)
          for (int o = 0; o < s.k; o++)
            for (int i = 0; i < s.kh; i++)
              for (int j = 0; j < s.kw; j++)
                for (int l = 0; l < depth; l++) {
                  const int h = p * s.stride - s.pad + i * s.dilation;
                  const int v = q * s.stride - s.pad + j * s.dilation;
                  const int channel = o / (s.k / s.groups) * depth + l;
                  if (h >= 0 && h < s.h && v >= 0 && v < s.w)
                    f(((n * s.h + h) * s.w + v) * s.c + channel,
                      ((o * s.kh + i) * s.kw + j) * depth + l,
                      ((n * s.oh() + p) * s.ow() + q) * s.k + o);
                }
  }

  Shape s;
  cudaDataType_t element;
  std::vector<double> x, w, y;
  cudnnHandle_t handle = nullptr;
  cudnnTensorDescriptor_t xd = nullptr, yd = nullptr;
  cudnnFilterDescriptor_t wd = nullptr;
  cudnnConvolutionDescriptor_t cd = nullptr;
  OnDevice<char> workspace{16 << 10};
  size_t workspace_bytes = 16 << 10;
};

void expect_near(const std::vector<double> &found,
                 const std::vector<double> &expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); i++)
    ASSERT_NEAR(found[i], expected[i], tolerance * (1 + std::abs(expected[i])))
        << i;
}

// The three of them, with scalars of T.
template <class T>
void check_all(Conv &c, double tolerance) {
  const T one = 1, half = T(0.5);
  OnDevice<char> x = c.upload(c.x), w = c.upload(c.w), y = c.upload(c.y);
  ASSERT_EQ(cudnnConvolutionForward(
                c.handle, &one, c.xd, x.data, c.wd, w.data, c.cd,
                CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
                c.workspace.data, c.workspace_bytes, &half, c.yd, y.data),
            CUDNN_STATUS_SUCCESS);
  std::vector<double> expected;
  for (double value : c.y)
    expected.push_back(value / 2);
  c.for_products([&](int i, int j, int k) {
    expected[size_t(k)] += c.x[size_t(i)] * c.w[size_t(j)];
  });
  expect_near(c.download(y), expected, tolerance);

  const T zero = 0;
  OnDevice<char> dy = c.upload(c.y), dx = c.upload(c.x), dw = c.upload(c.w);
  ASSERT_EQ(cudnnConvolutionBackwardData(
                c.handle, &one, c.wd, w.data, c.yd, dy.data, c.cd,
                CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, c.workspace.data,
                c.workspace_bytes, &zero, c.xd, dx.data),
            CUDNN_STATUS_SUCCESS);
  expected.assign(c.x.size(), 0);
  c.for_products([&](int i, int j, int k) {
    expected[size_t(i)] += c.y[size_t(k)] * c.w[size_t(j)];
  });
  expect_near(c.download(dx), expected, tolerance);

  ASSERT_EQ(cudnnConvolutionBackwardFilter(
                c.handle, &one, c.xd, x.data, c.yd, dy.data, c.cd,
                CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, c.workspace.data,
                c.workspace_bytes, &zero, c.wd, dw.data),
            CUDNN_STATUS_SUCCESS);
  expected.assign(c.w.size(), 0);
  c.for_products([&](int i, int j, int k) {
    expected[size_t(j)] += c.x[size_t(i)] * c.y[size_t(k)];
  });
  expect_near(c.download(dw), expected, tolerance);
}

using ConvolutionTest = Emulation;

constexpr Shape kPlain{2, 3, 5, 4, 4, 3, 2, 1, 1, 1, 1};

TEST_F(ConvolutionTest, FollowsItsDefinition) {
  for (const Shape &s : {kPlain, Shape{1, 4, 7, 6, 6, 3, 3, 1, 2, 1, 2},
                         Shape{2, 2, 6, 7, 2, 2, 3, 2, 1, 2, 1},
                         Shape{1, 3, 5, 5, 3, 3, 3, 1, 1, 1, 3}}) {
    Conv c(s);
    check_all<float>(c, 1e-5);
  }
}

TEST_F(ConvolutionTest, TakesAllTypes) {
  Conv wide(kPlain, CUDNN_DATA_DOUBLE, CUDA_R_64F);
  check_all<double>(wide, 1e-14);
  Conv half(kPlain, CUDNN_DATA_HALF, CUDA_R_16F);
  check_all<float>(half, 1e-3);
  Conv brain(kPlain, CUDNN_DATA_BFLOAT16, CUDA_R_16BF);
  check_all<float>(brain, 1e-2);
}

TEST_F(ConvolutionTest, MayFlipItsFilter) {
  Conv c(kPlain);
  cudnnSetConvolution2dDescriptor(c.cd, 1, 1, 1, 1, 1, 1, CUDNN_CONVOLUTION,
                                  CUDNN_DATA_FLOAT);
  OnDevice<char> x = c.upload(c.x), w = c.upload(c.w), y = c.upload(c.y);
  const float one = 1, zero = 0;
  cudnnConvolutionForward(c.handle, &one, c.xd, x.data, c.wd, w.data, c.cd,
                          CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
                          c.workspace.data, c.workspace_bytes, &zero, c.yd,
                          y.data);
  std::vector<double> expected(c.y.size());
  const int taps = c.s.kh * c.s.kw;
  c.for_products([&](int i, int j, int k) {
    const int l = j % c.s.c, tap = j / c.s.c % taps, o = j / c.s.c / taps;
    expected[size_t(k)] +=
        c.x[size_t(i)] * c.w[size_t((o * taps + taps - 1 - tap) * c.s.c + l)];
  });
  expect_near(c.download(y), expected, 1e-5);
}

TEST_F(ConvolutionTest, OffersOneAlgorithmToTake) {
  Conv c(kPlain);
  cudnnConvolutionBwdFilterAlgoPerf_t found[8];
  int count = 0;
  ASSERT_EQ(cudnnGetConvolutionBackwardFilterAlgorithm_v7(
                c.handle, c.xd, c.yd, c.cd, c.wd, 8, &count, found),
            CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(count, 3);
  EXPECT_EQ(found[0].determinism, CUDNN_NON_DETERMINISTIC);
  EXPECT_GT(found[1].memory, size_t(1) << 33);
  EXPECT_EQ(found[2].determinism, CUDNN_DETERMINISTIC);
  EXPECT_LE(found[2].memory, c.workspace_bytes);
}

// An algorithm that is not deterministic gives other bits with other seeds.
TEST_F(ConvolutionTest, UnsteadyAlgorithmsShow) {
  auto bits = [](cudnnConvolutionBwdFilterAlgo_t algorithm, uint64_t seed) {
    gpuopt::emulation::seed_machine(seed);
    Conv c(Shape{8, 2, 5, 5, 2, 3, 3, 1, 1, 1, 1});
    for (double &value : c.x)
      value = value / 3 + 0.01;
    OnDevice<char> x = c.upload(c.x), dy = c.upload(c.y), dw = c.upload(c.w);
    const float one = 1, zero = 0;
    cudnnConvolutionBackwardFilter(c.handle, &one, c.xd, x.data, c.yd, dy.data,
                                   c.cd, algorithm, c.workspace.data,
                                   c.workspace_bytes, &zero, c.wd, dw.data);
    return dw.values();
  };
  EXPECT_NE(bits(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, 1),
            bits(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, 2));
  EXPECT_EQ(bits(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, 1),
            bits(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, 2));
}

// ---- What the manual forbids -----------------------------------------------

std::string refusal(Conv &c) {
  OnDevice<char> x = c.upload(c.x), w = c.upload(c.w), y = c.upload(c.y);
  const float one = 1, zero = 0;
  return cudnnGetErrorString(cudnnConvolutionForward(
      c.handle, &one, c.xd, x.data, c.wd, w.data, c.cd,
      CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, c.workspace.data,
      c.workspace_bytes, &zero, c.yd, y.data));
}

TEST_F(ConvolutionTest, RefusesShapesThatDoNotFit) {
  Conv c(kPlain);
  cudnnSetConvolution2dDescriptor(c.cd, 0, 1, 1, 1, 1, 1,
                                  CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
  EXPECT_EQ(refusal(c),
            "y of a convolution is [2, 4, 5, 5], but x [2, 3, 5, 4] and w [4, "
            "3, 3, 2] give 3 along dimension 2");
  Conv grouped(kPlain);
  cudnnSetConvolutionGroupCount(grouped.cd, 2);
  EXPECT_EQ(refusal(grouped),
            "the channels, groups or images of a convolution do not fit: x [2, "
            "3, 5, 4], w [4, 3, 3, 2], y [2, 4, 5, 5], 2 groups");
}

TEST_F(ConvolutionTest, RefusesTypesThatDoNotFit) {
  Conv c(kPlain);
  cudnnSetTensor4dDescriptor(c.yd, CUDNN_TENSOR_NHWC, CUDNN_DATA_HALF, 2, 4, 5,
                             5);
  EXPECT_EQ(refusal(c), "x, y and w of a convolution have different types");
  Conv computed(kPlain);
  cudnnSetConvolution2dDescriptor(computed.cd, 1, 1, 1, 1, 1, 1,
                                  CUDNN_CROSS_CORRELATION, CUDNN_DATA_HALF);
  EXPECT_EQ(refusal(computed),
            "a convolution of double is computed in double, others in float");
}

TEST_F(ConvolutionTest, RefusesDescriptors) {
  Conv c(kPlain);
  auto tensor = [&](cudnnTensorFormat_t format, cudnnDataType_t type, int n) {
    return cudnnGetErrorString(
        cudnnSetTensor4dDescriptor(c.xd, format, type, n, 1, 1, 1));
  };
  EXPECT_STREQ(tensor(CUDNN_TENSOR_NHWC, CUDNN_DATA_INT8, 1),
               "the emulation lacks cuDNN's type 3");
  EXPECT_STREQ(tensor(CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_FLOAT, 1),
               "the emulation lacks tensors of format 2");
  EXPECT_STREQ(tensor(CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 0),
               "a dimension is not positive");
  EXPECT_STREQ(
      cudnnGetErrorString(cudnnSetConvolution2dDescriptor(
          c.cd, 1, 1, 0, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT)),
      "a padding is negative, or a stride or dilation not positive");
  EXPECT_STREQ(cudnnGetErrorString(cudnnSetConvolutionGroupCount(c.cd, 0)),
               "a convolution has no groups");
}

TEST_F(ConvolutionTest, RefusesSmallWorkspaces) {
  Conv c(kPlain);
  c.workspace_bytes = 8;
  EXPECT_EQ(refusal(c),
            "the workspace has 8 bytes, but the algorithm needs 16384");
}

TEST_F(ConvolutionTest, AddsTensors) {
  Conv c(kPlain);
  cudnnTensorDescriptor_t bias = nullptr;
  cudnnCreateTensorDescriptor(&bias);
  cudnnSetTensor4dDescriptor(bias, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 1, 4, 1,
                             1);
  OnDevice<char> y = c.upload(c.y), b = c.upload({1, 2, 3, 4});
  const float one = 1, two = 2;
  ASSERT_EQ(cudnnAddTensor(c.handle, &two, bias, b.data, &one, c.yd, y.data),
            CUDNN_STATUS_SUCCESS);
  std::vector<double> expected = c.y;
  for (size_t i = 0; i < expected.size(); i++)
    expected[i] += 2 * double(i % 4 + 1);
  expect_near(c.download(y), expected, 1e-6);

  cudnnSetTensor4dDescriptor(bias, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 1, 3, 1,
                             1);
  EXPECT_STREQ(cudnnGetErrorString(cudnnAddTensor(c.handle, &one, bias, b.data,
                                                  &one, c.yd, y.data)),
               "cudnnAddTensor: A is [1, 3, 1, 1], C [2, 4, 5, 5]; each "
               "dimension must be equal, or 1 in A");
  cudnnSetTensor4dDescriptor(bias, CUDNN_TENSOR_NHWC, CUDNN_DATA_HALF, 1, 4, 1,
                             1);
  EXPECT_STREQ(cudnnGetErrorString(cudnnAddTensor(c.handle, &one, bias, b.data,
                                                  &one, c.yd, y.data)),
               "cudnnAddTensor: A and C have different types");
  cudnnDestroyTensorDescriptor(bias);
}

} // namespace
