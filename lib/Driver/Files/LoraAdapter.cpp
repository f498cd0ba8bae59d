//===- LoraAdapter.cpp - What an adapter adds to weights ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/LoraAdapter.h"

#include "Files/LoraNames.h"
#include "gpuopt/data/dataset.h"
#include "gpuopt/data/indices.h"
#include "gpuopt/data/safetensors.h"

#include <optional>

using namespace gpuopt;

static std::optional<Type> floatType(const std::string &name, bool isMlir) {
  constexpr struct {
    Type type;
    const char *mlir;
  } types[] = {{Type::F64, "f64"},
               {Type::F32, "f32"},
               {Type::F16, "f16"},
               {Type::BF16, "bf16"}};
  for (const auto &known : types)
    if (name == (isMlir ? known.mlir : safetensors_name(known.type)))
      return known.type;
  return std::nullopt;
}

static std::vector<double> numbersOf(Type type, const uint8_t *data,
                                     int64_t count) {
  std::vector<double> numbers(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    numbers[size_t(i)] = detail::number_at(type, data, i);
  return numbers;
}

template <class T>
static void store(double number, uint8_t *to) {
  T value;
  if constexpr (sizeof(T) == 2)
    store_scalar(&value, float(number));
  else
    value = T(number);
  memcpy(to, static_cast<void *>(&value), sizeof value);
}

static std::string bytesOf(Type type, const std::vector<double> &numbers) {
  const size_t size = size_of(type);
  std::string bytes(numbers.size() * size, '\0');
  for (size_t i = 0; i < numbers.size(); ++i) {
    auto *to = reinterpret_cast<uint8_t *>(&bytes[i * size]);
    if (type == Type::F64)
      store<double>(numbers[i], to);
    else if (type == Type::F32)
      store<float>(numbers[i], to);
    else if (type == Type::F16)
      store<f16>(numbers[i], to);
    else
      store<bf16>(numbers[i], to);
  }
  return bytes;
}

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Takes an ending off a text; returns false if it has another one.
static bool takeEnd(std::string &text, const std::string &end) {
  const bool has = endsWith(text, end);
  if (has)
    text.resize(text.size() - end.size());
  return has;
}

std::string LoraAdapter::load(const std::string &folder) {
  const std::string path = folder + "/adapter_model.safetensors";
  if (std::string why = config.load(folder + "/adapter_config.json");
      !why.empty())
    return why;
  try {
    const MappedFile file(path);
    for (const auto &[key, stored] : read_safetensors(file)) {
      const std::optional<Type> type = floatType(stored.dtype, false);
      const int64_t count = detail::product(stored.shape);
      if (!type || count < 0 || stored.bytes != size_t(count) * size_of(*type))
        return "'" + path + "': '" + key + "' is " + stored.dtype + " " +
               shape_text(stored.shape) + " of " +
               std::to_string(stored.bytes) +
               " bytes, but expects floating-point numbers of 16 to 64 bits";
      if (std::string why =
              add(key, {stored.shape, numbersOf(*type, stored.data, count)});
          !why.empty())
        return "'" + path + "': '" + key + "' " + why;
    }
  } catch (const std::exception &error) {
    return error.what();
  }
  return complete(path);
}

std::string LoraAdapter::add(const std::string &key, Matrix matrix) {
  std::string name = key;
  for (const std::string front : {"base_model.", "model."})
    if (name.compare(0, front.size(), front) == 0)
      name = name.substr(front.size());
  for (const char *part :
       {".lora_magnitude_vector", ".lora_B.bias", ".trainable_tokens_"})
    if (name.find(part) != std::string::npos)
      return "cannot be merged by adding a product: merge the adapter by "
             "PEFT's merge_and_unload and export the result";
  const bool isEmbedding = name.find(".lora_embedding_") != std::string::npos;
  if (isEmbedding) {
    const bool isA = takeEnd(name, ".lora_embedding_A");
    if (!isA && !takeEnd(name, ".lora_embedding_B"))
      return "belongs to no known kind of layer";
    Weight &weight = weights[name + ".weight"];
    weight.isEmbedding = true;
    (isA ? weight.a : weight.b) = std::move(matrix);
    return "";
  }
  if (takeEnd(name, ".lora_A.weight"))
    weights[name + ".weight"].a = std::move(matrix);
  else if (takeEnd(name, ".lora_B.weight"))
    weights[name + ".weight"].b = std::move(matrix);
  else if (name.find(".lora_") != std::string::npos)
    return "belongs to no known kind of layer";
  else
    return addWhole(name, std::move(matrix));
  return "";
}

/// Adds a weight that replaces one of the model. PEFT also saves the weight
/// that a product is added to, if it is an embedding or an output head, and the
/// bias beside one.
std::string LoraAdapter::addWhole(const std::string &name, Matrix matrix) {
  static const std::string base = ".base_layer.";
  const size_t at = name.find(base);
  Weight &weight =
      weights[at == std::string::npos
                  ? name
                  : name.substr(0, at) + "." + name.substr(at + base.size())];
  if (!weight.whole.shape.empty())
    return "replaces a weight that another tensor of the file replaces, too";
  weight.whole = std::move(matrix);
  weight.isBase = at != std::string::npos;
  return "";
}

/// Checks that matrices come in pairs that can be multiplied.
std::string LoraAdapter::complete(const std::string &path) {
  for (auto &[name, weight] : weights) {
    const auto &a = weight.a.shape, &b = weight.b.shape;
    if (a.empty() && b.empty())
      continue;
    if (!weight.whole.shape.empty() && !weight.isBase)
      return "'" + path + "' has '" + name + "' as a whole and as a product";
    const bool fits = a.size() >= 2 && b.size() == a.size() && a[0] == b[1] &&
                      a[0] > 0 && detail::product(b) == b[0] * b[1];
    if (!fits)
      return "'" + path + "' has for '" + name + "' the matrices A " +
             shape_text(a) + " and B " + shape_text(b) +
             ", which cannot be multiplied: expects [rank, in] and [out, rank]";
    const std::string module = name.substr(0, name.size() - strlen(".weight"));
    if (std::string why = config.scaleOf(module, a[0], weight.scale);
        !why.empty())
      return why;
  }
  if (weights.empty())
    return "'" + path + "' has no tensors";
  return "";
}

/// Returns the elements of a matrix [rows, columns] as those of [columns,
/// rows].
static std::vector<double> transposed(const std::vector<double> &numbers,
                                      int64_t rows, int64_t columns) {
  std::vector<double> result(numbers.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      result[size_t(j * rows + i)] = numbers[size_t(i * columns + j)];
  return result;
}

/// Returns whether two weights of the adapter are changed in the same way. The
/// matrices of an embedding are those of a linear layer the other way round.
bool LoraAdapter::areSame(const Weight &x, const Weight &y) const {
  auto equal = [](const Matrix &x, const Matrix &y) {
    return x.shape == y.shape && x.numbers == y.numbers;
  };
  auto areTurned = [&](const Matrix &x, const Matrix &y) {
    return x.shape.size() == 2 && y.shape.size() == 2 &&
           equal(x, {{y.shape[1], y.shape[0]},
                     transposed(y.numbers, y.shape[0], y.shape[1])});
  };
  if (x.scale != y.scale || !equal(x.whole, y.whole))
    return false;
  return x.isEmbedding == y.isEmbedding || config.isTransposed
             ? equal(x.a, y.a) && equal(x.b, y.b)
             : areTurned(x.a, y.b) && areTurned(x.b, y.a);
}

std::string
LoraAdapter::match(const std::vector<std::vector<std::string>> &initializers,
                   std::vector<std::string> &missing) {
  std::vector<std::string> all;
  for (const auto &[name, weight] : weights)
    all.push_back(name);
  const MatchedNames matched = matchNames(all, initializers);
  missing = matched.missing;
  for (const auto &[initializer, names] : matched.byInitializer) {
    for (const std::string &name : names)
      if (weights.count(name))
        weightByInitializer[initializer] = name;
    const std::string &weight = weightByInitializer[initializer];
    for (const std::string &name : names)
      if (!weights.count(name) ||
          !areSame(weights.at(weight), weights.at(name)))
        return "the adapter does not change '" + weight + "' and '" + name +
               "' in the same way, but they are one weight of the model: give "
               "each a parameter of its own before the export, as "
               "docs/training.md shows";
  }
  return matched.problem;
}

std::string LoraAdapter::weightOf(const std::string &initializer) const {
  const auto found = weightByInitializer.find(initializer);
  return found == weightByInitializer.end() ? "" : found->second;
}

/// Returns what is added to a weight.
LoraAdapter::Matrix LoraAdapter::productOf(const Weight &weight) const {
  Matrix term{weight.a.shape, {}};
  const int64_t rows = weight.b.shape[0], rank = weight.a.shape[0],
                columns = detail::product(weight.a.shape) / rank;
  term.shape[0] = rows;
  term.numbers.resize(size_t(rows * columns));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < rank; ++k) {
      const double factor =
          weight.scale * weight.b.numbers[size_t(i * rank + k)];
      for (int64_t j = 0; j < columns; ++j)
        term.numbers[size_t(i * columns + j)] +=
            factor * weight.a.numbers[size_t(k * columns + j)];
    }
  if (weight.isEmbedding || (config.isTransposed && term.shape.size() == 2))
    return {{columns, rows}, transposed(term.numbers, rows, columns)};
  return term;
}

/// Puts what the adapter has of a weight into `term`: a weight that replaces
/// that of the model, or what is added to it. Returns what is wrong with it.
std::string LoraAdapter::termOf(const std::string &name, Matrix &term) const {
  const Weight &weight = weights.at(name);
  if (weight.b.shape.empty()) {
    term = weight.whole;
    return "";
  }
  term = productOf(weight);
  if (weight.whole.shape.empty())
    return "";
  if (weight.whole.shape != term.shape)
    return "'" + name + "' of the adapter has the base " +
           shape_text(weight.whole.shape) + ", but a product " +
           shape_text(term.shape);
  for (size_t i = 0; i < term.numbers.size(); ++i)
    term.numbers[i] += weight.whole.numbers[i];
  return "";
}

std::string LoraAdapter::apply(const std::string &name, const std::string &type,
                               const std::vector<int64_t> &shape,
                               std::string &bytes) {
  const Weight &weight = weights.at(name);
  const std::optional<Type> element = floatType(type, true);
  if (!element)
    return "'" + name + "' of the adapter cannot be added to " + type + " " +
           shape_text(shape) +
           ", as the model has it: expects floating-point numbers of 16 to 64 "
           "bits; merge the adapter before the model is quantised";
  Matrix term;
  if (std::string why = termOf(name, term); !why.empty())
    return why;
  const std::vector<int64_t> turned(term.shape.rbegin(), term.shape.rend());
  const bool isTurned =
      turned.size() == 2 && shape != term.shape && shape == turned;
  if (shape != term.shape && !isTurned)
    return "'" + name + "' of the adapter is of a weight " +
           shape_text(term.shape) + ", but the model has it as " + type + " " +
           shape_text(shape);
  // An exporter may have transposed a weight, which shows unless it is square.
  if (shape.size() == 2 && shape[0] == shape[1])
    squareWeight = name;
  if (isTurned) {
    turnedWeight = name;
    term.numbers = transposed(term.numbers, term.shape[0], term.shape[1]);
  }
  if (weight.whole.shape.empty()) {
    const std::vector<double> own =
        numbersOf(*element, reinterpret_cast<const uint8_t *>(bytes.data()),
                  detail::product(shape));
    for (size_t i = 0; i < own.size(); ++i)
      term.numbers[i] += own[i];
  }
  bytes = bytesOf(*element, term.numbers);
  return "";
}

std::string LoraAdapter::checkOrientation() const {
  if (turnedWeight.empty() || squareWeight.empty())
    return "";
  return "the model has '" + turnedWeight +
         "' transposed, and cannot show whether it has the square '" +
         squareWeight +
         "' so, too: merge the adapter by PEFT's merge_and_unload and export "
         "the result";
}
