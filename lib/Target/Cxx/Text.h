//===- Text.h - Lines and comments of a readable width ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_TEXT_H
#define GPUOPT_LIB_TARGET_CXX_TEXT_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace gpuopt::cxx {

constexpr size_t kColumns = 110;

/// Prints a statement. If it is longer than kColumns, it is broken after commas
/// and before operators, outermost first, and the next lines are aligned with
/// the bracket that they are in.
void printLine(llvm::raw_ostream &stream, llvm::StringRef line);

/// Prints "// text", broken between words.
void printComment(llvm::raw_ostream &stream, llvm::StringRef text,
                  unsigned indent = 0);

/// Returns name(a, b, ...).
std::string callText(llvm::StringRef name,
                     llvm::ArrayRef<std::string> arguments);

/// "// ---- ... " over a title, at the start of a section.
void printBanner(llvm::raw_ostream &stream, llvm::StringRef title);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_TEXT_H
