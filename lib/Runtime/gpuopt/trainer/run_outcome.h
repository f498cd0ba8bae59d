// What becomes of a run, as its last lines tell it: an interrupt, an error or a
// divergence, and how the run goes on.
#pragma once

#include "gpuopt/trainer/checkpoints/checkpoints.h"
#include "gpuopt/trainer/run_end.h"

namespace gpuopt {

class RunOutcome {
public:
  RunOutcome(const Program &program, const Settings &s,
             const Checkpoints &checkpoints)
      : program(program), s(s), checkpoints(checkpoints) {}

  // Returns the exit status: steps that are in no checkpoint are an error.
  int tell_interrupt(int64_t step, int64_t steps, bool has_trained) const {
    printf("interrupted: ends after step %lld of %lld%s\n",
           static_cast<long long>(step), static_cast<long long>(steps),
           way_on(step).c_str());
    if (checkpoints.last_is_of(step) || !has_trained)
      return 0;
    fprintf(stderr,
            "%s: error: the run is interrupted after step %lld, of which no "
            "checkpoint is written: it cannot go on from there\n",
            program.name, static_cast<long long>(step));
    return 1;
  }
  // The caller tells the error itself, after all else.
  void tell_error(int64_t step, int64_t steps) const {
    printf("an error ends the run after step %lld of %lld%s\nweights: %s\n",
           static_cast<long long>(step), static_cast<long long>(steps),
           way_on(step).c_str(), weights_file().c_str());
    fflush(stdout); // before the error
  }
  void tell_not_saved(int64_t step, const char *why) const {
    fprintf(stderr,
            "%s: warning: what step %lld has come to is not saved: "
            "%s\n",
            program.name, static_cast<long long>(step), why);
  }
  // Tells once in a row of such steps.
  void tell_no_checkpoint(int64_t step) {
    if (step > no_checkpoint_of + 1)
      fprintf(stderr,
              "%s: warning: no checkpoint of step %lld is written, because its "
              "gradients are infinite or NaN and the loss scale cannot fall: "
              "an earlier one stays the last until a step is good again\n",
              program.name, static_cast<long long>(step));
    no_checkpoint_of = step;
  }
  void tell_divergence(int64_t at, const std::string &why = "") {
    diverged = at;
    const std::string text =
        describe_divergence(at, weights_file(), checkpoints.last_path());
    fprintf(stderr, "%s: %s%s\n", program.name, text.c_str(), why.c_str());
  }
  void tell_last_loss(int64_t step) {
    diverged = step;
    fprintf(stderr,
            "%s: error: the last step's loss is not finite; its weights are, "
            "and are saved\n",
            program.name);
  }

  // Returns the step in which the run diverged, or 0.
  int64_t diverged_at() const { return diverged; }
  std::string weights_file() const { return s.output_dir + "/" + kModelFile; }

private:
  // Says how a run that has ended early goes on, if it has a checkpoint.
  std::string way_on(int64_t step) const {
    return checkpoints.last_is_of(step) && checkpoints.auto_takes_last()
               ? "; --resume=auto goes on from '" + checkpoints.last_path() +
                     "'"
               : "";
  }

  const Program &program;
  const Settings &s;
  const Checkpoints &checkpoints;
  int64_t diverged = 0;          // a step
  int64_t no_checkpoint_of = -1; // the last step that was told of
};

} // namespace gpuopt
