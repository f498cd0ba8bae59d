//===- OtherFormats.h - Models that are no ONNX files -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_OTHERFORMATS_H
#define GPUOPT_LIB_DRIVER_FILES_OTHERFORMATS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace gpuopt {

/// Fails if a file that should be an ONNX model is one of PyTorch, or holds
/// weights alone. The error says how an ONNX file is made of it and, with
/// `weightsFlag`, which flag takes weights. A file that is not there is none of
/// these.
llvm::Error refuseOtherFormats(llvm::StringRef path,
                               llvm::StringRef weightsFlag = "");

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_OTHERFORMATS_H
