//===- ClassWeights.cpp - The weights of classes --------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/ClassWeights.h"

#include "gpuopt/data/indices.h"
#include "gpuopt/data/npy.h"

#include <cstdlib>

using namespace gpuopt;

static std::string readFile(const std::string &path,
                            std::vector<double> &weights) {
  try {
    const MappedFile file(path);
    const NpyHeader header(file);
    if (header.shape.size() != 1)
      return "needs an array of one dimension, but '" + path + "' has shape " +
             shape_text(header.shape);
    const size_t count = size_t(header.shape[0]);
    if ((file.bytes - header.begin) / size_of(header.type) < count)
      return "cannot be read: '" + path + "' is shorter than its header says";
    for (size_t i = 0; i < count; ++i)
      weights.push_back(
          detail::number_at(header.type, file.data + header.begin, int64_t(i)));
  } catch (const Error &error) {
    return std::string("cannot be read: ") + error.what();
  }
  return "";
}

std::string gpuopt::readClassWeights(const std::string &text,
                                     std::vector<double> &weights) {
  constexpr std::string_view kEnding = ".npy";
  if (text.size() >= kEnding.size() &&
      text.compare(text.size() - kEnding.size(), kEnding.size(), kEnding) == 0)
    return readFile(text, weights);
  for (const char *at = text.c_str();;) {
    char *end = nullptr;
    weights.push_back(strtod(at, &end));
    if (end == at || (*end && *end != ','))
      return "needs a .npy file, or numbers with commas between them as in "
             "1,0.5,2, but is '" +
             text + "'";
    if (!*end)
      return "";
    at = end + 1;
  }
}
