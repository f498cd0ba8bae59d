//===- WeightsDiff.cpp - In what two files of weights differ --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/WeightsDiff.h"
#include "Files/Distance.h"

#include "gpuopt/data/dataset.h"
#include "gpuopt/data/safetensors.h"

#include <algorithm>
#include <cmath>

using namespace gpuopt;

template <class T>
static double elementAt(const uint8_t *data, int64_t i) {
  T value;
  memcpy(static_cast<void *>(&value), data + size_t(i) * sizeof(T), sizeof(T));
  return double(value);
}

/// Halves are read through f32.
template <class T>
static double halfAt(const uint8_t *data, int64_t i) {
  T value;
  memcpy(static_cast<void *>(&value), data + size_t(i) * sizeof(T), sizeof(T));
  return double(load_scalar(&value));
}

using Reader = double (*)(const uint8_t *, int64_t);

/// Returns what reads an element of a type that safetensors files name, and how
/// many bytes it has; nothing for a type that programs do not write.
static std::pair<Reader, size_t> readerOf(const std::string &dtype) {
  constexpr struct {
    const char *dtype;
    Reader read;
    size_t bytes;
  } readers[] = {
      {"F64", elementAt<double>, 8},  {"F32", elementAt<float>, 4},
      {"F16", halfAt<f16>, 2},        {"BF16", halfAt<bf16>, 2},
      {"I64", elementAt<int64_t>, 8}, {"I32", elementAt<int32_t>, 4},
      {"I16", elementAt<int16_t>, 2}, {"I8", elementAt<int8_t>, 1},
      {"U8", elementAt<uint8_t>, 1},  {"BOOL", elementAt<uint8_t>, 1}};
  for (const auto &reader : readers)
    if (dtype == reader.dtype)
      return {reader.read, reader.bytes};
  return {nullptr, 1};
}

static std::string formOf(const StoredTensor &tensor) {
  return tensor.dtype + " " + shape_text(tensor.shape);
}

/// Compares the elements of two tensors of one form whose bytes differ.
static void compareElements(const StoredTensor &a, const StoredTensor &b,
                            TensorDifference &difference) {
  auto [read, bytes] = readerOf(a.dtype);
  difference.elements = int64_t(a.bytes / bytes);
  for (int64_t i = 0; i < difference.elements; ++i) {
    if (memcmp(a.data + size_t(i) * bytes, b.data + size_t(i) * bytes, bytes) ==
        0)
      continue;
    double first = read ? read(a.data, i) : 0,
           second = read ? read(b.data, i) : 0;
    double distance = distanceOf(first, second);
    if (difference.differing++ == 0 || distance > difference.most) {
      difference.most = distance;
      difference.at = i;
      difference.first = first;
      difference.second = second;
    }
  }
}

static void compare(const std::map<std::string, StoredTensor> &first,
                    const std::map<std::string, StoredTensor> &second,
                    WeightsDiff &diff) {
  std::vector<std::pair<const uint8_t *, std::string>> order;
  for (const auto &[name, tensor] : first)
    order.push_back({tensor.data, name});
  std::sort(order.begin(), order.end());
  for (const auto &[data, name] : order) {
    const StoredTensor &a = first.at(name);
    TensorDifference difference;
    difference.name = name;
    const auto found = second.find(name);
    if (found == second.end()) {
      difference.form = "is only in the first";
    } else if (const StoredTensor &b = found->second;
               formOf(a) != formOf(b) || a.bytes != b.bytes) {
      difference.form = "is " + formOf(a) + " and " + formOf(b);
    } else if (memcmp(a.data, b.data, a.bytes) == 0) {
      diff.same++;
      continue;
    } else {
      compareElements(a, b, difference);
    }
    diff.different.push_back(difference);
  }
  for (const auto &[name, tensor] : second)
    if (!first.count(name)) {
      TensorDifference difference;
      difference.name = name;
      difference.form = "is only in the second";
      diff.different.push_back(difference);
    }
}

std::string gpuopt::diffWeights(const std::string &first,
                                const std::string &second, WeightsDiff &diff) {
  try {
    const MappedFile a(first), b(second);
    compare(read_safetensors(a), read_safetensors(b), diff);
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}
