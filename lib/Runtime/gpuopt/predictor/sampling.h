// Which token comes next, by the logits of all tokens.
#pragma once

#include "gpuopt/data/draws.h"
#include "gpuopt/predictor/result_files.h"

#include <cmath>
#include <vector>

namespace gpuopt {

struct Sampling {
  double temperature = 0; // 0: the likeliest token, the first of equal ones
  int64_t top_k = 0;      // 0: a token may be any
};

// Returns the number of the token. With a temperature, it is drawn from the
// softmax of logits / temperature, over the tokens whose logits are not below
// the k-th largest; those are transformers' TemperatureLogitsWarper and
// TopKLogitsWarper. A token whose logit is NaN is never drawn. Throws Error if
// none can be.
inline int64_t next_token(const std::vector<double> &logits,
                          const Sampling &sampling, Draws draws) {
  const auto size = int64_t(logits.size());
  // A logit of -infinity, as masks have, is never taken; NaN is as bad.
  auto logit = [&](int64_t i) {
    return logits[size_t(i)] == logits[size_t(i)] ? logits[size_t(i)]
                                                  : -HUGE_VAL;
  };
  const int64_t best = greatest_of(logit, size, 1)[0];
  if (!std::isfinite(logit(best)))
    throw Error("the model's logits are infinite or NaN, so that no token can "
                "be chosen");
  if (sampling.temperature == 0)
    return best;
  double least = -HUGE_VAL;
  if (sampling.top_k > 0 && sampling.top_k < size)
    least = logit(greatest_of(logit, size, sampling.top_k).back());
  auto weight = [&](int64_t i) {
    return logit(i) < least
               ? 0
               : std::exp((logit(i) - logit(best)) / sampling.temperature);
  };
  double total = 0;
  for (int64_t i = 0; i < size; i++)
    total += weight(i);
  double left = draws.uniform() * total;
  for (int64_t i = 0; i < size; i++) {
    left -= weight(i);
    if (left < 0)
      return i;
  }
  return best; // rounding has left a rest
}

} // namespace gpuopt
