//===- Names.h - Names of the emitted source --------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_NAMES_H
#define GPUOPT_LIB_TARGET_CXX_NAMES_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace gpuopt::cxx {

/// Returns a symbol as a constant: "h_0_ln_1" is kH0Ln1. An underscore between
/// two digits stays: "mul_2_3" is kMul2_3.
std::string constantName(llvm::StringRef symbol);

/// Gives out names that are identifiers of C++ and have no other meaning there
/// or in the runtime, each once.
class NameLegaliser {
public:
  std::string unique(llvm::StringRef wanted);
  /// Returns v0, v1, ...
  std::string numbered(llvm::StringRef stem);
  /// Marks a name as taken.
  void reserve(llvm::StringRef name) { given.insert(name); }
  /// Makes a name available again.
  void release(llvm::StringRef name) { given.erase(name); }

private:
  bool isTaken(llvm::StringRef name) const;

  llvm::StringSet<> given;
};

/// Whether the rows of a loop's table say where a column begins. The source
/// says it where the column moves on within one buffer, or is the same in all
/// iterations and no other loop uses rows of this type.
bool isInTable(device::RepeatOp repeat, llvm::StringRef column);

/// The names of a module's buffers (constants) and kernels (functions), by
/// their symbols. All are given before anything is printed.
struct ProgramNames {
  explicit ProgramNames(mlir::ModuleOp module);

  const std::string &ofBuffer(llvm::StringRef symbol) const;
  const std::string &ofKernel(llvm::StringRef symbol) const;
  /// Whether the buffer is declared under its name. It is not if only calls in
  /// loops and multi-tensor calls address it, because then a table has its
  /// offset.
  bool isDeclared(llvm::StringRef symbol) const {
    return !undeclared.contains(symbol);
  }
  /// Returns "kFcWeight.offset", or the number if the buffer is not declared.
  std::string offsetOf(device::BufferOp buffer) const;
  /// Returns a name for something else at the same level.
  std::string unique(llvm::StringRef wanted) { return names.unique(wanted); }

private:
  NameLegaliser names;
  llvm::StringMap<std::string> buffers, kernels;
  llvm::StringSet<> undeclared;
};

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_NAMES_H
