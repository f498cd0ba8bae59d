//===- Names.h - Names of the emitted source -*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_NAMES_H
#define GPUOPT_LIB_TARGET_CXX_NAMES_H

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/IR/Types.h"
#include <string>

namespace gpuopt::cxx {

/// "h_0_ln_1" as "kOffH0Ln1".
std::string constantName(llvm::StringRef symbol);

/// The symbol, or the symbol with an underscore where C++ or the runtime
/// already has a word like it.
std::string identifier(llvm::StringRef symbol);

/// How memory holds an element: float, f16, int64_t, uint8_t for booleans, ...
std::string memoryType(mlir::Type element);
/// What arithmetic on it is done in: float for f16 and bf16, bool for i1.
std::string computeType(mlir::Type element);
/// Its value of gpuopt::Type, and its name in comments (f32, bool, ...).
std::string typeEnum(mlir::Type element);
std::string typeName(mlir::Type element);

/// A literal that reads back as the same number: 0.5f, 1e-05f, INFINITY.
std::string floatLiteral(const llvm::APFloat &value, mlir::Type type);

/// A string as a C++ literal, quotes included.
std::string quoted(llvm::StringRef text);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_NAMES_H
