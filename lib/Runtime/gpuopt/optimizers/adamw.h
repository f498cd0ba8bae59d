// torch.optim.AdamW, in its order of operations. Loshchilov and Hutter,
// "Decoupled weight decay regularization" (ICLR 2019). adam.h and adamw_8bit.h
// are made of the same pieces.
#pragma once

#include "gpuopt/optimizers/optimizer.h"

namespace gpuopt {

// These stay in double until they meet a tensor, as torch's do.
struct AdamScalars {
  static constexpr std::string_view kOptimizer = "adamw";

  double shrink, step_size, root;
  double one_minus_beta1, beta2, one_minus_beta2, epsilon, grad_scale;
  double weight_decay;

  AdamScalars() = default;
  DEVICE AdamScalars(const StepState &state, const Hyperparameters &hyper) {
    const double rate = state.learning_rate, update = double(state.step + 1);
    const double correction1 = 1 - ::pow(hyper.beta1, update);
    const double correction2 = 1 - ::pow(hyper.beta2, update);
    shrink = 1 - rate * hyper.weight_decay;
    step_size = -(rate / correction1);
    root = ::sqrt(correction2);
    one_minus_beta1 = 1 - hyper.beta1;
    beta2 = hyper.beta2;
    one_minus_beta2 = 1 - hyper.beta2;
    epsilon = hyper.epsilon;
    grad_scale = state.grad_scale;
    weight_decay = hyper.weight_decay;
  }
};

// The same in the parameter's type, and the arithmetic on them.
template <class T>
struct AdamRule {
  T shrink, step_size, root;
  T one_minus_beta1, beta2, one_minus_beta2, epsilon, grad_scale;

  DEVICE AdamRule(const AdamScalars &s, bool decays)
      : shrink(T(decays ? s.shrink : 1)), step_size(T(s.step_size)),
        root(T(s.root)), one_minus_beta1(T(s.one_minus_beta1)),
        beta2(T(s.beta2)), one_minus_beta2(T(s.one_minus_beta2)),
        epsilon(T(s.epsilon)), grad_scale(T(s.grad_scale)) {}

  DEVICE Lanes<T> first_moment(Lanes<T> m, Lanes<T> g) const {
    return m + (g - m) * one_minus_beta1;
  }
  DEVICE Lanes<T> second_moment(Lanes<T> v, Lanes<T> g) const {
    return v * beta2 + one_minus_beta2 * g * g;
  }
  DEVICE Lanes<T> parameter(Lanes<T> p, Lanes<T> m, Lanes<T> v) const {
    return p * shrink + step_size * m / (sqrt(v) / root + epsilon);
  }
};

inline void begin_adamw(Context &ctx, StepState *state,
                        const Hyperparameters *hyper) {
  begin_update<AdamScalars>(ctx, state, hyper);
}

template <class T, class G, class H>
DEVICE void adamw_span(int64_t span, const StepState *state, T *p, T *m, T *v,
                       const G *grad, int64_t n, UpdateGroup group, H *copy) {
  if (state->scaler.found_inf)
    return;
  const AdamRule<T> rule(update_scalars<AdamScalars>(state, group),
                         group.decays);
  for_span(span, n, [&](int64_t i, int64_t left) {
    const Lanes<T> g = convert<T>(load(grad + i, left)) * rule.grad_scale;
    const Lanes<T> m_new = rule.first_moment(load(m + i, left), g);
    const Lanes<T> v_new = rule.second_moment(load(v + i, left), g);
    const Lanes<T> p_new = rule.parameter(load(p + i, left), m_new, v_new);
    store(m + i, m_new, left);
    store(v + i, v_new, left);
    store_parameter(p, copy, i, p_new, left);
  });
}
template <class T, class G, class H>
KERNEL void adamw_kernel(const StepState *state, T *p, T *m, T *v,
                         const G *grad, int64_t n, UpdateGroup group, H *copy) {
  adamw_span(block(), state, p, m, v, grad, n, group, copy);
}
// Updates one parameter. `copy`, or null, is the parameter in half precision
// for the products of the next step.
template <class T, class G, class H = T>
void adamw(Context &ctx, const StepState *state, T *p, T *m, T *v,
           const G *grad, int64_t n, UpdateGroup group, H *copy = nullptr) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, adamw_kernel<T, G, H>, state, p,
         m, v, grad, n, group, copy);
}

struct AdamwRows {
  const StepState *state;
  template <class T, class H>
  DEVICE void operator()(Memory m, const UpdateRow<T, H, 2> &row,
                         int64_t span) const {
    row.gradient.visit(m, [&](const auto *grad) {
      adamw_span(span, state, m[row.parameter], row.template state<T>(m, 0),
                 row.template state<T>(m, 1), grad, row.elements, row.group,
                 m.find(row.copy));
    });
  }
};
// All parameters of a table, in one launch.
template <class T, class H, size_t kRows>
void adamw(Context &ctx, const StepState *state, Memory m,
           const UpdateRow<T, H, 2> (&table)[kRows], int64_t spans) {
  for_rows(ctx, m, table, spans, AdamwRows{state});
}

} // namespace gpuopt
