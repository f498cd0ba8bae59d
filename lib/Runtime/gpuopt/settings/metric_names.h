// The names of --eval-metrics, and which losses allow them.
//
// This file is C++17, as the compiler is.
#pragma once

#include "gpuopt/device/list_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace gpuopt {

enum class MetricKind {
  Unknown,
  Accuracy,
  TopKAccuracy, // "top_5_accuracy": scikit-learn's top_k_accuracy_score
  F1,           // scikit-learn's f1_score, average="macro"; of yes/no logits of
                // one column average="binary"
  Perplexity
};

struct MetricName {
  MetricKind kind = MetricKind::Unknown;
  int64_t k = 1; // of TopKAccuracy
};

inline MetricName parse_metric_name(const std::string &name) {
  if (name == "accuracy")
    return {MetricKind::Accuracy, 1};
  if (name == "f1")
    return {MetricKind::F1, 1};
  if (name == "perplexity")
    return {MetricKind::Perplexity, 1};
  const std::string before = "top_", after = "_accuracy";
  const size_t around = before.size() + after.size();
  if (name.size() <= around || name.rfind(before, 0) != 0 ||
      name.substr(name.size() - after.size()) != after)
    return {};
  const std::string k = name.substr(before.size(), name.size() - around);
  constexpr size_t kMostDigits = 9;
  if (k.size() > kMostDigits ||
      k.find_first_not_of("0123456789") != std::string::npos || k[0] == '0')
    return {};
  return {MetricKind::TopKAccuracy, atoll(k.c_str())};
}

// The metric by which validations are compared unless another one is named.
inline constexpr char kLossMetric[] = "loss";

// Whether more of a metric is better.
inline bool is_greater_better(const std::string &name) {
  return name != kLossMetric &&
         parse_metric_name(name).kind != MetricKind::Perplexity;
}

// Returns the names between commas, without empty ones.
inline std::vector<std::string> metric_names(const std::string &text) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin)
      names.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

// Returns the losses under which there is the metric, "" at the end.
inline const std::string_view *losses_of(MetricKind kind) {
  static constexpr std::string_view kOfClasses[] = {"cross_entropy", "nll",
                                                    "soft_cross_entropy", ""};
  static constexpr std::string_view kOfBoth[] = {
      "cross_entropy",   "nll",   "soft_cross_entropy",
      "bce_with_logits", "focal", ""};
  return kind == MetricKind::Accuracy || kind == MetricKind::F1 ? kOfBoth
                                                                : kOfClasses;
}

// Returns what is wrong with a metric for a loss, as the words after its name;
// nothing if it is fine.
inline std::string metric_error(const std::string &name,
                                std::string_view loss) {
  static constexpr std::string_view kNames[] = {"accuracy", "f1", "perplexity"};
  const MetricKind kind = parse_metric_name(name).kind;
  if (kind == MetricKind::Unknown)
    return "is no metric; there are accuracy, top_K_accuracy for a number K, "
           "f1 and perplexity" +
           choice_hint(name, kNames, std::size(kNames));
  std::string known;
  for (const std::string_view *each = losses_of(kind); !each->empty(); each++) {
    if (*each == loss)
      return "";
    known += (known.empty() ? "" : " or ") + std::string(*each);
  }
  return "applies only to --loss=" + known + ", but the loss is " +
         std::string(loss);
}

// Returns what is wrong with the metric that --metric-for-best-model names
// beside what a program measures; nothing if it is fine.
inline std::string best_metric_error(const std::string &name,
                                     const std::vector<std::string> &measured) {
  std::string known = kLossMetric;
  bool is_known = name == known;
  for (const std::string &each : measured) {
    known += " or " + each;
    is_known |= each == name;
  }
  return is_known ? ""
                  : "must be " + known +
                        ", which validations measure "
                        "(--eval-metrics), but is '" +
                        name + "'";
}

} // namespace gpuopt
