//===- ConstantInputs.h - The values of inputs that are constant ----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Its source is compiled without MLIR's headers, as it reads the file with the
// trainer's own code.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_CONSTANTINPUTS_H
#define GPUOPT_LIB_DRIVER_FILES_CONSTANTINPUTS_H

#include <cstdint>
#include <string>
#include <vector>

namespace gpuopt {

/// The array of a .npy file.
struct NpyArray {
  int32_t dataType; ///< A number of ONNX's TensorProto.DataType.
  std::vector<int64_t> shape;
  std::string elements; ///< As they lie in the file.
};

/// Reads the .npy file `path`. Returns what is wrong; empty if nothing is.
std::string readConstantInput(const std::string &path, NpyArray &array);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_CONSTANTINPUTS_H
