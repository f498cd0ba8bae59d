// Reads the flags of a predictor: those of the table that it takes.
#pragma once

#include "gpuopt/predictor/result_folder.h"
#include "gpuopt/trainer/output_folder.h"
#include "gpuopt/trainer/settings.h"

namespace gpuopt {

namespace detail {
// Throws an Error where results in the output folder would come in the way of
// somebody's files.
inline void check_results(const Settings &s) {
  if (const std::string why = why_no_results(s.output_dir); !why.empty())
    throw Error("'--output-dir' " + why);
  std::vector<std::string> data;
  for (const auto &[input, file] : s.train.files)
    data.push_back(file);
  if (const std::string why =
          why_not_beside_data(s.output_dir, data, s.train.tokens, s.prompts);
      !why.empty())
    throw Error(why);
}
} // namespace detail

// Returns the settings of a prediction.
inline Settings parse_prediction(int argc, char **argv,
                                 const Program &program) {
  Settings s;
  s.output_dir = "predicted";
  Flags flags;
  detail::declare_flags(flags, s, program);
  flags.parse_all(argc, argv);
  s.output_dir = without_end_slashes(s.output_dir);
  s.train.tokens = s.tokens;
  s.train.transform = s.transform;
  detail::check_ranges(s, kind_of(program));
  if (const std::string why = missing_flag_error(
          s, "'", /*trains=*/false,
          [&](const char *name) { return flags.given(name); });
      !why.empty())
    throw Error(why);
  if (const std::string why = generation_error(
          s, "'", [&](const std::string &name) { return flags.given(name); });
      !why.empty())
    throw Error(why);
  detail::check_files(s.train, "--");
  detail::check_readable("--prompts", s.prompts);
  detail::check_readable("--class-names", s.class_names);
  detail::check_weights(s);
  detail::check_readable("--constants", s.constants);
  detail::check_results(s);
  detail::warn_of_replaced(flags, program);
  return s;
}

} // namespace gpuopt
