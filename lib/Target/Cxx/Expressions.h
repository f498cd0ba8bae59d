//===- Expressions.h - Scalar ops as C++ expressions -*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_EXPRESSIONS_H
#define GPUOPT_LIB_TARGET_CXX_EXPRESSIONS_H

#include "mlir/IR/Operation.h"
#include <optional>
#include <string>

namespace gpuopt::cxx {

/// An operand in C++: its text, whether it needs parentheses within another
/// expression, and whether it has a value per lane.
struct Operand {
  std::string text;
  bool isAtom = true;
  bool isVarying = false;

  std::string asAtom() const { return isAtom ? text : "(" + text + ")"; }
};

/// The C++ form of an arith or math op; nothing for one that has none.
std::optional<Operand> expressionOf(mlir::Operation *op, llvm::ArrayRef<Operand> operands);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_EXPRESSIONS_H
