// classes.txt in the results of a run: a line for each class, for predictions.
#pragma once

#include "gpuopt/data/checksum.h"
#include "gpuopt/data/indices.h"
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

// Says that a folder of labels has fewer classes than the model's output; empty
// if none has.
inline std::string describe_fewer_classes(Table<InputInfo> inputs,
                                          const DataSources &sources) {
  for (size_t i = 0; i < sources.size(); i++) {
    const std::vector<std::string> *names = sources[i]->class_names();
    const InputInfo &fed = inputs.data[i],
                    input = sources[i]->gives_classes ? classes_of(fed) : fed;
    if (names && !is_fraction(input.tensor.type) &&
        int64_t(names->size()) < input.index_limit)
      return "classes: '" + sources[i]->path + "' has " +
             std::to_string(names->size()) +
             " sub-folders, but the model's output has " +
             std::to_string(input.index_limit) + " classes; classes " +
             std::to_string(names->size()) + " and above have no samples";
  }
  return "";
}

namespace detail {
// Returns how many classes labels have that are numbers in memory: one more
// than the highest of them; 0 if that is not known.
inline int64_t classes_in(const InputInfo &fed, const DataSource &labels) {
  const InputInfo input = labels.gives_classes ? classes_of(fed) : fed;
  if (!input.is_label || is_fraction(input.tensor.type) ||
      is_fraction(labels.type) || labels.elements != 1 ||
      !dynamic_cast<const StoredSource *>(&labels))
    return 0;
  std::vector<uint8_t> label(labels.sample_bytes());
  int64_t count = 0;
  for (int64_t sample = 0; sample < labels.samples(); sample++) {
    labels.read({sample}, label.data());
    const int64_t number = integer_at(labels.type, label.data(), 0);
    if (number != input.ignore_index)
      count = std::max(count, number + 1);
  }
  return count;
}
// Labels that are numbers cannot be compared with the names of a folder's
// classes. A folder that lacks one of these numbers would give the others wrong
// ones. It may have more of them: labels need not have samples of each class.
inline void match_class_count(const InputInfo &input, const DataSource &train,
                              const DataSource &eval) {
  const int64_t expected = classes_in(input, train),
                found = int64_t(eval.class_names()->size());
  if (expected > found)
    throw Error("'" + eval.path + "' has " + std::to_string(found) +
                " sub-folders, which number its classes by their names from 0 "
                "to " +
                std::to_string(found - 1) + ", but '" + train.path +
                "', the training's labels, has numbers up to " +
                std::to_string(expected - 1) +
                "; give both as folders, or both as numbers");
}
} // namespace detail

// Has validation data number their classes as the training data do. A folder
// may lack some of the classes, but has no others.
inline void match_classes(Table<InputInfo> inputs, const DataSources &train,
                          const DataSources &eval) {
  for (size_t i = 0; i < std::min(train.size(), eval.size()); i++) {
    const std::vector<std::string> *expected = train[i]->class_names(),
                                   *found = eval[i]->class_names();
    if (found && !expected)
      detail::match_class_count(inputs.data[i], *train[i], *eval[i]);
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

// Returns how the names of classes beside weights differ from those of a run's
// labels: "class 0 is 'cat' there and 'ant' here". Empty if they do not, or if
// one of both has none. `has_all` counts a longer list as another one.
inline std::string other_classes(const std::string &names_file,
                                 const std::string &now, bool has_all) {
  std::istringstream old(detail::text_of_file(names_file)), own(now);
  const auto lines_in = [](std::istringstream &text) {
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);)
      lines.push_back(line);
    return lines;
  };
  const std::vector<std::string> there = lines_in(old), here = lines_in(own);
  if (there.empty() || here.empty() ||
      (!has_all && there.size() != here.size()))
    return "";
  for (size_t i = 0; i < std::min(there.size(), here.size()); i++)
    if (there[i] != here[i])
      return "class " + std::to_string(i) + " is '" + there[i] +
             "' there and '" + here[i] + "' here";
  if (there.size() == here.size())
    return "";
  return "there are " + std::to_string(there.size()) + " classes there and " +
         std::to_string(here.size()) + " here";
}

// Refuses to go on from a checkpoint that has learnt other classes.
inline void refuse_other_classes(const std::string &checkpoint,
                                 const std::string &now) {
  const std::string file = checkpoint + "/" + kClassNamesFile,
                    why = other_classes(file, now, /*has_all=*/true);
  if (!why.empty())
    throw Error("'" + file +
                "' has other classes than the folders of the "
                "labels: " +
                why +
                "; give these folders the names that they had, or remove that "
                "file if only the names are others");
}

// Says that weights have learnt other classes; empty if they have not. Those of
// another number of classes do not fit into the program, which another error
// says.
inline std::string describe_other_classes(const std::string &weights,
                                          const std::string &now) {
  const std::string file = std::filesystem::path(weights)
                               .replace_filename(kClassNamesFile)
                               .string(),
                    why = other_classes(file, now, /*has_all=*/false);
  return why.empty() ? ""
                     : "'--init-from' '" + weights +
                           "' has learnt other classes, according to '" + file +
                           "': " + why;
}

constexpr char kBeginsAllTheSame[] =
    "; training begins with the weights of those classes";

// Warns of weights that have learnt other classes, or refuses them.
inline void warn_of_other_classes(const std::string &weights,
                                  const std::string &now, bool is_strict,
                                  const char *program) {
  const std::string text = describe_other_classes(weights, now);
  if (text.empty())
    return;
  if (is_strict)
    throw Error(text);
  fprintf(stderr, "%s: warning: %s%s\n", program, text.c_str(),
          kBeginsAllTheSame);
}

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
