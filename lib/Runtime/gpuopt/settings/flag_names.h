// Finds the flag that a user probably means by a name that no flag has.
#pragma once

#include "gpuopt/device/edit_distance.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuopt {

// Names that PyTorch's, Hugging Face's, timm's and Lightning's users know, with
// dashes for underscores, and ours for the same, with the value that means it,
// if it is one.
constexpr struct {
  std::string_view others, ours, value = "";
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
    {"fp16", "precision", "fp16"},
    {"bf16", "precision", "bf16"},
    {"tf32", "precision", "tf32"},
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
    // the length of a run
    {"max-epochs", "num-train-epochs"},
    {"max-iters", "max-steps"},
    {"iterations", "max-steps"},
    {"max-train-steps", "max-steps"},
    {"train-steps", "max-steps"},
    {"patience", "early-stopping-patience"},
    {"early-stopping", "early-stopping-patience"},
    {"min-delta", "early-stopping-threshold"},
    // batches and data
    {"bs", "batch-size"},
    {"micro-batch-size", "batch-size"},
    {"eval-batch-size", "batch-size"},
    {"per-device-eval-batch-size", "batch-size"},
    {"accumulate-grad-batches", "gradient-accumulation-steps"},
    {"grad-accum-steps", "gradient-accumulation-steps"},
    {"train-file", "data"},
    {"train-data", "data"},
    {"data-dir", "data"},
    {"dataset", "data"},
    {"validation-file", "eval-data"},
    {"val-data", "eval-data"},
    {"transforms", "transform"},
    {"val-transform", "eval-transform"},
    // the optimizer
    {"opt", "optimizer"},
    {"sched", "lr-scheduler-type"},
    {"beta1", "adam-beta1"},
    {"beta2", "adam-beta2"},
    {"clip-grad", "max-grad-norm"},
    {"clip", "max-grad-norm"},
    {"clip-norm", "max-grad-norm"},
    {"grad-norm", "max-grad-norm"},
    {"gradient-clip-val", "max-grad-norm"},
    {"gradient-clipping", "max-grad-norm"},
    {"mixed-precision", "precision"},
    {"half", "precision", "fp16"},
    {"smoothing", "label-smoothing"},
    {"criterion", "loss"},
    {"freeze", "frozen-params"},
    {"model-ema", "ema-decay"},
    {"model-ema-decay", "ema-decay"},
    // what is told and kept
    {"logging-strategy", "logging-steps"},
    {"log-interval", "logging-steps"},
    {"log-every-n-steps", "logging-steps"},
    {"print-freq", "logging-steps"},
    {"disable-tqdm", "quiet"},
    {"eval-interval", "eval-steps"},
    {"val-check-interval", "eval-steps"},
    {"metrics", "eval-metrics"},
    {"monitor", "metric-for-best-model"},
    {"eval-metric", "metric-for-best-model"},
    {"save-interval", "save-steps"},
    {"checkpoint-interval", "save-steps"},
    {"save-top-k", "save-best"},
    {"resume-from-checkpoint", "resume"},
    {"checkpoint", "resume"},
    {"ckpt-path", "resume"},
    {"out-dir", "output-dir"},
    {"save-dir", "output-dir"},
    {"logging-dir", "output-dir"},
    {"data-seed", "seed"},
    {"random-seed", "seed"},
    // the machine
    {"gpus", "target"},
    {"no-cuda", "target", "host"},
    {"use-cpu", "target", "host"},
    {"accelerator", "target"},
    // predictions
    {"topk", "top-k"},
    {"max-new-tokens", "generate"},
    {"prompt", "prompts"},
};

// Flags of other trainers for which there is none here, and what holds instead
// for commands that have a certain flag. All that train have --learning-rate.
constexpr struct {
  std::string_view others[2], needs, instead;
} kInsteadOfOthers[] = {
    {{"drop-last", "dataloader-drop-last"},
     "num-train-epochs",
     "an epoch always leaves out the samples that do not fill a batch, other "
     "ones in each epoch if they are shuffled"},
    {{"drop-last", "dataloader-drop-last"},
     "top-k",
     "predictions leave out no samples"},
    {{"load-best-model-at-end"},
     "save-best",
     "--save-best keeps the checkpoint of the best validation, which the run "
     "names at its end, and gpuopt predict and export take its folder"},
    {{"greater-is-better"},
     "metric-for-best-model",
     "the metric that --metric-for-best-model names says which it is"},
    {{"eval-strategy", "evaluation-strategy"},
     "eval-steps",
     "validations come after every --eval-steps steps, and after the last"},
    {{"save-strategy"},
     "save-steps",
     "checkpoints come after every --save-steps steps, and with --save-best "
     "after the best validations"},
    {{"eval-batch-size", "per-device-eval-batch-size"},
     "learning-rate",
     "validations have batches of --batch-size samples, as steps have"},
    {{"gradient-checkpointing"},
     "learning-rate",
     "give --memory-budget: gpuopt recomputes activations where they would "
     "not fit"},
    {{"auto-find-batch-size"},
     "learning-rate",
     "gpuopt plan --find-batch-size finds the largest batch that fits into a "
     "--memory-budget"},
    {{"torch-compile"}, "learning-rate", "every step is compiled as a whole"},
    {{"pin-memory", "dataloader-pin-memory"},
     "num-workers",
     "batches for a GPU always lie in pinned memory"},
    {{"persistent-workers", "dataloader-persistent-workers"},
     "num-workers",
     "--num-workers threads live as long as the run"},
    {{"overwrite-output-dir"},
     "top-k",
     "a prediction replaces the results of an earlier one, and no other files"},
    {{"do-train", "do-eval"},
     "",
     "gpuopt train trains, and validates on --eval-data"},
    {{"do-predict"}, "", "gpuopt predict computes a model's outputs"},
    {{"deepspeed", "fsdp"},
     "learning-rate",
     "a program trains on one device; with --allow-offload, what does not fit "
     "into its memory waits in the host's"},
};

// Whether two names are the same, an underscore as good as a dash.
constexpr bool is_same_name(std::string_view one, std::string_view other) {
  auto dash = [](char c) { return c == '_' ? '-' : c; };
  bool is_same = one.size() == other.size();
  for (size_t i = 0; is_same && i < one.size(); i++)
    is_same = dash(one[i]) == dash(other[i]);
  return is_same;
}

// Returns what holds in place of a flag of others for a command that has the
// flags `names`; empty if there is nothing to say.
template <class Names>
std::string instead_of_others(std::string_view name, const Names &names) {
  for (const auto &known : kInsteadOfOthers)
    for (const std::string_view other : known.others)
      if (!other.empty() && is_same_name(other, name) &&
          (known.needs.empty() ||
           std::find(names.begin(), names.end(), known.needs) != names.end()))
        return std::string(known.instead);
  return "";
}

namespace detail {

// Returns the shortest names that begin with a text or, with `inside`, in which
// a later word does: "save-best or --save-steps". Empty if the text is too
// short to tell, or if there are none.
template <class Names>
std::string names_begun_by(std::string_view text, const Names &names,
                           bool inside) {
  constexpr size_t kLeastLetters = 3, kMostNames = 3;
  const std::string word = (inside ? "-" : "") + std::string(text);
  std::vector<std::pair<size_t, std::string>> found;
  for (const std::string &name : names) {
    const size_t at = name.find(word);
    if (text.size() >= kLeastLetters &&
        (inside ? at != std::string::npos : at == 0))
      found.emplace_back(name.size(), name);
  }
  std::sort(found.begin(), found.end());
  std::string list;
  for (size_t i = 0; i < std::min(found.size(), kMostNames); i++)
    list += (list.empty() ? "" : " or --") + found[i].second;
  return list;
}

// Returns the flag that a name of others stands for, with its value if that is
// known too; empty if the name or the flag is unknown.
template <class Names>
std::string ours_for(std::string_view name, const Names &names) {
  for (const auto &known : kNamesOfOthers)
    if (is_same_name(known.others, name) &&
        std::find(names.begin(), names.end(), known.ours) != names.end())
      return std::string(known.ours) + (known.value.empty() ? "" : "=") +
             std::string(known.value);
  return "";
}

} // namespace detail

// Returns the flag that a name was probably meant to be: that for a name of
// others, the nearest spelling of either, or the flags of which the name is the
// beginning, or that of a later word. Empty if there is none.
template <class Names>
std::string flag_meant_by(std::string_view name, const Names &names) {
  constexpr size_t kLeastLetters = 4; // in which one may be wrong
  std::vector<std::string_view> near_others;
  for (const auto &known : kNamesOfOthers)
    if (name.size() >= kLeastLetters && edit_distance(name, known.others) == 1)
      near_others.push_back(known.others);
  std::string meant = detail::ours_for(name, names);
  if (meant.empty())
    meant = nearest_name(name, names);
  if (meant.empty())
    meant = detail::names_begun_by(name, names, /*inside=*/false);
  for (const std::string_view other : near_others)
    if (meant.empty())
      meant = detail::ours_for(other, names);
  return meant.empty() ? detail::names_begun_by(name, names, /*inside=*/true)
                       : meant;
}

} // namespace gpuopt
