// --mixup and --cutmix: pairs of samples that are mixed with each other on the
// device, and their labels by the same share, as timm's Mixup does by these
// names (Zhang et al., "mixup: Beyond Empirical Risk Minimization", ICLR 2018;
// Yun et al., "CutMix: Regularization Strategy to Train Strong Classifiers with
// Localizable Features", ICCV 2019). Sample i of a batch of n and sample
// n - 1 - i are a pair. How a batch is mixed is a function of (seed, epoch,
// batch) alone.
#pragma once

#include "gpuopt/data/draws.h"
#include "gpuopt/data/indices.h"
#include "gpuopt/optimizers/optimizer.h"
#include "gpuopt/program/program.h"

#include <cmath>

namespace gpuopt {

struct MixOptions {
  // The parameters of the Beta distributions that shares are drawn from; 0: no
  // batch is mixed so.
  double mixup = 0, cutmix = 0;
  double probability = 1;          // that a batch is mixed
  double switch_probability = 0.5; // that it is by cutmix, where both are on

  bool are_given() const { return mixup > 0 || cutmix > 0; }
};

// How the two samples of a pair are mixed.
struct Mix {
  float share = 1; // of a sample in itself; the rest comes from its partner
  // Whether pictures exchange a box, of [top, bottom) x [left, right) pixels,
  // in place of a share of each number.
  bool has_box = false;
  int64_t top = 0, bottom = 0, left = 0, right = 0;
};

namespace detail {

// Returns the logarithm of a draw from the Gamma distribution (Marsaglia and
// Tsang, "A simple method for generating gamma variables", TOMS 2000). Its own
// value would be 0 for most draws of a small shape.
inline double log_gamma_draw(Draws &draws, double shape) {
  if (shape < 1)
    return log_gamma_draw(draws, shape + 1) +
           std::log(1 - draws.uniform()) / shape;
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    // A normal number, by Box and Muller.
    const double radius = std::sqrt(-2 * std::log(1 - draws.uniform())),
                 x = radius * std::cos(6.283185307179586 * draws.uniform()),
                 v = std::pow(1 + c * x, 3);
    if (v > 0 &&
        std::log(1 - draws.uniform()) < x * x / 2 + d - d * v + d * std::log(v))
      return std::log(d * v);
  }
}

// Returns a draw from Beta(shape, shape). Below a shape of 1e-6 draws are 0 or
// 1 as far as a double tells, and logarithms would be infinite.
inline double beta_draw(Draws &draws, double shape) {
  shape = std::max(shape, 1e-6);
  const double a = log_gamma_draw(draws, shape),
               b = log_gamma_draw(draws, shape);
  return 1 / (1 + std::exp(b - a));
}

} // namespace detail

// Returns how to mix a batch of pictures of this size.
inline Mix draw_mix(const MixOptions &options, Draws draws, int64_t height,
                    int64_t width) {
  Mix mix;
  if (!options.are_given() || draws.uniform() >= options.probability)
    return mix;
  const bool chooses = options.mixup > 0 && options.cutmix > 0;
  mix.has_box = chooses ? draws.uniform() < options.switch_probability
                        : options.cutmix > 0;
  const double share =
      detail::beta_draw(draws, mix.has_box ? options.cutmix : options.mixup);
  mix.share = float(share);
  if (!mix.has_box)
    return mix;
  // A part of the box may lie outside of the picture.
  const double side = std::sqrt(1 - share);
  const int64_t box_height = int64_t(double(height) * side),
                box_width = int64_t(double(width) * side);
  const int64_t y = draws.below(height), x = draws.below(width);
  mix.top = std::max<int64_t>(y - box_height / 2, 0);
  mix.bottom = std::min(y + box_height / 2, height);
  mix.left = std::max<int64_t>(x - box_width / 2, 0);
  mix.right = std::min(x + box_width / 2, width);
  mix.share =
      float(1 - double((mix.bottom - mix.top) * (mix.right - mix.left)) /
                    double(height * width));
  return mix;
}

namespace detail {

// A pair for each `spans` blocks. A sample has `size` numbers.
template <class T>
KERNEL void mix_pairs_kernel(T *x, int64_t batch, int64_t size, int64_t spans,
                             T share) {
  const int64_t pair = block() / spans, begin = block() % spans * kSpan;
  const int64_t end = begin + kSpan < size ? begin + kSpan : size;
  T *a = x + pair * size, *b = x + (batch - 1 - pair) * size;
  for (int64_t i = begin + first_lane(); i < end; i += lane_step())
    for (int64_t k = i; k < i + kLanes && k < end; k++) {
      const T first = a[k], second = b[k];
      a[k] = share * first + (T(1) - share) * second;
      b[k] = share * second + (T(1) - share) * first;
    }
}

// Exchanges the box in all planes of the pictures of a pair.
template <class T>
KERNEL void swap_boxes_kernel(T *x, int64_t batch, int64_t size, int64_t spans,
                              int64_t height, int64_t width, Mix mix) {
  const int64_t pair = block() / spans, begin = block() % spans * kSpan;
  const int64_t end = begin + kSpan < size ? begin + kSpan : size;
  T *a = x + pair * size, *b = x + (batch - 1 - pair) * size;
  for (int64_t i = begin + first_lane(); i < end; i += lane_step())
    for (int64_t k = i; k < i + kLanes && k < end; k++) {
      const int64_t row = k / width % height, column = k % width;
      if (row < mix.top || row >= mix.bottom || column < mix.left ||
          column >= mix.right)
        continue;
      const T first = a[k];
      a[k] = b[k];
      b[k] = first;
    }
}

template <class T>
void mix_typed(Context &ctx, T *x, const TensorInfo &tensor, const Mix &mix,
               bool is_label) {
  const int64_t batch = tensor.shape[0], size = tensor.elements() / batch;
  const int64_t spans = ceil_div(size, kSpan), blocks = batch / 2 * spans;
  if (mix.has_box && !is_label)
    launch(ctx, blocks, kSpanThreads, swap_boxes_kernel<T>, x, batch, size,
           spans, tensor.shape[tensor.rank - 2], tensor.shape[tensor.rank - 1],
           mix);
  else
    launch(ctx, blocks, kSpanThreads, mix_pairs_kernel<T>, x, batch, size,
           spans, T(mix.share));
}

template <class To, class From>
KERNEL void spread_classes_kernel(const From *x, To *y, int64_t n,
                                  int64_t classes) {
  const int64_t begin = block() * kSpan;
  const int64_t end = begin + kSpan < n ? begin + kSpan : n;
  for (int64_t i = begin + first_lane(); i < end; i += lane_step())
    for (int64_t k = i; k < i + kLanes && k < end; k++)
      y[k] = To(int64_t(x[k / classes]) == k % classes);
}

template <class To, class From>
void spread_typed(Context &ctx, const void *from, To *to, int64_t n,
                  int64_t classes) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, spread_classes_kernel<To, From>,
         static_cast<const From *>(from), to, n, classes);
}

template <class To>
void spread_from(Context &ctx, Type type, const void *from, To *to, int64_t n,
                 int64_t classes) {
  switch (type) {
  case Type::I64:
    return spread_typed<To, int64_t>(ctx, from, to, n, classes);
  case Type::I32:
    return spread_typed<To, int32_t>(ctx, from, to, n, classes);
  case Type::I16:
    return spread_typed<To, int16_t>(ctx, from, to, n, classes);
  case Type::I8:
    return spread_typed<To, int8_t>(ctx, from, to, n, classes);
  case Type::U32:
    return spread_typed<To, uint32_t>(ctx, from, to, n, classes);
  case Type::U16:
    return spread_typed<To, uint16_t>(ctx, from, to, n, classes);
  default:
    return spread_typed<To, uint8_t>(ctx, from, to, n, classes);
  }
}

} // namespace detail

// Mixes the samples of an input that lies at `x`. Of an odd number, the one in
// the middle stays as it is.
inline void mix_samples(Context &ctx, char *x, const InputInfo &input,
                        const Mix &mix) {
  if (mix.share == 1)
    return;
  if (input.tensor.type == Type::F64)
    detail::mix_typed(ctx, reinterpret_cast<double *>(x), input.tensor, mix,
                      input.is_label);
  else
    detail::mix_typed(ctx, reinterpret_cast<float *>(x), input.tensor, mix,
                      input.is_label);
}

// Mixes the batch that lies in the inputs of a program that check_mix accepts.
inline void mix_batch(Context &ctx, char *memory, Table<InputInfo> inputs,
                      const MixOptions &options, const Draws &draws) {
  int64_t height = 1, width = 1;
  for (const InputInfo &input : inputs)
    if (const TensorInfo &tensor = input.tensor;
        !input.is_label && tensor.rank >= 4) {
      height = tensor.shape[tensor.rank - 2];
      width = tensor.shape[tensor.rank - 1];
    }
  const Mix mix = draw_mix(options, draws, height, width);
  for (const InputInfo &input : inputs)
    mix_samples(ctx, memory + input.tensor.offset, input, mix);
}

// Makes a probability for each class of labels that are classes, of any type of
// integers: 1 for that class and 0 for the others.
inline void spread_classes(Context &ctx, Type type, const void *from, char *to,
                           const TensorInfo &tensor) {
  const int64_t n = tensor.elements(), classes = tensor.shape[1];
  if (tensor.type == Type::F64)
    detail::spread_from(ctx, type, from, reinterpret_cast<double *>(to), n,
                        classes);
  else
    detail::spread_from(ctx, type, from, reinterpret_cast<float *>(to), n,
                        classes);
}

// Refuses a program whose samples or labels cannot be mixed.
inline void check_mix(Table<InputInfo> inputs, int64_t batch_size,
                      const MixOptions &options) {
  if (!options.are_given())
    return;
  const bool has_boxes = options.cutmix > 0;
  const std::string flag = has_boxes ? "'--cutmix'" : "'--mixup'";
  auto text = [](const TensorInfo &tensor) {
    return ", but '" + std::string(tensor.name) + "' is " +
           name_of(tensor.type) + " " +
           shape_text({tensor.shape, tensor.shape + tensor.rank});
  };
  int labels = 0;
  for (const InputInfo &input : inputs) {
    const TensorInfo &tensor = input.tensor;
    const bool is_float = tensor.type == Type::F32 || tensor.type == Type::F64;
    const bool is_batch = tensor.rank > 0 && tensor.shape[0] == batch_size;
    labels += input.is_label;
    if (input.is_label && is_float && input.index_limit == 1) {
      if (!takes_classes(input) || !is_batch)
        throw Error(flag +
                    " mixes labels of shape [batch, classes] with two "
                    "classes or more" +
                    text(tensor));
    } else if (input.is_label) {
      throw Error(flag + " mixes labels that are a probability for each class" +
                  text(tensor) +
                  "; the losses soft_cross_entropy and bce_with_logits have "
                  "such labels, which may also be given as classes");
    } else if (!is_float || !is_batch || tensor.rank < (has_boxes ? 4 : 2)) {
      throw Error(flag + " mixes " +
                  (has_boxes ? "pictures, [batch, channels, height, width],"
                             : "numbers, [batch, ...],") +
                  " of f32 or f64" + text(tensor));
    }
  }
  if (inputs.count - labels != 1 || labels == 0)
    throw Error(flag +
                " needs a program with one input and with labels, but "
                "this one has inputs: " +
                std::to_string(inputs.count - labels) +
                ", labels: " + std::to_string(labels));
  if (batch_size < 2)
    throw Error(flag + " mixes two samples with each other, but a batch has "
                       "one; --batch-size is set at compile time");
}

} // namespace gpuopt
