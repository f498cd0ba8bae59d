// What a trainer is told by its flags.
#pragma once

#include "gpuopt/flags.h"
#include "gpuopt/program.h"

namespace gpuopt {

struct DataFlags {
  std::map<std::string, std::string> files; // by input
  std::string labels, tokens;

  bool given() const {
    return !files.empty() || !labels.empty() || !tokens.empty();
  }

  // INPUT=FILE; "labels" means the labels.
  void add(const std::string &flag, const std::string &text) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      throw Error("'" + flag + "' needs INPUT=FILE, but got '" + text + "'");
    const std::string name = text.substr(0, equals),
                      file = text.substr(equals + 1);
    files[name] = file;
    if (name == "labels" && labels.empty())
      labels = file;
  }
};

struct Settings {
  DataFlags train, eval;
  std::string token_type = "uint16", output_dir = "trained", weights,
              dump_gradients;
  int64_t max_steps = -1, logging_steps = 1, eval_steps = 0, save_steps = 0;
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
  if (!(scaling.growth_factor >= 1) || !(scaling.backoff_factor > 0) ||
      scaling.backoff_factor > 1)
    throw Error("'--growth-factor' must be at least 1 and '--backoff-factor' "
                "in (0, 1]");
  if (scaling.growth_interval < 1 || !(scaling.min_loss_scale >= 1e-37))
    throw Error("'--growth-interval' must be at least 1 and "
                "'--min-loss-scale' more than 0, from 1e-37 on");
}

inline int64_t parse_schedule(const std::string &text) {
  constexpr const char *names[] = {"linear", "cosine", "constant",
                                   "constant_with_warmup"};
  for (int64_t i = 0; i < 4; i++)
    if (text == names[i])
      return i;
  throw Error("'--lr-scheduler-type' must be linear, cosine, constant or "
              "constant_with_warmup, but is '" +
              text + "'");
}

namespace detail {

inline void data_and_run_flags(Flags &flags, Settings &s) {
  flags.value("data", "INPUT=FILE.npy, once for each input",
              [&](const std::string &text) { s.train.add("--data", text); });
  flags.value(
      "eval-data", "the same for validation",
      [&](const std::string &text) { s.eval.add("--eval-data", text); });
  flags.text("labels", "FILE.npy", s.train.labels);
  flags.text("eval-labels", "FILE.npy", s.eval.labels);
  flags.text("tokens", "token file; the label is the next token",
             s.train.tokens);
  flags.text("eval-tokens", "token file for validation", s.eval.tokens);
  flags.text("token-type",
             "uint8, uint16 or uint32 for files without header (uint16)",
             s.token_type);
  flags.text("output-dir", "where weights and metrics go (trained)",
             s.output_dir);
  flags.text("weights", "model.safetensors to start from", s.weights);
  flags.integer("max-steps", "steps to attempt", s.max_steps);
  flags.number("num-train-epochs",
               "passes over the data where --max-steps is not given", s.epochs);
  flags.integer("logging-steps", "steps between lines on the terminal (1)",
                s.logging_steps);
  flags.integer("eval-steps", "steps between validations (0: at the end)",
                s.eval_steps);
  flags.integer("save-steps", "steps between saves (0: at the end)",
                s.save_steps);
  flags.integer("num-threads", "threads of the host target (0: all)",
                s.num_threads);
  flags.integer("num-workers", "threads that prepare batches (2)",
                s.num_workers);
  flags.integer("prefetch-factor", "batches ahead, for each of them (2)",
                s.prefetch_factor);
  flags.text("dump-gradients",
             "FILE.safetensors: the gradients of the first step",
             s.dump_gradients);
  flags.integer("seed", "of order and dropout", s.seed);
  flags.toggle("shuffle", "samples in random order (on)", s.shuffle);
}

inline void optimizer_flags(Flags &flags, Settings &s) {
  flags.number("learning-rate", "", s.hyper.learning_rate);
  flags.value("lr-scheduler-type",
              "linear, cosine, constant or constant_with_warmup",
              [&](const std::string &text) {
                s.hyper.schedule = parse_schedule(text);
              });
  flags.integer("warmup-steps", "steps of linear warm-up",
                s.hyper.warmup_steps);
  flags.number("warmup-ratio", "the same as a share of all steps",
               s.warmup_ratio);
  flags.number("weight-decay", "", s.hyper.weight_decay);
  flags.number("adam-beta1", "", s.hyper.beta1);
  flags.number("adam-beta2", "", s.hyper.beta2);
  flags.number("adam-epsilon", "", s.hyper.epsilon);
  flags.number("momentum", "", s.hyper.momentum);
  flags.number("max-grad-norm", "0: no clipping", s.hyper.max_grad_norm);
}

// torch.amp.GradScaler's names.
inline void loss_scale_flags(Flags &flags, Settings &s) {
  LossScaling &scaling = s.hyper.loss_scaling;
  flags.value(
      "loss-scale", "dynamic, or a number that stays",
      [&](const std::string &text) { parse_loss_scale(text, scaling); });
  flags.number("init-scale", "the first loss scale", scaling.init_scale);
  flags.number("growth-factor", "of the scale after growth-interval good steps",
               scaling.growth_factor);
  flags.number("backoff-factor", "of the scale after a step that overflows",
               scaling.backoff_factor);
  flags.integer("growth-interval", "good steps in a row before the scale grows",
                scaling.growth_interval);
  flags.number("min-loss-scale", "what the scale never falls below",
               scaling.min_loss_scale);
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
  detail::data_and_run_flags(flags, s);
  detail::optimizer_flags(flags, s);
  const bool scales_loss = find_state(program, StateKind::LossScale);
  if (scales_loss)
    detail::loss_scale_flags(flags, s);
  flags.parse_all(argc, argv);
  check_loss_scaling(s.hyper.loss_scaling);
  if (s.num_workers < 1 || s.prefetch_factor < 1)
    throw Error("'--num-workers' and '--prefetch-factor' must be at least 1");
  return s;
}

} // namespace gpuopt
