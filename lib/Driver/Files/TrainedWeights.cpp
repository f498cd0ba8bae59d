//===- TrainedWeights.cpp - The weights that a training has saved ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/TrainedWeights.h"

#include "gpuopt/data/checksum.h"
#include "gpuopt/data/dataset.h"
#include "gpuopt/data/safetensors.h"
#include "gpuopt/trainer/checkpoints/stored_state.h"
#include "llvm/ADT/StringRef.h"

#include <cstring>

using namespace gpuopt;

std::string TrainedWeights::load(const std::string &path) {
  try {
    check_listed(path);
    auto mapped = std::make_shared<MappedFile>(path);
    std::map<std::string, std::string> metadata;
    for (const auto &[name, stored] : read_safetensors(*mapped, &metadata))
      tensors[name] = {stored.dtype, stored.shape, stored.data, stored.bytes};
    file = mapped;
    graph = metadata[kGraphEntry];
    stepText = metadata[kStepEntry];
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

std::optional<int64_t> TrainedWeights::step() const {
  int64_t step = 0;
  if (llvm::StringRef(stepText).getAsInteger(10, step))
    return std::nullopt;
  return step;
}

std::vector<std::string> TrainedWeights::names() const {
  std::vector<std::string> names;
  for (const auto &[name, tensor] : tensors)
    names.push_back(name);
  return names;
}

bool TrainedWeights::areSame(const std::string &one,
                             const std::string &other) const {
  const Tensor &a = tensors.at(one), &b = tensors.at(other);
  return a.dtype == b.dtype && a.shape == b.shape &&
         memcmp(a.data, b.data, a.bytes) == 0;
}

/// Returns the bytes of an element of a type that safetensors files name.
static size_t sizeOf(const std::string &dtype) {
  for (int type = 0; type <= int(Type::Bool); ++type)
    if (dtype == safetensors_name(Type(type)))
      return size_of(Type(type));
  return 0;
}

/// Rounds elements of f32 to those of another type.
template <class T>
static std::string rounded(const uint8_t *data, size_t count) {
  std::string bytes(count * sizeof(T), '\0');
  for (size_t i = 0; i < count; ++i) {
    float element;
    T narrow;
    memcpy(&element, data + i * sizeof element, sizeof element);
    store_scalar(&narrow, element);
    memcpy(&bytes[i * sizeof narrow], static_cast<void *>(&narrow),
           sizeof narrow);
  }
  return bytes;
}

std::string TrainedWeights::read(const std::string &name,
                                 const std::string &type,
                                 const std::vector<int64_t> &shape,
                                 std::string &bytes) const {
  const Tensor &tensor = tensors.at(name);
  constexpr struct {
    const char *type, *dtype;
  } names[] = {{"f64", "F64"},   {"f32", "F32"}, {"f16", "F16"},
               {"bf16", "BF16"}, {"i64", "I64"}, {"i32", "I32"}};
  std::string dtype;
  for (const auto &known : names)
    if (type == known.type)
      dtype = known.dtype;
  const bool isRounded =
      tensor.dtype == "F32" && (dtype == "F16" || dtype == "BF16");
  if (shape != tensor.shape || (dtype != tensor.dtype && !isRounded))
    return "'" + name + "' is " + tensor.dtype + " " +
           shape_text(tensor.shape) + " there, but the model has it as " +
           type + " " + shape_text(shape);
  const size_t count = tensor.bytes / sizeof(float);
  const int64_t elements = detail::product(tensor.shape);
  if (elements < 0 || tensor.bytes != size_t(elements) * sizeOf(tensor.dtype))
    return "'" + name + "' has " + std::to_string(tensor.bytes) +
           " bytes there, which are not those of " + tensor.dtype + " " +
           shape_text(tensor.shape);
  bytes = !isRounded ? std::string(reinterpret_cast<const char *>(tensor.data),
                                   tensor.bytes)
          : dtype == "F16" ? rounded<f16>(tensor.data, count)
                           : rounded<bf16>(tensor.data, count);
  return "";
}
