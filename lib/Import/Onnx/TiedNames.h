//===- TiedNames.h - The other names of an initializer ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_IMPORT_ONNX_TIEDNAMES_H
#define GPUOPT_LIB_IMPORT_ONNX_TIEDNAMES_H

#include "ModelFile.h"
#include "Reporter.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace gpuopt::onnx {

/// Returns what gpuopt.export has noted of an initializer as "gpuopt.tied": the
/// other names that the module has for a tied weight, as a JSON list. Empty if
/// there is none.
std::string tiedNamesIn(const proto::ValueInfoProto &info);

/// Returns the names in such a list. Fails after a diagnostic if it is no list
/// of names.
mlir::FailureOr<std::vector<std::string>>
parseTiedNames(llvm::StringRef json, llvm::StringRef initializer,
               const Reporter &reporter);

} // namespace gpuopt::onnx

#endif // GPUOPT_LIB_IMPORT_ONNX_TIEDNAMES_H
