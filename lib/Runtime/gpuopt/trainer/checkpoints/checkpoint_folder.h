// The folders checkpoint-STEP below a trainer's output, named as by Hugging
// Face's Trainer:
//
//   model.safetensors      weights and running statistics, as in the output
//   ema.safetensors        the same with averages of the parameters, if the run
//                          keeps them
//   optimizer.safetensors  what the optimizer keeps for each parameter
//   trainer_state.json     all else (run_state.h)
//   checksums.txt          a line for each of these; written last
//   classes.txt            what the classes are called, if they are; the user
//                          may change it
//
// A folder is written under a name that ends in ".part" and renamed once it is
// on the disk. One without checksums.txt is not whole.
#pragma once

#include "gpuopt/data/checksum.h"
#include "gpuopt/device/atomic_file.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"

#include <cstdio>
#include <filesystem>
#include <vector>

namespace gpuopt {

constexpr char kOptimizerFile[] = "optimizer.safetensors";
constexpr char kPartSuffix[] = ".part";

namespace detail {
inline std::vector<std::string> checksum_lines(const std::string &checkpoint) {
  std::vector<std::string> lines;
  std::error_code code;
  for (const char *name :
       {kModelFile, kAveragesFile, kOptimizerFile, kRunStateFile})
    if (name != kAveragesFile ||
        std::filesystem::exists(checkpoint + "/" + kAveragesFile, code))
      lines.push_back(checksum_line(checkpoint, name));
  return lines;
}
inline void write_text(const std::string &path, const std::string &text) {
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}
} // namespace detail

inline void write_checksums(const std::string &checkpoint) {
  std::string text;
  for (const std::string &line : detail::checksum_lines(checkpoint))
    text += line + "\n";
  detail::write_text(checkpoint + "/" + kChecksumsFile, text);
}

// Throws an Error that names the file of a checkpoint which is not as it was
// written.
inline void check_whole(const std::string &checkpoint) {
  const std::string marker = checkpoint + "/" + kChecksumsFile;
  if (!is_finished_checkpoint(checkpoint))
    throw Error("'" + checkpoint + "' is no whole checkpoint: it has no '" +
                kChecksumsFile + "', which is written last");
  const MappedFile file(marker);
  const std::string written(reinterpret_cast<const char *>(file.data),
                            file.bytes);
  std::string found;
  for (const std::string &line : detail::checksum_lines(checkpoint)) {
    if (written.find(line + "\n") == std::string::npos)
      throw damaged_file(checkpoint, line.substr(line.rfind(' ') + 1));
    found += line + "\n";
  }
  if (found != written)
    throw Error("'" + marker +
                "' is damaged: it has more than the lines of "
                "the checkpoint's files");
}

// Removes the marker first, so that what a kill leaves behind is not taken for
// a checkpoint. What cannot be removed stays.
inline void remove_checkpoint(const std::string &path) {
  std::error_code code;
  std::filesystem::remove(path + "/" + kChecksumsFile, code);
  std::filesystem::remove_all(path, code);
}

// Renames a whole checkpoint. One of the same step, which an earlier course of
// the run has left, changes places with it and is removed.
inline void put_in_place(const std::string &part, const std::string &target) {
  if (!std::filesystem::exists(target))
    return std::filesystem::rename(part, target);
  if (renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, target.c_str(),
                RENAME_EXCHANGE) == 0)
    return remove_checkpoint(part);
  // File systems of networks cannot exchange names, and old kernels neither.
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
    throw Error("cannot replace '" + target + "': " + strerror(errno));
  remove_checkpoint(target);
  std::filesystem::rename(part, target);
}

// Removes what trainers that were killed left of checkpoints.
inline void remove_unfinished_checkpoints(const std::string &output_dir) {
  std::error_code code;
  std::vector<std::filesystem::path> unfinished;
  std::filesystem::directory_iterator at(output_dir, code), end;
  for (; !code && at != end; at.increment(code))
    if (at->path().extension() == kPartSuffix &&
        step_in_name(at->path().stem()) >= 0)
      unfinished.push_back(at->path());
  for (const auto &path : unfinished)
    std::filesystem::remove_all(path, code);
}

} // namespace gpuopt
