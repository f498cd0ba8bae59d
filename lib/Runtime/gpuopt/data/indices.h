// Checks that the integers of the data, indices and labels, lie in the range
// that the program may look up.
#pragma once

#include "gpuopt/data/dataset.h"

namespace gpuopt {

namespace detail {

inline int64_t integer_at(Type type, const uint8_t *data, int64_t k) {
  int64_t value = 0;
  const size_t size = size_of(type);
  memcpy(&value, data + size_t(k) * size, size);
  const bool is_signed =
      type == Type::I32 || type == Type::I16 || type == Type::I8;
  const int unused = 64 - 8 * int(size);
  return is_signed ? int64_t(uint64_t(value) << unused) >> unused : value;
}

} // namespace detail

// Returns what is wrong with the first index of a sample that is out of range;
// empty if none is. The sample's elements begin at `data`.
inline std::string problem_of_indices(const InputInfo &input,
                                      const Source &source, const uint8_t *data,
                                      int64_t sample) {
  if (input.index_limit < 0)
    return "";
  for (int64_t k = 0; k < source.elements; k++) {
    const int64_t value = detail::integer_at(source.type, data, k);
    if ((value < input.index_lowest || value >= input.index_limit) &&
        !(input.is_label && value == input.ignore_index))
      return "'" + source.path + "': sample " + std::to_string(sample) +
             " holds " + std::to_string(value) + " for '" + input.tensor.name +
             "', but it must lie in [" + std::to_string(input.index_lowest) +
             ", " + std::to_string(input.index_limit) + ")";
  }
  return "";
}

} // namespace gpuopt
