//===- Words.h - What values are called in remarks --------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TRANSFORMS_PRINTING_WORDS_H
#define GPUOPT_LIB_TRANSFORMS_PRINTING_WORDS_H

#include "gpuopt/Interfaces/StridedView.h"
#include <string>

namespace gpuopt::printing {

/// Returns "%x" of an input of a step, "@w" of a variable that is read, and
/// "the result of nn.contract" of anything else.
std::string wordOf(mlir::Value value);

/// Returns "[16, 1]".
std::string listOf(llvm::ArrayRef<int64_t> numbers);

/// Returns "%x at 4, strides [16, 1]"; the buffer of `own` is its own.
std::string wordOf(const StridedView &view, mlir::Value own = nullptr);

} // namespace gpuopt::printing

#endif // GPUOPT_LIB_TRANSFORMS_PRINTING_WORDS_H
