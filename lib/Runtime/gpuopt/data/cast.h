// Converts an input from the type of its file to that of the program. It is the
// first kernel that a step runs on the input.
#pragma once

#include "gpuopt/data/dataset.h"
#include "gpuopt/optimizers/optimizer.h"

namespace gpuopt {

template <class To, class From>
KERNEL void cast_input_kernel(const From *x, To *y, int64_t n) {
  const int64_t begin = block() * kSpan;
  const int64_t end = begin + kSpan < n ? begin + kSpan : n;
  for (int64_t i = begin + first_lane(); i < end; i += lane_step())
    for (int64_t k = i; k < i + kLanes && k < end; k++)
      y[k] = To(load_scalar(x + k));
}

namespace detail {

template <class To, class From>
void cast_typed(Context &ctx, const void *from, void *to, int64_t n) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, cast_input_kernel<To, From>,
         static_cast<const From *>(from), static_cast<To *>(to), n);
}

template <class To>
bool cast_from(Context &ctx, Type type, const void *from, void *to, int64_t n) {
  switch (type) {
  case Type::F64:
    return cast_typed<To, double>(ctx, from, to, n), true;
  case Type::F32:
    return cast_typed<To, float>(ctx, from, to, n), true;
  case Type::F16:
    return cast_typed<To, f16>(ctx, from, to, n), true;
  case Type::I64:
    return cast_typed<To, int64_t>(ctx, from, to, n), true;
  case Type::I32:
    return cast_typed<To, int32_t>(ctx, from, to, n), true;
  case Type::I16:
    return cast_typed<To, int16_t>(ctx, from, to, n), true;
  case Type::I8:
    return cast_typed<To, int8_t>(ctx, from, to, n), true;
  case Type::U32:
    return cast_typed<To, uint32_t>(ctx, from, to, n), true;
  case Type::U16:
    return cast_typed<To, uint16_t>(ctx, from, to, n), true;
  case Type::U8:
  case Type::Bool:
    return cast_typed<To, uint8_t>(ctx, from, to, n), true;
  default:
    return false;
  }
}

template <class To>
KERNEL void scale_pixels_kernel(const uint8_t *x, To *y, int64_t spans,
                                PixelScale scale) {
  const int64_t plane = block() / spans, c = plane % scale.channels;
  const int64_t begin = block() % spans * kSpan;
  const int64_t end = begin + kSpan < scale.plane ? begin + kSpan : scale.plane;
  const float mean = scale.mean[c], std = scale.std[c];
  x += plane * scale.plane;
  y += plane * scale.plane;
  for (int64_t i = begin + first_lane(); i < end; i += lane_step())
    for (int64_t k = i; k < i + kLanes && k < end; k++)
      y[k] = To((float(load_scalar(x + k)) / 255.0f - mean) / std);
}

template <class To>
void scale_typed(Context &ctx, const void *from, void *to, int64_t n,
                 const PixelScale &scale) {
  const int64_t spans = ceil_div(scale.plane, kSpan);
  launch(ctx, n / scale.plane * spans, kSpanThreads, scale_pixels_kernel<To>,
         static_cast<const uint8_t *>(from), static_cast<To *>(to), spans,
         scale);
}

} // namespace detail

// Makes float or double of the pixels of pictures, n in all.
inline void scale_pixels(Context &ctx, const void *from, Type to_type, void *to,
                         int64_t n, const PixelScale &scale) {
  if (to_type == Type::F64)
    detail::scale_typed<double>(ctx, from, to, n, scale);
  else
    detail::scale_typed<float>(ctx, from, to, n, scale);
}

inline void cast_input(Context &ctx, Type from_type, const void *from,
                       Type to_type, void *to, int64_t n) {
  if (from_type == to_type)
    return copy(ctx, to, from, size_t(n) * size_of(to_type));
  switch (to_type) {
  case Type::F64:
    detail::cast_from<double>(ctx, from_type, from, to, n);
    return;
  case Type::F32:
    detail::cast_from<float>(ctx, from_type, from, to, n);
    return;
  case Type::I64:
    detail::cast_from<int64_t>(ctx, from_type, from, to, n);
    return;
  case Type::I32:
    detail::cast_from<int32_t>(ctx, from_type, from, to, n);
    return;
  default:
    return; // can_cast refuses it
  }
}

} // namespace gpuopt
