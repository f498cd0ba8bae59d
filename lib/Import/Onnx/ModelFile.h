//===- ModelFile.h - A mapped ONNX file and its messages ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model's size lies in the raw data of its initializers, which the importer
// has no need of: it is enough to know where they are. So the file is mapped,
// the wire format of its outer messages (model, graph, initializer) is walked,
// the ranges of raw data are noted and left out, and only the rest, the
// skeleton, is handed to protobuf. A file of 500 MB costs what its nodes cost.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_IMPORT_ONNX_MODELFILE_H
#define GPUOPT_LIB_IMPORT_ONNX_MODELFILE_H

#include "Reporter.h"

#include "onnx.pb.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <optional>
#include <vector>

namespace gpuopt::onnx {

/// A range of bytes of a file.
struct ByteRange {
  int64_t offset;
  int64_t size;
};

class ModelFile {
public:
  /// Maps and parses `path`; returns null after a diagnostic if it is no ONNX
  /// model.
  static std::unique_ptr<ModelFile> open(llvm::StringRef path,
                                         const Reporter &reporter);

  /// Returns the model without the raw data of initializers.
  const proto::ModelProto &getModel() const { return model; }

  /// Returns where the raw data of initializer `index` lies, if it has any.
  std::optional<ByteRange> getRawData(int index) const {
    return rawData[index];
  }

  /// Returns the bytes of a range that getRawData has returned.
  llvm::StringRef getBytes(ByteRange range) const {
    return buffer->getBuffer().substr(range.offset, range.size);
  }

private:
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  proto::ModelProto model;
  std::vector<std::optional<ByteRange>> rawData; // by initializer
};

/// Maps a regular file into memory, read-only. The message of an error does
/// not name the file.
llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
mapFile(llvm::StringRef path);

} // namespace gpuopt::onnx

#endif // GPUOPT_LIB_IMPORT_ONNX_MODELFILE_H
