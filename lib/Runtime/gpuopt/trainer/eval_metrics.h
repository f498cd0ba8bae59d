// --eval-metrics: what a validation measures besides the loss. The evaluation
// computes small tensors for each batch (the compiler's EvaluationOutputs.h),
// and the host counts. Definitions are those of scikit-learn.
#pragma once

#include "gpuopt/data/indices.h"
#include "gpuopt/program/program.h"
#include "gpuopt/settings/loss_terms.h"
#include "gpuopt/settings/metric_names.h"

#include <cmath>
#include <map>

namespace gpuopt {

// A metric and its value; NaN if no label counts.
struct MetricValue {
  std::string name;
  double value;
};

// The counts that F1 is made of: how often a class was right, predicted though
// it was another, and not predicted though it was the label.
struct ClassCounts {
  int64_t right = 0, predicted_wrongly = 0, missed = 0;
};

// Returns the mean of the F1 of the classes that occur, in labels or
// predictions, as f1_score(average="macro") does.
inline double macro_f1(const std::map<int64_t, ClassCounts> &classes) {
  double sum = 0;
  for (const auto &[number, c] : classes)
    sum += 2 * double(c.right) /
           double(2 * c.right + c.predicted_wrongly + c.missed);
  return sum / double(classes.size());
}

class EvalMetrics {
public:
  explicit EvalMetrics(const Program &program) : program(program) {
    for (const char *name : program.eval_metrics)
      names.emplace_back(name);
    for (const InputInfo &input : program.inputs)
      if (input.is_label && !labels_info) // of several losses, the first
        labels_info = &input;
    label_classes_info = find("metrics.labels");
    predictions_info = find("metrics.predictions");
    ranks_info = find("metrics.ranks");
    logits_info = find("metrics.logits");
  }

  bool is_empty() const { return names.empty(); }

  // Forgets all batches.
  void begin() {
    counted = correct = 0;
    classes.clear();
    ranks_below.clear();
  }

  // Counts the first `samples` of the batch that an evaluation has just
  // computed.
  void add(Context &ctx, const char *memory, int64_t samples) {
    if (!predictions_info && !ranks_info && !logits_info)
      return;
    const TensorInfo &tensor =
        label_classes_info ? *label_classes_info : labels_info->tensor;
    const int64_t count = tensor.elements() / program.batch_size * samples;
    const auto labels = read(ctx, memory, tensor);
    if (logits_info) {
      add_probabilities(labels, read(ctx, memory, *logits_info), count);
      return;
    }
    std::vector<uint8_t> predictions, ranks;
    if (predictions_info)
      predictions = read(ctx, memory, *predictions_info);
    if (ranks_info)
      ranks = read(ctx, memory, *ranks_info);
    for (int64_t i = 0; i < count; i++) {
      const int64_t label = integer_of(labels, i);
      if (!label_classes_info && label == labels_info->ignore_index)
        continue;
      counted++;
      if (ranks_info)
        ranks_below[integer_of(ranks, i)]++;
      if (predictions_info)
        add_class(label, integer_of(predictions, i));
    }
  }

  // Returns the metrics of all batches, whose mean loss is `loss`.
  std::vector<MetricValue> values(double loss) const {
    std::vector<MetricValue> all;
    for (const std::string &name : names)
      all.push_back({name, value_of(parse_metric_name(name), loss)});
    return all;
  }

private:
  const TensorInfo *find(const std::string &name) const {
    for (const OutputInfo &output : program.outputs)
      if (output.tensor.name == name)
        return &output.tensor;
    return nullptr;
  }
  static std::vector<uint8_t> read(Context &ctx, const char *memory,
                                   const TensorInfo &tensor) {
    std::vector<uint8_t> bytes(tensor.bytes);
    copy_to_host(ctx, bytes.data(), memory + tensor.offset, bytes.size());
    return bytes;
  }
  // The compiler's integers have 64 bits.
  static int64_t integer_of(const std::vector<uint8_t> &bytes, int64_t i) {
    return detail::integer_at(Type::I64, bytes.data(), i);
  }

  void add_class(int64_t label, int64_t prediction) {
    correct += label == prediction;
    if (label == prediction) {
      classes[label].right++;
      return;
    }
    classes[label].missed++;
    if (prediction < class_count()) // a row of NaN predicts nothing
      classes[prediction].predicted_wrongly++;
  }

  int64_t class_count() const {
    const TensorInfo &tensor = labels_info->tensor;
    return label_classes_info ? tensor.shape[class_dim(tensor.rank)]
                              : labels_info->index_limit;
  }

  // A logit above 0 says yes; the label does from 0.5 on. Of two dimensions,
  // the second one is that of the classes, each of which has its yes and no:
  // the accuracy counts elements, and F1 is the mean over the columns of that
  // of "yes". A single column has scikit-learn's average="binary".
  void add_probabilities(const std::vector<uint8_t> &labels,
                         const std::vector<uint8_t> &logits, int64_t count) {
    const TensorInfo &tensor = *logits_info;
    const int64_t columns = tensor.rank == 2 ? tensor.shape[1] : 1;
    for (int64_t i = 0; i < count; i++) {
      const double label =
          detail::number_at(labels_info->tensor.type, labels.data(), i);
      const bool is_yes = detail::number_at(tensor.type, logits.data(), i) > 0;
      counted++;
      correct += is_yes == (label >= 0.5);
      ClassCounts &c = classes[i % columns];
      c.right += is_yes && label >= 0.5;
      c.predicted_wrongly += is_yes && label < 0.5;
      c.missed += !is_yes && label >= 0.5;
    }
  }

  double value_of(const MetricName &metric, double loss) const {
    if (metric.kind == MetricKind::Perplexity)
      return std::exp(loss);
    if (counted == 0)
      return std::nan("");
    if (metric.kind == MetricKind::Accuracy)
      return double(correct) / double(counted);
    if (metric.kind == MetricKind::F1)
      return f1();
    int64_t below = 0;
    for (const auto &[rank, count] : ranks_below)
      below += rank < metric.k ? count : 0;
    return double(below) / double(counted);
  }
  // A yes or no that is neither predicted nor right anywhere has an F1 of 0, as
  // scikit-learn warns.
  double f1() const {
    if (!logits_info)
      return macro_f1(classes);
    double sum = 0;
    for (const auto &[number, c] : classes) {
      const int64_t all = 2 * c.right + c.predicted_wrongly + c.missed;
      sum += all > 0 ? 2 * double(c.right) / double(all) : 0;
    }
    return sum / double(classes.size());
  }

  const Program &program;
  std::vector<std::string> names;
  const InputInfo *labels_info = nullptr;
  // Where labels are a probability for each class: the likeliest ones, or null.
  const TensorInfo *label_classes_info;
  const TensorInfo *predictions_info, *ranks_info, *logits_info; // or null
  int64_t counted = 0, correct = 0;                              // labels
  std::map<int64_t, ClassCounts> classes;
  std::map<int64_t, int64_t> ranks_below; // how many labels have each rank
};

// Returns what validations are compared by, so that less is better: the loss,
// or the metric of that name.
inline double score_of(const std::string &metric, double loss,
                       const std::vector<MetricValue> &values) {
  for (const auto &[name, value] : values)
    if (name == metric)
      return is_greater_better(name) ? -value : value;
  return loss;
}

} // namespace gpuopt
