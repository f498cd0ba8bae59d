// What a trainer is told by its flags.
#pragma once

#include "gpuopt/flags.h"
#include "gpuopt/output_folder.h"
#include "gpuopt/program.h"
#include "gpuopt/sources.h"
#include "gpuopt/wait_policy.h"

#include <cmath>

namespace gpuopt {

struct Settings {
  DataFlags train, eval;
  std::string token_type = "uint16", output_dir = "trained", weights,
              dump_gradients, profile_costs_to;
  WaitPolicy wait_policy = WaitPolicy::Auto;
  int64_t max_steps = -1, logging_steps = 1, eval_steps = 0, save_steps = 0;
  int64_t profile_warmup = 3, profile_active = 10;
  int64_t num_threads = 0, num_workers = 2, prefetch_factor = 2, seed = 0;
  double epochs = 0, warmup_ratio = 0;
  bool shuffle = true;
  Hyperparameters hyper;
};

// dynamic, or the scale itself.
inline void parse_loss_scale(const std::string &text, LossScaling &scaling) {
  scaling.is_dynamic = text == "dynamic";
  if (scaling.is_dynamic)
    return;
  char *end = nullptr;
  scaling.init_scale = strtod(text.c_str(), &end);
  if (text.empty() || *end)
    throw Error("'--loss-scale' must be dynamic or a number, but is '" + text +
                "'");
}

inline void check_loss_scaling(const LossScaling &scaling) {
  // It is a float.
  if (!(scaling.init_scale >= 1e-37) || scaling.init_scale > 1e38)
    throw Error("the loss scale must be more than 0, from 1e-37 to 1e38");
  if (!(scaling.growth_factor >= 1) || scaling.growth_factor > 1e38 ||
      !(scaling.backoff_factor > 0) || scaling.backoff_factor > 1)
    throw Error("'--growth-factor' must be at least 1 and finite, and "
                "'--backoff-factor' in (0, 1]");
  if (scaling.growth_interval < 1 || !(scaling.min_loss_scale >= 1e-37) ||
      scaling.min_loss_scale > 1e38)
    throw Error("'--growth-interval' must be at least 1 and "
                "'--min-loss-scale' more than 0, from 1e-37 to 1e38");
}

constexpr const char *kScheduleNames[] = {"linear", "cosine", "constant",
                                          "constant_with_warmup"};

inline int64_t parse_schedule(const std::string &text) {
  for (int64_t i = 0; i < 4; i++)
    if (text == kScheduleNames[i])
      return i;
  throw Error("'--lr-scheduler-type' must be linear, cosine, constant or "
              "constant_with_warmup, but is '" +
              text + "'");
}

namespace detail {

inline void data_flags(Flags &flags, Settings &s) {
  flags.section("The data (docs/training.md)");
  flags.value("data", "INPUT=FILE.npy, once for each input",
              [&](const std::string &text) { s.train.add("--data", text); });
  flags.text("labels", "FILE.npy", s.train.labels);
  flags.text("tokens",
             "file of tokens, for the input that --data does not name; the "
             "label is the next token",
             s.train.tokens);
  flags.text("token-type",
             "uint8, uint16 or uint32, for token files without a header",
             s.token_type);
  flags.toggle("shuffle", "samples in random order", s.shuffle);
  flags.value(
      "eval-data", "INPUT=FILE.npy, for validation",
      [&](const std::string &text) { s.eval.add("--eval-data", text); });
  flags.text("eval-labels", "FILE.npy, for validation", s.eval.labels);
  flags.text("eval-tokens", "file of tokens, for validation", s.eval.tokens);
}

inline void run_flags(Flags &flags, Settings &s) {
  flags.section("The run");
  flags.text("output-dir", "where weights and metrics go", s.output_dir);
  flags.text("weights",
             "model.safetensors to start from (default: that of the program)",
             s.weights);
  flags.integer("max-steps",
                "steps to attempt; -1: as many as --num-train-epochs needs",
                s.max_steps);
  flags.number("num-train-epochs",
               "passes over the data where --max-steps is -1", s.epochs);
  flags.integer("logging-steps", "steps between lines on the terminal; 0: none",
                s.logging_steps);
  flags.integer("eval-steps", "steps between validations; 0: at the end alone",
                s.eval_steps);
  flags.integer("save-steps", "steps between saves; 0: at the end alone",
                s.save_steps);
  flags.integer("seed", "of order and dropout", s.seed);
  flags.integer("num-threads",
                "threads of the host target; 0: as many as cores",
                s.num_threads);
  flags.value("wait-policy",
              "how threads of the host target wait for the next kernel: active "
              "(they spin), passive (they sleep) or auto, which measures what "
              "is faster (default auto)",
              [&](const std::string &text) {
                s.wait_policy = parse_wait_policy(text);
              });
  flags.integer("num-workers", "threads that prepare batches", s.num_workers);
  flags.integer("prefetch-factor", "batches ahead, for each of them",
                s.prefetch_factor);
  flags.text("dump-gradients",
             "FILE.safetensors: the gradients of the first step",
             s.dump_gradients);
  flags.text("profile-costs-to",
             "FILE.json: how long each op of a step takes, for gpuopt "
             "--profile-costs",
             s.profile_costs_to);
  flags.integer("profile-warmup", "steps before those that are timed",
                s.profile_warmup);
  flags.integer("profile-active", "steps that are timed", s.profile_active);
}

inline void optimizer_flags(Flags &flags, Settings &s, const Program &program) {
  flags.section("The optimizer");
  flags.number("learning-rate", "of the first step after warm-up",
               s.hyper.learning_rate);
  flags.value("lr-scheduler-type",
              "linear, cosine, constant or constant_with_warmup (default " +
                  std::string(kScheduleNames[s.hyper.schedule]) + ")",
              [&](const std::string &text) {
                s.hyper.schedule = parse_schedule(text);
              });
  flags.integer("warmup-steps", "steps of linear warm-up",
                s.hyper.warmup_steps);
  flags.number("warmup-ratio", "the same as a share of all steps",
               s.warmup_ratio);
  flags.number("weight-decay", "decoupled for adamw", s.hyper.weight_decay);
  flags.number("max-grad-norm", "norm to clip gradients to; 0: none",
               s.hyper.max_grad_norm);
  if (find_state(program, StateKind::FirstMoment)) {
    flags.number("adam-beta1", "decay of the first moment", s.hyper.beta1);
    flags.number("adam-beta2", "decay of the second moment", s.hyper.beta2);
    flags.number("adam-epsilon", "added to the root of the second moment",
                 s.hyper.epsilon);
  } else {
    for (const char *name : {"adam-beta1", "adam-beta2", "adam-epsilon"})
      flags.elsewhere(name, "is of adamw, and this program was compiled with "
                            "--optimizer=sgd");
  }
  if (find_state(program, StateKind::Momentum))
    flags.number("momentum", "of sgd", s.hyper.momentum);
  else
    flags.elsewhere("momentum", "is of programs that were compiled with "
                                "--optimizer=sgd and a --momentum");
}

// torch.amp.GradScaler's names.
inline void loss_scale_flags(Flags &flags, Settings &s) {
  LossScaling &scaling = s.hyper.loss_scaling;
  flags.section("The loss scale (torch.amp.GradScaler's names)");
  flags.value(
      "loss-scale",
      std::string("dynamic, or a number that stays (default ") +
          (scaling.is_dynamic ? "dynamic" : "a number: --init-scale") + ")",
      [&](const std::string &text) { parse_loss_scale(text, scaling); });
  flags.number("init-scale", "the first dynamic loss scale",
               scaling.init_scale);
  flags.number("growth-factor", "of the scale after growth-interval good steps",
               scaling.growth_factor);
  flags.number("backoff-factor", "of the scale after a step that overflows",
               scaling.backoff_factor);
  flags.integer("growth-interval", "good steps in a row before the scale grows",
                scaling.growth_interval);
  flags.number("min-loss-scale", "what the scale never falls below",
               scaling.min_loss_scale);
}

inline void compile_time_flags(Flags &flags, bool scales_loss) {
  for (const char *name : {"batch-size",       "dim",
                           "batch-norm",       "frozen-params",
                           "inference",        "loss",
                           "logits",           "ignore-index",
                           "label-smoothing",  "loss-chunks",
                           "optimizer",        "no-decay",
                           "nesterov",         "gradient-accumulation-steps",
                           "precision",        "precision-override",
                           "precision-policy", "debug-overflow",
                           "memory-budget",    "activation-budget",
                           "device",           "target",
                           "profile-costs"})
    flags.elsewhere(name, "is set at compile time: gpuopt compile --" +
                              std::string(name));
  if (!scales_loss)
    for (const char *name :
         {"loss-scale", "init-scale", "growth-factor", "backoff-factor",
          "growth-interval", "min-loss-scale"})
      flags.elsewhere(name, "is of programs that scale their loss: gpuopt "
                            "compile --precision=fp16 or --loss-scale");
}

// Values that no training can mean.
inline void check_ranges(const Settings &s) {
  constexpr double most = 1e38; // of a float
  const double below1 = std::nextafter(1.0, 0.0);
  const struct {
    const char *name;
    double value, least, most;
  } ranges[] = {
      {"learning-rate", s.hyper.learning_rate, 0, most},
      {"weight-decay", s.hyper.weight_decay, 0, most},
      {"momentum", s.hyper.momentum, 0, most},
      {"adam-beta1", s.hyper.beta1, 0, below1}, // 1 divides by 0
      {"adam-beta2", s.hyper.beta2, 0, below1},
      {"adam-epsilon", s.hyper.epsilon, 0, most},
      {"max-grad-norm", s.hyper.max_grad_norm, 0, most},
      {"warmup-ratio", s.warmup_ratio, 0, 1},
      {"warmup-steps", double(s.hyper.warmup_steps), 0, most},
      {"logging-steps", double(s.logging_steps), 0, most},
      {"eval-steps", double(s.eval_steps), 0, most},
      {"save-steps", double(s.save_steps), 0, most},
      {"profile-warmup", double(s.profile_warmup), 0, 1e9},
      {"profile-active", double(s.profile_active), 1, 1e6},
      {"num-train-epochs", s.epochs, 0, 1e9},
      {"num-threads", double(s.num_threads), 0, 4096},
      {"num-workers", double(s.num_workers), 1, 1024},
      {"prefetch-factor", double(s.prefetch_factor), 1, 1024},
  };
  char text[160];
  for (const auto &range : ranges)
    if (!(range.value >= range.least && range.value <= range.most)) {
      char end[32] = " and finite";
      if (range.most != most)
        snprintf(end, sizeof end,
                 range.most == below1 ? " and below %.0f" : " and at most %g",
                 range.most);
      snprintf(text, sizeof text, "'--%s' must be at least %g%s, but is %g",
               range.name, range.least, end, range.value);
      throw Error(text);
    }
  if (s.max_steps < 1 && s.max_steps != -1)
    throw Error("'--max-steps' must be at least 1, or -1 for as many as "
                "--num-train-epochs needs, but is " +
                std::to_string(s.max_steps));
  if (s.max_steps == -1 && !(s.epochs > 0))
    throw Error("'--num-train-epochs' must be more than 0");
}

// How long the warm-up is, one flag says: it goes before what the program was
// compiled with, even where that is the other one.
inline void choose_warmup(const Flags &flags, Settings &s) {
  const bool steps = flags.given("warmup-steps"),
             ratio = flags.given("warmup-ratio");
  if (steps && !ratio)
    s.warmup_ratio = 0;
  if (ratio && !steps)
    s.hyper.warmup_steps = 0;
}

// Files that are read, by the flags that name them.
inline void check_readable(const std::string &flag, const std::string &path) {
  try {
    if (!path.empty())
      MappedFile file(path);
  } catch (const Error &error) {
    throw Error("'" + flag + "': " + error.what());
  }
}
inline void check_files(const DataFlags &data, const std::string &prefix) {
  for (const auto &[input, path] : data.files)
    check_readable(prefix + "data", path);
  check_readable(prefix + "labels", data.labels);
  check_readable(prefix + "tokens", data.tokens);
}

// Flags that contradict each other, or what the program is.
inline void check_together(const Flags &flags, const Settings &s,
                           const Program &program) {
  if (flags.given("dump-gradients") &&
      !find_state(program, StateKind::Gradient))
    throw Error("'--dump-gradients': this program does not keep its "
                "gradients; compile it with --gradient-accumulation-steps");
  if (s.eval_steps > 0 && !s.eval.given())
    throw Error("'--eval-steps' needs data to validate on: --eval-data and "
                "--eval-labels, or --eval-tokens");
  if (flags.given("token-type") && s.train.tokens.empty() &&
      s.eval.tokens.empty())
    throw Error("'--token-type' is of --tokens and --eval-tokens");
  if (s.hyper.warmup_steps > 0 && s.warmup_ratio > 0)
    throw Error("'--warmup-steps' and '--warmup-ratio' are of the same "
                "warm-up; give one of them");
  for (const char *name : {"profile-warmup", "profile-active"})
    if (flags.given(name) && s.profile_costs_to.empty())
      throw Error("'--" + std::string(name) + "' is of --profile-costs-to");
  for (const char *name : {"init-scale", "growth-factor", "backoff-factor",
                           "growth-interval", "min-loss-scale"})
    if (flags.given(name) && !s.hyper.loss_scaling.is_dynamic)
      throw Error("'--" + std::string(name) +
                  "' is of --loss-scale=dynamic, but the loss scale is a "
                  "number that stays");
}

} // namespace detail

inline Settings parse_settings(int argc, char **argv, const Program &program) {
  Settings s;
  s.hyper = program.defaults;
  s.max_steps = program.defaults.max_steps;
  s.epochs = program.num_train_epochs;
  s.warmup_ratio = program.warmup_ratio;
  s.seed = int64_t(program.seed);
  Flags flags;
  const bool scales_loss = find_state(program, StateKind::LossScale);
  detail::data_flags(flags, s);
  detail::run_flags(flags, s);
  detail::optimizer_flags(flags, s, program);
  if (scales_loss)
    detail::loss_scale_flags(flags, s);
  detail::compile_time_flags(flags, scales_loss);
  flags.parse_all(argc, argv);
  detail::choose_warmup(flags, s);
  check_loss_scaling(s.hyper.loss_scaling);
  detail::check_ranges(s);
  detail::check_together(flags, s, program);
  OutputFolder::check(s.output_dir);
  detail::check_files(s.train, "--");
  detail::check_files(s.eval, "--eval-");
  detail::check_readable("--weights", s.weights);
  return s;
}

} // namespace gpuopt
