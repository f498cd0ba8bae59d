// torch.optim.Muon, in its order of operations: Jordan et al., "Muon: an
// optimizer for hidden layers in neural networks" (2024). The momentum of a
// matrix gives a direction; matrix products, which the compiler adds to the
// step like those of the forward, make it nearly orthogonal (the compiler's
// Orthogonalize.h); and that matrix, times the learning rate, is subtracted
// from the parameter.
#pragma once

#include "gpuopt/optimizers/optimizer.h"

namespace gpuopt {

struct MuonScalars {
  static constexpr std::string_view kOptimizer = "muon";

  double shrink, rate, grad_scale, one_minus_momentum;
  bool nesterov, matches_rms;

  MuonScalars() = default;
  DEVICE MuonScalars(const StepState &state, const Hyperparameters &hyper)
      : rate(state.muon_learning_rate), grad_scale(state.grad_scale),
        one_minus_momentum(1 - hyper.muon_momentum),
        nesterov(hyper.muon_nesterov),
        matches_rms(hyper.muon_adjust_lr == kMatchRmsAdamw) {
    shrink = 1 - rate * hyper.weight_decay;
  }
};
inline void begin_muon(Context &ctx, StepState *state,
                       const Hyperparameters *hyper) {
  begin_update<MuonScalars>(ctx, state, hyper);
}

template <class T, class G, class D>
KERNEL void muon_direction_kernel(const StepState *state, T *buffer,
                                  const G *grad, D *direction, int64_t n) {
  const auto s = update_scalars<MuonScalars>(state);
  const T scale = T(s.grad_scale), share = T(s.one_minus_momentum);
  const bool skips = state->scaler.found_inf;
  for_span(block(), n, [&](int64_t i, int64_t left) {
    const Lanes<T> g = convert<T>(load(grad + i, left)) * scale;
    const Lanes<T> old = load(buffer + i, left);
    const Lanes<T> m = old + (g - old) * share;
    const Lanes<T> d = s.nesterov ? m - (m - g) * share : m;
    if (!skips)
      store(buffer + i, m, left);
    store(direction + i, convert<Compute<D>>(skips ? old : d), left);
  });
}
// Updates the momentum, n elements, and writes the direction. A step that is
// skipped runs the products as well: it gets the old momentum, which is finite,
// and nothing uses the result.
template <class T, class G, class D>
void muon_direction(Context &ctx, const StepState *state, T *buffer,
                    const G *grad, D *direction, int64_t n) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, muon_direction_kernel<T, G, D>,
         state, buffer, grad, direction, n);
}

// The factors on the learning rate by the two rules for matrices of different
// shapes.
struct MuonRatios {
  double original, match_rms_adamw;
};

template <class T, class G, class H>
KERNEL void muon_kernel(const StepState *state, T *p, const G *orthogonal,
                        int64_t n, MuonRatios ratios, UpdateGroup group,
                        H *copy) {
  if (state->scaler.found_inf)
    return;
  const auto s = update_scalars<MuonScalars>(state, group);
  const T ratio = T(s.matches_rms ? ratios.match_rms_adamw : ratios.original);
  const T shrink = T(group.decays ? s.shrink : 1), rate = T(s.rate) * ratio;
  for_span(block(), n, [&](int64_t i, int64_t left) {
    const Lanes<T> p_new = load(p + i, left) * shrink -
                           rate * convert<T>(load(orthogonal + i, left));
    store_parameter(p, copy, i, p_new, left);
  });
}
// Updates one parameter. `orthogonal` is the matrix that was computed from the
// direction.
template <class T, class G, class H = T>
void muon(Context &ctx, const StepState *state, T *p, const G *orthogonal,
          Matrices shape, UpdateGroup group, H *copy = nullptr) {
  const double rows = double(shape.rows), columns = double(shape.columns);
  const MuonRatios ratios{rows > columns ? ::sqrt(rows / columns) : 1,
                          0.2 * ::sqrt(rows > columns ? rows : columns)};
  const int64_t n = shape.count * shape.rows * shape.columns;
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, muon_kernel<T, G, H>, state, p,
         orthogonal, n, ratios, group, copy);
}

} // namespace gpuopt
