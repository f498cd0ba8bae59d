//===- StepPieces.h - A long step as several functions ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_STEPPIECES_H
#define GPUOPT_LIB_TARGET_CXX_STEPPIECES_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace gpuopt::cxx {

/// The ops of a step that become one function, and its name, such as
/// "backward_2".
struct StepPiece {
  std::string name, section;
  llvm::SmallVector<mlir::Operation *> ops; ///< A call follows its addresses.
};

/// Splits a step of more than `mostCalls` calls into pieces, because a compiler
/// takes more than twice as long for a function of twice the length. A piece
/// ends at the end of a section or of a node's calls. Any other step is one
/// piece.
llvm::SmallVector<StepPiece> piecesOf(device::StepOp step, unsigned mostCalls);

/// The section in which all calls of `ops` are; none if they are in several.
std::optional<llvm::StringRef>
onlySectionOf(llvm::ArrayRef<mlir::Operation *> ops);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_STEPPIECES_H
