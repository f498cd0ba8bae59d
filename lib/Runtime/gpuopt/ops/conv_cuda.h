// Convolution on the GPU: cuDNN 9's legacy calls, NHWC, with deterministic
// algorithms. cuDNN wants the weights as [oc, kh, kw, c], so they are reordered
// into the workspace before a call, and their gradient back after it. Weights
// with one tap, or of one channel, lie the same in both orders.
#pragma once

#include "gpuopt/ops/conv.h"
#include "gpuopt/ops/cudnn_descriptor.h"

#include <unordered_map>

namespace gpuopt {

namespace detail {

template <class T>
constexpr cudnnDataType_t cudnn_type() {
  if constexpr (std::is_same_v<T, double>)
    return CUDNN_DATA_DOUBLE;
  else if constexpr (std::is_same_v<T, float>)
    return CUDNN_DATA_FLOAT;
  else if constexpr (std::is_same_v<T, f16>)
    return CUDNN_DATA_HALF;
  else
    return CUDNN_DATA_BFLOAT16;
}

struct ConvKey {
  ConvShape shape;
  int64_t kind, type;
};

struct Conv {
  cudnnTensorDescriptor_t x, y, bias;
  cudnnFilterDescriptor_t w;
  cudnnConvolutionDescriptor_t conv;
  int algorithm = 0;
  size_t workspace = 0;
};

// 92800 is 9.28.0.
inline std::string cudnn_version_text(size_t version) {
  return std::to_string(version / 10000) + "." +
         std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

// A program may call what an older library lacks.
inline void check_cudnn_version() {
  if (cudnnGetVersion() < size_t(CUDNN_VERSION))
    throw Error("this program was built with cuDNN " +
                cudnn_version_text(CUDNN_VERSION) + ", but finds " +
                cudnn_version_text(cudnnGetVersion()) +
                " when it runs; install the newer one, or build with the "
                "older one");
}

struct Cudnn {
  Cudnn() {
    check_cudnn_version();
    CHECK_CUDNN(cudnnCreate(&handle));
  }
  ~Cudnn() {
    for (auto &[content, c] : by_content) {
      for (cudnnTensorDescriptor_t tensor : {c.x, c.y, c.bias})
        cudnnDestroyTensorDescriptor(tensor);
      cudnnDestroyFilterDescriptor(c.w);
      cudnnDestroyConvolutionDescriptor(c.conv);
    }
    cudnnDestroy(handle);
  }
  cudnnHandle_t handle;
  std::unordered_map<std::string, Conv> by_content;
};

// Returns the fastest algorithm, by cuDNN's heuristic, that always gives the
// same bits and has enough workspace.
template <class Perf>
void choose(Conv &c, const Perf *candidates, int count, size_t room) {
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

inline void choose_algorithm(Cudnn &dnn, Conv &c, int64_t kind, size_t room) {
  constexpr int kMost = 16;
  int count = 0;
  if (kind == kConvForward) {
    cudnnConvolutionFwdAlgoPerf_t found[kMost];
    CHECK_CUDNN(cudnnGetConvolutionForwardAlgorithm_v7(
        dnn.handle, c.x, c.w, c.conv, c.y, kMost, &count, found));
    choose(c, found, count, room);
  } else if (kind == kConvBackwardData) {
    cudnnConvolutionBwdDataAlgoPerf_t found[kMost];
    CHECK_CUDNN(cudnnGetConvolutionBackwardDataAlgorithm_v7(
        dnn.handle, c.w, c.y, c.conv, c.x, kMost, &count, found));
    choose(c, found, count, room);
  } else {
    cudnnConvolutionBwdFilterAlgoPerf_t found[kMost];
    CHECK_CUDNN(cudnnGetConvolutionBackwardFilterAlgorithm_v7(
        dnn.handle, c.x, c.y, c.conv, c.w, kMost, &count, found));
    choose(c, found, count, room);
  }
}

inline Conv make_conv(Cudnn &dnn, const ConvKey &key, bool allows_tf32,
                      size_t room) {
  const ConvShape &s = key.shape;
  const auto type = static_cast<cudnnDataType_t>(key.type);
  // cuDNN pads both ends alike, and computes the size of y from that.
  const auto size_of_y = [&](int i, int64_t x, int64_t filter) {
    return 1 + (x + 2 * s.pad_begin[i] - (filter - 1) * s.dilation[i] - 1) /
                   s.stride[i];
  };
  if (size_of_y(0, s.h, s.kh) != s.oh || size_of_y(1, s.w, s.kw) != s.ow)
    throw Error("cuDNN pads both ends of a dimension alike, but this "
                "convolution is padded differently at its two ends");
  auto tensor = [&](cudnnTensorDescriptor_t &d, int64_t n, int64_t c, int64_t h,
                    int64_t w) {
    CHECK_CUDNN(cudnnCreateTensorDescriptor(&d));
    CHECK_CUDNN(cudnnSetTensor4dDescriptor(d, CUDNN_TENSOR_NHWC, type, int(n),
                                           int(c), int(h), int(w)));
  };
  Conv c;
  tensor(c.x, s.n, s.c, s.h, s.w);
  tensor(c.y, s.n, s.oc, s.oh, s.ow);
  tensor(c.bias, 1, s.oc, 1, 1);
  CHECK_CUDNN(cudnnCreateFilterDescriptor(&c.w));
  CHECK_CUDNN(cudnnSetFilter4dDescriptor(c.w, type, CUDNN_TENSOR_NHWC,
                                         int(s.oc), int(s.c / s.groups),
                                         int(s.kh), int(s.kw)));
  CHECK_CUDNN(cudnnCreateConvolutionDescriptor(&c.conv));
  CHECK_CUDNN(cudnnSetConvolution2dDescriptor(
      c.conv, int(s.pad_begin[0]), int(s.pad_begin[1]), int(s.stride[0]),
      int(s.stride[1]), int(s.dilation[0]), int(s.dilation[1]),
      CUDNN_CROSS_CORRELATION,
      type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT));
  CHECK_CUDNN(cudnnSetConvolutionGroupCount(c.conv, int(s.groups)));
  const bool half = type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16;
  // For float, tensor cores mean TF32.
  const bool on_tensor_cores =
      half || (allows_tf32 && type == CUDNN_DATA_FLOAT);
  CHECK_CUDNN(cudnnSetConvolutionMathType(
      c.conv, on_tensor_cores ? CUDNN_TENSOR_OP_MATH : CUDNN_FMA_MATH));
  choose_algorithm(dnn, c, key.kind, room);
  return c;
}

// to[o, k, c] = from[o, c, k], or back, adding to what is there.
template <class T>
KERNEL void reorder_weights(const T *from, T *to, int64_t count, int64_t depth,
                            int64_t taps, bool back, bool accumulate) {
  const int64_t i = block() * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  const int64_t c = i % depth, k = i / depth % taps, o = i / depth / taps;
  const int64_t plain = (o * depth + c) * taps + k;
  if (!back)
    to[i] = from[plain];
  else if (accumulate)
    store_scalar(to + plain, load_scalar(to + plain) + load_scalar(from + i));
  else
    to[plain] = from[i];
}

// Whether the weights have the same order in ONNX as cuDNN wants them to have,
// and lie where its vectors can begin.
inline bool has_order_of_cudnn(const ConvShape &s, const void *weights) {
  return (s.kh * s.kw == 1 || s.c == s.groups) &&
         reinterpret_cast<uintptr_t>(weights) % 16 == 0;
}

template <class T>
struct ConvCall {
  // `plain_weights` are those of the program, or their gradient.
  ConvCall(Context &ctx, const ConvShape &s, ConvKind kind,
           const T *plain_weights)
      : ctx(ctx), dnn(ctx.library<Cudnn>()), shape(s),
        reorders(!has_order_of_cudnn(s, plain_weights)) {
    const ConvKey key{s, kind, cudnn_type<T>()};
    count = s.oc * (s.c / s.groups) * s.kh * s.kw;
    const size_t weight_bytes = (size_t(count) * sizeof(T) + 255) / 256 * 256;
    char *memory = ctx.workspace(weight_bytes);
    const std::string content = content_of(key);
    auto found = dnn.by_content.find(content);
    if (found == dnn.by_content.end())
      found =
          dnn.by_content
              .emplace(content, make_conv(dnn, key, ctx.allows_tf32,
                                          ctx.workspace_bytes() - weight_bytes))
              .first;
    conv = &found->second;
    in_workspace = reinterpret_cast<T *>(memory);
    workspace = memory + weight_bytes;
    CHECK_CUDNN(cudnnSetStream(dnn.handle, ctx.stream));
  }
  // Returns the weights in cuDNN's order.
  const T *ordered(const T *plain) {
    if (!reorders)
      return plain;
    reorder(plain, in_workspace, false, false);
    return in_workspace;
  }
  void reorder(const T *from, T *to, bool back, bool accumulate) {
    launch(ctx, ceil_div(count, 256), 256, reorder_weights<T>, from, to, count,
           shape.c / shape.groups, shape.kh * shape.kw, back, accumulate);
  }
  const void *one() const {
    return wide ? static_cast<const void *>(&one64) : &one32;
  }
  const void *zero() const {
    return wide ? static_cast<const void *>(&zero64) : &zero32;
  }

  static constexpr bool wide = std::is_same_v<T, double>;
  const double one64 = 1, zero64 = 0;
  const float one32 = 1, zero32 = 0;
  Context &ctx;
  Cudnn &dnn;
  const ConvShape &shape;
  const bool reorders;
  const Conv *conv;
  int64_t count;
  T *in_workspace;
  void *workspace;
};

} // namespace detail

template <class T>
void conv_forward(Context &ctx, const ConvShape &s, const T *x, const T *w,
                  const T *bias, T *y) {
  detail::ConvCall<T> call(ctx, s, kConvForward, w);
  const detail::Conv &c = *call.conv;
  CHECK_CUDNN(cudnnConvolutionForward(
      call.dnn.handle, call.one(), c.x, x, c.w, call.ordered(w), c.conv,
      static_cast<cudnnConvolutionFwdAlgo_t>(c.algorithm), call.workspace,
      c.workspace, call.zero(), c.y, y));
  if (bias)
    CHECK_CUDNN(cudnnAddTensor(call.dnn.handle, call.one(), c.bias, bias,
                               call.one(), c.y, y));
}

template <class T>
void conv_backward_data(Context &ctx, const ConvShape &s, const T *dy,
                        const T *w, T *dx) {
  detail::ConvCall<T> call(ctx, s, kConvBackwardData, w);
  const detail::Conv &c = *call.conv;
  CHECK_CUDNN(cudnnConvolutionBackwardData(
      call.dnn.handle, call.one(), c.w, call.ordered(w), c.y, dy, c.conv,
      static_cast<cudnnConvolutionBwdDataAlgo_t>(c.algorithm), call.workspace,
      c.workspace, call.zero(), c.x, dx));
}

template <class T>
void conv_backward_weights(Context &ctx, const ConvShape &s, const T *x,
                           const T *dy, T *dw, double beta) {
  detail::ConvCall<T> call(ctx, s, kConvBackwardWeights, dw);
  const detail::Conv &c = *call.conv;
  const bool adds = beta != 0 && !call.reorders;
  CHECK_CUDNN(cudnnConvolutionBackwardFilter(
      call.dnn.handle, call.one(), c.x, x, c.y, dy, c.conv,
      static_cast<cudnnConvolutionBwdFilterAlgo_t>(c.algorithm), call.workspace,
      c.workspace, adds ? call.one() : call.zero(), c.w,
      call.reorders ? call.in_workspace : dw));
  if (call.reorders)
    call.reorder(call.in_workspace, dw, true, beta != 0);
}

} // namespace gpuopt
