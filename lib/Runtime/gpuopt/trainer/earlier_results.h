// --overwrite-output-dir: what an earlier run has left makes way.
#pragma once

#include "gpuopt/trainer/checkpoints/checkpoint_folder.h"
#include "gpuopt/trainer/class_names.h"
#include "gpuopt/trainer/metrics.h"
#include "gpuopt/trainer/profiling/profile_files.h"

namespace gpuopt {

// Removes the results that belong to one run alone, so that none of them stands
// beside those of the next one. What cannot be removed is an error.
inline void remove_earlier_results(const std::string &output_dir,
                                   const char *program) {
  auto remove = [](const std::string &path) {
    std::error_code code;
    std::filesystem::remove_all(path, code);
    if (code)
      throw Error("--overwrite-output-dir cannot remove '" + path +
                  "': " + code.message());
  };
  for (const CheckpointFolder &checkpoint : checkpoints_in(output_dir)) {
    remove_checkpoint(checkpoint.path); // its marker first
    remove(checkpoint.path);            // tells of what is left
  }
  for (const char *name :
       {kModelFile, kAveragesFile, kMetricsFile, kProfileFolder})
    remove(output_dir + "/" + name);
  write_class_names(output_dir, "", program); // removes those of the run
}

} // namespace gpuopt
