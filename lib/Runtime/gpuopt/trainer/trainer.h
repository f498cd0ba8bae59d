// The trainer of a program: loads weights and data, runs the steps, and writes
// results.
#pragma once

#include "gpuopt/device/denormals.h"
#include "gpuopt/device/wait_policy.h"
#include "gpuopt/trainer/averages.h"
#include "gpuopt/trainer/checkpoints/checkpoints.h"
#include "gpuopt/trainer/checkpoints/init_weights.h"
#include "gpuopt/trainer/earlier_results.h"
#include "gpuopt/trainer/event_scalars.h"
#include "gpuopt/trainer/loss_warnings.h"
#include "gpuopt/trainer/metrics.h"
#include "gpuopt/trainer/not_finite.h"
#include "gpuopt/trainer/output_folder.h"
#include "gpuopt/trainer/output_losses.h"
#include "gpuopt/trainer/profiling/step_profiles.h"
#include "gpuopt/trainer/progress.h"
#include "gpuopt/trainer/run_data.h"
#include "gpuopt/trainer/run_outcome.h"
#include "gpuopt/trainer/run_start.h"
#include "gpuopt/trainer/run_summary.h"
#include "gpuopt/trainer/running_statistics.h"
#include "gpuopt/trainer/session.h"
#include "gpuopt/trainer/settings.h"
#include "gpuopt/trainer/signals.h"

namespace gpuopt {

class Trainer {
public:
  Trainer(const Program &program, Settings settings)
      : program(program), s(std::move(settings)),
        earlier(s.output_dir, s.weights, s.resume, program.name),
        session(program, int(kStagingIsDevice ? s.num_threads : 0)),
        ctx(session.ctx),
        waiting(parse_wait_policy(s.wait_policy), ctx.num_threads),
        averages(program, s.ema_decay), statistics(program), measured(program),
        profiles(program, s), data(program, s), checkpoints(program, s),
        outcome(program, s, checkpoints), summary(ctx, program, s),
        progress(s.logging_steps), warnings(program) {
    session.use_attention_library(s.attention_library);
    if (kStagingIsDevice)
      flush_denormals(ctx.num_threads, s.flush_denormals);
  }

  // Returns the exit status.
  int run() {
    refuse_named_ranges(s.nvtx);
    folder = std::make_unique<OutputFolder>(s.output_dir);
    data.open();
    const bool overwrites = enter_folder();
    step = begun_at();
    summary.begin_at(step);
    prepare();
    if (overwrites && detail::interrupted) // nothing is set aside yet
      return outcome.tell_interrupt(step, steps, /*has_trained=*/false);
    note_signals();
    Metrics metrics(s.output_dir, kind_of(program).optimizer == "muon",
                    checkpoints.starts_in_output() ? step : 0);
    try {
      if (overwrites)
        earlier.set_aside();
      open_outputs();
      announce();
      start = Clock::now();
      const bool is_whole = train(metrics);
      progress.clear();
      const int status = is_whole ? finish(metrics) : kDiverged;
      if (status == kDiverged)
        metrics.ended(outcome.diverged_at(), kEndedByDivergence);
      profiles.end();
      earlier.ended();
      return status;
    } catch (const std::exception &) {
      keep_finished(metrics);
      checkpoints.end(/*waits=*/true);
      earlier.ended();
      throw;
    }
  }
  // How long advice on the run that has ended may take; 0: there is none.
  int64_t advice() const { return summary.advice(); }

private:
  using Clock = std::chrono::steady_clock;
  static double milliseconds(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
  }

  // Puts the output folder right, and finds the checkpoint that the run goes on
  // from. Returns whether the run replaces what an earlier one has left there.
  bool enter_folder() {
    const bool restarts = earlier.recover();
    if (restarts) { // the run has the flags of the killed one
      s.resume.clear();
      s.overwrite_output_dir = true;
    }
    refuse_earlier_results(s); // what is put back may be in the way
    checkpoints.find_start();
    const bool overwrites =
        s.overwrite_output_dir && !checkpoints.starts_in_output();
    if (overwrites) {
      note_signals(); // an interrupt is no kill, after which it starts anew
      earlier.begin(restarts);
    }
    return overwrites;
  }

  // Allocates everything, and loads the weights.
  void prepare() {
    session.allocate();
    memory = session.memory;
    averages.allocate(ctx);
    auto place_of = [this](int input, int64_t place) {
      return data.train().place_of(size_t(input), place);
    };
    auto deliver_again = [this](int64_t back) {
      data.train().deliver_again(back, memory);
    };
    watch = std::make_unique<FiniteWatch>(ctx, program, memory, place_of,
                                          deliver_again);
    if (s.autotune)
      session.use_autotune_record(s.autotune_file, executable_folder());
    data.begin(ctx, memory, checkpoints.start().batches, profiles.tracer());
    steps = data.steps();
    profiles.check(steps - step);
    initialize();
  }
  void open_outputs() {
    profiles.begin();
    checkpoints.open(session.infinite_at_first, averages, session.originals,
                     data.class_names(), profiles.tracer());
    if (s.report_to == kReportToTensorBoard)
      events = std::make_unique<EventFile>(s.output_dir, step);
  }

  // Runs the steps until the last or an interrupt. Returns false if training
  // diverged, which has been told.
  bool train(Metrics &metrics) {
    if (checkpoints.start().awaits_validation && is_validation_due() &&
        !end_step(metrics, /*is_repeated=*/true))
      return false;
    while (step < steps && !detail::interrupted && !ends_run(s, validations)) {
      train_step(metrics, ++step);
      if (watch->weights_are_lost()) {
        if (end_checkpoint(true))
          outcome.tell_divergence(watch->lost_since(step), watch->why_stuck());
        return false;
      }
      if (!end_step(metrics, /*is_repeated=*/false))
        return false;
    }
    return end_checkpoint(true);
  }
  // Validates after a step and saves a checkpoint, where they are due. Returns
  // false as train does. An interrupt or an error may have kept an earlier
  // process from the validation: then all this is repeated, and the checkpoint
  // without it is replaced.
  bool end_step(Metrics &metrics, bool is_repeated) {
    if (is_validation_due())
      validate(metrics, step);
    const bool is_due = is_repeated || checkpoints.is_best(step) ||
                        (s.save_steps > 0 && step % s.save_steps == 0);
    return is_due && step < steps && !awaits_validation && may_save()
               ? save_checkpoint(metrics)
               : end_checkpoint(false);
  }

  // Whether a checkpoint may take the place of others; tells if it may not. A
  // validation whose result is finite shows that the weights are good.
  bool may_save() {
    if (!watch->is_stuck() || checkpoints.is_best(step))
      return true;
    outcome.tell_no_checkpoint(step);
    return false;
  }

  // The validation after the last step is no part of this.
  bool is_validation_due() const {
    return data.eval() && s.eval_steps > 0 && step % s.eval_steps == 0 &&
           step < steps;
  }

  // Saves what the run has come to. Returns the exit status.
  int finish(Metrics &metrics) {
    const bool has_trained = step > begun_at();
    // What lies in the folder belongs together, and stays as it is.
    if (stops_early() && !has_trained)
      return outcome.tell_interrupt(step, steps, has_trained);
    // An error has ended the run in its last validation.
    const bool is_late = data.eval() && !has_trained && step == steps &&
                         (checkpoints.start().awaits_validation ||
                          metrics.lacks_evaluation(step));
    // Weights are saved first, because validation may fail on its data.
    if (!save_weights())
      return kDiverged;
    if (ends_run(s, validations))
      say(describe_early_stop(s, validations, step, steps));
    else if (is_late || (data.eval() && has_trained && !stops_early()))
      validate(metrics, step);
    // The same command with --resume finds then that the run is done.
    const bool is_due = s.save_steps > 0 || !s.resume.empty() ||
                        checkpoints.is_best(step) || stops_early();
    const bool has_none = has_trained && !checkpoints.last_is_of(step);
    if (((is_due && has_none) || is_late) && may_save() &&
        !(save_checkpoint(metrics) && end_checkpoint(true)))
      return kDiverged;
    profiles.end(); // the last checkpoint is part of it
    if (has_trained || is_late) {
      summary.end(metrics, step, profiles.averages(), waiting.mostly(),
                  stops_early());
    } else { // The weights are of the checkpoint; metrics of later steps go.
      metrics.cut();
      say(describe_nothing_left(s, ends_run(s, validations), step, steps));
    }
    metrics.end();
    const int status =
        stops_early() ? outcome.tell_interrupt(step, steps, has_trained) : 0;
    say(describe_best(s, validations, step,
                      checkpoints.path_of(validations.best_step)));
    printf("weights: %s\n", outcome.weights_file().c_str());
    if (!watch->loss_is_lost())
      return status;
    outcome.tell_last_loss(step);
    return kDiverged;
  }
  // Saves what the steps before an error have come to, as an interrupt does.
  // The caller tells the error, after all else.
  void keep_finished(Metrics &metrics) {
    progress.clear();
    step = finished;
    if (step <= begun_at() || is_updating)
      return;
    try {
      // An unfinished step may have taken batches, which are taken again, and
      // changed running statistics.
      StepState state = session.read_state();
      state.draw = finished_batches;
      session.write_state(state);
      statistics.undo_step(ctx, memory);
      if (!end_checkpoint(true) || !save_weights() ||
          (!checkpoints.last_is_of(step) &&
           !(save_checkpoint(metrics) && end_checkpoint(true))))
        return;
      metrics.ended(step, kEndedByError);
      metrics.end();
      outcome.tell_error(step, steps);
    } catch (const std::exception &error) {
      outcome.tell_not_saved(step, error_text(error));
    }
  }

  // Whether an interrupt ends the run before its last step. One that comes
  // during the last step, or after it, ends nothing.
  bool stops_early() const {
    return detail::interrupted && step < steps && !ends_run(s, validations);
  }

  void initialize() {
    if (checkpoints.start_path().empty())
      load_first_weights();
    else
      load_checkpoint();
    if (session.has_constants())
      session.load_constants(constants_file(s.weights));
    session.begin_run(s, steps, checkpoints.start(), validations.lr_factor);
  }
  void load_first_weights() {
    session.load_weights(s.weights.empty() ? program_file(kModelFile)
                                           : s.weights);
    if (!s.init_from.empty()) {
      load_init_weights(ctx, program, memory, s.init_from, s.init_strict,
                        session.originals, session.infinite_at_first);
      if (s.init_strict || !is_started_by_gpuopt())
        warn_of_other_classes(s.init_from, data.class_names(), s.init_strict,
                              program.name);
    }
    averages.begin(ctx, memory);
  }
  void load_averages(const std::string &checkpoint) {
    const std::string file = checkpoint + "/" + kAveragesFile;
    if (std::filesystem::exists(file) && averages.are_kept()) {
      session.weights_file(&averages).load(file, StateFile::Averages,
                                           /*exactly=*/true);
      return;
    }
    averages.begin(ctx, memory);
    if (averages.are_kept())
      fprintf(stderr,
              "%s: warning: '%s' has no averages; those of --ema-decay begin "
              "with its weights\n",
              program.name, checkpoint.c_str());
  }
  void load_checkpoint() {
    const std::string &path = checkpoints.start_path();
    const RunState now = identity();
    refuse_other_run(path, checkpoints.start(), now);
    refuse_other_classes(path, data.class_names());
    session.load_checkpoint(path);
    validations = resumed_validations(checkpoints.start(), now, s);
    load_averages(path);
    warn_of_changes(path, checkpoints.start(), now, program.name);
  }
  // Saves the weights, and what their classes are called, and removes averages
  // of others; returns false if the weights are NaN. Such weights do not
  // replace good ones.
  bool save_weights() {
    std::string lost = session.weights_file().save(
        outcome.weights_file(), session.infinite_at_first, step);
    if (lost.empty() && averages.are_kept())
      lost = session.weights_file(&averages).save(
          s.output_dir + "/" + kAveragesFile, session.infinite_at_first, step);
    if (!lost.empty())
      outcome.tell_divergence(step, "; infinite or NaN: " + lost);
    else
      write_class_names(s.output_dir, data.class_names(), program.name);
    std::error_code code; // gpuopt export warns of averages that stay
    if (lost.empty() && !averages.are_kept())
      std::filesystem::remove(s.output_dir + "/" + kAveragesFile, code);
    if (lost.empty())
      earlier.saved(/*is_interrupted=*/stops_early());
    return lost.empty();
  }

  // Begins to write a checkpoint, once the one before is written. Returns false
  // if training has lost weights, as end_checkpoint does.
  bool save_checkpoint(Metrics &metrics) {
    const auto begin = Clock::now();
    const TraceSpan span(profiles.tracer(), "begin checkpoint", "trainer");
    if (!end_checkpoint(true))
      return false;
    summary.get_memory().begin(MemoryPhase::Checkpoint);
    checkpoints.begin(ctx, memory, run_state());
    summary.get_memory().end();
    const double stall = milliseconds(begin, Clock::now());
    metrics.checkpoint(step, stall);
    summary.checkpoint(stall);
    return true;
  }
  bool end_checkpoint(bool waits) {
    const auto lost = checkpoints.end(waits);
    if (lost)
      outcome.tell_divergence(lost->step, "; infinite or NaN: " + lost->lost);
    else if (checkpoints.has_written())
      earlier.saved(/*is_interrupted=*/stops_early());
    return !lost;
  }
  RunState run_state() {
    RunState run = identity();
    run.step = step;
    run.awaits_validation = awaits_validation;
    session.read_run(run);
    run.epoch = double(run.batches) / double(data.train().batches_per_epoch());
    return run;
  }
  // Returns what makes the run this one and no other.
  RunState identity() const {
    RunState run;
    run.max_steps = steps;
    run.batch_size = program.batch_size;
    run.accumulation_steps = program.accumulation_steps;
    run.samples = data.train().sample_count();
    run.optimizer = program.optimizer;
    run.model = program.model;
    run.settings = deciding_settings(s, program);
    run.validations = validations;
    return run;
  }

  void announce() const {
    print_run_start(ctx, program, s, data, checkpoints, step, steps);
    refuse_unplanned("", ctx.allocated_bytes,
                     program.total_bytes + averages.bytes());
    refuse_unplanned(" of the host's memory", ctx.host_bytes,
                     program.host_bytes);
  }

  void train_step(Metrics &metrics, int64_t step) {
    // This may write a profile, which is no step's time.
    profiles.begin_step(done(), step);
    const auto begin = Clock::now();
    double waited = 0;
    statistics.begin_step(ctx, memory);
    for (int64_t micro = 0; micro < program.accumulation_steps; micro++) {
      waited += data.train().deliver(memory);
      watch->batch();
      run_micro_step();
      data.train().prefetch();
    }
    if (done() == 1)
      summary.get_memory().begin(MemoryPhase::Update);
    is_updating = true;
    run_step(timed_update(program), [this] { session.update(); });
    averages.update(ctx, memory, session.step_state());
    const StepState state = session.read_state();
    const auto now = Clock::now();
    profiles.end_step(ctx, done(), step, waited);
    const double loss = mean_of(state.loss_sum, state.weight_sum);
    const std::vector<MetricValue> parts =
        losses_of(program, session.read_losses(), /*of_evaluation=*/false);
    const double ms = milliseconds(begin, now);
    // This asks who wants the cores before the step's line is printed: whoever
    // reads that line wakes up, and would count.
    const std::string news = waiting.step(ms - waited);
    session.refuse_outside(state, "step " + std::to_string(step));
    metrics.step(step, loss, parts, state, ms, waited, ctx.allocated_bytes);
    report(step, loss, parts, state, ms, waited);
    summary.step(ms, waited, data.train().num_workers());
    watch->step(step, loss, state,
                !s.is_dynamic || state.scaler.scale <= float(s.min_loss_scale));
    if (!watch->weights_are_lost()) {
      is_updating = false;
      statistics.end_step();
      finished = step;
      finished_batches = state.draw;
    }
    warnings.step(step, state);
    if (done() == 1 && !s.dump_gradients.empty())
      session.weights_file().dump_gradients(s.dump_gradients,
                                            state.grad_weight);
    tell(news);
    tell(data.train().take_news());
    if (progress.is_shown())
      progress.show({step, steps, done(), loss, ms, waited,
                     summary.mean_step_ms(), milliseconds(start, now) / 1000,
                     samples_of_step(program), program.tokens_per_batch > 0,
                     ctx.allocated_bytes, text_of(parts)});
  }
  void tell(const std::string &news) {
    if (news.empty() || !progress.is_shown())
      return;
    progress.clear();
    say(news);
  }
  void report(int64_t step, double loss, const std::vector<MetricValue> &parts,
              const StepState &state, double ms, double waited) {
    const bool is_due = s.logging_steps <= 0 || // 0 or kAuto
                        step % s.logging_steps == 0 || step == steps;
    if (events && is_due)
      events->add(step, step_scalars(program, loss, parts, state, ms, waited));
  }

  // Returns how many steps this process has begun.
  int64_t done() const { return step - begun_at(); }
  // Returns the step of the checkpoint that the run goes on from, or 0.
  int64_t begun_at() const { return checkpoints.start().step; }

  // Runs a function of the program: call by call where something observes
  // its calls, and by `run` otherwise.
  template <class F>
  void run_step(const TimedFunction &function, F run) {
    profiles.run(ctx, memory, function, done(), run);
  }

  // In the first step, memory is looked at by phase: libraries take theirs when
  // they are first called.
  void run_micro_step() {
    const TimedFunction function = timed_micro_step(program);
    auto run = [&] { run_step(function, [this] { session.micro_step(); }); };
    // Later micro steps of it are captured, when a GPU cannot be asked.
    if (done() != 1 || has_observed)
      return run();
    has_observed = true;
    PhaseObserver observer(summary.get_memory(), function);
    summary.get_memory().begin(MemoryPhase::Forward);
    const ObserverScope scope(ctx, observer);
    run();
  }

  // Computes batches; those of them that are measured have `samples` in all. An
  // interrupt that ends the run early leaves some of them out.
  EvaluationSums evaluate(int64_t batches, int64_t samples) {
    session.begin_evaluation();
    data.train().begin_anew();
    data.eval()->begin_anew();
    for (int64_t batch = 0; batch < batches && !stops_early(); batch++) {
      data.eval()->deliver(memory);
      program.evaluate(ctx, memory);
      const int64_t left = samples - batch * program.batch_size;
      if (left > 0)
        measured.add(ctx, memory, std::min(left, program.batch_size));
    }
    const StepState state = session.read_state();
    session.refuse_outside(state, "validation");
    return {state.evaluation_loss_sum, state.evaluation_weight_sum,
            session.read_losses()};
  }

  // Validates on all samples, each of them once. An interrupt that ends the run
  // early discards what has been measured by then.
  void validate(Metrics &metrics, int64_t step) {
    awaits_validation = true;
    if (stops_early())
      return;
    const TraceSpan span(profiles.tracer(), "validate", "trainer");
    summary.get_memory().begin(MemoryPhase::Validation);
    const int64_t padding = data.eval()->padding();
    measured.begin();
    EvaluationSums sums =
        evaluate(data.eval()->batches_per_epoch() - (padding > 0),
                 data.eval()->sample_count());
    if (padding > 0) {
      const EvaluationSums copies = evaluate(1, /*samples=*/0);
      sums.take_off(copies, double(padding) / double(program.batch_size));
    }
    summary.get_memory().end();
    if (stops_early())
      return;
    awaits_validation = false;
    tell_validation(metrics, step, sums);
  }
  void tell_validation(Metrics &metrics, int64_t step,
                       const EvaluationSums &sums) {
    if (!(sums.weight > 0))
      warnings.no_labels(step);
    std::vector<MetricValue> values =
        losses_of(program, sums.parts, /*of_evaluation=*/true);
    const double loss = sums.mean(program);
    for (const MetricValue &value :
         measured.values(values.empty() ? loss : values.front().value))
      values.push_back(value);
    if (step > begun_at() || !metrics.has_evaluation(step))
      metrics.evaluation(step, loss, values);
    if (events)
      events->add(step, evaluation_scalars(loss, values));
    if (sums.weight > 0)
      note(step, loss, score_of(s.metric_for_best_model, loss, values));
    progress.clear();
    printf("step %lld  validation loss %s%s\n", static_cast<long long>(step),
           loss_text(loss).c_str(), text_of(values).c_str());
    fflush(stdout);
    warnings.validation(step, loss);
  }
  // The next step has the learning rate that the validation leads to.
  void note(int64_t step, double loss, double score) {
    checkpoints.note_validation(step, score);
    note_validation(s, step, loss, score, validations);
    StepState state = session.read_state();
    state.lr_factor = validations.lr_factor;
    session.write_state(state);
  }

  const Program &program;
  Settings s;
  std::unique_ptr<OutputFolder> folder; // outlives what writes to it
  EarlierResults earlier;
  Session session;
  Context &ctx; // of the session
  StepWaiting waiting;
  Averages averages;
  RunningStatistics statistics; // before a step
  EvalMetrics measured;
  ValidationHistory validations;
  StepProfiles profiles; // outlives the data and the writer of checkpoints,
                         // which it traces
  RunData data;
  Checkpoints checkpoints;
  RunOutcome outcome;
  RunSummary summary;
  Progress progress;
  LossWarnings warnings;
  std::unique_ptr<EventFile> events; // or null
  char *memory = nullptr;
  std::unique_ptr<FiniteWatch> watch;
  int64_t steps = 0, step = 0;    // of the run; done
  int64_t finished = 0;           // the last step whose weights are good
  int64_t finished_batches = 0;   // that had been taken by then
  bool awaits_validation = false; // a validation is due and has not ended
  bool is_updating = false;       // until it is known that the weights are good
  bool has_observed = false;      // the phases of the first micro step
  Clock::time_point start;
};

// The main function of an emitted program. Returns the exit status.
inline int trainer_main(int argc, char **argv, const Program &program) {
  try {
    Settings settings = parse_settings(argc, argv, program);
    settings.output_dir = without_end_slashes(settings.output_dir);
    settings.resume = without_end_slashes(settings.resume);
    detail::keep_quiet(settings);
    const std::string folder = settings.output_dir;
    int64_t seconds = 0;
    int status = 0;
    {
      Trainer trainer(program, std::move(settings));
      status = trainer.run();
      seconds = trainer.advice();
    }
    if (status == 0)
      print_advice(getenv(kAdvisorVariable), folder, seconds);
    return status;
  } catch (const std::exception &error) {
    fprintf(stderr, "%s: error: %s\n", program.name, error_text(error));
    return 1;
  }
}

} // namespace gpuopt
