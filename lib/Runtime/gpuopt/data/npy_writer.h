// Writes NumPy's .npy files, row by row.
#pragma once

#include "gpuopt/device/atomic_file.h"
#include "gpuopt/kernels/types.h"

#include <vector>

namespace gpuopt {

// Returns NumPy's name of a type. NumPy has no bfloat16, which is written as
// float32.
inline const char *npy_descr(Type type) {
  constexpr const char *names[] = {"<f8", "<f4", "<f2", "<f4", "<i8",
                                   "<i4", "<i2", "|i1", "<u8", "<u4",
                                   "<u2", "|u1", "|b1"};
  return names[int(type)];
}

// Returns the header of a file, version 1.0: elements begin at a multiple of 64
// bytes.
inline std::string npy_header(Type type, const std::vector<int64_t> &shape) {
  std::string text = "{'descr': '" + std::string(npy_descr(type)) +
                     "', 'fortran_order': False, 'shape': (";
  for (const int64_t size : shape)
    text += std::to_string(size) + ", ";
  text += "), }";
  constexpr size_t kPreamble = 10, kAlignment = 64;
  const size_t used = kPreamble + text.size() + 1;
  text.append((kAlignment - used % kAlignment) % kAlignment, ' ');
  text += '\n';
  const char length[] = {char(text.size() & 0xff), char(text.size() >> 8)};
  return std::string("\x93NUMPY\x01\x00", 8) + std::string(length, 2) + text;
}

// A file whose elements are appended as they are computed. It has its name once
// commit() is called.
class NpyWriter {
public:
  // `shape` is that of the whole array.
  NpyWriter(const std::string &path, Type type,
            const std::vector<int64_t> &shape)
      : file(path), type(type) {
    const std::string header = npy_header(type, shape);
    file.write(header.data(), header.size());
  }
  // Appends `count` elements of the type.
  void append(const void *elements, int64_t count) {
    if (type != Type::BF16)
      return file.write(elements, size_t(count) * size_of(type));
    const auto *from = static_cast<const bf16 *>(elements);
    std::vector<float> wide;
    wide.reserve(size_t(count));
    for (int64_t i = 0; i < count; i++)
      wide.push_back(widen(from[i]));
    file.write(wide.data(), wide.size() * sizeof(float));
  }
  void commit() { file.commit(); }

private:
  AtomicFile file;
  const Type type;
};

} // namespace gpuopt
