//===- Strings.h - What a model's strings must be ---------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_IMPORT_ONNX_STRINGS_H
#define GPUOPT_LIB_IMPORT_ONNX_STRINGS_H

#include "Reporter.h"
#include "onnx.pb.h"

namespace gpuopt::onnx {

/// Checks that every string that is read of the model is UTF-8, as ONNX
/// prescribes and protobuf does not check: names end up in JSON, in C++ and on
/// the terminal. Reports the first string that is not UTF-8, and where it is.
/// The elements of string tensors may be any bytes.
mlir::LogicalResult checkStrings(const proto::ModelProto &model,
                                 const Reporter &reporter);

} // namespace gpuopt::onnx

#endif // GPUOPT_LIB_IMPORT_ONNX_STRINGS_H
