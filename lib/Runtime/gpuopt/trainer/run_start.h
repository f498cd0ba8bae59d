// What a run says before its first step.
#pragma once

#include "gpuopt/trainer/checkpoints/checkpoints.h"
#include "gpuopt/trainer/run_data.h"

namespace gpuopt {

// Prints a line, unless there is nothing in it.
inline void say(const std::string &line) {
  if (!line.empty())
    printf("%s\n", line.c_str());
}

// Prints the memory, the steps and the samples of a run of `steps` steps, and
// from which checkpoint it goes on behind `step`.
inline void print_run_start(const Context &ctx, const Program &program,
                            const Settings &s, const RunData &data,
                            const Checkpoints &checkpoints, int64_t step,
                            int64_t steps) {
  const std::string host =
      ctx.host_bytes
          ? ", " + human_bytes(double(ctx.host_bytes)) + " of the host's memory"
          : "";
  printf("%s: %s allocated%s, %lld steps of %lld x %lld samples%s, %d "
         "threads\n",
         program.name, human_bytes(double(ctx.allocated_bytes)).c_str(),
         host.c_str(), static_cast<long long>(steps),
         static_cast<long long>(program.accumulation_steps),
         static_cast<long long>(program.batch_size),
         data.train().describe_epoch().c_str(), ctx.num_threads);
  if (!is_started_by_gpuopt())
    say(data.fewer_classes());
  const std::string &path = checkpoints.start_path();
  if (!path.empty())
    printf("resumes from '%s' after step %lld of %lld\n", path.c_str(),
           static_cast<long long>(step), static_cast<long long>(steps));
  else if (!s.resume.empty())
    printf("begins with step 1: --resume=auto has found no checkpoint in "
           "'%s'\n",
           s.output_dir.c_str());
  say(describe_repeated_steps(path, s.output_dir, step, steps));
}

} // namespace gpuopt
