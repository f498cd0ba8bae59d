// Convolution on the GPU, by cuDNN 9, NHWC, with deterministic algorithms:
// as conv_algorithms_cuda.h chooses. cuDNN wants the weights as
// [oc, kh, kw, c], so they are reordered into the workspace before a call, and
// their gradient back after it. Weights with one tap, or of one channel, lie
// the same in both orders.
#pragma once

#include "gpuopt/ops/channel_sums_cuda.h"
#include "gpuopt/ops/conv.h"
#include "gpuopt/ops/conv_algorithms_cuda.h"
#include "gpuopt/settings/conv_calls.h"

namespace gpuopt {

namespace detail {

inline void run_conv(cudnnHandle_t handle, const Conv &c, int64_t kind,
                     const ConvTensors &tensors, void *workspace) {
#ifdef GPUOPT_HAS_CUDNN_PLANS
  if (c.plan)
    return execute_convolution(*c.plan, handle, tensors, workspace);
#endif
  run_legacy_conv(handle, *c.legacy, kind, tensors.x, tensors.w, tensors.y,
                  workspace);
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

// The work that a convolution does beside its product.
template <class T>
struct ConvExtras {
  const T *bias = nullptr;
  Compute<T> *sum = nullptr, *sum_of_squares = nullptr; // of y's channels
  bool must_reorder = false; // the weights, in whichever order they are
};

template <class T>
struct ConvCall {
  // Programs that have a convolution need cuDNN.
  static inline const RequiredAtStart has_cudnn{check_cudnn_version};

  // `plain_weights` are those of the program, or their gradient, which are
  // reordered where cuDNN wants another order.
  ConvCall(Context &ctx, const ConvShape &s, ConvKind kind, const T *x,
           const T *plain_weights, const T *y, ConvExtras<T> extras = {})
      : ctx(ctx), dnn(ctx.library<Cudnn>()), shape(s), kind(kind), x(x), y(y),
        extras(extras),
        reorders(extras.must_reorder || !has_order_of_cudnn(s, plain_weights)) {
    (void)&has_cudnn; // what is not named is not initialised
    count = s.oc * (s.c / s.groups) * s.kh * s.kw;
    const auto weight_bytes = size_t(conv_weight_bytes(count, sizeof(T)));
    in_workspace = reinterpret_cast<T *>(ctx.workspace(weight_bytes));
    workspace = ctx.workspace(weight_bytes) + weight_bytes;
    room = ctx.workspace_bytes() - weight_bytes;
    CHECK_CUDNN(cudnnSetStream(dnn.handle, ctx.stream));
  }
  // Returns what the pointers of all tensors are multiples of.
  int64_t alignment() const {
    int64_t bytes = std::min(alignment_of(x), alignment_of(y));
    if (extras.sum)
      bytes = std::min({bytes, alignment_of(extras.sum),
                        alignment_of(extras.sum_of_squares)});
    return bytes;
  }
  // Computes the tensor that `kind` says from weights in cuDNN's order.
  void run(const T *weights) {
    const ConvKey key{shape,
                      kind,
                      cudnn_type<T>(),
                      ctx.allows_tf32 && std::is_same_v<T, float>,
                      extras.bias != nullptr,
                      extras.sum != nullptr,
                      alignment()};
    ConvTensors tensors{x, weights, y, extras.sum, extras.sum_of_squares};
    conv = &dnn.conv(ctx, key, tensors, workspace, room);
    if (!conv->adds_sums)
      tensors.sum = tensors.sum_of_squares = nullptr;
    run_conv(dnn.handle, *conv, kind, tensors, workspace);
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

  Context &ctx;
  Cudnn &dnn;
  const ConvShape &shape;
  const ConvKind kind;
  const T *x, *y;
  const ConvExtras<T> extras;
  const bool reorders;
  const Conv *conv = nullptr; // what run() has called
  int64_t count;
  T *in_workspace;
  void *workspace;
  size_t room; // of the workspace, in bytes
};

} // namespace detail

template <class T>
void conv_forward(Context &ctx, const ConvShape &s, const T *x, const T *w,
                  const T *bias, T *y) {
  detail::ConvExtras<T> extras;
  extras.bias = bias;
  detail::ConvCall<T> call(ctx, s, kConvForward, x, w, y, extras);
  call.run(call.ordered(w));
  if (bias)
    detail::add_bias_by_legacy_call(call.dnn.handle, *call.conv->legacy, bias,
                                    y);
}

// Also writes, for each of the oc channels, the sum over all pixels of y and of
// their squares.
template <class T>
void conv_forward_with_sums(Context &ctx, const ConvShape &s, const T *x,
                            const T *w, T *y, Compute<T> *sum,
                            Compute<T> *sum_of_squares) {
  detail::ConvExtras<T> extras;
  extras.sum = sum;
  extras.sum_of_squares = sum_of_squares;
  detail::ConvCall<T> call(ctx, s, kConvForward, x, w, y, extras);
  call.run(call.ordered(w));
  if (!call.conv->adds_sums)
    channel_sums(ctx, s.n * s.oh * s.ow, s.oc, static_cast<const T *>(y), sum,
                 sum_of_squares);
}

template <class T>
void conv_backward_data(Context &ctx, const ConvShape &s, const T *dy,
                        const T *w, T *dx) {
  detail::ConvCall<T> call(ctx, s, kConvBackwardData, dx, w, dy);
  call.run(call.ordered(w));
}

// A gradient that is added to what is there is computed beside it first.
template <class T>
void conv_backward_weights(Context &ctx, const ConvShape &s, const T *x,
                           const T *dy, T *dw, double beta) {
  detail::ConvExtras<T> extras;
  extras.must_reorder = beta != 0;
  detail::ConvCall<T> call(ctx, s, kConvBackwardWeights, x, dw, dy, extras);
  call.run(call.reorders ? call.in_workspace : dw);
  if (call.reorders)
    call.reorder(call.in_workspace, dw, true, beta != 0);
}

} // namespace gpuopt
