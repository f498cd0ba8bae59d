// Files for the runtime's tests, in a folder that goes with the test.
#pragma once

#include "gpuopt/device/error.h"
#include "gpuopt/kernels/types.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace gpuopt {

struct TemporaryFolder {
  TemporaryFolder() {
    std::string pattern =
        std::filesystem::temp_directory_path() / "gpuopt-XXXXXX";
    path = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string &name) const {
    return path + "/" + name;
  }
  std::string path;
};

inline void write_file(const std::string &path, const std::string &content) {
  std::ofstream(path, std::ios::binary) << content;
}
inline std::string read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The message of the Error that f throws.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

template <class T>
std::string bytes_of(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(T)};
}

// Version 1 of NumPy's format; `shape` as Python prints it.
inline std::string npy(const std::string &descr, const std::string &shape,
                       const std::string &data,
                       const std::string &fortran = "False") {
  std::string header = "{'descr': '" + descr +
                       "', 'fortran_order': " + fortran +
                       ", 'shape': " + shape + ", }";
  header.append(64 - (10 + header.size() + 1) % 64, ' ');
  header += '\n';
  const char length[2] = {char(header.size() & 255), char(header.size() >> 8)};
  return std::string("\x93NUMPY\x01\x00", 8) + std::string(length, 2) + header +
         data;
}

} // namespace gpuopt
