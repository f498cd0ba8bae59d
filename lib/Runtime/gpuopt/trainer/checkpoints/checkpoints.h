// The checkpoints of one run: which one it goes on from, what became of those
// that were begun, and which one is the best.
#pragma once

#include "gpuopt/settings/metric_names.h"
#include "gpuopt/trainer/checkpoints/checkpoint_writer.h"
#include "gpuopt/trainer/settings.h"

namespace gpuopt {

class Checkpoints {
public:
  Checkpoints(const Program &program, const Settings &s)
      : program(program), s(s) {}

  // Finds the checkpoint that the run goes on from, if it is told to and there
  // is one.
  void find_start() {
    if (s.resume.empty())
      return;
    first_path = find_checkpoint(s.resume, s.output_dir, program.name);
    if (first_path.empty())
      return;
    first = read_run_state(first_path + "/" + kRunStateFile);
    last = first_path;
    if (has_same_metric(first, s))
      kept_best = best_so_far();
  }
  // Returns the folder of that checkpoint; empty if the run begins anew.
  const std::string &start_path() const { return first_path; }
  // Returns where the run stood there.
  const RunState &start() const { return first; }
  // Whether that checkpoint lies in the output folder of this run.
  bool starts_in_output() const { return lies_in(first_path, s.output_dir); }

  // Makes ready for writing, before the first step.
  void open(const std::set<std::string> &infinite_at_first,
            const Averages &averages, Originals &originals,
            const std::string &class_names, Tracer *tracer = nullptr) {
    remove_unfinished_checkpoints(s.output_dir);
    writer = std::make_unique<CheckpointWriter>(
        program, s.output_dir, s.save_total_limit, first.step,
        infinite_at_first, averages, originals, class_names, tracer);
    if (s.save_steps > 0 || s.save_best)
      writer->prepare();
  }

  // Begins to write one. The one before has been ended by end(true).
  void begin(Context &ctx, const char *memory, RunState run) {
    written = is_best(run.step) ? candidate : Validation();
    const Validation &best = written.step > 0 ? written : kept_best;
    run.best_metric = sign() * best.score;
    run.best_step = best.step;
    written.is_its_reason = written.step > 0 && !is_regular(run);
    run.is_for_best = written.is_its_reason;
    writer->begin(ctx, memory, run, superseded_by(written.step));
  }
  // Looks at what became of the one that was begun last, and waits for it or
  // not. Warns if it could not be written, which does not end a run. Returns it
  // if training had lost weights by then.
  std::optional<CheckpointOutcome> end(bool waits) {
    const auto outcome = writer ? writer->take_outcome(waits) : std::nullopt;
    if (!outcome)
      return std::nullopt;
    if (!outcome->lost.empty())
      return outcome;
    const bool is_whole = outcome->problem.empty();
    if (is_whole) {
      last = checkpoint_path(s.output_dir, outcome->step);
      whole_steps.insert(outcome->step);
    } else {
      tell_failure(*outcome);
    }
    if (is_whole && written.step > 0)
      kept_best = written;
    if (candidate.step == outcome->step)
      candidate = {};
    return std::nullopt;
  }
  // Returns the folder of the last one; empty if there is none.
  const std::string &last_path() const { return last; }
  bool last_is_of(int64_t step) const {
    return last == checkpoint_path(s.output_dir, step);
  }
  // Whether this run has written any.
  bool has_written() const { return !whole_steps.empty(); }
  // Returns the folder of the checkpoint of a step of this run, or of the run
  // that it goes on from; empty if there is none. Folders may have checkpoints
  // of another course of the run, which are not taken for its own.
  std::string path_of(int64_t of_step) const {
    std::string path;
    if (of_step > first.step)
      path = whole_steps.count(of_step) > 0
                 ? checkpoint_path(s.output_dir, of_step)
                 : "";
    else if (of_step == first.step)
      path = first_path;
    else // beside the first one, however that is spelled
      path =
          (std::filesystem::path(first_path) / checkpoint_path("..", of_step))
              .lexically_normal()
              .string();
    return !path.empty() && is_finished_checkpoint(path) ? path : "";
  }
  // Whether --resume=auto takes the last one: it is the latest in the folder,
  // and what was written can be read.
  bool auto_takes_last() const {
    const auto found = finished_checkpoints_in(s.output_dir);
    try {
      read_run_state(last + "/" + kRunStateFile);
    } catch (const Error &) {
      return false;
    }
    return !found.empty() && found.back().path == last;
  }

  // Takes note of a validation after a step. `score` is its loss or, so that
  // less is better, the negative of a metric.
  void note_validation(int64_t step, double score) {
    const Validation &best = candidate.step > 0 ? candidate : kept_best;
    const bool is_better = best.step == 0 || score < best.score;
    if (s.save_best && is_finite(score) && is_better)
      candidate = {score, step};
  }
  // Whether a validation after this step was the best so far, and has no
  // checkpoint yet.
  bool is_best(int64_t step) const {
    return step > 0 && candidate.step == step;
  }

private:
  struct Validation {
    double score = 0;
    int64_t step = 0; // 0: there is none
    // Whether its checkpoint was written for it alone.
    bool is_its_reason = false;
  };

  // Returns the best validation before the run that has a checkpoint. Where
  // earlier runs had no --save-best, it may be one that --save-steps has kept.
  Validation best_so_far() const {
    const ValidationHistory &history = first.validations;
    Validation best{sign() * first.best_metric, first.best_step};
    if (s.save_best && history.count > 0 && history.best_step > 0 &&
        !path_of(history.best_step).empty())
      best = {history.stopping_best, history.best_step};
    best.is_its_reason = best.step > 0 && was_for_best(path_of(best.step));
    return best;
  }
  // Whether a checkpoint was written for a validation alone. One that does not
  // tell was not: it stays.
  static bool was_for_best(const std::string &checkpoint) {
    try {
      return read_run_state(checkpoint + "/" + kRunStateFile).is_for_best;
    } catch (const Error &) {
      return false;
    }
  }
  // Whether the flags ask for a checkpoint of a step, whatever its validation
  // was.
  bool is_regular(const RunState &run) const {
    const bool is_last = run.step == run.max_steps;
    return (s.save_steps > 0 && (is_last || run.step % s.save_steps == 0)) ||
           (is_last && !s.resume.empty());
  }
  // The state of a run has the metric itself.
  double sign() const {
    return is_greater_better(s.metric_for_best_model) ? -1 : 1;
  }
  // Returns the step of the best checkpoint so far if that of `best_step`,
  // which is 0 if there is none, takes its place, and if it was written for
  // nothing else; otherwise 0.
  int64_t superseded_by(int64_t best_step) const {
    return best_step > kept_best.step && kept_best.is_its_reason
               ? kept_best.step
               : 0;
  }
  void tell_failure(const CheckpointOutcome &outcome) {
    fprintf(stderr,
            "%s: warning: step %lld: no checkpoint is written, and training "
            "goes on: %s\n",
            program.name, static_cast<long long>(outcome.step),
            outcome.problem.c_str());
  }

  const Program &program;
  const Settings &s;
  std::string first_path, last;
  std::set<int64_t> whole_steps; // of the checkpoints that this run has written
  RunState first;
  Validation kept_best, // the best one that has a checkpoint
      candidate,        // a better one, which gets one
      written;          // the one whose checkpoint was begun last
  std::unique_ptr<CheckpointWriter> writer;
};

} // namespace gpuopt
