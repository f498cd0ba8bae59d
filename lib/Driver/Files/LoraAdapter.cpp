//===- LoraAdapter.cpp - What an adapter adds to weights ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/LoraAdapter.h"

#include "gpuopt/data/dataset.h"
#include "gpuopt/data/indices.h"
#include "gpuopt/data/safetensors.h"

#include <algorithm>
#include <optional>
#include <set>

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
  for (const char *part : {".lora_magnitude_vector", ".lora_B.bias"})
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
    weights[name].whole = std::move(matrix);
  return "";
}

/// Checks that matrices come in pairs that can be multiplied.
std::string LoraAdapter::complete(const std::string &path) {
  for (auto &[name, weight] : weights) {
    const auto &a = weight.a.shape, &b = weight.b.shape;
    if (a.empty() && b.empty())
      continue;
    if (!weight.whole.shape.empty())
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

namespace {
/// What is taken off the front of all names of an adapter, and what is put
/// there, to have the names of a model. One of both is empty.
struct Renaming {
  std::string removed, added;

  std::string operator()(const std::string &name) const {
    return added + name.substr(removed.size());
  }
};
} // namespace

static bool startsWith(const std::string &text, const std::string &start) {
  return text.compare(0, start.size(), start) == 0;
}

/// Returns how the names of a model may differ from those of an adapter, such
/// that each name of the adapter is one of the model.
static std::vector<Renaming>
renamingsOf(const std::vector<std::string> &names,
            const std::set<std::string> &initializers) {
  const std::string &first = names.front();
  std::vector<Renaming> all;
  for (const std::string &initializer : initializers) {
    Renaming renaming;
    if (endsWith(initializer, "." + first))
      renaming.added = initializer.substr(0, initializer.size() - first.size());
    else if (endsWith(first, "." + initializer))
      renaming.removed = first.substr(0, first.size() - initializer.size());
    else
      continue;
    if (std::all_of(names.begin(), names.end(), [&](const std::string &name) {
          return startsWith(name, renaming.removed) &&
                 initializers.count(renaming(name)) > 0;
        }))
      all.push_back(renaming);
  }
  return all;
}

/// Returns a parameter of a model that contradicts a renaming: modules around
/// the model would have put the added names in front of this one, too, and the
/// removed ones would not be there.
static std::string contradictionTo(const Renaming &renaming,
                                   const std::set<std::string> &initializers) {
  for (const std::string &name : initializers)
    if ((endsWith(name, ".weight") || endsWith(name, ".bias")) &&
        (renaming.removed.empty() ? !startsWith(name, renaming.added)
                                  : startsWith(name, renaming.removed)))
      return name;
  return "";
}

std::string LoraAdapter::match(const std::vector<std::string> &initializers,
                               std::vector<std::string> &missing) {
  const std::set<std::string> known(initializers.begin(), initializers.end());
  std::vector<std::string> names;
  for (const auto &[name, weight] : weights) {
    names.push_back(name);
    if (known.count(name))
      weightByInitializer[name] = name;
    else
      missing.push_back(name);
  }
  if (!weightByInitializer.empty())
    return "";
  const std::vector<Renaming> renamings = renamingsOf(names, known);
  if (renamings.empty())
    return "";
  missing.clear();
  std::vector<Renaming> certain;
  for (const Renaming &renaming : renamings)
    if (contradictionTo(renaming, known).empty())
      certain.push_back(renaming);
  if (certain.size() == 1) {
    for (const std::string &name : names)
      weightByInitializer[certain[0](name)] = name;
    return "";
  }
  const std::string &first = names.front();
  const std::string found = renamings[0](first);
  if (renamings.size() > 1)
    return "'" + first + "' of the adapter could be '" + found + "' or '" +
           renamings[1](first) +
           "' of the model: expects a model with the names of the adapter";
  return "'" + first + "' of the adapter could be '" + found +
         "' of the model, but the name of '" +
         contradictionTo(renamings[0], known) +
         "' does not differ in the same way: expects a model with the "
         "names of the adapter";
}

std::string LoraAdapter::weightOf(const std::string &initializer) const {
  const auto found = weightByInitializer.find(initializer);
  return found == weightByInitializer.end() ? "" : found->second;
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

/// Returns what the adapter has of a weight: the weight itself, or what is
/// added to it.
LoraAdapter::Matrix LoraAdapter::termOf(const Weight &weight) const {
  if (weight.b.shape.empty())
    return weight.whole;
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
  Matrix term = termOf(weight);
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
