// Which of a library's algorithms was the fastest for a call, by measurement.
// It is a file, so that the next run chooses as this one did and computes the
// same bits.
//
//   gpuopt autotune record 1
//   MACHINE <tab> CALL <tab> CHOICE              a line for each call
//
// The texts are the library's own: MACHINE names the device and the library's
// version, CALL what was asked for, CHOICE the algorithm. Trainers that run at
// the same time may share a record: a lock file beside it orders their changes.
#pragma once

#include "gpuopt/device/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

namespace gpuopt {

class AutotuneRecord {
public:
  // Reads `path` if it exists. Throws Error if it is not a record.
  explicit AutotuneRecord(std::string path) : file(std::move(path)) {
    const Lock lock(file);
    if (!lock.is_held())
      stop("cannot write '" + file + ".lock': " + strerror(errno));
    read();
  }

  const std::string &path() const { return file; }

  // The choice for a call; null if it has not been timed on this machine.
  const std::string *find(const std::string &machine,
                          const std::string &call) const {
    const auto found = choices.find({machine, call});
    return found == choices.end() ? nullptr : &found->second;
  }

  // Whether choices outlive the run. Where they cannot, nothing should be
  // timed: the next run would measure again and might choose otherwise.
  bool is_kept() const { return kept; }

  // Keeps a choice and returns the one that holds: another trainer may have
  // timed the call in the meantime. Null if the file cannot be written.
  const std::string *add(const std::string &machine, const std::string &call,
                         const std::string &choice) {
    const Lock lock(file);
    read();
    if (const std::string *other = find(machine, call))
      return other;
    choices[{machine, call}] = choice;
    write();
    if (!kept)
      choices.erase({machine, call});
    return find(machine, call);
  }

private:
  static constexpr const char *kHeader = "gpuopt autotune record 1";

  class Lock {
  public:
    explicit Lock(const std::string &path)
        : descriptor(open((path + ".lock").c_str(),
                          O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
      if (is_held())
        flock(descriptor, LOCK_EX);
    }
    ~Lock() {
      if (is_held())
        close(descriptor); // and lets go of the lock
    }
    Lock(const Lock &) = delete;
    Lock &operator=(const Lock &) = delete;
    bool is_held() const { return descriptor >= 0; }

  private:
    int descriptor;
  };

  [[noreturn]] void refuse(int64_t line, const std::string &why) const {
    throw Error("'" + file + "', line " + std::to_string(line) + ": " + why +
                "; remove the file to have calls timed anew");
  }

  void read() {
    std::error_code code;
    if (!std::filesystem::exists(file, code))
      return;
    std::ifstream stream(file);
    if (!stream.is_open() || !std::filesystem::is_regular_file(file, code))
      throw Error("cannot read the autotune record '" + file + "'");
    std::string line;
    if (!std::getline(stream, line) || line != kHeader)
      refuse(1, std::string("expected '") + kHeader + "'");
    for (int64_t number = 2; std::getline(stream, line); number++) {
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
    std::string text = std::string(kHeader) + "\n";
    for (const auto &[key, choice] : choices)
      text += key.first + "\t" + key.second + "\t" + choice + "\n";
    try {
      AtomicFile to(file);
      to.write(text.data(), text.size());
      to.commit();
    } catch (const Error &error) {
      stop(error.what());
    }
  }

  void stop(const std::string &why) {
    kept = false;
    fprintf(stderr,
            "warning: %s: calls are not timed any more; the library's "
            "heuristics choose their algorithms\n",
            why.c_str());
  }

  std::string file;
  std::map<std::pair<std::string, std::string>, std::string> choices;
  bool kept = true;
};

} // namespace gpuopt
