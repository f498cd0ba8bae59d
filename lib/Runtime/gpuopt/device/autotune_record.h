// Which of a library's algorithms was the fastest for a call, by measurement.
// It is a file, so that the next run chooses as this one did and computes the
// same bits.
//
//   gpuopt autotune record 1
//   MACHINE <tab> CALL <tab> CHOICE              a line for each call
//
// The texts are the library's own: MACHINE names the device and the library's
// version, CALL what was asked for, CHOICE the algorithm.
#pragma once

#include "gpuopt/device/atomic_file.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace gpuopt {

class AutotuneRecord {
public:
  // Reads `path` if it exists. Throws Error if it is not a record.
  explicit AutotuneRecord(std::string path) : path(std::move(path)) {
    read();
    write();
  }

  // The choice for a call; null if it has not been timed on this machine.
  const std::string *find(const std::string &machine,
                          const std::string &call) const {
    const auto found = choices.find({machine, call});
    return found == choices.end() ? nullptr : &found->second;
  }

  // Whether choices outlive the run. Where they cannot, nothing should be
  // timed: the next run would measure again and might choose otherwise.
  bool is_kept() const { return kept; }

  // Keeps a choice and returns the one that holds: another trainer of the same
  // program may have timed the call in the meantime.
  std::string add(const std::string &machine, const std::string &call,
                  const std::string &choice) {
    read();
    const auto at = choices.insert({{machine, call}, choice}).first;
    write();
    return at->second;
  }

private:
  static constexpr const char *kHeader = "gpuopt autotune record 1";

  [[noreturn]] void refuse(int64_t line, const std::string &why) const {
    throw Error("'" + path + "', line " + std::to_string(line) + ": " + why +
                "; remove the file to have products timed anew");
  }

  void read() {
    std::error_code code;
    if (!std::filesystem::exists(path, code))
      return;
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line) || line != kHeader)
      refuse(1, std::string("expected '") + kHeader + "'");
    for (int64_t number = 2; std::getline(file, line); number++) {
      const size_t first = line.find('\t'), last = line.rfind('\t');
      if (first == std::string::npos || first == last)
        refuse(number, "expected a machine, a call and a choice, with tabs "
                       "between them");
      choices[{line.substr(0, first),
               line.substr(first + 1, last - first - 1)}] =
          line.substr(last + 1);
    }
  }

  void write() {
    if (!kept)
      return;
    std::string text = std::string(kHeader) + "\n";
    for (const auto &[key, choice] : choices)
      text += key.first + "\t" + key.second + "\t" + choice + "\n";
    try {
      AtomicFile file(path);
      file.write(text.data(), text.size());
      file.commit();
    } catch (const Error &error) {
      kept = false;
      fprintf(stderr,
              "warning: %s: products are not timed any more; the library's "
              "heuristics choose their algorithms\n",
              error.what());
    }
  }

  std::string path;
  std::map<std::pair<std::string, std::string>, std::string> choices;
  bool kept = true;
};

} // namespace gpuopt
