// classes.txt in the results of a run: a line for each class, for predictions.
#pragma once

#include "gpuopt/data/checksum.h"
#include "gpuopt/data/dataset.h"
#include "gpuopt/device/atomic_file.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"
#include "gpuopt/trainer/folder_marks.h"
#include "gpuopt/trainer/not_finite.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace gpuopt {

// Returns the names of the folders that the labels come from, a line each.
// Empty if they come from no folders, or several labels from different ones,
// because predictions could not tell which of the lists is meant.
inline std::string class_names_text(const DataSources &sources) {
  std::string text;
  for (const auto &source : sources) {
    std::string lines;
    if (const std::vector<std::string> *names = source->class_names())
      for (std::string name : *names) {
        std::replace(name.begin(), name.end(), '\n', ' ');
        lines += name + "\n";
      }
    if (!text.empty() && !lines.empty() && lines != text)
      return "";
    if (!lines.empty())
      text = lines;
  }
  return text;
}

// Has validation data number their classes as the training data do. A folder
// may lack some of the classes, but has no others.
inline void match_classes(const DataSources &train, const DataSources &eval) {
  for (size_t i = 0; i < std::min(train.size(), eval.size()); i++) {
    const std::vector<std::string> *expected = train[i]->class_names(),
                                   *found = eval[i]->class_names();
    if (!expected || !found)
      continue;
    NameList others, all;
    for (const std::string &name : *found)
      if (std::find(expected->begin(), expected->end(), name) ==
          expected->end())
        others.add(name.c_str());
    for (const std::string &name : *expected)
      all.add(name.c_str());
    if (!others.empty())
      throw Error("'" + eval[i]->path + "' has classes that '" +
                  train[i]->path + "', the training data, does not have: " +
                  others.text() + "; the classes there are " + all.text() +
                  "; rename or remove these sub-folders");
    eval[i]->number_classes_as(*expected);
  }
}

namespace detail {
inline std::string text_of_file(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}
// Returns the line by which the mark of an output folder tells such names of a
// run from those that the user has put there.
inline std::string mark_of_names(const std::string &text) {
  return checksum_line(reinterpret_cast<const uint8_t *>(text.data()),
                       text.size(), kClassNamesFile) +
         "\n";
}
inline void mark_names(const std::string &mark, const std::string &text) {
  const std::string line = mark_of_names(text);
  if (text_of_file(mark).find(line) == std::string::npos &&
      !(std::ofstream(mark, std::ios::binary | std::ios::app) << line).flush())
    throw Error("cannot write '" + mark + "': " + strerror(errno));
}
// Whether there are such names that a run has written.
inline bool has_names_of_run(const std::string &output_dir) {
  const std::string path = output_dir + "/" + kClassNamesFile;
  std::error_code code;
  return std::filesystem::exists(path, code) &&
         text_of_file(output_dir + "/" + kResultsMark)
                 .find(mark_of_names(text_of_file(path))) != std::string::npos;
}
} // namespace detail

// Writes the names of the classes beside the weights that have learnt them, or
// removes those of an earlier run if there are none. A file that no run has
// written stays. A run goes on without them.
inline void write_class_names(const std::string &output_dir,
                              const std::string &text, const char *program) {
  const std::string path = output_dir + "/" + kClassNamesFile,
                    mark = output_dir + "/" + kResultsMark,
                    old = detail::text_of_file(path);
  std::error_code code;
  if (std::filesystem::exists(path, code) &&
      !detail::has_names_of_run(output_dir)) {
    if (!text.empty() && old != text)
      fprintf(stderr,
              "%s: warning: '%s' stays, because no run has written it, but it "
              "has other names than the folders of the labels; remove it to "
              "have the next run write those\n",
              program, path.c_str());
    return;
  }
  if (text.empty()) {
    std::filesystem::remove(path, code);
    return;
  }
  try {
    detail::mark_names(mark, text);
    AtomicFile file(path);
    file.write(text.data(), text.size());
    file.commit();
  } catch (const Error &error) {
    fprintf(stderr, "%s: warning: %s\n", program, error.what());
  }
}

} // namespace gpuopt
