// transformers.Adafactor, in its order of operations. Shazeer and Stern,
// "Adafactor: adaptive learning rates with sublinear memory cost" (ICML 2018).
//
// For the squares of a matrix's gradient, only the means of each row and each
// column are kept; an element's mean square is estimated as their product
// divided by the mean of all. An update is clipped by its root mean square,
// which is known only after the whole update is: so a parameter takes several
// kernels. Sums are in double.
#pragma once

#include "gpuopt/optimizers/optimizer.h"

namespace gpuopt {

struct AdafactorScalars {
  static constexpr std::string_view kOptimizer = "adafactor";

  double rate, grad_scale, beta2, epsilon1, epsilon2, clip_threshold;
  double beta1, weight_decay;
  bool scales_parameter;

  AdafactorScalars() = default;
  DEVICE AdafactorScalars(const StepState &state, const Hyperparameters &hyper)
      : rate(state.learning_rate), grad_scale(state.grad_scale),
        beta2(1 - ::pow(double(state.step + 1), hyper.adafactor_decay_rate)),
        epsilon1(hyper.adafactor_epsilon1), epsilon2(hyper.adafactor_epsilon2),
        clip_threshold(hyper.adafactor_clip_threshold),
        beta1(hyper.adafactor_beta1), weight_decay(hyper.weight_decay),
        scales_parameter(hyper.adafactor_scale_parameter) {}
};
inline void begin_adafactor(Context &ctx, StepState *state,
                            const Hyperparameters *hyper) {
  begin_update<AdafactorScalars>(ctx, state, hyper);
}

// The tensors that the kernels of one parameter work on; null for those that it
// does not have.
template <class T, class G, class H>
struct AdafactorUpdate {
  const StepState *state;
  T *p, *row, *column, *square, *moment;
  const G *grad;
  Matrices shape;
  double *scratch;
  UpdateGroup group;
  H *copy;
  AdafactorScratch at;

  DEVICE bool is_skipped() const { return state->scaler.found_inf != 0; }
  DEVICE AdafactorScalars scalars() const {
    return update_scalars<AdafactorScalars>(state, group);
  }
  DEVICE int64_t first_row() const { return block() * at.rows_of_block; }
  DEVICE int64_t last_row() const {
    return min(first_row() + at.rows_of_block, shape.count * shape.rows);
  }
  DEVICE Lanes<T> gradient(int64_t i, int64_t left, T scale) const {
    return convert<T>(load(grad + i, left)) * scale;
  }
  // Returns the gradient divided by the root of its mean square.
  DEVICE Lanes<T> update(int64_t row_index, int64_t i, int64_t left,
                         T scale) const {
    const Lanes<T> g = gradient(row_index * shape.columns + i, left, scale);
    if (!row)
      return rsqrt(load(square + i, left)) * g;
    const int64_t matrix = row_index / shape.rows;
    const T of_row = rsqrt(row[row_index] / T(scratch[at.row_means + matrix]));
    const Lanes<T> of_column =
        rsqrt(load(column + matrix * shape.columns + i, left));
    return of_row * of_column * g;
  }
};

template <class U>
KERNEL void adafactor_rows_kernel(U u) {
  if (u.is_skipped())
    return;
  const AdafactorScalars s = u.scalars();
  using T = std::remove_reference_t<decltype(*u.p)>;
  const int64_t columns = u.shape.columns;
  for (int64_t r = u.first_row(); r < u.last_row(); r++) {
    Lanes<double> sum(0.0);
    for (int64_t i = first_lane(); i < columns; i += lane_step()) {
      const int64_t left = columns - i;
      const Lanes<T> g = u.gradient(r * columns + i, left, T(s.grad_scale));
      sum += masked(convert<double>(g * g + T(s.epsilon1)), left, 0.0);
    }
    const double mean = block_sum(sum) / double(columns);
    if (first_thread())
      u.row[r] = u.row[r] * T(s.beta2) + T(mean) * T(1 - s.beta2);
  }
}

// Adds up the squares of each column over a piece of a matrix's rows.
template <class U>
KERNEL void adafactor_columns_kernel(U u) {
  if (u.is_skipped())
    return;
  const AdafactorScalars s = u.scalars();
  using T = std::remove_reference_t<decltype(*u.p)>;
  const int64_t columns = u.shape.columns;
  const int64_t matrix = block() / u.at.pieces, piece = block() % u.at.pieces;
  const int64_t first = piece * AdafactorScratch::kPiece;
  const int64_t last = min(first + AdafactorScratch::kPiece, u.shape.rows);
  double *sums =
      u.scratch + u.at.columns + (piece * u.shape.count + matrix) * columns;
  for (int64_t i = first_lane(); i < columns; i += lane_step()) {
    const int64_t left = columns - i;
    Lanes<double> sum(0.0);
    for (int64_t r = matrix * u.shape.rows + first;
         r < matrix * u.shape.rows + last; r++) {
      const Lanes<T> g = u.gradient(r * columns + i, left, T(s.grad_scale));
      sum += convert<double>(g * g + T(s.epsilon1));
    }
    store(sums + i, sum, left);
  }
}

// Updates the columns' state of a matrix, and computes the mean of its rows'
// state.
template <class U>
KERNEL void adafactor_matrix_kernel(U u) {
  if (u.is_skipped())
    return;
  const AdafactorScalars s = u.scalars();
  using T = std::remove_reference_t<decltype(*u.p)>;
  const int64_t matrix = block(), columns = u.shape.columns,
                rows = u.shape.rows;
  for (int64_t i = first_lane(); i < columns; i += lane_step()) {
    const int64_t left = columns - i;
    Lanes<double> sum(0.0);
    for (int64_t piece = 0; piece < u.at.pieces; piece++)
      sum += load(u.scratch + u.at.columns +
                      (piece * u.shape.count + matrix) * columns + i,
                  left);
    T *const kept = u.column + matrix * columns + i;
    store(kept,
          load(kept, left) * T(s.beta2) +
              convert<T>(sum / double(rows)) * T(1 - s.beta2),
          left);
  }
  Lanes<double> sum(0.0);
  for (int64_t i = first_lane(); i < rows; i += lane_step())
    sum += convert<double>(load(u.row + matrix * rows + i, rows - i));
  const double mean = block_sum(sum) / double(rows);
  if (first_thread())
    u.scratch[u.at.row_means + matrix] = mean;
}

// Squares the gradient of a parameter that is not a matrix.
template <class U>
KERNEL void adafactor_square_kernel(U u) {
  if (u.is_skipped())
    return;
  const AdafactorScalars s = u.scalars();
  using T = std::remove_reference_t<decltype(*u.p)>;
  const int64_t n = u.shape.columns, begin = block() * kSpan;
  const int64_t end = min(begin + kSpan, n);
  for (int64_t i = begin + first_lane(); i < end; i += lane_step()) {
    const int64_t left = end - i;
    const Lanes<T> g = u.gradient(i, left, T(s.grad_scale));
    store(u.square + i,
          load(u.square + i, left) * T(s.beta2) +
              (g * g + T(s.epsilon1)) * T(1 - s.beta2),
          left);
  }
}

// Adds up the squares of the update and of the parameter.
template <class U>
KERNEL void adafactor_squares_kernel(U u) {
  if (u.is_skipped())
    return;
  const AdafactorScalars s = u.scalars();
  using T = std::remove_reference_t<decltype(*u.p)>;
  const int64_t columns = u.shape.columns;
  Lanes<double> updates(0.0), parameters(0.0);
  for (int64_t r = u.first_row(); r < u.last_row(); r++)
    for (int64_t i = first_lane(); i < columns; i += lane_step()) {
      const int64_t left = columns - i;
      const auto x = convert<double>(u.update(r, i, left, T(s.grad_scale)));
      const auto p = convert<double>(load(u.p + r * columns + i, left));
      updates += masked(x * x, left, 0.0);
      parameters += p * p;
    }
  const double of_updates = block_sum(updates),
               of_parameters = block_sum(parameters);
  if (!first_thread())
    return;
  double *const sums = u.scratch + u.at.squares + 2 * block();
  sums[0] = of_updates;
  sums[1] = of_parameters;
}

// Computes the learning rate of this parameter, and the number by which its
// update is divided.
template <class U>
KERNEL void adafactor_rate_kernel(U u) {
  if (u.is_skipped() || !first_thread())
    return;
  const AdafactorScalars s = u.scalars();
  double updates = 0, parameters = 0;
  for (int64_t b = 0; b < u.at.blocks; b++) {
    updates += u.scratch[u.at.squares + 2 * b];
    parameters += u.scratch[u.at.squares + 2 * b + 1];
  }
  const double n = double(u.shape.count * u.shape.rows * u.shape.columns);
  const double scale = ::sqrt(parameters / n);
  const double excess = ::sqrt(updates / n) / s.clip_threshold;
  u.scratch[0] = s.scales_parameter
                     ? s.rate * (scale > s.epsilon2 ? scale : s.epsilon2)
                     : s.rate;
  u.scratch[1] = excess > 1 ? excess : 1;
}

template <class U>
KERNEL void adafactor_kernel(U u) {
  if (u.is_skipped())
    return;
  const AdafactorScalars s = u.scalars();
  using T = std::remove_reference_t<decltype(*u.p)>;
  const T rate = T(u.scratch[0]), divisor = T(u.scratch[1]);
  const T decay = T(u.group.decays ? -s.weight_decay * u.scratch[0] : 0);
  const T beta1 = T(s.beta1), one_minus_beta1 = T(1 - s.beta1);
  const int64_t columns = u.shape.columns;
  for (int64_t r = u.first_row(); r < u.last_row(); r++)
    for (int64_t i = first_lane(); i < columns; i += lane_step()) {
      const int64_t at = r * columns + i, left = columns - i;
      Lanes<T> step = u.update(r, i, left, T(s.grad_scale)) / divisor * rate;
      if (u.moment) {
        step = load(u.moment + at, left) * beta1 + step * one_minus_beta1;
        store(u.moment + at, step, left);
      }
      const Lanes<T> old = load(u.p + at, left);
      const Lanes<T> p_new = old + old * decay - step;
      store_parameter(u.p, u.copy, at, p_new, left);
    }
}

// Updates one parameter. A matrix has states `row` and `column`, any other
// parameter has `square`; `moment` is null without --adafactor-beta1. `scratch`
// has AdafactorScratch::size doubles.
template <class T, class G, class H = T>
void adafactor(Context &ctx, const StepState *state, T *p, NotDeduced<T> *row,
               NotDeduced<T> *column, NotDeduced<T> *square,
               NotDeduced<T> *moment, const G *grad, Matrices shape,
               UpdateGroup group, double *scratch, H *copy = nullptr) {
  const AdafactorScratch at(shape, row != nullptr);
  const AdafactorUpdate<T, G, H> u{state,   p,      row,  column,
                                   square,  moment, grad, shape,
                                   scratch, group,  copy, at};
  using U = AdafactorUpdate<T, G, H>;
  if (row) {
    launch(ctx, at.blocks, kSpanThreads, adafactor_rows_kernel<U>, u);
    launch(ctx, shape.count * at.pieces, kSpanThreads,
           adafactor_columns_kernel<U>, u);
    launch(ctx, shape.count, kSpanThreads, adafactor_matrix_kernel<U>, u);
  } else {
    launch(ctx, ceil_div(shape.columns, kSpan), kSpanThreads,
           adafactor_square_kernel<U>, u);
  }
  launch(ctx, at.blocks, kSpanThreads, adafactor_squares_kernel<U>, u);
  launch(ctx, 1, 32, adafactor_rate_kernel<U>, u);
  launch(ctx, at.blocks, kSpanThreads, adafactor_kernel<U>, u);
}

// The parameters of a table, one after the other: they may share their scratch
// memory.
template <class T, class H, size_t kRows>
void adafactor(Context &ctx, const StepState *state, Memory m,
               const ShapedUpdateRow<T, H, 4> (&table)[kRows]) {
  for (const ShapedUpdateRow<T, H, 4> &row : table) {
    auto update = [&](const auto *grad) {
      adafactor(ctx, state, m[row.parameter], row.template state<T>(m, 0),
                row.template state<T>(m, 1), row.template state<T>(m, 2),
                row.template state<T>(m, 3), grad, row.shape, row.group,
                m[row.scratch], m.find(row.copy));
    };
    if (row.gradient.is_half)
      update(m[Buffer<H>(row.gradient.offset)]);
    else
      update(m[Buffer<T>(row.gradient.offset)]);
  }
}

} // namespace gpuopt
