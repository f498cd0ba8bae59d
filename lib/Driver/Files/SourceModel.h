//===- SourceModel.h - The model that a program was compiled from ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_SOURCEMODEL_H
#define GPUOPT_LIB_DRIVER_FILES_SOURCEMODEL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace gpuopt {

/// The file of a program that says where its model is.
constexpr llvm::StringLiteral kSourceModelFile = "source.json";

/// Returns the text of that file: the absolute path of `model`.
std::string sourceModelText(llvm::StringRef model);

/// Returns the path that a program's folder has; empty if it has none.
std::string readSourceModel(llvm::StringRef program);

/// Returns the model of the program that has trained in `run`: the program's
/// folder is that of `gpuopt train`, or lies above, as for a checkpoint and for
/// a trainer that runs in its own folder.
llvm::Expected<std::string> findSourceModel(llvm::StringRef run);

/// Does the same, and fails if there is no such file any more.
llvm::Expected<std::string> findSourceModelFile(llvm::StringRef run);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_SOURCEMODEL_H
