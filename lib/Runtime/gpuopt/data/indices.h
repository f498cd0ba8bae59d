// Checks that the integers of the data, indices and labels, lie in the range
// that the program may look up, and that probabilities lie from 0 to 1.
#pragma once

#include "gpuopt/data/dataset.h"

#include <limits>

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

// Whether n integers lie in [lowest, limit). Nothing is said about where, so
// that the compiler can compare many of them at a time.
template <class T>
bool all_lie_in(const uint8_t *data, int64_t n, int64_t lowest, int64_t limit) {
  constexpr int64_t kBlock = 256;
  constexpr int64_t kLeast = std::numeric_limits<T>::min(),
                    kMost = std::numeric_limits<T>::max();
  if (lowest > kMost || limit <= kLeast)
    return n == 0;
  const T low = T(std::max(lowest, kLeast)),
          high = T(std::min(limit - 1, kMost));
  // The least and the most, since compilers make vectors of those, but not of
  // conditions that are joined.
  T least = high, most = low;
  for (int64_t begin = 0; begin < n && least >= low && most <= high;
       begin += kBlock) {
    T values[kBlock];
    const int64_t count = std::min(kBlock, n - begin);
    memcpy(values, data + size_t(begin) * sizeof(T), size_t(count) * sizeof(T));
    for (int64_t i = 0; i < count; i++) {
      least = std::min(least, values[i]);
      most = std::max(most, values[i]);
    }
  }
  return least >= low && most <= high;
}

inline bool all_lie_in(Type type, const uint8_t *data, int64_t n,
                       int64_t lowest, int64_t limit) {
  switch (type) {
  case Type::I64:
    return all_lie_in<int64_t>(data, n, lowest, limit);
  case Type::I32:
    return all_lie_in<int32_t>(data, n, lowest, limit);
  case Type::I16:
    return all_lie_in<int16_t>(data, n, lowest, limit);
  case Type::I8:
    return all_lie_in<int8_t>(data, n, lowest, limit);
  case Type::U32:
    return all_lie_in<uint32_t>(data, n, lowest, limit);
  case Type::U16:
    return all_lie_in<uint16_t>(data, n, lowest, limit);
  case Type::U8:
    return all_lie_in<uint8_t>(data, n, lowest, limit);
  default:
    return false;
  }
}

// Returns a number of a type that a file has.
inline double number_at(Type type, const uint8_t *data, int64_t k) {
  auto read = [&](auto element) {
    memcpy(static_cast<void *>(&element), data + size_t(k) * sizeof element,
           sizeof element);
    return double(load_scalar(&element));
  };
  switch (type) {
  case Type::F64:
    return read(double());
  case Type::F32:
    return read(float());
  case Type::F16:
    return read(f16());
  case Type::BF16:
    return read(bf16());
  default:
    return double(integer_at(type, data, k));
  }
}

// Returns an element of a file as messages print it.
inline std::string element_text(Type type, const uint8_t *data, int64_t k) {
  if (!is_fraction(type))
    return std::to_string(integer_at(type, data, k));
  char text[40];
  snprintf(text, sizeof text, "%g", number_at(type, data, k));
  return text;
}

// Whether an element lies in the range of an input, which includes its upper
// end for fractions, as probabilities are, or stands for no label.
inline bool lies_in_range(const InputInfo &input, Type type,
                          const uint8_t *data, int64_t k) {
  if (is_fraction(input.tensor.type)) {
    const double value = number_at(type, data, k);
    return value >= double(input.index_lowest) &&
           value <= double(input.index_limit);
  }
  const int64_t value = integer_at(type, data, k);
  return (value >= input.index_lowest && value < input.index_limit) ||
         (input.is_label && value == input.ignore_index);
}

} // namespace detail

// Returns the place of the first of n elements that is out of the range of an
// input; -1 if none is.
inline int64_t first_outside(const InputInfo &input, Type type,
                             const uint8_t *data, int64_t n) {
  if (input.index_limit < 0 ||
      (!is_fraction(input.tensor.type) &&
       detail::all_lie_in(type, data, n, input.index_lowest,
                          input.index_limit)))
    return -1;
  for (int64_t k = 0; k < n; k++)
    if (!detail::lies_in_range(input, type, data, k))
      return k;
  return -1;
}

// Returns "holds 3 for 'labels', but it must lie in [0, 3)", with `where` after
// the name.
inline std::string outside_text(const InputInfo &input, Type type,
                                const uint8_t *data, int64_t k,
                                const std::string &where = "") {
  return "holds " + detail::element_text(type, data, k) + " for '" +
         input.tensor.name + "'," + where + " but it must lie in [" +
         std::to_string(input.index_lowest) + ", " +
         std::to_string(input.index_limit) +
         (is_fraction(input.tensor.type) ? "]" : ")");
}

// Returns what the data must be like that a source feeds an input: classes, or
// integers in the range of int32 where casting would let others wrap.
inline InputInfo fed_by(const InputInfo &fed, const DataSource &source) {
  InputInfo input = source.gives_classes ? classes_of(fed) : fed;
  using Limits = std::numeric_limits<int32_t>;
  if (input.tensor.type == Type::I32 && input.index_limit < 0 &&
      (source.type == Type::I64 || source.type == Type::U32)) {
    input.index_lowest = Limits::min();
    input.index_limit = int64_t(Limits::max()) + 1;
  }
  return input;
}

// Returns what is wrong with the first element of a sample that is out of
// range; empty if none is. The sample's elements begin at `data`. Numbers that
// are made of pixels lie from 0 to 1, or where the user's transform puts them.
inline std::string problem_of_indices(const InputInfo &fed,
                                      const DataSource &source,
                                      const uint8_t *data, int64_t sample) {
  const InputInfo input = fed_by(fed, source);
  if (is_fraction(input.tensor.type) && source.scale)
    return "";
  const int64_t k = first_outside(input, source.type, data, source.elements);
  if (k < 0)
    return "";
  const std::string where =
      " in element " + std::to_string(k) + " of the sample,";
  return source.place(sample) + " " +
         outside_text(input, source.type, data, k,
                      is_fraction(input.tensor.type) ? where : "");
}

} // namespace gpuopt
