// Weights as safetensors: 8 bytes of header length, a JSON header, raw tensors.
#pragma once

#include "gpuopt/data/json.h"
#include "gpuopt/data/mapped_file.h"
#include "gpuopt/data/original.h"
#include "gpuopt/device/atomic_file.h"
#include "gpuopt/kernels/types.h"

#include <algorithm>
#include <map>
#include <optional>
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

// Returns the tensors by their names. `metadata`, if it is not null, gets what
// the file has of that, by its names.
inline std::map<std::string, StoredTensor>
read_safetensors(const MappedFile &file,
                 std::map<std::string, std::string> *metadata = nullptr) {
  uint64_t header = 0;
  if (file.bytes >= 8)
    memcpy(&header, file.data, 8);
  const auto *text = reinterpret_cast<const char *>(file.data) + 8;
  const bool fits = file.bytes >= 8 && header <= file.bytes - 8;
  JsonParser parser(text, fits ? size_t(header) : 0,
                    "'" + file.path + "' is not a safetensors file");
  if (!fits)
    parser.fail();
  const uint8_t *data = file.data + 8 + header;
  const size_t room = file.bytes - 8 - size_t(header);
  std::map<std::string, StoredTensor> tensors;
  parser.object([&](const std::string &name) {
    StoredTensor tensor{};
    std::vector<int64_t> range;
    const bool is_metadata = name == "__metadata__";
    parser.object([&](const std::string &key) {
      if (is_metadata) {
        const std::string value = parser.string();
        if (metadata)
          (*metadata)[key] = value;
      } else if (key == "dtype")
        tensor.dtype = parser.string();
      else if (key == "shape")
        tensor.shape = parser.integers();
      else if (key == "data_offsets")
        range = parser.integers();
      else
        parser.string();
    });
    if (is_metadata)
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
  size_t bytes; // in the file
  // The type to which the elements in memory are rounded, if they are.
  std::optional<Type> rounded_to = {};
  // The elements from which those in memory were rounded; or null.
  const Original *original = nullptr;
};

// Writes elements that are rounded in memory: the originals of those that are
// still what these were rounded to, and the others as they are, in the wider
// type.
inline void write_widened(AtomicFile &file, const TensorToSave &tensor) {
  constexpr size_t kPiece = size_t(1) << 20;
  const Type type = tensor.type, rounded = *tensor.rounded_to;
  const size_t count = tensor.bytes / size_of(type), wide = size_of(type),
               narrow = size_of(rounded);
  std::vector<char> piece(std::min(count, kPiece) * wide),
      original(piece.size()), as_rounded(piece.size());
  for (size_t begin = 0; begin < count; begin += kPiece) {
    const size_t elements = std::min(kPiece, count - begin);
    const char *data = static_cast<const char *>(tensor.data) + begin * narrow;
    const bool is_read =
        tensor.original &&
        tensor.original->read(begin, elements, type, original.data());
    if (is_read)
      convert_elements(type, original.data(), rounded, as_rounded.data(),
                       elements);
    if (is_read && memcmp(as_rounded.data(), data, elements * narrow) == 0) {
      file.write(original.data(), elements * wide);
      continue;
    }
    convert_elements(rounded, data, type, piece.data(), elements);
    for (size_t i = 0; is_read && i < elements; i++)
      if (memcmp(&as_rounded[i * narrow], data + i * narrow, narrow) == 0)
        memcpy(&piece[i * wide], &original[i * wide], wide);
    file.write(piece.data(), elements * wide);
  }
}

// Returns the header: 8 bytes of its length, and JSON.
inline std::string
safetensors_header(const std::vector<TensorToSave> &tensors,
                   const std::map<std::string, std::string> &metadata) {
  std::string json;
  if (!metadata.empty())
    json += ",\"__metadata__\":" + json_object(metadata);
  size_t offset = 0;
  for (const TensorToSave &tensor : tensors) {
    json += "," + json_quoted(tensor.name) + ":{\"dtype\":\"" +
            safetensors_name(tensor.type) + "\",\"shape\":";
    json += shape_text(tensor.shape) + ",\"data_offsets\":[";
    json += std::to_string(offset) + "," +
            std::to_string(offset + tensor.bytes) + "]}";
    offset += tensor.bytes;
  }
  json = "{" + json.substr(json.empty() ? 0 : 1) + "}";
  json.append((8 - json.size() % 8) % 8, ' ');
  const uint64_t size = json.size();
  return std::string(reinterpret_cast<const char *>(&size), 8) + json;
}

// Writes the tensors in their order. `metadata` is for other programs: those
// of Hugging Face look for a "format".
inline void
write_safetensors(const std::string &path,
                  const std::vector<TensorToSave> &tensors,
                  const std::map<std::string, std::string> &metadata = {}) {
  const std::string header = safetensors_header(tensors, metadata);
  AtomicFile file(path);
  file.write(header.data(), header.size());
  for (const TensorToSave &tensor : tensors)
    if (tensor.rounded_to)
      write_widened(file, tensor);
    else
      file.write(tensor.data, tensor.bytes);
  file.commit();
}

} // namespace gpuopt
