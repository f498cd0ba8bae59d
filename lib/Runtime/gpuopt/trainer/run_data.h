// The data of a run: what it trains on and, if there is any, what it is
// validated on.
#pragma once

#include "gpuopt/data/check_ahead.h"
#include "gpuopt/data/loader.h"
#include "gpuopt/data/sources.h"
#include "gpuopt/trainer/class_names.h"
#include "gpuopt/trainer/settings.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace gpuopt {

class RunData {
public:
  RunData(const Program &program, const Settings &s) : program(program), s(s) {}

  // Opens the files, before anything is allocated, so that errors in them are
  // reported first.
  void open() {
    train_sources =
        SourceOpener(program.inputs, s.train, s.token_type, "--").open();
    names = class_names_text(train_sources);
    fewer = describe_fewer_classes(program.inputs, train_sources);
    check_mix(program.inputs, program.batch_size, mix_options());
    if (!s.eval.given())
      return;
    if (!program.evaluate)
      throw Error("this program has no evaluation; compile it with one, or "
                  "leave out --eval-*");
    eval_sources =
        SourceOpener(program.inputs, s.eval, s.token_type, "--eval-").open();
    match_classes(program.inputs, train_sources, eval_sources);
    check_samples(eval_sources, program.batch_size, /*pads_last=*/true);
    check_ahead(program.inputs, eval_sources, program.batch_size,
                s.on_bad_record == kSkipBadRecord);
  }

  // Begins to load. Training goes on behind `first_batch` batches. `tracer` may
  // be null.
  void begin(Context &ctx, char *memory, int64_t first_batch, Tracer *tracer) {
    LoaderOptions options;
    options.batch_size = program.batch_size;
    options.seed = s.seed;
    options.num_workers =
        s.num_workers == kAuto ? kAutoWorkers : int(s.num_workers);
    options.prefetch_factor = int(s.prefetch_factor);
    options.skips_bad_records = s.on_bad_record == kSkipBadRecord;
    options.max_bad_records = s.max_bad_records;
    options.tracer = tracer;
    LoaderOptions of_training = options;
    of_training.shuffle = s.shuffle;
    of_training.first_batch = first_batch;
    of_training.mix = mix_options();
    train_loader =
        std::make_unique<Loader>(ctx, program, std::move(train_sources),
                                 of_training, staging(memory, /*half=*/0));
    if (!s.eval.given())
      return;
    // Validations take samples as they are, and each of them once.
    options.shuffle = false;
    options.pads_last = true;
    eval_loader =
        std::make_unique<Loader>(ctx, program, std::move(eval_sources), options,
                                 staging(memory, /*half=*/1));
  }

  // Returns how many steps the whole run has.
  int64_t steps() const {
    if (s.max_steps > 0)
      return s.max_steps;
    const double batches =
        s.num_train_epochs * double(train_loader->batches_per_epoch());
    return int64_t(std::clamp(
        std::ceil(batches / double(program.accumulation_steps)), 1.0, 1e18));
  }
  Loader &train() const { return *train_loader; }
  // Returns the lines of classes.txt; empty if the labels have no names.
  const std::string &class_names() const { return names; }
  // Says that there are fewer classes than the model has; empty otherwise.
  const std::string &fewer_classes() const { return fewer; }
  // Returns null if there are no validations.
  Loader *eval() const { return eval_loader.get(); }

private:
  MixOptions mix_options() const {
    return {s.mixup, s.cutmix, s.mixup_prob, s.mixup_switch_prob};
  }
  // The first half is for training, the second for validations.
  DeviceMemory staging(char *memory, size_t half) const {
    DeviceMemory staging;
    if (const StateInfo *state = find_state(program, StateKind::Staging)) {
      staging.bytes = state->tensor.bytes / 2;
      staging.data = memory + state->tensor.offset + half * staging.bytes;
    }
    return staging;
  }

  const Program &program;
  const Settings &s;
  std::string names; // of the classes
  std::string fewer;
  DataSources train_sources, eval_sources;
  std::unique_ptr<Loader> train_loader, eval_loader; // eval_loader: or null
};

} // namespace gpuopt
