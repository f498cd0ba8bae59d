// Runs the end of the training step on given gradients, as emitted programs do,
// and writes what it leaves after each step. For test_loss_scaling.py.
//
//   scaler_trace GRADIENTS OUT steps accumulation elements optimizer
//
// GRADIENTS has steps x accumulation x elements f32, before they are scaled;
// OUT gets for each step: scale of the next one, growth tracker, skipped steps,
// a running statistic, learning rate (f64 each), then the weights (f32).
#include "gpuopt/optimizers/accumulate.h"
#include "gpuopt/optimizers/adamw.h"
#include "gpuopt/optimizers/sgd.h"
#include "gpuopt/optimizers/snapshot.h"

#include <fstream>

using namespace gpuopt;

int main(int argc, char **argv) {
  if (argc != 7)
    return 1;
  const int64_t steps = atoll(argv[3]), accumulation = atoll(argv[4]),
                n = atoll(argv[5]);
  const bool is_adamw = std::string(argv[6]) == "adamw";
  std::vector<float> given(size_t(steps * accumulation * n));
  std::ifstream(argv[1], std::ios::binary)
      .read(reinterpret_cast<char *>(given.data()),
            std::streamsize(given.size() * sizeof(float)));
  std::ofstream out(argv[2], std::ios::binary);
  auto write = [&](const auto *data, int64_t count) {
    out.write(reinterpret_cast<const char *>(data),
              std::streamsize(size_t(count) * sizeof *data));
  };

  Context ctx(1);
  StepState state;
  Hyperparameters hyper;
  hyper.lr_scheduler_type = kLinear;
  hyper.warmup_steps = 10;
  hyper.max_steps = steps;
  hyper.learning_rate = 0.0078125;
  hyper.weight_decay = 0.125;
  hyper.momentum = 0.5;
  hyper.max_grad_norm = 0;
  hyper.growth_interval = 7;
  hyper.min_loss_scale = 4;
  float scale = float(hyper.init_scale);
  const float one = 1, zero = 0;
  float statistic = 0, kept = -1;
  std::vector<float> p(size_t(n), 0.5f), m(size_t(n), 0), v(size_t(n), 0),
      scaled(size_t(n), 0), sum(size_t(n), 0);
  std::vector<double> partials(size_t(sum_of_squares_partials(n)));
  for (int64_t step = 0; step < steps; step++) {
    for (int64_t micro = 0; micro < accumulation; micro++) {
      begin_step(ctx, &state, &hyper);
      snapshot(ctx, &state, &kept, &statistic, 1);
      statistic += float(micro + 1);
      add_loss(ctx, &state, &one, micro == 0 ? &one : &zero, 1);
      const float *g = given.data() + (step * accumulation + micro) * n;
      for (int64_t i = 0; i < n; i++)
        scaled[size_t(i)] = g[i] * scale;
      accumulate(ctx, &state, sum.data(), scaled.data(), n);
    }
    sum_of_squares(ctx, sum.data(), n, partials.data());
    finish_grad_norm(ctx, &state, &hyper, partials.data(),
                     int64_t(partials.size()), &scale);
    restore(ctx, &state, &statistic, &kept, 1);
    if (is_adamw) {
      begin_adamw(ctx, &state, &hyper);
      adamw(ctx, &state, p.data(), m.data(), v.data(), sum.data(), n, true);
    } else {
      begin_sgd(ctx, &state, &hyper);
      sgd(ctx, &state, p.data(), m.data(), sum.data(), n, true);
    }
    const double scalars[] = {scale, double(state.scaler.growth_tracker),
                              double(state.scaler.skipped_steps), statistic,
                              state.learning_rate};
    end_step(ctx, &state);
    write(scalars, 5);
    write(p.data(), n);
  }
  return out ? 0 : 1;
}
