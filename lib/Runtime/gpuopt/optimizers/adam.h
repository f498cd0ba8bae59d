// torch.optim.Adam, in its order of operations: AdamW whose weight decay is
// part of the gradient. Kingma and Ba, "Adam" (ICLR 2015).
#pragma once

#include "gpuopt/optimizers/adamw.h"

namespace gpuopt {

inline void begin_adam(Context &ctx, StepState *state,
                       const Hyperparameters *hyper) {
  begin_update<AdamScalars>(ctx, state, hyper);
}

template <class T, class G, class H>
DEVICE void adam_span(int64_t span, const StepState *state, T *p, T *m, T *v,
                      const G *grad, int64_t n, UpdateGroup group, H *copy) {
  if (state->scaler.found_inf)
    return;
  const auto s = update_scalars<AdamScalars>(state, group);
  const AdamRule<T> rule(s, /*decays=*/false);
  const T weight_decay = T(group.decays ? s.weight_decay : 0);
  for_span(span, n, [&](int64_t i, int64_t left) {
    const Lanes<T> old = load(p + i, left);
    const Lanes<T> g =
        convert<T>(load(grad + i, left)) * rule.grad_scale + weight_decay * old;
    const Lanes<T> m_new = rule.first_moment(load(m + i, left), g);
    const Lanes<T> v_new = rule.second_moment(load(v + i, left), g);
    const Lanes<T> p_new = rule.parameter(old, m_new, v_new);
    store(m + i, m_new, left);
    store(v + i, v_new, left);
    store_parameter(p, copy, i, p_new, left);
  });
}
template <class T, class G, class H>
KERNEL void adam_kernel(const StepState *state, T *p, T *m, T *v, const G *grad,
                        int64_t n, UpdateGroup group, H *copy) {
  adam_span(block(), state, p, m, v, grad, n, group, copy);
}
template <class T, class G, class H = T>
void adam(Context &ctx, const StepState *state, T *p, T *m, T *v, const G *grad,
          int64_t n, UpdateGroup group, H *copy = nullptr) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, adam_kernel<T, G, H>, state, p,
         m, v, grad, n, group, copy);
}

struct AdamRows {
  const StepState *state;
  template <class T, class H>
  DEVICE void operator()(Memory m, const UpdateRow<T, H, 2> &row,
                         int64_t span) const {
    row.gradient.visit(m, [&](const auto *grad) {
      adam_span(span, state, m[row.parameter], row.template state<T>(m, 0),
                row.template state<T>(m, 1), grad, row.elements, row.group,
                m.find(row.copy));
    });
  }
};
// All parameters of a table, in one launch.
template <class T, class H, size_t kRows>
void adam(Context &ctx, const StepState *state, Memory m,
          const UpdateRow<T, H, 2> (&table)[kRows], int64_t spans) {
  for_rows(ctx, m, table, spans, AdamRows{state});
}

} // namespace gpuopt
