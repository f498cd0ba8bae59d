// classes.txt in the results of a run: a line for each class, for predictions.
#pragma once

#include "gpuopt/data/dataset.h"
#include "gpuopt/device/atomic_file.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"

#include <filesystem>

namespace gpuopt {

// Writes the names of the folders that the labels come from, or removes those
// of an earlier run if these labels have no names. A run goes on without them.
inline void write_class_names(const std::string &output_dir,
                              const DataSources &sources, const char *program) {
  const std::string path = output_dir + "/" + kClassNamesFile;
  std::string text;
  for (const auto &source : sources)
    if (const std::vector<std::string> *names = source->class_names())
      for (std::string name : *names) {
        std::replace(name.begin(), name.end(), '\n', ' ');
        text += name + "\n";
      }
  std::error_code code;
  if (text.empty()) {
    std::filesystem::remove(path, code);
    return;
  }
  try {
    AtomicFile file(path);
    file.write(text.data(), text.size());
    file.commit();
  } catch (const Error &error) {
    fprintf(stderr, "%s: warning: %s\n", program, error.what());
  }
}

} // namespace gpuopt
