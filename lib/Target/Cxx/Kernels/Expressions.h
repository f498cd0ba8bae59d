//===- Expressions.h - Scalar ops as C++ expressions ------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_EXPRESSIONS_H
#define GPUOPT_LIB_TARGET_CXX_EXPRESSIONS_H

#include "mlir/IR/Operation.h"
#include <string>

namespace gpuopt::cxx {

/// How tightly the outermost operator of an expression binds, tightest first.
/// Shifts and bitwise operators are one class whose operands always stand in
/// parentheses, as compilers ask for.
enum class Binding { Atom, Unary, Product, Sum, Comparison, Bitwise, Choice };

/// A value in C++.
struct Expression {
  std::string text;
  Binding binding = Binding::Atom;
  /// One value per lane, rather than one for the block.
  bool isVarying = false;
  /// An integer literal, which has type int on its own.
  bool isInteger = false;
  /// The arguments "i, label" of a condition is_at(i, label), or "i, label, x"
  /// of a number that is x where the condition holds and 0 elsewhere. Variables
  /// have none.
  std::string placed;

  Expression() = default;
  Expression(std::string text, Binding binding = Binding::Atom)
      : text(std::move(text)), binding(binding) {}

  /// The text, in parentheses if it binds less tightly than `loosest`.
  std::string within(Binding loosest) const {
    return binding <= loosest ? text : "(" + text + ")";
  }
};

/// Returns "Lanes<float>".
std::string lanesOf(mlir::Type type);

/// Returns the expression as an argument of a function: of exactly the type of
/// arithmetic on `type`, as lanes if `asLanes`.
std::string argument(const Expression &expression, mlir::Type type,
                     bool asLanes = false);

/// Returns index * stride as a term of an address.
std::string scaled(const Expression &index, int64_t stride);

/// Returns the function of the runtime that computes an op, as "abs" for
/// math.absf; empty if no function does.
llvm::StringRef functionOf(mlir::Operation *op);

/// Returns the C++ form of an arith or math op. It has lanes if one of the
/// operands does. Fails, with an error at the op, if there is no C++ form.
mlir::FailureOr<Expression> expressionOf(mlir::Operation *op,
                                         llvm::ArrayRef<Expression> operands);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_EXPRESSIONS_H
