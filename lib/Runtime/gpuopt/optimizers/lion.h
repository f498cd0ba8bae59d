// Lion: Chen et al., "Symbolic discovery of optimization algorithms" (2023), in
// the order of operations of its authors' implementation.
#pragma once

#include "gpuopt/optimizers/optimizer.h"

namespace gpuopt {

struct LionScalars {
  static constexpr std::string_view kOptimizer = "lion";

  double shrink, rate, grad_scale;
  double beta1, one_minus_beta1, beta2, one_minus_beta2;

  LionScalars() = default;
  DEVICE LionScalars(const StepState &state, const Hyperparameters &hyper)
      : shrink(1 - state.learning_rate * hyper.weight_decay),
        rate(state.learning_rate), grad_scale(state.grad_scale),
        beta1(hyper.lion_beta1), one_minus_beta1(1 - hyper.lion_beta1),
        beta2(hyper.lion_beta2), one_minus_beta2(1 - hyper.lion_beta2) {}
};
inline void begin_lion(Context &ctx, StepState *state,
                       const Hyperparameters *hyper) {
  begin_update<LionScalars>(ctx, state, hyper);
}

template <class T, class G, class H>
DEVICE void lion_span(int64_t span, const StepState *state, T *p, T *m,
                      const G *grad, int64_t n, UpdateGroup group, H *copy) {
  if (state->scaler.found_inf)
    return;
  const auto s = update_scalars<LionScalars>(state, group);
  const T shrink = T(group.decays ? s.shrink : 1), rate = T(s.rate);
  const T beta1 = T(s.beta1), one_minus_beta1 = T(s.one_minus_beta1);
  const T beta2 = T(s.beta2), one_minus_beta2 = T(s.one_minus_beta2);
  const T scale = T(s.grad_scale);
  for_span(span, n, [&](int64_t i, int64_t left) {
    const Lanes<T> g = convert<T>(load(grad + i, left)) * scale;
    const Lanes<T> m_old = load(m + i, left);
    const Lanes<T> step = sign(m_old * beta1 + g * one_minus_beta1);
    const Lanes<T> p_new = load(p + i, left) * shrink - rate * step;
    store(m + i, m_old * beta2 + g * one_minus_beta2, left);
    store_parameter(p, copy, i, p_new, left);
  });
}
template <class T, class G, class H>
KERNEL void lion_kernel(const StepState *state, T *p, T *m, const G *grad,
                        int64_t n, UpdateGroup group, H *copy) {
  lion_span(block(), state, p, m, grad, n, group, copy);
}
template <class T, class G, class H = T>
void lion(Context &ctx, const StepState *state, T *p, T *m, const G *grad,
          int64_t n, UpdateGroup group, H *copy = nullptr) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, lion_kernel<T, G, H>, state, p,
         m, grad, n, group, copy);
}

struct LionRows {
  const StepState *state;
  template <class T, class H>
  DEVICE void operator()(Memory m, const UpdateRow<T, H, 1> &row,
                         int64_t span) const {
    row.gradient.visit(m, [&](const auto *grad) {
      lion_span(span, state, m[row.parameter], row.template state<T>(m, 0),
                grad, row.elements, row.group, m.find(row.copy));
    });
  }
};
// All parameters of a table, in one launch.
template <class T, class H, size_t kRows>
void lion(Context &ctx, const StepState *state, Memory m,
          const UpdateRow<T, H, 1> (&table)[kRows], int64_t spans) {
  for_rows(ctx, m, table, spans, LionRows{state});
}

} // namespace gpuopt
