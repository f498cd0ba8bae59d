//===- Result.h - Values or errors ------------------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inputs of solvers come from users, so errors are values: no code in
// Planning/ aborts or throws on bad input.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_RESULT_H
#define GPUOPT_PLANNING_RESULT_H

#include <optional>
#include <string>
#include <utility>

namespace gpuopt::planning {

/// Says what is wrong with an input or a solution: lowercase, no full stop.
struct [[nodiscard]] Error {
  std::string message;
};

/// Empty if all is well; returned by `check` and `verify`.
using MaybeError = std::optional<Error>;

/// A value, or the reason why there is none.
template <class T>
class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)) {}
  Result(Error error) : reason(std::move(error)) {}

  explicit operator bool() const { return value.has_value(); }
  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }
  /// Only valid if there is no value.
  const Error &error() const { return reason; }

private:
  std::optional<T> value;
  Error reason;
};

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_RESULT_H
