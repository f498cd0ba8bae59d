// Instantiates what emitted programs use, for nvcc to compile.

#include "TablesTest.cpp" // every optimizer's updates, one by one and by table
#include "TinyProgram.h"
#include "gpuopt/ops/argsort.h"
#include "gpuopt/ops/attention.h"
#include "gpuopt/ops/scatter_reduce.h"
#include "gpuopt/optimizers/muon.h"

#include "gpuopt/api/functions.h"
#include "gpuopt/trainer/trainer.h"

namespace gpuopt {

template <class T>
KERNEL void everything(const T *x, T *y, double *d, uint8_t *mask, int64_t n) {
  const int64_t row = block();
  Lanes<float> sum(0.0f);
  ExpSum<float> exponentials;
  ExpSum<double> exponentials_of_double;
  for (int64_t i = first_lane(); i < n; i += lane_step()) {
    const int64_t left = n - i;
    const Lanes<float> a = load(x + row * n + i, left);
    sum +=
        masked(exp(a) + expm1(a) + log(a) + log1p(a) + tanh(a) + erf(a) +
                   sqrt(a) + rsqrt(a) + pow(a, a) + sin(a) + cos(a) + tan(a) +
                   sinh(a) + cosh(a) + asin(a) + acos(a) + atan(a) + asinh(a) +
                   acosh(a) + atanh(a) + fmod(a, a) + floor(a) + ceil(a) +
                   trunc(a) + round_even(a) + sign(a) + abs(a) + copysign(a, a),
               left, 0.0f);
    store(y + i, select(is_nan(a) | !is_inf(a), max(a, 0.0f), min(a, a)), left);
    store_strided(y + i, 3, load_strided(x + i, 2, left), left);
    store(y + i, gather(x, iota<int64_t>(i) % Lanes<int64_t>(7), left), left);
    store(mask + i, load_mask(mask + i, left) & (a > 0.0f), left);
    store_vector(mask + i, load_mask_vector(mask + i) | (a > 1.0f));
    store<8>(mask + i, load_mask<8>(mask + i, left), left);
    store_vector(y + i, load_vector(x + i) + sum_of_groups<8, 32>(a));
    store<8>(y + i, masked<8>(load<8>(x + i, left), left, 0.0f), left);
    const Lanes<double> w = load(d + i, left);
    store(d + i, exp(w) * pow(w, w) + convert<double>(a), left);
    sum += random_uniform(1, 2, 3, iota<int64_t>(i)) +
           random_uniform_vector(1, 2, 3, i) + random_uniform_from(1, 2, 3, i);
    exponentials.add(a);
    exponentials_of_double.add(w);
  }
  const float maximum = block_max(exponentials);
  sum += block_sum(exponentials, maximum) +
         group_sum<32>(exponentials, group_max<32>(exponentials)) +
         float(block_sum(exponentials_of_double,
                         block_max(exponentials_of_double)));
  const float total =
      block_sum(sum) + block_max(sum) + block_min(sum) + block_prod(sum);
  store_scalar(y, total + exp(total) + load_scalar(x));
}

template <class T>
void launch_everything(Context &ctx, T *x, double *d, uint8_t *mask) {
  launch(ctx, 8, 256, everything<T>, static_cast<const T *>(x), x, d, mask,
         int64_t(128));
}

template <int HeadSize, AttentionScores Scores, class Factor = void, class T>
void attend(Context &ctx, T *x, float *statistics, const AttentionOptions &o) {
  AttentionShape s{};
  s.queries = s.keys = 64;
  s.key_size = s.value_size = HeadSize;
  s.q_row = s.k_row = s.v_row = s.y_row = HeadSize;
  AttentionGradientShape g{};
  g.dy_row = g.dq_row = g.dk_row = g.dv_row = HeadSize;
  attention<HeadSize, Scores, Factor>(ctx, s, x, x, x, x, statistics, o);
  AttentionOptions summing = o;
  summing.column_sums = statistics;
  for (const AttentionOptions &options : {summing, o})
    attention_backward<HeadSize, Scores, Factor>(
        ctx, s, g, x, x, x, x, statistics, x, x, x, x, options);
}

DEVICE_TABLE SumPartsRow kSumsOfParts[] = {{1024, 66560, 256, 768, 0},
                                           {65024, 852992, 16, 8, 12}};

void instantiate_tables(Context &ctx, Memory m) {
  sum_parts(ctx, m, kSumsOfParts, 13);
}

void instantiate(Context &ctx, float *f, double *d, f16 *h, bf16 *b,
                 uint8_t *mask, int32_t *places, const int64_t *index,
                 int64_t *order, StepState *state, Hyperparameters *hyper) {
  launch_everything(ctx, f, d, mask);
  launch_everything(ctx, h, d, mask);
  launch_everything(ctx, b, d, mask);
  const GemmShape s{{1, 1}, 2, 3, 4, {0, 0}, 4, 1, {0, 0}, 3, 1, {0, 0}, 3, 1};
  gemm(ctx, s, f, f, f, {.alpha = 2, .beta = 1, .bias = f});
  gemm(ctx, s, d, d, d);
  gemm(ctx, s, h, h, h);
  gemm(ctx, s, h, h, f, {.beta = 1});
  gemm(ctx, s, b, b, b);
  gemm_gelu(ctx, s, h, h, h, h, h);
  gemm_gelu_backward(ctx, s, b, b, b, b, b);
  gemm_relu(ctx, s, h, h, h, h, h, places);
  gemm_relu_backward(ctx, s, b, b, places, b, b);
  gemm_sums(ctx, s, h, h, f, f);
  begin_step(ctx, state, hyper);
  add_loss(ctx, state, f, f, 3);
  add_loss_part(ctx, state, 1, f, f, 3);
  sum_of_squares(ctx, f, 10, d);
  finish_grad_norm(ctx, state, hyper, d, 1);
  begin_adamw(ctx, state, hyper);
  adamw(ctx, state, f, f, f, f, 10, true);
  adamw(ctx, state, d, d, d, d, 10, true);
  begin_sgd(ctx, state, hyper);
  sgd(ctx, state, f, f, b, 10, false);
  finish_grad_norm(ctx, state, hyper, d, 1, f, 4);
  adamw(ctx, state, f, f, f, h, 10, true, h);
  sgd(ctx, state, f, nullptr, b, 10, false, b);
  auto *codes = reinterpret_cast<int8_t *>(mask);
  begin_adamw_8bit(ctx, state, hyper);
  adamw_8bit(ctx, state, f, nullptr, nullptr, codes, f, codes, f, f, 10, true);
  adamw_8bit(ctx, state, d, nullptr, nullptr, codes, d, codes, d, d, 10, true);
  begin_adafactor(ctx, state, hyper);
  adafactor(ctx, state, f, f, f, nullptr, f, f, {2, 3, 4}, true, d);
  adafactor(ctx, state, f, nullptr, nullptr, f, f, h, {1, 1, 4}, true, d, h);
  begin_muon(ctx, state, hyper);
  muon_direction(ctx, state, f, h, f, 10);
  muon_direction(ctx, state, d, d, d, 10);
  muon(ctx, state, f, h, {1, 5, 2}, true, h);
  muon(ctx, state, d, d, {1, 5, 2}, true);
  accumulate(ctx, state, f, h, 10);
  snapshot(ctx, state, f, f, 10);
  restore(ctx, state, f, f, 10);
  refresh(ctx, h, f, 10);
  refresh(ctx, b, f, 10);
  sum_parts(ctx, 256, 768, f, f);
  check_finite(ctx, state, h, 10, 1);
  check_finite(ctx, state, d, 10, 2);
  check_finite_rows(ctx, state, h, 2, 5, 8, 3);
  end_step(ctx, state);
  const ConvShape conv{.n = 2,
                       .h = 8,
                       .w = 8,
                       .c = 4,
                       .oh = 8,
                       .ow = 8,
                       .oc = 4,
                       .kh = 1,
                       .kw = 1};
  conv_forward(ctx, conv, f, f, f, f);
  conv_forward_with_sums(ctx, conv, h, h, h, f, f);
  conv_forward_with_sums(ctx, conv, d, d, d, d, d);
  conv_backward_data(ctx, conv, h, h, h);
  conv_backward_weights(ctx, conv, d, d, d, 1);
  const PoolShape pool{
      .n = 2, .h = 8, .w = 8, .c = 4, .oh = 4, .ow = 4, .kh = 2, .kw = 2};
  max_pool_forward(ctx, pool, f, f, places);
  max_pool_backward(ctx, pool, f, places, f);
  avg_pool_forward(ctx, pool, h, h);
  avg_pool_backward(ctx, pool, d, d);
  scatter_add_rows(ctx, index, 8, f, 10, 16, f, 1);
  scatter_add_rows(ctx, index, 8, b, 10, 16, f, 0);
  scatter_sum_rows(ctx, index, 8, f, f, 10, 16, f);
  scatter_product_rows(ctx, index, 8, d, d, 10, 16, d);
  scatter_min_rows(ctx, index, 8, h, h, 10, 16, h);
  scatter_max_rows(ctx, index, 8, b, b, 10, 16, b);
  scatter_max_rows(ctx, index, 8, index, index, 10, 16, order);
  argsort(ctx, 10, 16, h, order, true);
  argsort(ctx, 10, 16, index, order, false);
  const AttentionOptions options{.mask = mask, .dropout = 0.1, .state = state};
  using Scores = AttentionScores;
  attend<64, Scores::Products>(ctx, f, f, {});
  attend<256, Scores::Changed>(ctx, f, f, options);
  attend<64, Scores::ChangedUnaligned, tf32>(ctx, f, f, options);
  attend<256, Scores::Products, tf32>(ctx, f, f, {});
  attend<64, Scores::Products>(ctx, h, f, {});
  attend<64, Scores::Masked>(ctx, h, f, {.added_mask = f});
  attend<128, Scores::Products>(ctx, h, f, {});
  attend<128, Scores::Changed>(ctx, h, f, options);
  attend<256, Scores::Products>(ctx, h, f, {});
  attend<64, Scores::Changed>(ctx, b, f, options);
  attend<64, Scores::ChangedUnaligned>(ctx, h, f, {});
}

} // namespace gpuopt

const gpuopt::Program &program() {
  static const gpuopt::Program instance = gpuopt::tiny::program();
  return instance;
}

int main(int argc, char **argv) {
  return gpuopt::trainer_main(argc, argv, program());
}
