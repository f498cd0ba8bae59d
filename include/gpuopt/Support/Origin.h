//===- Origin.h - What a tensor is named after ------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_SUPPORT_ORIGIN_H
#define GPUOPT_SUPPORT_ORIGIN_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace gpuopt {

/// The ONNX node or the parameter that a tensor comes from: the tensor is the
/// node's output, or the gradient of it. The text of an origin, in locations,
/// comments and files, is the name, with "d " before it for a gradient. Only
/// this struct writes and reads that text.
struct Origin {
  std::string name; ///< Empty if it is not known.
  bool isGradient = false;

  static Origin parse(llvm::StringRef text) {
    bool isGradient = text.size() > kGradientPrefix.size() &&
                      text.consume_front(kGradientPrefix);
    return {text.str(), isGradient};
  }
  /// Returns "fc1", or "d fc1" for a gradient.
  std::string text() const {
    return isGradient ? (kGradientPrefix + name).str() : name;
  }
  /// Returns the gradient's origin. A gradient of a gradient has the same
  /// origin.
  Origin gradient() const { return {name, /*isGradient=*/true}; }

private:
  static constexpr llvm::StringLiteral kGradientPrefix = "d ";
};

} // namespace gpuopt

#endif // GPUOPT_SUPPORT_ORIGIN_H
