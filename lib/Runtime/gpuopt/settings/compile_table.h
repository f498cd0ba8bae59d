// The flags that decide what a program is or what is said about it, each
// declared once. The driver makes its flags, their checks and docs/settings.md
// from this table; a trainer has the names from it, to say where such a flag is
// set.
//
// This file is C++17, as the compiler is.
#pragma once

#include "gpuopt/settings/settings_table.h"
#include "gpuopt/settings/target_table.h"

#include <array>
#include <iterator>

namespace gpuopt {

// The headings under which docs/settings.md and --help have the flags.
enum class CompileGroup { Model, Loss, Optimizer, Precision, Target, Output };

constexpr const char *title_of(CompileGroup group) {
  switch (group) {
  case CompileGroup::Model:
    return "The model";
  case CompileGroup::Loss:
    return "The loss";
  case CompileGroup::Optimizer:
    return "The choice of the optimizer";
  case CompileGroup::Precision:
    return "Precision";
  case CompileGroup::Target:
    return "Target and memory";
  case CompileGroup::Output:
    return "What the commands print and write";
  }
  return "";
}

// The values that a flag can have: one of several names, a number within a
// range, or anything.
struct Values {
  const std::string_view *names = nullptr;
  size_t count = 0; // of names
  Range range;
  bool has_range = false;

  constexpr Values() = default;
  constexpr Values(Range range) : range(range), has_range(true) {}
  template <size_t kCount>
  constexpr Values(const std::string_view (&names)[kCount])
      : names(names), count(kCount) {}
  template <size_t kCount>
  constexpr Values(const std::array<std::string_view, kCount> &names)
      : names(names.data()), count(kCount) {}

  bool has(std::string_view name) const {
    for (size_t i = 0; i < count; i++)
      if (names[i] == name)
        return true;
    return count == 0;
  }
  // "fused or expanded", "at least 0 and below 1"; empty for anything.
  std::string text(bool is_whole) const {
    return count > 0   ? list_text(names, count)
           : has_range ? range.text(is_whole)
                       : "";
  }
};

struct CompileSetting {
  std::string_view name; // without the dashes
  CompileGroup group;
  unsigned takers; // Takers
  std::string_view help;
  // The default, or words for what holds if the flag is not given.
  std::string_view standard = "", otherwise = "";
  Values values = {};
  std::string_view value = ""; // what stands for the value in --help
};

// How the rows are written.
namespace compile_time {

// A flag with a default.
constexpr CompileSetting with_default(const char *name, CompileGroup group,
                                      const char *standard, Values values,
                                      const char *help) {
  return {name, group, kCompiling, help, standard, "", values};
}
// A flag without a default, and what holds without it.
constexpr CompileSetting without_default(const char *name, CompileGroup group,
                                         const char *value, const char *help,
                                         const char *otherwise = "",
                                         Values values = {},
                                         unsigned takers = kCompiling) {
  return {name, group, takers, help, "", otherwise, values, value};
}
// A flag that is on or off.
constexpr CompileSetting on_or_off(const char *name, CompileGroup group,
                                   unsigned takers, const char *help) {
  return {name, group, takers, help, "off"};
}

// A flag of gpuopt predict as well.
constexpr CompileSetting shared(CompileSetting setting) {
  setting.takers |= kPredict;
  return setting;
}

constexpr std::string_view kBatchNorms[] = {"train", "frozen"};
constexpr std::string_view kAttentions[] = {"fused", "expanded", "auto"};
constexpr std::string_view kEpilogues[] = {"auto", "none"};
constexpr std::string_view kLosses[] = {"cross_entropy",
                                        "nll",
                                        "mse",
                                        "l1",
                                        "huber",
                                        "smooth_l1",
                                        "bce_with_logits",
                                        "focal",
                                        "dice",
                                        "kl_div",
                                        "soft_cross_entropy",
                                        "none"};
constexpr std::string_view kPrecisions[] = {"fp32", "tf32", "fp16", "bf16"};
constexpr std::string_view kPhases[] = {"import",   "nn",        "train",
                                        "clusters", "precision", "schedule",
                                        "memory",   "device"};

constexpr auto names_of_optimizers() {
  std::array<std::string_view, std::size(kOptimizers)> names{};
  for (size_t i = 0; i < names.size(); i++)
    names[i] = kOptimizers[i].name;
  return names;
}
inline constexpr auto kOptimizerNames = names_of_optimizers();

constexpr auto names_of_targets() {
  std::array<std::string_view, std::size(kTargets) + 1> names{"auto"};
  for (size_t i = 1; i < names.size(); i++)
    names[i] = kTargets[i - 1].name;
  return names;
}
inline constexpr auto kTargetNames = names_of_targets();
} // namespace compile_time

// Names and defaults are those of the Hugging Face Trainer where it has them.
inline constexpr CompileSetting kCompileSettings[] = {
    compile_time::shared(compile_time::without_default(
        "batch-size", CompileGroup::Model, "N",
        "size of the symbolic first dimension of the inputs; needed if there "
        "is one (predict: by the number of samples, at most 32)",
        "", at_least(1))),
    compile_time::shared(
        compile_time::without_default("dim", CompileGroup::Model, "NAME=N",
                                      "size of another symbolic dimension")),
    compile_time::shared(compile_time::without_default(
        "constant-input", CompileGroup::Model, "NAME=FILE.npy",
        "input that always has the numbers of a file, such as one that decides "
        "shapes; it is no input of the program")),
    compile_time::with_default("batch-norm", CompileGroup::Model, "train",
                               compile_time::kBatchNorms,
                               "mode of batch normalisation"),
    compile_time::shared(compile_time::with_default(
        "attention", CompileGroup::Model, "auto", compile_time::kAttentions,
        "how attention is computed; if fused, no matrix of "
        "queries x keys is in memory; auto: fused, but expanded in training on "
        "a processor whose cache keeps the matrices of all layers")),
    compile_time::shared(compile_time::with_default(
        "epilogues", CompileGroup::Model, "auto", compile_time::kEpilogues,
        "whether the products of a GPU's library compute GELUs, ReLUs and "
        "their "
        "gradients where that is estimated to be faster")),
    compile_time::without_default("frozen-params", CompileGroup::Model, "REGEX",
                                  "parameters to keep as they are", "none"),
    compile_time::without_default(
        "trained-params", CompileGroup::Model, "REGEX",
        "parameters to train although they have one element, or the file says "
        "that they are not trained",
        "none"),
    compile_time::on_or_off("inference", CompileGroup::Model, kCompileAlone,
                            "compile the forward alone, without training"),

    compile_time::with_default(
        "loss", CompileGroup::Loss, "cross_entropy", compile_time::kLosses,
        "loss to minimise; or, once for each of several outputs, "
        "OUTPUT:LOSS:WEIGHT, whose sum is minimised"),
    compile_time::without_default("logits", CompileGroup::Loss, "NAME",
                                  "output that the loss reads", "the first"),
    compile_time::with_default("ignore-index", CompileGroup::Loss, "-100", {},
                               "label value that the loss ignores"),
    compile_time::with_default(
        "label-smoothing", CompileGroup::Loss, "0", kBelow1,
        "share of a label that is spread over all classes"),
    compile_time::without_default(
        "class-weights", CompileGroup::Loss, "FILE.npy|W,W,...",
        "weights of the classes, by which the mean of the loss is weighted",
        "all 1"),
    compile_time::with_default("huber-delta", CompileGroup::Loss, "1", above(0),
                               "error from which --loss=huber is linear"),
    compile_time::with_default("smooth-l1-beta", CompileGroup::Loss, "1",
                               at_least(0),
                               "error from which --loss=smooth_l1 is linear"),
    compile_time::with_default(
        "focal-alpha", CompileGroup::Loss, "0.25", at_least(-1, 1),
        "weight of targets of 1 in --loss=focal, where those of 0 have the "
        "rest of 1; below 0: no weights"),
    compile_time::with_default(
        "focal-gamma", CompileGroup::Loss, "2", at_least(0),
        "power of the probability that a prediction misses, in --loss=focal"),
    compile_time::with_default(
        "dice-smooth", CompileGroup::Loss, "1e-5", at_least(0),
        "what --loss=dice adds above and below the fraction"),
    compile_time::without_default(
        "eval-metrics", CompileGroup::Loss, "NAMES",
        "what a validation measures besides the loss, with commas between "
        "them: accuracy, top_K_accuracy, f1, perplexity",
        "none"),
    compile_time::with_default(
        "loss-chunks", CompileGroup::Loss, "0", at_least(0),
        "chunks of the batch in which the last product and the "
        "cross entropy run; 0: as many as the size of the logits "
        "asks for"),

    compile_time::with_default("optimizer", CompileGroup::Optimizer, "adamw",
                               compile_time::kOptimizerNames,
                               "update rule of the parameters"),
    compile_time::without_default("no-decay", CompileGroup::Optimizer, "REGEX",
                                  "parameters without weight decay", "none"),
    compile_time::with_default("gradient-accumulation-steps",
                               CompileGroup::Optimizer, "1", at_least(1),
                               "batches per update"),

    compile_time::shared(compile_time::with_default(
        "precision", CompileGroup::Precision, "fp32", compile_time::kPrecisions,
        "types that the program may use (tf32: for products of fp32 on CUDA)")),
    compile_time::shared(compile_time::without_default(
        "precision-override", CompileGroup::Precision, "REGEX=fp32|fp16|bf16",
        "precision of ONNX nodes, by name or operator")),
    compile_time::shared(compile_time::without_default(
        "precision-policy", CompileGroup::Precision, "FILE",
        "JSON file with lists of operators: half, fp32, follow")),
    compile_time::on_or_off(
        "debug-overflow", CompileGroup::Precision, kCompiling,
        "the trainer names the first result that is infinite or "
        "NaN; slow"),

    compile_time::shared(compile_time::with_default(
        "target", CompileGroup::Target, "auto", compile_time::kTargetNames,
        "where the program runs (auto: as --device, or cuda if there are a GPU "
        "and nvcc, else host; emulated: the program for cuda on the processor, "
        "for tests)")),
    compile_time::shared(compile_time::without_default(
        "device", CompileGroup::Target, "NAME|FILE.json",
        "device whose times are estimated",
        "host; for --target=cuda and emulated the GPU of --profile-costs, else "
        "h200; in train and predict what 'gpuopt calibrate' measured here")),
    compile_time::without_default(
        "memory-budget", CompileGroup::Target, "BYTES",
        "most that the program may allocate on the device, like "
        "8GiB, in B, KB, MB, GB, TB (powers of 1000) or KiB, MiB, "
        "GiB, TiB (of 1024); or auto: what is free there",
        "no limit"),
    compile_time::without_default(
        "activation-budget", CompileGroup::Target, "BYTES",
        "a limit like --memory-budget, for the arena alone", "no limit"),
    compile_time::on_or_off(
        "allow-offload", CompileGroup::Target, kCompiling,
        "within a budget, tensors may wait in the memory of the "
        "host"),
    compile_time::without_default(
        "offload-bandwidth", CompileGroup::Target, "BYTES/s",
        "bandwidth of the link to the host, like 24GB/s", "the device's"),
    compile_time::shared(compile_time::without_default(
        "workspace-size", CompileGroup::Target, "BYTES",
        "memory that cuBLASLt and cuDNN may use, on CUDA",
        "by the model's products and convolutions")),
    compile_time::shared(compile_time::without_default(
        "convolution-plans", CompileGroup::Target, "FILE.json",
        "workspaces of the model's convolutions, as gpuopt-plan-convolutions "
        "has written them, on CUDA")),
    compile_time::without_default(
        "profile-costs", CompileGroup::Target, "FILE.json",
        "times of the model's ops that a trainer has measured by "
        "--profile-costs-to; they take precedence over those of "
        "--device"),

    compile_time::without_default("compile-to", CompileGroup::Output, "PHASE",
                                  "print the module after a phase and stop", "",
                                  compile_time::kPhases,
                                  kCompileAlone | kTrain),
    compile_time::shared(compile_time::without_default(
        "dump-phases-to", CompileGroup::Output, "DIR",
        "write the module after each phase")),
    compile_time::on_or_off("json", CompileGroup::Output, kPlan, "print JSON"),
    compile_time::on_or_off("curve", CompileGroup::Output, kPlan,
                            "print what budgets cost in time"),
    compile_time::on_or_off(
        "kernels", CompileGroup::Output, kPlan,
        "print what each kernel and call of a step takes on the GPU"),
    compile_time::without_default(
        "html", CompileGroup::Output, "FILE.html",
        "write a page with the curve, the memory and each tensor", "", {},
        kPlan),
    compile_time::without_default(
        "memory-timeline", CompileGroup::Output, "FILE.json|FILE.pickle",
        "write which tensors are alive at each op, and where; as .pickle for "
        "https://pytorch.org/memory_viz",
        "", {}, kPlan),
    compile_time::on_or_off("find-batch-size", CompileGroup::Output, kPlan,
                            "find the largest batch within the budget"),
    compile_time::on_or_off("skip-smallest-budget", CompileGroup::Output, kPlan,
                            "do without the search for the smallest budget "
                            "that can be met, which takes seconds"),
};

constexpr const CompileSetting *find_compile_setting(std::string_view name) {
  for (const CompileSetting &setting : kCompileSettings)
    if (setting.name == name)
      return &setting;
  return nullptr;
}

// Returns the words of a trainer about a flag that it does not take.
inline std::string where_set(const CompileSetting &setting) {
  const std::string command =
      setting.takers & kCompileAlone ? "compile" : "plan";
  return "is set at compile time: gpuopt " + command + " --" +
         std::string(setting.name);
}

} // namespace gpuopt
