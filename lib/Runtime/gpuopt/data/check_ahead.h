// Checks of data before they are needed: the driver's before it compiles, and a
// trainer's of what it validates on after many steps.
#pragma once

#include "gpuopt/data/indices.h"

#include <algorithm>
#include <chrono>

namespace gpuopt {

// The members of tar files and the pictures that are looked at ahead of time:
// each costs an access to the disk.
constexpr int64_t kMostCheckedAhead = 10000;

// Checks the indices in the first GiB, or of the first members of tar files;
// the loader checks the rest as it reads it.
inline void check_indices(const InputInfo &input, const DataSource &source) {
  constexpr int64_t kMostBytes = int64_t(1) << 30;
  const int64_t bytes = source.elements * int64_t(size_of(source.type));
  // Numbers made of pixels are not checked, see problem_of_indices.
  const bool are_of_pixels = is_fraction(input.tensor.type) && source.scale;
  if (fed_by(input, source).index_limit < 0 || bytes == 0 || are_of_pixels)
    return;
  const bool is_stored = dynamic_cast<const StoredSource *>(&source);
  const int64_t samples = std::min(
      source.samples(), is_stored ? kMostBytes / bytes + 1 : kMostCheckedAhead);
  std::vector<uint8_t> content(source.sample_bytes());
  for (int64_t sample = 0; sample < samples; ++sample) {
    source.read({sample}, content.data());
    const std::string problem =
        problem_of_indices(input, source, content.data(), sample);
    if (!problem.empty())
      throw BadRecord(problem);
  }
}

// The time that the sizes of pictures may take, which nobody is told of.
constexpr std::chrono::seconds kLongestCheckAhead{5};

// Checks what is cheap to check, as far as the time suffices, and reads the
// samples of the first batch. Bad records are no error where the loader skips
// them.
inline void check_ahead(Table<InputInfo> inputs, const DataSources &sources,
                        int64_t batch_size, bool skips_bad_records,
                        std::chrono::seconds longest = kLongestCheckAhead) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + longest;
  constexpr int64_t kMostDecoded = 64;
  for (size_t i = 0; i < sources.size() && !skips_bad_records; i++) {
    const DataSource &source = *sources[i];
    check_indices(inputs.data[i], source);
    std::vector<uint8_t> content(source.sample_bytes());
    const int64_t samples = source.samples(),
                  decoded = std::min(batch_size, kMostDecoded);
    for (int64_t k = 0;
         k < std::min(samples, kMostCheckedAhead) && Clock::now() < end; k++)
      source.check(k);
    for (int64_t k = 0; k < std::min(samples, decoded); k++)
      source.read({k}, content.data());
  }
}

} // namespace gpuopt
