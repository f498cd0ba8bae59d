// IDX files, the format in which MNIST and data sets like it are published.
#pragma once

#include "gpuopt/data/dataset.h"

#include <algorithm>

namespace gpuopt {

// Two zeros, a number for the type, the number of dimensions, and the
// dimensions as big-endian numbers of 32 bits; the elements follow.
inline bool begins_like_idx(const MappedFile &file) {
  return file.bytes >= 4 && file.data[0] == 0 && file.data[1] == 0 &&
         file.data[2] >= 8 && file.data[2] <= 14 && file.data[3] > 0;
}

// Whether one shape becomes the other if neighbouring dimensions are merged:
// {28, 28} is {1, 28, 28} and {784}, but {20, 32} is not {32, 20}.
inline bool merges_into(const std::vector<int64_t> &a,
                        const std::vector<int64_t> &b) {
  auto ends = [](const std::vector<int64_t> &shape) {
    std::vector<int64_t> result;
    int64_t product = 1;
    for (int64_t size : shape)
      if (size != 1)
        result.push_back(product *= size);
    return result;
  };
  const std::vector<int64_t> of_a = ends(a), of_b = ends(b);
  const auto &fewer = of_a.size() < of_b.size() ? of_a : of_b;
  const auto &more = of_a.size() < of_b.size() ? of_b : of_a;
  return std::includes(more.begin(), more.end(), fewer.begin(), fewer.end());
}

// The first dimension counts samples. The others may be split differently from
// the input's: images of one channel have no dimension for it in these files.
class IdxSource : public StoredSource {
public:
  IdxSource(const std::string &file_path, const TensorInfo &tensor)
      : file(file_path) {
    path = file_path;
    read_header();
    elements = detail::product(detail::sample_shape(tensor));
    if (detail::product({shape.begin() + 1, shape.end()}) != elements)
      throw Error("'" + path + "' has shape " + shape_text(shape) + ", but '" +
                  tensor.name + "' needs samples of " +
                  std::to_string(elements) + " elements");
    if (!merges_into({shape.begin() + 1, shape.end()},
                     detail::sample_shape(tensor)))
      throw Error("'" + path + "' has shape " + shape_text(shape) + ", but '" +
                  tensor.name + "' has other dimensions in a sample, " +
                  shape_text(detail::sample_shape(tensor)) + "; transpose it");
    if (shape[0] == 0)
      throw Error("'" + path + "' holds no samples");
    const size_t sample_bytes = size_t(elements) * size_of(type);
    if (sample_bytes > 0 &&
        (file.bytes - begin) / sample_bytes < size_t(shape[0]))
      throw Error("'" + path + "' is shorter than its header says");
  }
  int64_t samples() const override { return shape[0]; }
  const uint8_t *at(int64_t sample) const override {
    return file.data + begin + size_t(sample * elements) * size_of(type);
  }

private:
  [[noreturn]] void fail(const std::string &why) const {
    throw Error("'" + path + "' is not an IDX file that can be read: " + why);
  }
  void read_header() {
    constexpr uint8_t kUnsignedBytes = 8, kSignedBytes = 9;
    if (!begins_like_idx(file))
      fail("it does not begin like one");
    const uint8_t code = file.data[2];
    if (code == 10)
      fail("there is no type 10");
    if (code != kUnsignedBytes && code != kSignedBytes)
      fail("its elements take several bytes, in big-endian order, and only "
           "single bytes are read; convert it by numpy.save");
    type = code == kUnsignedBytes ? Type::U8 : Type::I8;
    const size_t rank = file.data[3];
    begin = 4 + 4 * rank;
    if (file.bytes < begin)
      fail("its header is cut off");
    for (const uint8_t *size = file.data + 4; size < file.data + begin;
         size += 4)
      shape.push_back(int64_t(size[0]) << 24 | int64_t(size[1]) << 16 |
                      int64_t(size[2]) << 8 | int64_t(size[3]));
  }

  MappedFile file;
  std::vector<int64_t> shape;
  size_t begin = 0; // of the elements, in bytes
};

} // namespace gpuopt
