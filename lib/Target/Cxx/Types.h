//===- Types.h - Element types and literals in C++ --------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_TYPES_H
#define GPUOPT_LIB_TARGET_CXX_TYPES_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include <string>

namespace gpuopt::cxx {

/// Returns how memory holds an element: float, f16, int64_t, uint8_t for
/// booleans. Empty for a type that memory does not hold.
std::string memoryType(mlir::Type element);

/// Returns the type of arithmetic on an element: float for f16 and bf16, bool
/// for i1.
std::string computeType(mlir::Type element);

/// Returns the type of unsigned arithmetic on an element.
std::string unsignedType(mlir::Type element);

/// Return an element's value of gpuopt::Type, and its name in comments (f32,
/// bool, ...).
std::string typeEnum(mlir::Type element);
std::string typeName(mlir::Type element);

/// Returns a literal of the compute type that reads back as the same number:
/// 0.5f, 1e-05f, -INFINITY, NAN.
std::string floatLiteral(const llvm::APFloat &value, mlir::Type type);
std::string doubleLiteral(double value);
std::string integerLiteral(const llvm::APInt &value, mlir::Type type);

/// Returns a string as a C++ literal, including quotes.
std::string quoted(llvm::StringRef text);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_TYPES_H
