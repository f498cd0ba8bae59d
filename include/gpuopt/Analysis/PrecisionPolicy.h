//===- PrecisionPolicy.h - Which ops may be in half precision ---*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Classes are of ONNX operators, since those are what users know. They are hard
// constraints; within them the cost decides.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_PRECISIONPOLICY_H
#define GPUOPT_ANALYSIS_PRECISIONPOLICY_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

namespace gpuopt {

enum class PrecisionClass {
  Half,   ///< Runs in half precision where that pays; its results may too.
  Full,   ///< Its results are never kept in half precision.
  Follow, ///< Its results are kept in whichever precision costs less.
};

/// "half", "fp32" or "follow".
llvm::StringRef nameOf(PrecisionClass precisionClass);

class PrecisionPolicy {
public:
  /// The built-in table (PrecisionClasses.def).
  PrecisionPolicy();

  /// Moves operators to other classes, as a JSON file says: an object with any
  /// of the members "half", "fp32" and "follow", each a list of operators.
  llvm::Error read(llvm::StringRef path);

  /// "REGEX=fp32" or "REGEX=<half>", `half` the name of the program's half
  /// type. The expression must match all of an ONNX node's name or of its
  /// operator.
  llvm::Error addOverride(llvm::StringRef text, llvm::StringRef half);

  /// Returns the class of the node that a location names; Follow for what comes
  /// from no node, such as the loss.
  PrecisionClass classOf(mlir::Location loc) const;

  /// The same in PyTorch's lists.
  PrecisionClass autocastClassOf(mlir::Location loc) const;

  /// What an override says of a node: true for half precision. Later overrides
  /// win. Of several nodes that are one op now, the first decides: of attention,
  /// whose softmax is in f32 always, the product with the values.
  std::optional<bool> overrideOf(mlir::Location loc);

  /// Overrides that no call of `overrideOf` has matched, as they were given.
  llvm::SmallVector<llvm::StringRef> unmatched() const;

private:
  struct Override {
    std::string text;
    std::shared_ptr<const llvm::Regex> pattern;
    bool isHalf;
    bool hasMatched = false;
  };
  llvm::StringMap<PrecisionClass> classes, autocastClasses;
  std::vector<Override> overrides;
};

/// Every operator with its class beside PyTorch's and Grappler's, as Markdown.
void printPrecisionTable(llvm::raw_ostream &stream);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_PRECISIONPOLICY_H
