//===- OptionalCalls.cpp - Calls that only some layers make ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OptionalCalls.h"

using namespace llvm;

std::vector<unsigned> gpuopt::device::mergeSequences(ArrayRef<unsigned> one,
                                                     ArrayRef<unsigned> other) {
  // The length of the shortest sequence for what is left of both.
  std::vector<std::vector<unsigned>> length(
      one.size() + 1, std::vector<unsigned>(other.size() + 1));
  for (size_t i = one.size() + 1; i-- > 0;)
    for (size_t j = other.size() + 1; j-- > 0;) {
      if (i == one.size() || j == other.size())
        length[i][j] = one.size() - i + other.size() - j;
      else if (one[i] == other[j])
        length[i][j] = 1 + length[i + 1][j + 1];
      else
        length[i][j] = 1 + std::min(length[i + 1][j], length[i][j + 1]);
    }
  std::vector<unsigned> merged;
  size_t i = 0, j = 0;
  while (i < one.size() && j < other.size()) {
    bool isCommon = one[i] == other[j];
    bool takesOne = isCommon || length[i + 1][j] <= length[i][j + 1];
    merged.push_back(takesOne ? one[i] : other[j]);
    i += takesOne;
    j += isCommon || !takesOne;
  }
  merged.insert(merged.end(), one.begin() + i, one.end());
  merged.insert(merged.end(), other.begin() + j, other.end());
  return merged;
}

std::vector<std::optional<unsigned>>
gpuopt::device::findPart(ArrayRef<unsigned> part, ArrayRef<unsigned> whole) {
  std::vector<std::optional<unsigned>> found;
  unsigned next = 0;
  for (unsigned item : whole) {
    bool isNext = next < part.size() && part[next] == item;
    found.push_back(isNext ? std::optional(next++) : std::nullopt);
  }
  return found;
}

unsigned gpuopt::device::countLastWithin(ArrayRef<unsigned> items,
                                         ArrayRef<unsigned> whole) {
  unsigned count = 0;
  for (size_t at = whole.size(); at-- > 0 && count < items.size();)
    count += items[items.size() - 1 - count] == whole[at];
  return count;
}
