// The files of a prediction: an array for each output, or the best classes of
// each sample.
#pragma once

#include "gpuopt/data/indices.h"
#include "gpuopt/data/json.h"
#include "gpuopt/data/npy_writer.h"
#include "gpuopt/device/plain_numbers.h"
#include "gpuopt/program/program.h"
#include "gpuopt/trainer/not_finite.h"

#include <cmath>
#include <memory>
#include <numeric>
#include <set>

namespace gpuopt {

// Returns the name of an output as that of a file: what is no letter, digit,
// dot, dash or underscore becomes an underscore. A name that `taken` has gets a
// number, and is added to it.
inline std::string file_name_of(const std::string &output,
                                std::set<std::string> &taken) {
  std::string name = output;
  for (char &c : name)
    if (!isalnum(static_cast<unsigned char>(c)) && !strchr(".-_", c))
      c = '_';
  if (name.empty() || name[0] == '.')
    name = "_" + name;
  std::string free_name = name;
  for (int number = 2; !taken.insert(free_name).second; number++)
    free_name = name + "-" + std::to_string(number);
  return free_name;
}

// The values of one output that are infinite or NaN, counted batch by batch.
class NotFiniteValues {
public:
  explicit NotFiniteValues(const TensorInfo *output) : output(output) {}

  // Looks at the first `samples` of a batch, which lie at `elements`.
  void look(const uint8_t *elements, int64_t samples) {
    const int64_t each = detail::product(detail::sample_shape(*output));
    const size_t bytes = size_t(each) * size_of(output->type);
    for (int64_t sample = 0; sample < samples; sample++, seen++) {
      const uint8_t *row = elements + size_t(sample) * bytes;
      if (detail::all_finite(output->type, row, bytes))
        continue;
      if (count == 0)
        first = seen;
      for (int64_t i = 0; i < each; i++)
        count += !std::isfinite(detail::number_at(output->type, row, i));
    }
    values = seen * each;
  }

  // Returns a sentence for a warning, which names the first sample by its file
  // if it has one; empty if all values are finite. `is_fp16` tells whether the
  // program keeps weights in fp16, whose largest number is small.
  std::string describe(const std::vector<std::string> &files,
                       bool is_fp16 = false) const {
    if (count == 0)
      return "";
    const std::string file =
        files.empty() ? "" : " ('" + files[size_t(first)] + "')";
    return std::to_string(count) + " of " + std::to_string(values) +
           " values of output '" + output->name +
           "' are infinite or NaN, the first in sample " +
           std::to_string(first) + file +
           "; look for such numbers in the data, and in weights of a run that "
           "has diverged" +
           (is_fp16
                ? "; weights and values above 65504 are too large for fp16, "
                  "but not for --precision=bf16"
                : "");
  }

private:
  const TensorInfo *const output;
  int64_t seen = 0;                         // samples
  int64_t values = 0, count = 0, first = 0; // first: a sample
};

// A file to which the results of one output are appended, batch by batch, or
// what is known of the samples without any output.
class ResultFile {
public:
  ResultFile(std::string path, const TensorInfo *output)
      : path(std::move(path)), output(output), not_finite(output) {}
  virtual ~ResultFile() = default;
  // Takes the first `samples` of a batch; those of the output lie at
  // `elements`.
  virtual void append(const uint8_t *elements, int64_t samples) = 0;
  // Gives the file its name; until then there is none.
  virtual void commit() = 0;
  // Returns "predicted/y.npy: f32 [100, 10]".
  virtual std::string describe() const = 0;

  const std::string path;
  const TensorInfo *const output; // or null
  NotFiniteValues not_finite;     // of the output

protected:
  int64_t elements_of_sample() const {
    return detail::product(detail::sample_shape(*output));
  }
};

// All elements, as a .npy file.
class ArrayFile : public ResultFile {
public:
  ArrayFile(const std::string &path, const TensorInfo &output, int64_t samples)
      : ResultFile(path, &output), shape(shape_of(output, samples)),
        writer(path, output.type, shape) {}
  void append(const uint8_t *elements, int64_t samples) override {
    writer.append(elements, samples * elements_of_sample());
  }
  void commit() override { writer.commit(); }
  std::string describe() const override {
    return path + ": " + name_of(output->type) + " " + shape_text(shape);
  }

private:
  static std::vector<int64_t> shape_of(const TensorInfo &output,
                                       int64_t samples) {
    std::vector<int64_t> shape = detail::sample_shape(output);
    shape.insert(shape.begin(), samples);
    return shape;
  }
  const std::vector<int64_t> shape;
  NpyWriter writer;
};

// Returns the places of the k greatest of n numbers, the greatest first. Of
// equal ones the first comes first, and NaN counts as greater than any number,
// as in torch.topk.
template <class Number>
std::vector<int64_t> greatest_of(Number number, int64_t n, int64_t k) {
  std::vector<int64_t> places(static_cast<size_t>(n));
  std::iota(places.begin(), places.end(), int64_t(0));
  auto is_before = [&](int64_t a, int64_t b) {
    const double x = number(a), y = number(b);
    if (x != x || y != y)
      return x != x && (y == y || a < b);
    return x > y || (x == y && a < b);
  };
  k = std::min(k, n);
  std::partial_sort(places.begin(), places.begin() + k, places.end(),
                    is_before);
  places.resize(size_t(k));
  return places;
}

// Returns the beginning of a line of JSON about a sample, with its file if it
// has one: {"sample": 0, "file": "a.jpg".
inline std::string begin_of_line(int64_t sample,
                                 const std::vector<std::string> &files) {
  const std::string line = "{\"sample\": " + std::to_string(sample);
  return files.empty()
             ? line
             : line + ", \"file\": " + json_quoted(files[size_t(sample)]);
}

// What the samples and the classes of a prediction are called, if they are.
struct PredictionNames {
  std::vector<std::string> files, classes;
};

// The classes with the highest values of each sample, a line of JSON each:
// {"sample": 0, "classes": [3, 1], "values": [2.5, 0.25]}, with "file" and
// "names" where there are some. Values that JSON does not have are null.
class TopClassesFile : public ResultFile {
public:
  TopClassesFile(const std::string &path, const TensorInfo &output, int64_t k,
                 const PredictionNames &known)
      : ResultFile(path, &output), k(k), known(known), file(path) {}
  void append(const uint8_t *elements, int64_t samples) override {
    const int64_t classes = elements_of_sample();
    for (int64_t sample = 0; sample < samples; sample++) {
      const uint8_t *row =
          elements + size_t(sample * classes) * size_of(output->type);
      const std::string line = line_of(row, classes);
      file.write(line.data(), line.size());
      count++;
    }
  }
  void commit() override { file.commit(); }
  std::string describe() const override {
    return path + ": the best classes of " + std::to_string(count) +
           " samples, by output '" + output->name + "'";
  }

private:
  std::string line_of(const uint8_t *row, int64_t classes) const {
    auto value = [&](int64_t i) {
      return detail::number_at(output->type, row, i);
    };
    std::string numbers, names, values;
    for (const int64_t place : greatest_of(value, classes, k)) {
      const char *separator = numbers.empty() ? "" : ", ";
      numbers += separator + std::to_string(place);
      names += separator + name_of_class(place);
      values += separator + text_of(row, place);
    }
    return begin_of_line(count, known.files) + ", \"classes\": [" + numbers +
           (known.classes.empty() ? "" : "], \"names\": [" + names) +
           "], \"values\": [" + values + "]}\n";
  }
  std::string name_of_class(int64_t place) const {
    return size_t(place) < known.classes.size()
               ? json_quoted(known.classes[size_t(place)])
               : "null";
  }

  // Returns an element with as many digits as its type has.
  std::string text_of(const uint8_t *row, int64_t place) const {
    if (!is_fraction(output->type))
      return std::to_string(detail::integer_at(output->type, row, place));
    const PlainNumbers plain;
    const double value = detail::number_at(output->type, row, place);
    char text[40];
    snprintf(text, sizeof text, output->type == Type::F64 ? "%.17g" : "%.9g",
             value);
    return std::isfinite(value) ? text : "null";
  }

  const int64_t k;
  const PredictionNames &known;
  AtomicFile file;
  int64_t count = 0; // of samples so far
};

// The files of all samples, beside arrays, a line of JSON each:
// {"sample": 0, "file": "a.jpg"}.
class SamplesFile : public ResultFile {
public:
  SamplesFile(const std::string &path, const PredictionNames &known)
      : ResultFile(path, /*output=*/nullptr), known(known), file(path) {}
  void append(const uint8_t *, int64_t samples) override {
    for (const int64_t end = count + samples; count < end; count++) {
      const std::string line = begin_of_line(count, known.files) + "}\n";
      file.write(line.data(), line.size());
    }
  }
  void commit() override { file.commit(); }
  std::string describe() const override {
    return path + ": the files of the samples";
  }

private:
  const PredictionNames &known;
  AtomicFile file;
  int64_t count = 0; // of samples so far
};

// What a language model has added to each prompt, a line of JSON each:
// {"prompt": 0, "tokens": [11, 314]}.
inline void write_generated(const std::string &path,
                            const std::vector<std::vector<int64_t>> &all) {
  AtomicFile file(path);
  for (size_t i = 0; i < all.size(); i++) {
    std::string tokens;
    for (const int64_t token : all[i])
      tokens += (tokens.empty() ? "" : ", ") + std::to_string(token);
    const std::string line = "{\"prompt\": " + std::to_string(i) +
                             ", \"tokens\": [" + tokens + "]}\n";
    file.write(line.data(), line.size());
  }
  file.commit();
}

} // namespace gpuopt
