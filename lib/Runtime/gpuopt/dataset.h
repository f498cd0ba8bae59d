// Samples on disk, read by mmap: .npy arrays, and token files as windows.
#pragma once

#include "gpuopt/mapped_file.h"
#include "gpuopt/program.h"

#include <cstdlib>
#include <memory>
#include <vector>

namespace gpuopt {

// One tensor per sample, in the file's own type.
struct Source {
  virtual ~Source() = default;
  virtual int64_t samples() const = 0;
  // The sample's elements lie one after the other from here.
  virtual const uint8_t *at(int64_t sample) const = 0;

  Type type = Type::F32;
  int64_t elements = 0; // of one sample
  std::string path;
};

namespace detail {

inline std::vector<int64_t> sample_shape(const TensorInfo &tensor) {
  return {tensor.shape + (tensor.rank > 0), tensor.shape + tensor.rank};
}

} // namespace detail

// NumPy's format, versions 1 to 3; the first dimension counts samples.
class NpySource : public Source {
public:
  NpySource(const std::string &file_path, const TensorInfo &tensor)
      : file(file_path) {
    path = file_path;
    const size_t begin = parse_header();
    elements = 1;
    for (size_t dim = 1; dim < shape.size(); dim++)
      elements *= shape[dim];
    const auto expected = detail::sample_shape(tensor);
    if (shape.empty() ||
        std::vector<int64_t>(shape.begin() + 1, shape.end()) != expected)
      throw Error("'" + path + "' has shape " + shape_text(shape) + ", but '" +
                  tensor.name + "' needs [samples" +
                  (expected.empty() ? "" : ", ") +
                  shape_text(expected).substr(1));
    if (shape[0] == 0)
      throw Error("'" + path + "' holds no samples");
    // The elements of one sample are the program's, so the product is small.
    const size_t sample_bytes = size_t(elements) * size_of(type);
    if (shape[0] < 0 || (file.bytes - begin) / sample_bytes < size_t(shape[0]))
      throw Error("'" + path + "' is shorter than its header says");
    data = file.data + begin;
  }
  int64_t samples() const override { return shape[0]; }
  const uint8_t *at(int64_t sample) const override {
    return data + size_t(sample * elements) * size_of(type);
  }

private:
  [[noreturn]] void fail(const std::string &why) {
    throw Error("'" + path + "' is not a .npy file that can be read: " + why);
  }
  size_t parse_header() {
    if (file.bytes < 12 || memcmp(file.data, "\x93NUMPY", 6) != 0)
      fail("it does not begin like one");
    const bool wide = file.data[6] >= 2;
    const size_t length = wide ? file.data[8] | file.data[9] << 8 |
                                     size_t(file.data[10]) << 16 |
                                     size_t(file.data[11]) << 24
                               : size_t(file.data[8] | file.data[9] << 8);
    const size_t begin = (wide ? 12 : 10) + length;
    if (begin > file.bytes)
      fail("its header is cut off");
    const std::string header(
        reinterpret_cast<const char *>(file.data) + (wide ? 12 : 10), length);
    type = parse_type(field(header, "'descr':"));
    if (field(header, "'fortran_order':").rfind("True", 0) == 0)
      fail("it is in Fortran order");
    std::string sizes = field(header, "'shape':");
    if (sizes.empty() || sizes[0] != '(')
      fail("its shape is no tuple");
    for (char *at = sizes.data() + 1; *at && *at != ')';) {
      char *end = at;
      const long long size = strtoll(at, &end, 10);
      if (end != at)
        shape.push_back(size);
      at = end == at ? at + 1 : end;
    }
    return begin;
  }
  std::string field(const std::string &header, const std::string &key) {
    size_t at = header.find(key);
    if (at == std::string::npos)
      fail("its header lacks " + key);
    at = header.find_first_not_of(' ', at + key.size());
    return at == std::string::npos ? "" : header.substr(at);
  }
  Type parse_type(const std::string &text) {
    constexpr struct {
      const char *name;
      Type type;
    } types[] = {{"f8", Type::F64}, {"f4", Type::F32}, {"f2", Type::F16},
                 {"i8", Type::I64}, {"i4", Type::I32}, {"i2", Type::I16},
                 {"i1", Type::I8},  {"u8", Type::U64}, {"u4", Type::U32},
                 {"u2", Type::U16}, {"u1", Type::U8},  {"b1", Type::Bool}};
    if (text.size() >= 5 && text[1] != '>')
      for (const auto &known : types)
        if (text.compare(2, 2, known.name) == 0)
          return known.type;
    fail("type " + text.substr(0, 5) + " is not supported");
  }

  MappedFile file;
  std::vector<int64_t> shape;
  const uint8_t *data = nullptr;
};

// Tokens: llm.c's header (magic 20240520 and 16 bits, or 20240801), or none.
class TokenFile {
public:
  TokenFile(const std::string &path, Type raw_type)
      : file(path), type(raw_type) {
    size_t begin = 0;
    int32_t header[3] = {};
    if (file.bytes >= 1024)
      memcpy(header, file.data, sizeof header);
    if (header[0] == 20240520 || header[0] == 20240801) {
      begin = 1024;
      type = header[0] == 20240801 && header[1] == 7 ? Type::U32 : Type::U16;
    }
    data = file.data + begin;
    tokens = int64_t((file.bytes - begin) / size_of(type));
    if (tokens == 0)
      throw Error("'" + path + "' holds no tokens");
  }
  MappedFile file;
  Type type;
  const uint8_t *data = nullptr;
  int64_t tokens = 0;
};

// Window i of T tokens begins at i * T; the labels are one token further.
class TokenSource : public Source {
public:
  TokenSource(std::shared_ptr<TokenFile> file, int64_t window, bool is_label)
      : file(std::move(file)), offset(is_label) {
    path = this->file->file.path;
    type = this->file->type;
    elements = window;
    if (samples() < 1)
      throw Error("'" + path + "' holds " + std::to_string(this->file->tokens) +
                  " tokens, but one window needs " +
                  std::to_string(window + 1));
  }
  int64_t samples() const override { return (file->tokens - 1) / elements; }
  const uint8_t *at(int64_t sample) const override {
    return file->data + size_t(sample * elements + offset) * size_of(type);
  }

private:
  std::shared_ptr<TokenFile> file;
  int64_t offset;
};

} // namespace gpuopt
