// Finds the flag that a user probably means by a name that no flag has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuopt {

// Names that PyTorch's and Hugging Face's users know, and ours for the same.
constexpr struct {
  std::string_view others, ours;
} kNamesOfOthers[] = {
    {"lr", "learning-rate"},
    {"epochs", "num-train-epochs"},
    {"num-epochs", "num-train-epochs"},
    {"per-device-train-batch-size", "batch-size"},
    {"train-batch-size", "batch-size"},
    {"batch", "batch-size"},
    {"steps", "max-steps"},
    {"num-steps", "max-steps"},
    {"optim", "optimizer"},
    {"wd", "weight-decay"},
    {"scheduler", "lr-scheduler-type"},
    {"lr-scheduler", "lr-scheduler-type"},
    {"warmup", "warmup-steps"},
    {"num-warmup-steps", "warmup-steps"},
    {"betas", "adam-beta1"},
    {"eps", "adam-epsilon"},
    {"max-norm", "max-grad-norm"},
    {"clip-grad-norm", "max-grad-norm"},
    {"grad-clip", "max-grad-norm"},
    {"amp", "precision"},
    {"fp16", "precision"},
    {"bf16", "precision"},
    {"tf32", "precision"},
    {"dtype", "precision"},
    {"accumulation-steps", "gradient-accumulation-steps"},
    {"grad-accumulation-steps", "gradient-accumulation-steps"},
    {"dataloader-num-workers", "num-workers"},
    {"dataloader-prefetch-factor", "prefetch-factor"},
    {"workers", "num-workers"},
    {"budget", "memory-budget"},
    {"memory", "memory-budget"},
    {"label-smoothing-factor", "label-smoothing"},
    {"output", "output-dir"},
};

// Returns our name for a name of others; empty if it is not known.
constexpr std::string_view name_of_others(std::string_view name) {
  for (const auto &known : kNamesOfOthers)
    if (known.others == name)
      return known.ours;
  return "";
}

// Returns how many letters must be inserted, removed, replaced or exchanged
// with the next one.
inline size_t edit_distance(std::string_view from, std::string_view to) {
  // Distances of the first i letters from the first j, and of i - 1 and i - 2.
  std::vector<size_t> row(to.size() + 1), before, twice_before;
  for (size_t j = 0; j <= to.size(); j++)
    row[j] = j;
  for (size_t i = 1; i <= from.size(); i++) {
    twice_before = std::exchange(before, row);
    row[0] = i;
    for (size_t j = 1; j <= to.size(); j++) {
      row[j] = std::min({before[j - 1] + (from[i - 1] != to[j - 1]),
                         before[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] &&
          from[i - 2] == to[j - 1])
        row[j] = std::min(row[j], twice_before[j - 2] + 1);
    }
  }
  return row.back();
}

// Returns the flag for a name of others, or the flag closest to a misspelt
// name; empty if there is none.
template <class Names>
std::string flag_meant_by(std::string_view name, const Names &names) {
  const std::string_view known = name_of_others(name);
  std::pair<size_t, std::string_view> closest(name.size() / 3 + 1, "");
  for (const std::string &flag : names) {
    if (flag == known)
      return flag;
    closest =
        std::min(closest, {edit_distance(name, flag), std::string_view(flag)});
  }
  return std::string(closest.second);
}

} // namespace gpuopt
