// Where samples come from, and token files as windows.
#pragma once

#include "gpuopt/data/npy.h"
#include "gpuopt/data/pixel_scale.h"
#include "gpuopt/program/tensor_info.h"

#include <algorithm>
#include <memory>

namespace gpuopt {

// Thrown where one sample is damaged or is not what the input needs, so that
// another one could take its place. The text says where the sample lies.
struct BadRecord : Error {
  using Error::Error;
};

// Which sample is read, and what random transforms of it depend on.
struct SampleDraw {
  int64_t sample = 0;
  uint64_t seed = 0, epoch = 0;
};

// Where one tensor per sample comes from, of the source's own type. Several
// threads may read from it at the same time.
struct DataSource {
  virtual ~DataSource() = default;
  virtual int64_t samples() const = 0;
  // Writes the elements of a sample, one after the other; may throw BadRecord.
  virtual void read(const SampleDraw &draw, uint8_t *to) const = 0;
  // Throws BadRecord if a sample does not fit, as far as that is known without
  // decoding it.
  virtual void check(int64_t) const {}
  // Returns where a sample lies, for messages.
  virtual std::string place(int64_t sample) const {
    return "'" + path + "': sample " + std::to_string(sample);
  }
  // Returns the files or members of all samples, or nothing if they have none.
  virtual std::vector<std::string> names() const { return {}; }
  // Returns the names of the classes that the samples are, or null.
  virtual const std::vector<std::string> *class_names() const {
    return nullptr;
  }
  // Numbers the classes as a longer list does, which has all of their names.
  virtual void number_classes_as(const std::vector<std::string> &) {}

  size_t sample_bytes() const { return size_t(elements) * size_of(type); }

  Type type = Type::F32;
  int64_t elements = 0; // of one sample
  std::string path;
  // How the device makes numbers of bytes; null: it casts them.
  const PixelScale *scale = nullptr;
  // Whether a sample is one class, of which the device makes a probability for
  // each class.
  bool gives_classes = false;
};

// A source whose samples lie in memory as they are.
struct StoredSource : DataSource {
  // Returns where the elements of a sample begin; they lie one after the other.
  virtual const uint8_t *at(int64_t sample) const = 0;
  void read(const SampleDraw &draw, uint8_t *to) const override {
    if (elements > 0)
      memcpy(to, at(draw.sample), sample_bytes());
  }
};

constexpr bool is_fraction(Type type) { return type <= Type::BF16; }

// Whether an input has labels that are a probability for each of several
// classes, for which data may have classes.
inline bool takes_classes(const InputInfo &input) {
  const TensorInfo &tensor = input.tensor;
  return input.is_label &&
         (tensor.type == Type::F32 || tensor.type == Type::F64) &&
         tensor.rank == 2 && tensor.shape[1] > 1 && input.index_limit == 1;
}

// Returns what data that have classes feed in place of such an input.
inline InputInfo classes_of(const InputInfo &input) {
  InputInfo classes = input;
  classes.index_limit = input.tensor.shape[1];
  classes.tensor.type = Type::I64;
  classes.tensor.rank = 1;
  return classes;
}

// Whether a file of one type can feed an input of another: integers do not
// come from fractions, and nothing is narrowed to half precision.
constexpr bool can_cast(Type from, Type to) {
  if (from == to)
    return true;
  if (from == Type::BF16 || from == Type::U64)
    return false;
  if (to == Type::F64 || to == Type::F32)
    return true;
  return !is_fraction(from) && (to == Type::I64 || to == Type::I32);
}

// One source for each input of the program, in order.
using DataSources = std::vector<std::unique_ptr<DataSource>>;

// Checks that all have the same number of samples, and enough for a batch.
// Fewer are enough if the last sample is repeated.
inline void check_samples(const DataSources &sources, int64_t batch_size,
                          bool pads_last) {
  const int64_t samples = sources.empty() ? 0 : sources[0]->samples();
  for (const auto &source : sources)
    if (source->samples() != samples)
      throw Error("'" + source->path + "' has " +
                  std::to_string(source->samples()) + " samples, but '" +
                  sources[0]->path + "' has " + std::to_string(samples));
  if (!sources.empty() && samples < batch_size && !pads_last)
    throw Error(
        "'" + sources[0]->path + "' has " + std::to_string(samples) +
        " samples, fewer than one batch of " + std::to_string(batch_size) +
        ": give more samples, or --batch-size " + std::to_string(samples) +
        " at most when the model is compiled");
}

namespace detail {

// Returns the number of elements, or -1 if it does not fit into 64 bits.
inline int64_t product(const std::vector<int64_t> &sizes) {
  int64_t n = 1;
  for (int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(n, size, &n))
      return -1;
  return n;
}

inline std::vector<int64_t> sample_shape(const TensorInfo &tensor) {
  return {tensor.shape + (tensor.rank > 0), tensor.shape + tensor.rank};
}

} // namespace detail

// A file of tokens, one after the other: a 1-D .npy array of integers, a file
// with llm.c's header, or a file without a header, whose tokens have the type
// `raw_type`.
class TokenFile {
public:
  TokenFile(const std::string &path, Type raw_type)
      : file(path), type(raw_type) {
    size_t begin = 0;
    if (begins_like_npy(file))
      begin = read_npy_header();
    else if (!read_llmc_header(begin))
      count_raw();
    if (tokens <= 0)
      throw Error("'" + path + "' holds no tokens");
    if ((file.bytes - begin) / size_of(type) < size_t(tokens))
      throw Error("'" + path + "' is shorter than its header says");
    data = file.data + begin;
  }
  MappedFile file;
  Type type;
  const uint8_t *data = nullptr;
  int64_t tokens = 0;

private:
  size_t read_npy_header() {
    const NpyHeader header(file);
    if (header.shape.size() != 1 || header.type < Type::I64 ||
        header.type == Type::Bool)
      throw Error("'" + file.path + "' holds " + name_of(header.type) + " " +
                  shape_text(header.shape) +
                  ", but tokens are an array of integers with one dimension; "
                  "--data and --labels take samples");
    tokens = header.shape[0];
    // Tokens are below 2^63, where both types have the same bits.
    type = header.type == Type::U64 ? Type::I64 : header.type;
    return header.begin;
  }
  // 256 numbers of 32 bits: a magic number, a version and how many tokens
  // follow. 20240520 has tokens of 16 bits (GPT-2's, version 1), 20240801 of 32
  // (Llama 3's, version 7).
  bool read_llmc_header(size_t &begin) {
    constexpr size_t kHeaderBytes = 1024;
    int32_t header[3] = {};
    if (file.bytes >= kHeaderBytes)
      memcpy(header, file.data, sizeof header);
    if (header[0] != 20240520 && header[0] != 20240801)
      return false;
    const bool is_wide = header[0] == 20240801;
    if (header[1] != (is_wide ? 7 : 1))
      throw Error("'" + file.path + "' has llm.c's header " +
                  std::to_string(header[0]) + " with version " +
                  std::to_string(header[1]) + ", but only version " +
                  (is_wide ? "7" : "1") + " of it is known");
    begin = kHeaderBytes;
    type = is_wide ? Type::U32 : Type::U16;
    tokens = header[2] > 0 ? header[2]
                           : int64_t((file.bytes - begin) / size_of(type));
    return true;
  }
  void count_raw() {
    if (file.bytes % size_of(type) != 0)
      throw Error("'" + file.path + "' has " + std::to_string(file.bytes) +
                  " bytes, which " + name_of(type) +
                  " does not divide; --token-type says what its tokens are");
    tokens = int64_t(file.bytes / size_of(type));
  }
};

// Window i of T tokens begins at i * T; the labels are one token further.
class TokenSource : public StoredSource {
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
  std::string place(int64_t sample) const override {
    return DataSource::place(sample) + ", from token " +
           std::to_string(sample * elements + offset) + " on (--token-type " +
           name_of(type) + "),";
  }
  const uint8_t *at(int64_t sample) const override {
    return file->data + size_t(sample * elements + offset) * size_of(type);
  }

private:
  std::shared_ptr<TokenFile> file;
  int64_t offset;
};

} // namespace gpuopt
