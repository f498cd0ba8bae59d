//===- ColumnNames.h - What a loop calls its buffers ------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_COLUMNNAMES_H
#define GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_COLUMNNAMES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace gpuopt::device {

/// Splits a name at points and slashes: "h.1.mlp/mul_3" is "h", "1", "mlp",
/// "mul_3". Each part also says whether a slash stands before it.
llvm::SmallVector<std::pair<llvm::StringRef, bool>>
partsOf(llvm::StringRef origin);

/// Returns what the names of a tensor in two layers have in common after the
/// number of the layer: "attn_c_attn" for "h.1.attn.c_attn/addmm_4" and
/// "h.2.attn.c_attn/addmm_8".
std::string columnName(llvm::StringRef first, llvm::StringRef second);
/// Returns the same for a tensor of one layer, whose number is the first part
/// of the name that is one.
std::string columnName(llvm::StringRef only);

} // namespace gpuopt::device

#endif // GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_COLUMNNAMES_H
