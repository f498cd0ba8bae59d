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
KERNEL void adam_kernel(const StepState *state, T *p, T *m, T *v, const G *grad,
                        int64_t n, bool decay, H *copy) {
  if (state->scaler.found_inf)
    return;
  const auto s = update_scalars<AdamScalars>(state);
  const AdamRule<T> rule(s, /*decay=*/false);
  const T weight_decay = T(decay ? s.weight_decay : 0);
  for_span(n, [&](int64_t i, int64_t left) {
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
template <class T, class G, class H = T>
void adam(Context &ctx, const StepState *state, T *p, T *m, T *v, const G *grad,
          int64_t n, bool decay, H *copy = nullptr) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, adam_kernel<T, G, H>, state, p,
         m, v, grad, n, decay, copy);
}

} // namespace gpuopt
