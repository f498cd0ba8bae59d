// Convolution on the host: oneDNN, which chooses a blocked layout for the
// weights; they are reordered into it and back around each call. Half precision
// that the processor lacks is widened to float. Where oneDNN is slow, for the
// weights of wide depthwise filters, a kernel of our own computes.
#pragma once

#include "gpuopt/ops/conv.h"
#include "gpuopt/ops/conv_depthwise_host.h"
#include "gpuopt/ops/conv_loops.h"
#include "gpuopt/ops/gemm.h"

namespace gpuopt {
namespace detail {

enum ConvKind : int64_t {
  kConvForward,
  kConvBackwardData,
  kConvBackwardWeights
};

struct ConvKey {
  ConvShape shape;
  int64_t kind, type, bias, accumulate;
};

struct Conv {
  dnnl::memory::desc x, y, w, bias, plain_w,
      scratch; // w: the layout oneDNN chose
  dnnl::primitive primitive;
  dnnl::reorder reorder;
  bool reorders = false;
  std::string key;                    // of the kernel that reads `w`
  bool is_made_for_depthwise = false; // whether the primitive is
};

struct Convs {
  std::unordered_map<std::string, Conv> by_content;
};

// Describes the primitives of the three kinds.
struct ConvDescriptors {
  const ConvKey &key;
  const Conv &conv;
  const dnnl::engine &engine;
  dnnl::primitive_attr attributes;
  dnnl::memory::desc any_w;
  dnnl::memory::dims stride, dilation, pad_begin, pad_end;

  dnnl::convolution_forward::primitive_desc forward() const {
    using F = dnnl::convolution_forward;
    const auto kind = dnnl::prop_kind::forward_training;
    const auto how = dnnl::algorithm::convolution_direct;
    if (key.bias)
      return describe_primitive<F>(engine, attributes, kind, how, conv.x, any_w,
                                   conv.bias, conv.y, stride, dilation,
                                   pad_begin, pad_end);
    return describe_primitive<F>(engine, attributes, kind, how, conv.x, any_w,
                                 conv.y, stride, dilation, pad_begin, pad_end);
  }
  template <class Backward>
  typename Backward::primitive_desc backward() const {
    return describe_backward<Backward>(
        engine, attributes, forward(), dnnl::algorithm::convolution_direct,
        conv.x, any_w, conv.y, stride, dilation, pad_begin, pad_end);
  }
};

inline void make_weight_reorder(OneDnn &dnn, Conv &conv, const ConvKey &key) {
  const bool back = key.kind == kConvBackwardWeights;
  conv.reorders = conv.w != conv.plain_w || key.accumulate;
  if (!conv.reorders)
    return;
  dnnl::primitive_attr attributes;
  dnnl::post_ops after;
  if (key.accumulate)
    after.append_sum(1);
  attributes.set_post_ops(after);
  conv.reorder = dnnl::reorder(dnnl::reorder::primitive_desc(
      dnn.engine, back ? conv.w : conv.plain_w, dnn.engine,
      back ? conv.plain_w : conv.w, attributes));
}

inline Conv make_conv(OneDnn &dnn, const ConvKey &key) {
  using Tag = dnnl::memory::format_tag;
  const auto type = static_cast<dnnl::memory::data_type>(key.type);
  const ConvShape &s = key.shape;
  dnnl::memory::dims w = {s.oc, s.c / s.groups, s.kh, s.kw};
  if (s.groups > 1)
    w = {s.groups, s.oc / s.groups, s.c / s.groups, s.kh, s.kw};

  Conv conv;
  conv.x = {{s.n, s.c, s.h, s.w}, type, Tag::nhwc};
  conv.y = {{s.n, s.oc, s.oh, s.ow}, type, Tag::nhwc};
  conv.bias = {{s.oc}, type, Tag::a};
  conv.plain_w = {w, type, s.groups > 1 ? Tag::goihw : Tag::oihw};
  ConvDescriptors make{key,
                       conv,
                       dnn.engine,
                       {},
                       {w, type, Tag::any},
                       {s.stride[0], s.stride[1]},
                       {s.dilation[0] - 1, s.dilation[1] - 1},
                       {s.pad_begin[0], s.pad_begin[1]},
                       {s.pad_end[0], s.pad_end[1]}};
  make.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (key.kind == kConvForward) {
    const auto chosen = make.forward();
    conv.w = chosen.weights_desc();
    conv.scratch = chosen.scratchpad_desc();
    conv.primitive = dnnl::convolution_forward(chosen);
  } else if (key.kind == kConvBackwardData) {
    const auto chosen = make.backward<dnnl::convolution_backward_data>();
    conv.w = chosen.weights_desc();
    conv.scratch = chosen.scratchpad_desc();
    conv.primitive = dnnl::convolution_backward_data(chosen);
  } else {
    const auto chosen = make.backward<dnnl::convolution_backward_weights>();
    conv.w = chosen.diff_weights_desc();
    conv.scratch = chosen.scratchpad_desc();
    conv.primitive = dnnl::convolution_backward_weights(chosen);
    conv.is_made_for_depthwise =
        std::string(chosen.impl_info_str()).find("dw") != std::string::npos;
  }
  make_weight_reorder(dnn, conv, key);
  return conv;
}

// Returns the shape with the trailing padding that the output size implies.
// oneDNN insists that a remainder of a stride is not counted as padding.
inline ConvShape with_implied_padding(ConvShape s) {
  const int64_t in[2] = {s.h, s.w}, out[2] = {s.oh, s.ow},
                kernel[2] = {s.kh, s.kw};
  for (int i : {0, 1})
    s.pad_end[i] = (out[i] - 1) * s.stride[i] +
                   (kernel[i] - 1) * s.dilation[i] + 1 - in[i] - s.pad_begin[i];
  return s;
}

template <class T>
const Conv &find_conv(Context &ctx, const ConvShape &shape, ConvKind kind,
                      bool has_bias, bool accumulate) {
  const ConvKey key{with_implied_padding(shape), kind,
                    int64_t(onednn_type<T>()), has_bias, accumulate};
  auto &cache = ctx.library<Convs>().by_content;
  const std::string content = content_of(key);
  auto found = cache.find(content);
  if (found == cache.end()) {
    found = cache.emplace(content, make_conv(ctx.library<OneDnn>(), key)).first;
    found->second.key = content;
  }
  return found->second;
}

// x and y are activations or their gradients; w is read, or the gradient is
// written to it.
template <class T>
void onednn_conv(Context &ctx, const ConvShape &shape, ConvKind kind,
                 const T *x, const T *y, const T *w, const T *bias,
                 bool accumulate) {
  auto &dnn = ctx.library<OneDnn>();
  const Conv &conv =
      find_conv<T>(ctx, shape, kind, bias != nullptr, accumulate);
  const bool keeps =
      conv.reorders && kind == kConvForward && ctx.packed_weights.has(w);
  const size_t w_bytes =
      conv.reorders && !keeps ? (conv.w.get_size() + 4095) / 4096 * 4096 : 0;
  char *scratch = dnn.scratch(w_bytes + conv.scratch.get_size());
  const dnnl::memory plain = dnn.on(conv.plain_w, w);
  auto reorder_to = [&](char *to) {
    dnnl::memory from = plain, blocked = dnn.on(conv.w, to);
    conv.reorder.execute(dnn.stream, from, blocked);
  };
  const dnnl::memory blocked =
      keeps ? dnn.on(conv.w, ctx.packed_weights.find(
                                 w, conv.key, conv.w.get_size(), reorder_to))
      : conv.reorders ? dnn.on(conv.w, scratch)
                      : plain;
  const dnnl::memory work = dnn.on(conv.scratch, scratch + w_bytes);
  const dnnl::memory in = dnn.on(conv.x, x), out = dnn.on(conv.y, y);
  if (conv.reorders && !keeps && kind != kConvBackwardWeights)
    reorder_to(scratch);
  std::unordered_map<int, dnnl::memory> arguments{{DNNL_ARG_SCRATCHPAD, work}};
  if (kind == kConvForward) {
    arguments.insert(
        {{DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, blocked}, {DNNL_ARG_DST, out}});
    if (bias)
      arguments.emplace(DNNL_ARG_BIAS, dnn.on(conv.bias, bias));
  } else if (kind == kConvBackwardData) {
    arguments.insert({{DNNL_ARG_DIFF_SRC, in},
                      {DNNL_ARG_WEIGHTS, blocked},
                      {DNNL_ARG_DIFF_DST, out}});
  } else {
    arguments.insert({{DNNL_ARG_SRC, in},
                      {DNNL_ARG_DIFF_WEIGHTS, blocked},
                      {DNNL_ARG_DIFF_DST, out}});
  }
  conv.primitive.execute(dnn.stream, arguments);
  if (conv.reorders && kind == kConvBackwardWeights)
    conv.reorder.execute(dnn.stream, const_cast<dnnl::memory &>(blocked),
                         const_cast<dnnl::memory &>(plain));
}

// Whether a convolution looks at one pixel at a time, so that it is a product.
// Backward, oneDNN's matmul is up to half faster than its convolution, because
// no weights are reordered. Forward they are equally fast.
inline bool is_pointwise(const ConvShape &s) {
  return s.kh == 1 && s.kw == 1 && s.stride[0] == 1 && s.stride[1] == 1 &&
         s.h == s.oh && s.w == s.ow && s.pad_begin[0] == 0 &&
         s.pad_begin[1] == 0 && s.groups == 1;
}

// dx[pixel, c] = dy[pixel, oc] w[oc, c]
inline GemmShape pointwise_backward_data(const ConvShape &s) {
  GemmShape g;
  g.m = s.n * s.h * s.w;
  g.n = s.c;
  g.k = s.oc;
  g.a_m = s.oc;
  g.a_k = 1;
  g.b_k = g.c_m = s.c;
  g.b_n = g.c_n = 1;
  return g;
}

// dw[oc, c] = dy[pixel, oc] x[pixel, c]
inline GemmShape pointwise_backward_weights(const ConvShape &s) {
  GemmShape g;
  g.m = s.oc;
  g.n = s.c;
  g.k = s.n * s.h * s.w;
  g.a_m = 1;
  g.a_k = s.oc;
  g.b_k = g.c_m = s.c;
  g.b_n = g.c_n = 1;
  return g;
}

// Return how many elements the operands of a convolution have.
inline int64_t input_size(const ConvShape &s) { return s.n * s.h * s.w * s.c; }
inline int64_t output_size(const ConvShape &s) {
  return s.n * s.oh * s.ow * s.oc;
}
inline int64_t weight_size(const ConvShape &s) {
  return s.oc * (s.c / s.groups) * s.kh * s.kw;
}

// Whether the gradient for the weights is that of a depthwise convolution for
// which oneDNN says that it has no kernel of its own ("jit_dw").
template <class T>
bool needs_depthwise_kernel(Context &ctx, const ConvShape &s, bool accumulate) {
  if (!is_depthwise(s))
    return false;
  if constexpr (in_onednn<T>)
    if (!must_widen<T>())
      return !find_conv<T>(ctx, s, kConvBackwardWeights, false, accumulate)
                  .is_made_for_depthwise;
  return true;
}

} // namespace detail

template <class T>
void conv_forward(Context &ctx, const ConvShape &s, const T *x, const T *w,
                  const T *bias, T *y) {
  if constexpr (detail::is_half<T>)
    if (detail::must_widen<T>()) {
      auto &wide = ctx.library<detail::WideOperands>();
      const float *b = bias ? detail::widened(wide.bias, bias, s.oc) : nullptr;
      wide.c.resize(std::max(wide.c.size(), size_t(detail::output_size(s))));
      conv_forward<float>(
          ctx, s, detail::widened(wide.a, x, detail::input_size(s)),
          detail::widened(wide.b, w, detail::weight_size(s)), b, wide.c.data());
      return detail::narrowed(y, wide.c.data(), detail::output_size(s));
    }
  if constexpr (in_onednn<T>)
    detail::onednn_conv(ctx, s, detail::kConvForward, x,
                        static_cast<const T *>(y), w, bias, false);
  else if constexpr (std::is_same_v<T, double>)
    loops::conv_forward(s, x, w, bias, y);
}

template <class T>
void conv_backward_data(Context &ctx, const ConvShape &s, const T *dy,
                        const T *w, T *dx) {
  if constexpr (detail::is_half<T>)
    if (detail::must_widen<T>()) {
      // wide.c is the product's, where the convolution is one.
      auto &wide = ctx.library<detail::WideOperands>();
      const int64_t n = detail::input_size(s);
      wide.c.resize(std::max(wide.c.size(), size_t(n)));
      conv_backward_data<float>(
          ctx, s, detail::widened(wide.a, dy, detail::output_size(s)),
          detail::widened(wide.b, w, detail::weight_size(s)), wide.c.data());
      return detail::narrowed(dx, wide.c.data(), n);
    }
  if (in_onednn<T> && detail::is_pointwise(s))
    gemm(ctx, detail::pointwise_backward_data(s), dy, w, dx);
  else if constexpr (in_onednn<T>)
    detail::onednn_conv(ctx, s, detail::kConvBackwardData,
                        static_cast<const T *>(dx), dy, w,
                        static_cast<const T *>(nullptr), false);
  else if constexpr (std::is_same_v<T, double>)
    loops::conv_backward_data(s, dy, w, dx);
}

template <class T>
void conv_backward_weights(Context &ctx, const ConvShape &s, const T *x,
                           const T *dy, T *dw, double beta) {
  if (detail::needs_depthwise_kernel<T>(ctx, s, beta != 0))
    return detail::depthwise_backward_weights(ctx, s, x, dy, dw, beta);
  if constexpr (detail::is_half<T>)
    if (detail::must_widen<T>()) {
      auto &wide = ctx.library<detail::WideOperands>();
      const int64_t n = detail::weight_size(s);
      float *sum = detail::widened(wide.c, dw, n);
      conv_backward_weights<float>(
          ctx, s, detail::widened(wide.a, x, detail::input_size(s)),
          detail::widened(wide.b, dy, detail::output_size(s)), sum, beta);
      return detail::narrowed(dw, sum, n);
    }
  if (in_onednn<T> && detail::is_pointwise(s)) {
    GemmOptions options;
    options.beta = beta;
    gemm(ctx, detail::pointwise_backward_weights(s), dy, x, dw, options);
  } else if constexpr (in_onednn<T>)
    detail::onednn_conv(ctx, s, detail::kConvBackwardWeights, x, dy,
                        static_cast<const T *>(dw),
                        static_cast<const T *>(nullptr), beta != 0);
  else if constexpr (std::is_same_v<T, double>)
    loops::conv_backward_weights(s, x, dy, dw, beta);
}

} // namespace gpuopt
