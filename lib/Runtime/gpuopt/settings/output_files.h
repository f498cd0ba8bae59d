// The files that a run writes beside its results, where a flag names them: the
// driver and the trainers check them before they do anything else.
//
// This file is C++17, as the compiler is.
#pragma once

#include "gpuopt/device/missing_path.h"
#include "gpuopt/settings/settings_table.h"

#include <filesystem>
#include <string>
#include <vector>

namespace gpuopt {

namespace detail {

// A flag of trainers. What a file of autotuning cannot keep is a warning, so it
// is none of these.
struct OutputFile {
  const char *flag;
  SettingMember<std::string> path;
  bool is_renamed; // a new file takes the place of an old one, but of no device
};
inline constexpr OutputFile kOutputFiles[] = {
    {"dump-gradients", &TrainingSettings::dump_gradients, true},
    {"profile-costs-to", &TrainingSettings::profile_costs_to, true},
    {"checksums-to", &TrainingSettings::checksums_to, false},
};

} // namespace detail

// Returns which of these files of a run is also one of those that are read:
// "--checksums-to: 'labels.npy' is read, ..."; empty if none is. `inputs` are
// the files that TrainingSettings does not have.
inline std::string replaced_input_error(const TrainingSettings &s,
                                        std::vector<std::string> inputs,
                                        const std::string &quote) {
  inputs.insert(inputs.end(), {s.labels, s.eval_labels, s.tokens, s.eval_tokens,
                               s.weights, s.init_from});
  for (const detail::OutputFile &file : detail::kOutputFiles)
    for (const std::string &input : inputs) {
      const std::string &path = s.*file.path;
      std::error_code code;
      // FILE.npz:NAME is a part of a file.
      for (const std::string &read : {input, input.substr(0, input.rfind(':'))})
        if (std::filesystem::is_regular_file(path, code) &&
            std::filesystem::equivalent(path, read, code))
          return quote + "--" + file.flag + quote + ": '" + path +
                 "' is read, and must not be overwritten; choose another file";
    }
  return "";
}

// Returns which of these files of a run cannot be written: "--checksums-to:
// cannot write ..."; empty if all can. `quote` is put around the flag.
inline std::string unwritable_error(const TrainingSettings &s,
                                    const std::string &output_dir,
                                    const std::string &quote) {
  for (const detail::OutputFile &file : detail::kOutputFiles)
    if (const std::string &path = s.*file.path; !path.empty())
      if (const std::string why =
              why_not_written(path, file.is_renamed, output_dir);
          !why.empty())
        return quote + "--" + file.flag + quote + ": " + why;
  return "";
}

} // namespace gpuopt
