// The folder of a prediction's results, which the next prediction into it
// replaces as a whole. A mark lists what a prediction has written there;
// nothing else is written over or removed.
#pragma once

#include "gpuopt/data/results_in_data.h"
#include "gpuopt/device/atomic_file.h"
#include "gpuopt/device/folder_lock.h"
#include "gpuopt/trainer/folder_marks.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpuopt {

// The mark: a title, and below it the names of the files.
constexpr char kPredictionMark[] = ".gpuopt-prediction";
constexpr char kPredictionTitle[] =
    "Written by gpuopt predict, which replaces what is listed here:";
// The folder of the program below the results of `gpuopt predict`.
constexpr char kPredictorFolder[] = "predictor";

// Whether a prediction has written to a folder, or has begun to.
inline bool holds_prediction(const std::filesystem::path &folder) {
  std::error_code code;
  return std::filesystem::exists(folder / kPredictionMark, code) ||
         holds_program(folder / kPredictorFolder);
}

// Returns the names of the files that predictions have written to a folder.
inline std::vector<std::string>
results_of_prediction(const std::filesystem::path &folder) {
  std::ifstream mark(folder / kPredictionMark);
  std::vector<std::string> names;
  std::string line;
  if (!std::getline(mark, line) || line != kPredictionTitle)
    return names;
  while (std::getline(mark, line))
    if (!line.empty() && line.find('/') == std::string::npos)
      names.push_back(line);
  return names;
}

// Returns why no results may be written to a folder, or nothing: it holds what
// neither a prediction nor a training has written.
inline std::string why_no_results(const std::string &folder) {
  if (is_vacant(folder) || holds_prediction(folder) || holds_results(folder))
    return "";
  std::error_code code;
  if (!is_folder(folder))
    return "'" + folder + "' is no folder; choose another path";
  if (holds_program(folder))
    return "'" + folder +
           "' has a compiled program; choose a new or an empty folder";
  const std::filesystem::directory_iterator entry(folder, code), end;
  if (code || entry == end)
    return "'" + folder + "' cannot be read: " + code.message();
  return "'" + folder + "' holds '" + entry->path().filename().string() +
         "', and no prediction or training has written to it; choose a new or "
         "an empty folder";
}

// Returns why results may not be written to a folder beside the data that a
// flag names, or nothing: they would be read as data, or would replace the
// data.
inline std::string why_not_beside_data(const std::string &folder,
                                       const std::string &flag,
                                       const std::string &value) {
  for (const std::string &file : files_of(value))
    if (is_inside(file, folder))
      return flag + ": '" + file + "' lies in the output folder '" + folder +
             "', whose results are replaced; choose another folder";
  return why_not_in_data(folder, flag, value);
}

// As above, of all data that a prediction reads: the paths of --data, and what
// --tokens and --prompts name, which may be nothing.
inline std::string why_not_beside_data(const std::string &folder,
                                       const std::vector<std::string> &data,
                                       const std::string &tokens,
                                       const std::string &prompts) {
  std::vector<std::pair<std::string, std::string>> read;
  for (const std::string &path : data)
    read.emplace_back("--data", path);
  read.emplace_back("--tokens", tokens);
  read.emplace_back("--prompts", prompts);
  for (const auto &[flag, value] : read)
    if (const std::string why =
            value.empty() ? "" : why_not_beside_data(folder, flag, value);
        !why.empty())
      return why;
  return "";
}

// A folder that one prediction writes to. It is created and locked.
class ResultFolder {
public:
  explicit ResultFolder(const std::string &path) : path(path) {
    std::error_code code;
    std::filesystem::create_directories(path, code);
    if (code)
      throw Error("cannot create '--output-dir' '" + path +
                  "': " + code.message());
    lock = std::make_unique<FolderLock>(path, "another prediction");
    earlier = results_of_prediction(path);
    keeps_mark = std::filesystem::exists(mark(), code);
  }
  // Removes the mark of a prediction that ends before it has results.
  ~ResultFolder() {
    std::error_code code;
    if (!keeps_mark)
      std::filesystem::remove(mark(), code);
  }
  ResultFolder(const ResultFolder &) = delete;
  ResultFolder &operator=(const ResultFolder &) = delete;

  // Returns the path of a new result. The mark lists the file that it is
  // written to first, so that the next prediction knows and removes what is
  // left of it if the process is killed.
  std::string add(const std::string &name) {
    const std::string file = path + "/" + name;
    std::error_code code;
    if (std::filesystem::exists(file, code) && !has(earlier, name))
      throw Error("'" + file + "' is none of the results that '" +
                  kPredictionMark +
                  "' lists, and would be replaced; move it, or choose another "
                  "folder");
    names.push_back(name);
    parts.push_back(name + kPartExtension);
    write_mark({&earlier, &parts});
    return file;
  }

  // Removes the earlier results, which takes place before the first of the new
  // ones gets its name. The mark lists both, however the process ends.
  void remove_earlier() {
    write_mark({&names, &parts, &earlier});
    keeps_mark = true;
    std::error_code code;
    for (const std::string &name : earlier)
      if (!has(parts, name))
        std::filesystem::remove(path + "/" + name, code);
  }

  // Ends the list of earlier results, once the new ones have their names.
  void finish() { write_mark({&names}); }

private:
  static bool has(const std::vector<std::string> &all,
                  const std::string &name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  }
  std::string mark() const { return path + "/" + kPredictionMark; }
  // Lists each name once.
  void write_mark(
      std::initializer_list<const std::vector<std::string> *> lists) const {
    std::vector<std::string> all;
    for (const auto *list : lists)
      for (const std::string &name : *list)
        if (!has(all, name))
          all.push_back(name);
    std::string text = std::string(kPredictionTitle) + "\n";
    for (const std::string &name : all)
      text += name + "\n";
    AtomicFile file(mark());
    file.write(text.data(), text.size());
    file.commit();
  }

  const std::string path;
  std::unique_ptr<FolderLock> lock;
  // `parts` are the names that the new results have until they are complete.
  std::vector<std::string> earlier, names, parts;
  // Whether the mark stays when this object goes: it was there, or results are.
  bool keeps_mark = false;
};

} // namespace gpuopt
