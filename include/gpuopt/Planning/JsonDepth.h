//===- JsonDepth.h - How deeply JSON nests ----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's parser of JSON calls itself for each level without a limit, so a file
// of nothing but brackets would overflow the stack.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_JSONDEPTH_H
#define GPUOPT_PLANNING_JSONDEPTH_H

#include <string_view>

namespace gpuopt::planning {

/// Whether JSON nests deeper than any file of this project does.
inline bool nestsTooDeep(std::string_view contents) {
  constexpr int kMostNesting = 64;
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < contents.size(); ++i) {
    char c = contents[i];
    if (inString) {
      i += c == '\\';
      inString = c != '"';
      continue;
    }
    inString = c == '"';
    depth += c == '[' || c == '{';
    depth -= c == ']' || c == '}';
    if (depth > kMostNesting)
      return true;
  }
  return false;
}

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_JSONDEPTH_H
