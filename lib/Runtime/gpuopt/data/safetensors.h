// Weights as safetensors: 8 bytes of header length, a JSON header, raw tensors.
#pragma once

#include "gpuopt/data/mapped_file.h"
#include "gpuopt/device/atomic_file.h"
#include "gpuopt/kernels/types.h"

#include <map>
#include <vector>

namespace gpuopt {

struct StoredTensor {
  std::string dtype; // "F32", "I64", ...
  std::vector<int64_t> shape;
  const uint8_t *data;
  size_t bytes;
};

inline const char *safetensors_name(Type type) {
  constexpr const char *names[] = {"F64", "F32", "F16", "BF16", "I64",
                                   "I32", "I16", "I8",  "U64",  "U32",
                                   "U16", "U8",  "BOOL"};
  return names[static_cast<int>(type)];
}

namespace detail {

// The header's JSON: objects of strings, integers and arrays of integers.
class HeaderParser {
public:
  HeaderParser(const MappedFile &file, const char *text, size_t size)
      : file(file), at(text), end(text + size) {}

  template <class Visit>
  void object(Visit visit) {
    expect('{');
    if (accept('}'))
      return;
    do {
      const std::string key = string();
      expect(':');
      visit(key);
    } while (accept(','));
    expect('}');
  }
  std::string string() {
    expect('"');
    std::string text;
    while (at < end && *at != '"') {
      if (*at == '\\' && at + 1 < end)
        at++;
      text += *at++;
    }
    if (at == end)
      fail();
    at++;
    return text;
  }
  std::vector<int64_t> integers() {
    std::vector<int64_t> values;
    expect('[');
    if (accept(']'))
      return values;
    do
      values.push_back(integer());
    while (accept(','));
    expect(']');
    return values;
  }
  int64_t integer() {
    skip_space();
    int64_t value = 0;
    const char *start = at;
    while (at < end && *at >= '0' && *at <= '9' && at - start < 18)
      value = value * 10 + (*at++ - '0');
    if (at == start)
      fail();
    return value;
  }
  [[noreturn]] void fail() {
    throw Error("'" + file.path + "' is not a safetensors file");
  }

private:
  void skip_space() {
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t'))
      at++;
  }
  bool accept(char c) {
    skip_space();
    if (at == end || *at != c)
      return false;
    at++;
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      fail();
  }
  const MappedFile &file;
  const char *at, *end;
};

} // namespace detail

inline std::map<std::string, StoredTensor>
read_safetensors(const MappedFile &file) {
  uint64_t header = 0;
  if (file.bytes >= 8)
    memcpy(&header, file.data, 8);
  const auto *text = reinterpret_cast<const char *>(file.data) + 8;
  detail::HeaderParser parser(file, text, size_t(header));
  if (file.bytes < 8 || header > file.bytes - 8)
    parser.fail();
  const uint8_t *data = file.data + 8 + header;
  const size_t room = file.bytes - 8 - size_t(header);
  std::map<std::string, StoredTensor> tensors;
  parser.object([&](const std::string &name) {
    StoredTensor tensor{};
    std::vector<int64_t> range;
    parser.object([&](const std::string &key) {
      if (key == "dtype")
        tensor.dtype = parser.string();
      else if (key == "shape")
        tensor.shape = parser.integers();
      else if (key == "data_offsets")
        range = parser.integers();
      else
        parser.string(); // metadata
    });
    if (name == "__metadata__")
      return;
    if (range.size() != 2 || range[0] > range[1] || size_t(range[1]) > room)
      parser.fail();
    tensor.data = data + range[0];
    tensor.bytes = size_t(range[1] - range[0]);
    tensors[name] = tensor;
  });
  return tensors;
}

struct TensorToSave {
  std::string name;
  Type type;
  std::vector<int64_t> shape;
  const void *data;
  size_t bytes;
};

inline void write_safetensors(const std::string &path,
                              const std::vector<TensorToSave> &tensors) {
  std::string header = "{";
  size_t offset = 0;
  for (const TensorToSave &tensor : tensors) {
    std::string name;
    for (char c : tensor.name) {
      if (c == '"' || c == '\\')
        name += '\\';
      name += c;
    }
    header += header.size() > 1 ? ",\"" : "\"";
    header += name;
    header += "\":{\"dtype\":\"";
    header += safetensors_name(tensor.type);
    header += "\",\"shape\":";
    header += shape_text(tensor.shape);
    header += ",\"data_offsets\":[";
    header += std::to_string(offset);
    header += ",";
    header += std::to_string(offset + tensor.bytes);
    header += "]}";
    offset += tensor.bytes;
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  AtomicFile file(path);
  const uint64_t size = header.size();
  file.write(&size, 8);
  file.write(header.data(), header.size());
  for (const TensorToSave &tensor : tensors)
    file.write(tensor.data, tensor.bytes);
  file.commit();
}

} // namespace gpuopt
