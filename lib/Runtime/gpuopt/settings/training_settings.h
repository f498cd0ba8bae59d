// All that a training or a prediction can be told, and the defaults.
// settings_table.h has the flag of each member, optimizer_table.h those that
// optimizers read.
//
//   struct Hyperparameters    what the device reads of them in a step
//   struct TrainingSettings   all of them
//
// This file is C++17, as the compiler is.
#pragma once

#include "gpuopt/settings/optimizer_table.h"
#include "gpuopt/settings/schedule_table.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuopt {

// More threads than any machine has cores; systems fail to create many more.
constexpr int64_t kMostThreads = 4096;

// The loss scale; the names and defaults are those of torch.amp.GradScaler. A
// scale that is not dynamic keeps its first value; steps that overflow are
// skipped as well.
constexpr std::string_view kLossScaleNames[] = {"dynamic", "none"};
struct LossScaling {
  int64_t is_dynamic = 1;
  double init_scale = 65536;
  double growth_factor = 2;
  double backoff_factor = 0.5;
  int64_t growth_interval = 2000; // good steps in a row before the scale grows
  double min_loss_scale = 1;
};

// The treatment of a record that is damaged or does not fit.
enum OnBadRecord : int64_t { kErrorOnBadRecord, kSkipBadRecord };
constexpr std::string_view kOnBadRecordNames[] = {"error", "skip"};

// What a run reports to, beside metrics.jsonl.
enum ReportTo : int64_t { kReportToNone, kReportToTensorBoard };
constexpr std::string_view kReportToNames[] = {"none", "tensorboard"};

// The hyperparameters, which are copied to the device before the first step.
struct Hyperparameters : LossScaling, OptimizerHyperparameters {
  double learning_rate = 5e-5;
  int64_t lr_scheduler_type = kLinear;
  int64_t warmup_steps = 0;
  int64_t max_steps = -1; // on the device: of the whole run
  // Each is read by the schedules that kLrSchedulers lists it for.
  double lr_num_cycles = 0; // 0: 0.5, or 1 of cosine_with_restarts
  double min_lr = 0, min_lr_rate = 0, lr_end = 1e-7, lr_power = 1;
  int64_t lr_timescale = 0; // 0: warmup_steps or, without one, 10000
  int64_t lr_decay_steps = 0;
  int64_t lr_warmup_type = kLinearRamp, lr_decay_type = kCosineRamp;
  double max_grad_norm = 1;
};

// What an integer is that the user has left to the program to choose.
constexpr int64_t kAuto = INT64_MIN;

struct TrainingSettings : Hyperparameters {
  double warmup_ratio = 0, num_train_epochs = 3;
  double lr_factor = 0.1, lr_threshold = 1e-4; // reduce_lr_on_plateau
  int64_t lr_patience = 10, lr_cooldown = 0;
  double ema_decay = 0, early_stopping_threshold = 0;
  double mixup = 0, cutmix = 0, mixup_prob = 1, mixup_switch_prob = 0.5;
  int64_t early_stopping_patience = 0;
  bool init_strict = false;
  uint64_t seed = 42;
  bool shuffle = true, autotune = true, flush_denormals = true,
       save_best = false, quiet = false, overwrite_output_dir = false,
       nvtx = false;
  int64_t logging_steps = kAuto, eval_steps = 0, save_steps = 0;
  int64_t save_total_limit = 0;
  int64_t profile_warmup = 3, profile_active = 10;
  int64_t num_threads = 0, num_workers = 2, prefetch_factor = 2;
  int64_t on_bad_record = kErrorOnBadRecord, max_bad_records = 100;
  int64_t top_k = 0, generate = 0, eos_token_id = -1;
  int64_t report_to = kReportToNone;
  double temperature = 0;
  std::string token_type = "uint16", labels, tokens, eval_labels, eval_tokens,
              transform, eval_transform, profile, profile_costs_to,
              checksums_to, dump_gradients, weights, resume, init_from,
              output_dir = "trained", wait_policy = "auto", autotune_file,
              attention_library = "auto", outputs, class_names, prompts,
              constants, metric_for_best_model = "loss";
  std::vector<std::string> param_groups; // param_groups.h parses them
};

} // namespace gpuopt
