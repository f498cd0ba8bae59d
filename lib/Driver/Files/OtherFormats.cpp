//===- OtherFormats.cpp - Models that are no ONNX files -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/OtherFormats.h"

#include "gpuopt/data/torch_endings.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace gpuopt;

Error gpuopt::refuseOtherFormats(StringRef path, StringRef weightsFlag) {
  StringRef extension = sys::path::extension(path);
  if (!sys::fs::is_regular_file(path))
    return Error::success();
  if (is_contained({".npy", ".npz", ".parquet", ".tar"}, extension.lower()))
    return createStringError(
        "'" + path +
        "' is a file of data, but the argument without a flag is the model, an "
        "ONNX file; name data by --data INPUT=" +
        path + " or --labels " + path);
  bool isOfPyTorch = is_torch_ending(extension.lower());
  bool hasWeightsAlone = extension.equals_insensitive(".safetensors");
  if (!isOfPyTorch && !hasWeightsAlone)
    return Error::success();
  std::string error =
      ("'" + path + "' " +
       (isOfPyTorch ? "is a file of PyTorch"
                    : "holds weights without a graph") +
       ", but an ONNX file is needed; write one from the module in Python: "
       "gpuopt.export(module, example_inputs, \"model.onnx\"), or by "
       "torch.onnx.export")
          .str();
  if (hasWeightsAlone && !weightsFlag.empty())
    error += ("; " + weightsFlag + " then takes these weights").str();
  return createStringError(error);
}
