// torch.optim.SGD. The momentum buffer starts at zero, which gives torch's
// first step (buffer = gradient) with dampening 0.
#pragma once

#include "gpuopt/optimizers/optimizer.h"

namespace gpuopt {

struct SgdScalars {
  static constexpr std::string_view kOptimizer = "sgd";

  double rate, grad_scale, weight_decay, momentum;
  bool nesterov;

  SgdScalars() = default;
  DEVICE SgdScalars(const StepState &state, const Hyperparameters &hyper)
      : rate(state.learning_rate), grad_scale(state.grad_scale),
        weight_decay(hyper.weight_decay), momentum(hyper.momentum),
        nesterov(hyper.nesterov) {}
};
inline void begin_sgd(Context &ctx, StepState *state,
                      const Hyperparameters *hyper) {
  begin_update<SgdScalars>(ctx, state, hyper);
}

template <class T, class G, class H>
DEVICE void sgd_span(int64_t span, const StepState *state, T *p, T *buffer,
                     const G *grad, int64_t n, UpdateGroup group, H *copy) {
  if (state->scaler.found_inf)
    return;
  const auto s = update_scalars<SgdScalars>(state, group);
  const T rate = T(s.rate), scale = T(s.grad_scale), momentum = T(s.momentum);
  const T weight_decay = T(group.decays ? s.weight_decay : 0);
  for_span(span, n, [&](int64_t i, int64_t left) {
    const Lanes<T> old = load(p + i, left);
    Lanes<T> g = convert<T>(load(grad + i, left)) * scale + weight_decay * old;
    if (buffer) {
      const Lanes<T> b = load(buffer + i, left) * momentum + g;
      store(buffer + i, b, left);
      g = s.nesterov ? g + momentum * b : b;
    }
    const Lanes<T> p_new = old - rate * g;
    store_parameter(p, copy, i, p_new, left);
  });
}
template <class T, class G, class H>
KERNEL void sgd_kernel(const StepState *state, T *p, T *buffer, const G *grad,
                       int64_t n, UpdateGroup group, H *copy) {
  sgd_span(block(), state, p, buffer, grad, n, group, copy);
}
// Updates one parameter. `buffer` is null without momentum.
template <class T, class G, class H = T>
void sgd(Context &ctx, const StepState *state, T *p, NotDeduced<T> *buffer,
         const G *grad, int64_t n, UpdateGroup group, H *copy = nullptr) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, sgd_kernel<T, G, H>, state, p,
         buffer, grad, n, group, copy);
}

struct SgdRows {
  const StepState *state;
  template <class T, class H>
  DEVICE void operator()(Memory m, const UpdateRow<T, H, 1> &row,
                         int64_t span) const {
    row.gradient.visit(m, [&](const auto *grad) {
      sgd_span(span, state, m[row.parameter], row.template state<T>(m, 0), grad,
               row.elements, row.group, m.find(row.copy));
    });
  }
};
// All parameters of a table, in one launch.
template <class T, class H, size_t kRows>
void sgd(Context &ctx, const StepState *state, Memory m,
         const UpdateRow<T, H, 1> (&table)[kRows], int64_t spans) {
  for_rows(ctx, m, table, spans, SgdRows{state});
}

} // namespace gpuopt
