// Arrays as sources of samples: .npy files, members of .npz files, and tensors
// of safetensors files. Their first dimension counts samples.
#pragma once

#include "gpuopt/data/dataset.h"
#include "gpuopt/data/safetensors.h"
#include "gpuopt/data/zip.h"

namespace gpuopt {

// An array whose elements lie in memory, or in a file that is mapped.
struct Array {
  NamedBytes content; // the elements; there may be fewer than the shape says
  Type type = Type::F32;
  std::vector<int64_t> shape;
  std::shared_ptr<const void> owner; // of the bytes
};

namespace detail {

inline Array npy_array(const NamedBytes &file,
                       std::shared_ptr<const void> owner) {
  const NpyHeader header(file);
  return {{file.path, file.data + header.begin, file.bytes - header.begin},
          header.type,
          header.shape,
          std::move(owner)};
}

// Returns "; it holds 'a', 'b'", of many names the first.
template <class Names>
std::string list_of_members(const Names &names) {
  std::string list;
  int count = 0;
  for (const auto &[name, content] : names)
    if (++count <= 8)
      list += (list.empty() ? "'" : ", '") + name + "'";
  return list.empty() ? "; it is empty"
                      : "; it holds " + list + (count > 8 ? ", ..." : "");
}

} // namespace detail

inline Array read_npy(const std::string &path) {
  auto file = std::make_shared<MappedFile>(path);
  return detail::npy_array(*file, file);
}

// Returns the array that numpy.savez has written under a name; compressed ones
// are unpacked into memory.
inline Array read_npz(const std::string &path, const std::string &name) {
  auto file = std::make_shared<MappedFile>(path);
  const auto members = read_zip_directory(*file);
  auto member = members.find(name + ".npy");
  if (member == members.end())
    member = members.find(name);
  if (member == members.end())
    throw Error("'" + path + "' has no array '" + name + "'" +
                detail::list_of_members(members) + "; name one as " + path +
                ":NAME");
  if (!member->second.is_deflated)
    return detail::npy_array(stored_bytes(*file, member->second), file);
  auto unpacked = std::make_shared<std::vector<uint8_t>>(
      inflate_member(*file, member->second));
  return detail::npy_array(
      {path + ":" + name, unpacked->data(), unpacked->size()}, unpacked);
}

// Returns a tensor of a safetensors file.
inline Array read_safetensors_column(const std::string &path,
                                     const std::string &name) {
  auto file = std::make_shared<MappedFile>(path);
  const auto tensors = read_safetensors(*file);
  const auto found = tensors.find(name);
  if (found == tensors.end())
    throw Error("'" + path + "' has no tensor '" + name + "'" +
                detail::list_of_members(tensors) + "; name one as " + path +
                ":NAME");
  const StoredTensor &tensor = found->second;
  for (int type = 0; type <= int(Type::Bool); type++)
    if (tensor.dtype == safetensors_name(Type(type)))
      return {{path + ":" + name, tensor.data, tensor.bytes},
              Type(type),
              tensor.shape,
              file};
  throw Error("'" + path + ":" + name + "' is of type " + tensor.dtype +
              ", which cannot be read; save it as F32, F16 or integers");
}

class ArraySource : public StoredSource {
public:
  ArraySource(Array content, const TensorInfo &tensor)
      : array(std::move(content)) {
    path = array.content.path;
    type = array.type;
    check_shape(tensor);
    elements = detail::product(detail::sample_shape(tensor));
    if (array.shape[0] < 0 ||
        (sample_bytes() > 0 && // a sample of no elements needs no bytes
         array.content.bytes / sample_bytes() < size_t(array.shape[0])))
      throw Error("'" + path + "' is shorter than its header says");
  }
  int64_t samples() const override { return array.shape[0]; }
  const uint8_t *at(int64_t sample) const override {
    return array.content.data + size_t(sample) * sample_bytes();
  }

private:
  void check_shape(const TensorInfo &tensor) const {
    const std::vector<int64_t> &shape = array.shape;
    const auto expected = detail::sample_shape(tensor);
    const std::string needed = "[samples" +
                               std::string(expected.empty() ? "" : ", ") +
                               shape_text(expected).substr(1);
    if (shape.empty() ||
        std::vector<int64_t>(shape.begin() + 1, shape.end()) != expected)
      throw Error("'" + path + "' has shape " + shape_text(shape) + ", but '" +
                  tensor.name + "' needs " + needed + reshape_hint(expected));
    if (shape[0] == 0)
      throw Error("'" + path + "' holds no samples");
  }
  // Returns a hint if the same elements would fit in another shape or order.
  std::string reshape_hint(const std::vector<int64_t> &expected) const {
    if (array.shape.empty())
      return "";
    const std::vector<int64_t> sample(array.shape.begin() + 1,
                                      array.shape.end());
    if (std::is_permutation(sample.begin(), sample.end(), expected.begin(),
                            expected.end()))
      return "; save array.transpose(...) with the dimensions in that order";
    if (detail::product(sample) != detail::product(expected))
      return "";
    const std::string sizes = shape_text(expected);
    return "; save array.reshape(-1" +
           std::string(expected.empty() ? "" : ", ") +
           sizes.substr(1, sizes.size() - 2) + ")";
  }

  const Array array;
};

// NumPy's format.
class NpySource : public ArraySource {
public:
  NpySource(const std::string &path, const TensorInfo &tensor)
      : ArraySource(read_npy(path), tensor) {}
};

} // namespace gpuopt
