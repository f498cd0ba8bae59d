// Convolutions by cuDNN's older calls, which NVIDIA names its legacy API: a
// descriptor for each tensor, and one of a few algorithms. They compute what
// cuDNN has no plan for.
#pragma once

#include "gpuopt/ops/conv_shape.h"
#include "gpuopt/ops/cudnn_descriptor.h"

namespace gpuopt {
namespace detail {

// A factor as cuDNN reads it: a double for tensors of double, else a float.
class ConvFactor {
public:
  ConvFactor(double value, bool is_wide)
      : wide(value), narrow(float(value)), is_wide(is_wide) {}
  const void *pointer() const {
    return is_wide ? static_cast<const void *>(&wide) : &narrow;
  }

private:
  double wide;
  float narrow;
  bool is_wide;
};

struct LegacyConv {
  cudnnTensorDescriptor_t x, y, bias;
  cudnnFilterDescriptor_t w;
  cudnnConvolutionDescriptor_t conv;
  bool is_wide; // of double
  int algorithm = 0;
  size_t workspace = 0;
};

inline void destroy_legacy_conv(const LegacyConv &c) {
  for (cudnnTensorDescriptor_t tensor : {c.x, c.y, c.bias})
    cudnnDestroyTensorDescriptor(tensor);
  cudnnDestroyFilterDescriptor(c.w);
  cudnnDestroyConvolutionDescriptor(c.conv);
}

// Takes the fastest algorithm, by cuDNN's heuristic, that always gives the same
// bits and has enough workspace.
template <class Perf>
void take_deterministic(LegacyConv &c, const Perf *candidates, int count,
                        size_t room) {
  for (int i = 0; i < count; i++)
    if (candidates[i].status == CUDNN_STATUS_SUCCESS &&
        candidates[i].determinism == CUDNN_DETERMINISTIC &&
        candidates[i].memory <= room) {
      c.algorithm = candidates[i].algo;
      c.workspace = candidates[i].memory;
      return;
    }
  throw Error("cuDNN has no deterministic algorithm for a convolution within " +
              human_bytes(double(room)) +
              " of workspace; compile with --workspace-size");
}

inline void choose_algorithm(cudnnHandle_t handle, LegacyConv &c, int64_t kind,
                             size_t room) {
  constexpr int kMost = 16;
  int count = 0;
  if (kind == kConvForward) {
    cudnnConvolutionFwdAlgoPerf_t found[kMost];
    CHECK_CUDNN(cudnnGetConvolutionForwardAlgorithm_v7(
        handle, c.x, c.w, c.conv, c.y, kMost, &count, found));
    take_deterministic(c, found, count, room);
  } else if (kind == kConvBackwardData) {
    cudnnConvolutionBwdDataAlgoPerf_t found[kMost];
    CHECK_CUDNN(cudnnGetConvolutionBackwardDataAlgorithm_v7(
        handle, c.w, c.y, c.conv, c.x, kMost, &count, found));
    take_deterministic(c, found, count, room);
  } else {
    cudnnConvolutionBwdFilterAlgoPerf_t found[kMost];
    CHECK_CUDNN(cudnnGetConvolutionBackwardFilterAlgorithm_v7(
        handle, c.x, c.y, c.conv, c.w, kMost, &count, found));
    take_deterministic(c, found, count, room);
  }
}

// These calls pad both ends alike, and compute the size of y from that.
inline void check_padding(const ConvShape &s) {
  const auto size_of_y = [&](int i, int64_t x, int64_t filter) {
    return 1 + (x + 2 * s.pad_begin[i] - (filter - 1) * s.dilation[i] - 1) /
                   s.stride[i];
  };
  if (size_of_y(0, s.h, s.kh) != s.oh || size_of_y(1, s.w, s.kw) != s.ow)
    throw Error("cuDNN pads both ends of a dimension alike, but this "
                "convolution is padded differently at its two ends");
}

inline cudnnConvolutionDescriptor_t
make_parameters(const ConvShape &s, cudnnDataType_t type, bool allows_tf32) {
  cudnnConvolutionDescriptor_t conv;
  CHECK_CUDNN(cudnnCreateConvolutionDescriptor(&conv));
  CHECK_CUDNN(cudnnSetConvolution2dDescriptor(
      conv, int(s.pad_begin[0]), int(s.pad_begin[1]), int(s.stride[0]),
      int(s.stride[1]), int(s.dilation[0]), int(s.dilation[1]),
      CUDNN_CROSS_CORRELATION,
      type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT));
  CHECK_CUDNN(cudnnSetConvolutionGroupCount(conv, int(s.groups)));
  const bool half = type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16;
  // For float, tensor cores mean TF32.
  const bool on_tensor_cores =
      half || (allows_tf32 && type == CUDNN_DATA_FLOAT);
  CHECK_CUDNN(cudnnSetConvolutionMathType(
      conv, on_tensor_cores ? CUDNN_TENSOR_OP_MATH : CUDNN_FMA_MATH));
  return conv;
}

inline LegacyConv make_legacy_conv(cudnnHandle_t handle, const ConvShape &s,
                                   int64_t kind, cudnnDataType_t type,
                                   bool allows_tf32, size_t room) {
  check_padding(s);
  auto tensor = [&](cudnnTensorDescriptor_t &d, int64_t n, int64_t c, int64_t h,
                    int64_t w) {
    CHECK_CUDNN(cudnnCreateTensorDescriptor(&d));
    CHECK_CUDNN(cudnnSetTensor4dDescriptor(d, CUDNN_TENSOR_NHWC, type, int(n),
                                           int(c), int(h), int(w)));
  };
  LegacyConv c;
  c.is_wide = type == CUDNN_DATA_DOUBLE;
  tensor(c.x, s.n, s.c, s.h, s.w);
  tensor(c.y, s.n, s.oc, s.oh, s.ow);
  tensor(c.bias, 1, s.oc, 1, 1);
  CHECK_CUDNN(cudnnCreateFilterDescriptor(&c.w));
  CHECK_CUDNN(cudnnSetFilter4dDescriptor(c.w, type, CUDNN_TENSOR_NHWC,
                                         int(s.oc), int(s.c / s.groups),
                                         int(s.kh), int(s.kw)));
  c.conv = make_parameters(s, type, allows_tf32);
  choose_algorithm(handle, c, kind, room);
  return c;
}

// Enqueues the convolution in the handle's stream: one of the tensors is
// written, the other two are read.
inline void run_legacy_conv(cudnnHandle_t handle, const LegacyConv &c,
                            int64_t kind, const void *x, const void *w,
                            const void *y, void *workspace) {
  const ConvFactor one(1, c.is_wide), zero(0, c.is_wide);
  const auto written = [](const void *p) { return const_cast<void *>(p); };
  if (kind == kConvForward)
    CHECK_CUDNN(cudnnConvolutionForward(
        handle, one.pointer(), c.x, x, c.w, w, c.conv,
        static_cast<cudnnConvolutionFwdAlgo_t>(c.algorithm), workspace,
        c.workspace, zero.pointer(), c.y, written(y)));
  else if (kind == kConvBackwardData)
    CHECK_CUDNN(cudnnConvolutionBackwardData(
        handle, one.pointer(), c.w, w, c.y, y, c.conv,
        static_cast<cudnnConvolutionBwdDataAlgo_t>(c.algorithm), workspace,
        c.workspace, zero.pointer(), c.x, written(x)));
  else
    CHECK_CUDNN(cudnnConvolutionBackwardFilter(
        handle, one.pointer(), c.x, x, c.y, y, c.conv,
        static_cast<cudnnConvolutionBwdFilterAlgo_t>(c.algorithm), workspace,
        c.workspace, zero.pointer(), c.w, written(w)));
}

// y += bias
inline void add_bias_by_legacy_call(cudnnHandle_t handle, const LegacyConv &c,
                                    const void *bias, void *y) {
  const ConvFactor one(1, c.is_wide);
  CHECK_CUDNN(cudnnAddTensor(handle, one.pointer(), c.bias, bias, one.pointer(),
                             c.y, y));
}

} // namespace detail
} // namespace gpuopt
