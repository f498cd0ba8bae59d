//===- ColumnNames.cpp - What a loop calls its buffers --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ColumnNames.h"

#include "gpuopt/Support/Origin.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using gpuopt::Origin;

SmallVector<std::pair<StringRef, bool>>
gpuopt::device::partsOf(StringRef origin) {
  SmallVector<std::pair<StringRef, bool>> parts;
  bool behindSlash = false;
  while (true) {
    size_t end = origin.find_first_of("./");
    parts.push_back({origin.take_front(end), behindSlash});
    if (end == StringRef::npos)
      return parts;
    behindSlash = origin[end] == '/';
    origin = origin.drop_front(end + 1);
  }
}

/// Returns "mul" for "mul_3" and, where `isNode` is false, "ln_1" for "ln_1":
/// exporters number nodes, not modules.
static StringRef withoutNumber(StringRef part, bool isNode) {
  auto [stem, number] = part.rsplit('_');
  bool isNumbered =
      isNode && !number.empty() && llvm::all_of(number, llvm::isDigit);
  return isNumbered ? stem : part;
}

std::string gpuopt::device::columnName(StringRef first, StringRef second) {
  Origin one = Origin::parse(first), other = Origin::parse(second);
  auto parts = partsOf(one.name), others = partsOf(other.name);
  size_t behindLayer = 0;
  for (size_t i = 0; i < std::min(parts.size(), others.size()); ++i)
    if (parts[i].first != others[i].first && !parts[i].second) {
      behindLayer = i + 1;
      break;
    }
  std::string name = one.isGradient && other.isGradient ? "d" : "";
  bool hasModule = false;
  for (auto [part, isNode] : ArrayRef(parts).drop_front(behindLayer)) {
    if (isNode && hasModule)
      break;
    hasModule = true;
    name += (name.empty() ? "" : "_") + withoutNumber(part, isNode).lower();
  }
  for (char &c : name)
    if (!llvm::isAlnum(c))
      c = '_';
  if (name.empty() || !llvm::isAlpha(name[0]))
    name = "x" + name;
  return name;
}

std::string gpuopt::device::columnName(StringRef only) {
  for (auto [part, isNode] : partsOf(only))
    if (!part.empty() && llvm::all_of(part, llvm::isDigit)) {
      std::string other(only.begin(), part.begin());
      other += part.str() + "0" + std::string(part.end(), only.end());
      return columnName(only, other);
    }
  return columnName(only, only);
}
