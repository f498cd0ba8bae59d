//===- PrecisionPolicy.h - Which ops may be in half precision ---*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each ONNX operator has a precision class; operators have them because users
// know operators. Classes are hard constraints; within them the cost decides.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_PRECISION_PRECISIONPOLICY_H
#define GPUOPT_ANALYSIS_PRECISION_PRECISIONPOLICY_H

#include "gpuopt/Support/NameExpression.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace gpuopt {

enum class PrecisionClass {
  Half,   ///< Runs in half precision where that pays; its results may too.
  Full,   ///< Its results are never kept in half precision.
  Follow, ///< Its results are kept in whichever precision costs less.
};

/// Returns "half", "fp32" or "follow".
llvm::StringRef nameOf(PrecisionClass precisionClass);

class PrecisionPolicy {
public:
  /// Has the classes of the built-in table (PrecisionClasses.def).
  PrecisionPolicy();

  /// Moves operators to other classes, as a JSON file says: an object with any
  /// of the members "half", "fp32" and "follow", each a list of operators.
  llvm::Error read(llvm::StringRef path);

  /// Adds an override: "REGEX=fp32" or "REGEX=<half>", where `half` is the name
  /// of the program's half type. The expression must match the whole name of an
  /// ONNX node, or the whole name of its operator.
  llvm::Error addOverride(llvm::StringRef text, llvm::StringRef half);

  /// Returns the class of the node that a location names, and Follow for an op
  /// that comes from no node, such as the loss.
  PrecisionClass classOf(mlir::Location loc) const;

  /// Returns the class by PyTorch's lists.
  PrecisionClass autocastClassOf(mlir::Location loc) const;

  /// Returns what an override says of a node: true for half precision. Later
  /// overrides win. If several nodes have become one op, the first decides. In
  /// an attention, whose softmax is always in f32, that is the product with the
  /// values.
  std::optional<bool> overrideOf(mlir::Location loc);

  /// Whether the expression of an override is a node's name, letter by letter.
  bool isNamedByOverride(llvm::StringRef node) const;

  /// Overrides that no call of `overrideOf` has matched, as they were given.
  llvm::SmallVector<llvm::StringRef> unmatched() const;

private:
  struct Override {
    std::string text;
    std::shared_ptr<const NameExpression> pattern;
    bool isHalf;
    bool hasMatched = false;
  };
  llvm::StringMap<PrecisionClass> classes, autocastClasses;
  std::vector<Override> overrides;
};

/// Prints a Markdown table of all operators with their classes here, in PyTorch
/// and in Grappler.
void printPrecisionTable(llvm::raw_ostream &stream);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_PRECISION_PRECISIONPOLICY_H
