//===- WholeNumber.h - 64-bit integers in JSON ------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TOOLS_GPUOPT_SOLVE_WHOLENUMBER_H
#define GPUOPT_TOOLS_GPUOPT_SOLVE_WHOLENUMBER_H

#include "llvm/Support/JSON.h"

namespace gpuopt::solve {

/// As getAsInteger, but none of 2^63 with a fraction or an exponent, which that
/// converts to a type that cannot hold it.
inline std::optional<int64_t> wholeNumber(const llvm::json::Value &value) {
  std::optional<double> number = value.getAsNumber();
  bool isTooLarge = number && *number >= 0x1p63 && !value.getAsUINT64();
  return isTooLarge ? std::nullopt : value.getAsInteger();
}

/// The same of a member; none where there is no such member.
inline std::optional<int64_t> wholeNumber(const llvm::json::Object &object,
                                          llvm::StringRef name) {
  const llvm::json::Value *member = object.get(name);
  return member ? wholeNumber(*member) : std::nullopt;
}

} // namespace gpuopt::solve

#endif // GPUOPT_TOOLS_GPUOPT_SOLVE_WHOLENUMBER_H
