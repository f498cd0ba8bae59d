// AdamW whose moments are quantised to 8 bits: Dettmers et al., "8-bit
// optimizers via block-wise quantization" (ICLR 2022). A block of 256 elements
// has one scale, its largest absolute value; an element is the index of the
// nearest value in a map of 256 that lie in [-1, 1], dense near 0. The update
// itself takes the moments as they are before they are quantised.
#pragma once

#include "gpuopt/optimizers/adamw.h"

namespace gpuopt {

// The dynamic map: for each power of ten from 10^-6 to 1 it has twice as many
// values as for the one below, in the middles of equal parts of [0.1, 1]. The
// signed map has their negatives as well. 0 and 1 are added. The values are in
// ascending order.
struct DynamicMap {
  float values[256] = {};
};
constexpr DynamicMap make_dynamic_map(bool is_signed) {
  DynamicMap map;
  const int zero = is_signed ? 127 : 0;
  int count = 0; // of positive values
  double power = 1e-6;
  for (int i = 0, parts = is_signed ? 1 : 2; i < 7; i++, parts *= 2) {
    for (int k = 0; k < parts; k++) {
      count++;
      const double value = power * (0.1 + 0.9 * (k + 0.5) / parts);
      map.values[zero + count] = float(value);
      if (is_signed)
        map.values[zero - count] = float(-value);
    }
    power *= 10;
  }
  map.values[255] = 1;
  return map;
}
DEVICE_TABLE DynamicMap kSignedMap = make_dynamic_map(true);
DEVICE_TABLE DynamicMap kUnsignedMap = make_dynamic_map(false);

template <class T>
DEVICE Lanes<T> dequantize(const int8_t *codes, const DynamicMap &map,
                           int64_t left) {
  Lanes<T> x(T(0));
  UNROLL
  for (int k = 0; k < kLanes; k++)
    if (k < left)
      set_lane(x, k, T(map.values[uint8_t(codes[k])]));
  return x;
}

// Returns the nearest value's index; of two that are equally near, the lower
// one.
template <class T>
DEVICE uint8_t nearest_code(T x, const DynamicMap &map) {
  int low = 0, high = 255;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (T(map.values[middle]) <= x ? low : high) = middle;
  }
  return uint8_t(x - T(map.values[low]) <= T(map.values[high]) - x ? low
                                                                   : high);
}

template <class T>
DEVICE void quantize(int8_t *codes, const DynamicMap &map, Lanes<T> x, T scale,
                     int64_t left) {
  const T inverse = scale > 0 ? 1 / scale : T(0);
  UNROLL
  for (int k = 0; k < kLanes; k++)
    if (k < left)
      codes[k] = int8_t(nearest_code(lane(x, k) * inverse, map));
}

inline void begin_adamw_8bit(Context &ctx, StepState *state,
                             const Hyperparameters *hyper) {
  begin_update<AdamScalars>(ctx, state, hyper);
}

// A moment of one parameter.
template <class T>
struct QuantizedMoment {
  int8_t *codes;
  T *scales;
};

template <class T, class G, class H>
DEVICE void adamw_8bit_span(int64_t span, const StepState *state, T *p,
                            QuantizedMoment<T> m, QuantizedMoment<T> v,
                            const G *grad, int64_t n, UpdateGroup group,
                            H *copy) {
  ROW_MEMORY T m_new[kQuantizedBlock];
  ROW_MEMORY T v_new[kQuantizedBlock];
  if (state->scaler.found_inf)
    return;
  const AdamRule<T> rule(update_scalars<AdamScalars>(state, group),
                         group.decays);
  const int64_t first = span * (kSpan / kQuantizedBlock);
  const int64_t last = min(first + kSpan / kQuantizedBlock,
                           (n + kQuantizedBlock - 1) / kQuantizedBlock);
  for (int64_t b = first; b < last; b++) {
    const int64_t begin = b * kQuantizedBlock;
    const int64_t size = min(kQuantizedBlock, n - begin);
    const T m_scale = m.scales[b], v_scale = v.scales[b];
    Lanes<T> m_most(T(0)), v_most(T(0));
    for (int64_t i = first_lane(); i < size; i += lane_step()) {
      const int64_t at = begin + i, left = size - i;
      const Lanes<T> g = convert<T>(load(grad + at, left)) * rule.grad_scale;
      const Lanes<T> m_next = rule.first_moment(
          dequantize<T>(m.codes + at, kSignedMap, left) * m_scale, g);
      const Lanes<T> v_next = rule.second_moment(
          dequantize<T>(v.codes + at, kUnsignedMap, left) * v_scale, g);
      store(m_new + i, m_next, left);
      store(v_new + i, v_next, left);
      m_most = max(m_most, masked(abs(m_next), left, T(0)));
      v_most = max(v_most, masked(v_next, left, T(0)));
    }
    const T m_next_scale = block_max(m_most), v_next_scale = block_max(v_most);
    if (first_thread())
      m.scales[b] = m_next_scale, v.scales[b] = v_next_scale;
    // Each thread reads only values that it has written itself.
    for (int64_t i = first_lane(); i < size; i += lane_step()) {
      const int64_t at = begin + i, left = size - i;
      const Lanes<T> m_next = load(m_new + i, left),
                     v_next = load(v_new + i, left);
      const Lanes<T> p_new = rule.parameter(load(p + at, left), m_next, v_next);
      quantize(m.codes + at, kSignedMap, m_next, m_next_scale, left);
      quantize(v.codes + at, kUnsignedMap, v_next, v_next_scale, left);
      store_parameter(p, copy, at, p_new, left);
    }
  }
}

template <class T, class G, class H>
KERNEL void adamw_8bit_kernel(const StepState *state, T *p,
                              QuantizedMoment<T> m, QuantizedMoment<T> v,
                              const G *grad, int64_t n, UpdateGroup group,
                              H *copy) {
  adamw_8bit_span(block(), state, p, m, v, grad, n, group, copy);
}

// Updates one parameter. A small parameter has `m` and `v` as in adamw.h,
// others have codes and scales; pointers to what a parameter does not have are
// null.
template <class T, class G, class H = T>
void adamw_8bit(Context &ctx, const StepState *state, T *p, NotDeduced<T> *m,
                NotDeduced<T> *v, int8_t *m_codes, NotDeduced<T> *m_scales,
                int8_t *v_codes, NotDeduced<T> *v_scales, const G *grad,
                int64_t n, UpdateGroup group, H *copy = nullptr) {
  if (m)
    return adamw(ctx, state, p, m, v, grad, n, group, copy);
  launch(ctx, ceil_div(n, kSpan), kQuantizedBlock / kLanes,
         adamw_8bit_kernel<T, G, H>, state, p,
         QuantizedMoment<T>{m_codes, m_scales},
         QuantizedMoment<T>{v_codes, v_scales}, grad, n, group, copy);
}

struct Adamw8bitRows {
  const StepState *state;
  template <class T, class H>
  DEVICE void operator()(Memory m, const UpdateRow<T, H, 6> &row,
                         int64_t span) const {
    row.gradient.visit(m, [&](const auto *grad) {
      T *const p = m[row.parameter];
      H *const copy = m.find(row.copy);
      if (T *const moment = row.template state<T>(m, 0))
        return adamw_span(span, state, p, moment, row.template state<T>(m, 1),
                          grad, row.elements, row.group, copy);
      adamw_8bit_span(span, state, p,
                      QuantizedMoment<T>{row.template state<int8_t>(m, 2),
                                         row.template state<T>(m, 3)},
                      QuantizedMoment<T>{row.template state<int8_t>(m, 4),
                                         row.template state<T>(m, 5)},
                      grad, row.elements, row.group, copy);
    });
  }
};
// All parameters of a table, in one launch.
template <class T, class H, size_t kRows>
void adamw_8bit(Context &ctx, const StepState *state, Memory m,
                const UpdateRow<T, H, 6> (&table)[kRows], int64_t spans) {
  for_rows(ctx, m, table, spans, Adamw8bitRows{state},
           kQuantizedBlock / kLanes);
}

} // namespace gpuopt
